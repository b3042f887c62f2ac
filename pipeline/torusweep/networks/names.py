"""Names of nodes in the user's file or graph, which other files, options and answers also use.

A network from a file or a graph numbers its nodes 0 … N − 1: by their names if these are whole numbers, else in the
order of the file. `Plan.names` has the names; None means that nodes are called by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.topology import Topology
from torusweep.quantities import counted

SHOWN = 40  # characters of a name in a message


def order_of_names(names: Sequence[Any]) -> np.ndarray | None:
    """Return int64[N]: the places of the nodes in numbering order; None if the nodes are in that order already.

    Names that are all whole numbers, or their digits, are sorted; other names keep the file's order.
    """
    numbers = [_whole(name) for name in names]
    known = [number for number in numbers if number is not None]
    if len(known) < len(names) or len(set(known)) < len(names) or known == sorted(known):
        return None
    return np.argsort(np.array(known, object), kind="stable").astype(np.int64)


def names_or_none(names: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the names as a tuple; None if they are the numbers 0 … N − 1, in this order."""
    plain = all(_whole(name) == place for place, name in enumerate(names))
    return None if plain else tuple(names)


def _whole(name: Any) -> int | None:
    """Return a name as a whole number, if it is one or spells one in digits; None for other names."""
    if isinstance(name, bool):
        return None
    if isinstance(name, int | np.integer):
        return int(name)
    digits = isinstance(name, str) and name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")
    return int(name) if digits and len(name) < 20 else None


def terminal_names(topology: Topology) -> tuple[Any, ...] | None:
    """Return the file's names of terminals, or else their nodes' names if no node has two; None for numbers."""
    plan = topology.plan
    if plan.terminal_names is not None or plan.names is None:
        return plan.terminal_names
    if len(np.unique(topology.terminals)) < len(topology.terminals):
        return None
    return tuple(plan.names[node] for node in topology.terminals.tolist())


def name_of(topology: Topology, node: int) -> Any:
    """Return the name of a node, or its number if nodes have no names."""
    return node if topology.plan.names is None else topology.plan.names[node]


def texts_of(names: tuple[Any, ...] | None, nodes: Iterable[int]) -> list[str] | None:
    """Return the names of the given nodes for a table; None if nodes have no names."""
    return None if names is None else [str(names[node]) for node in nodes]


def column_of(names: tuple[Any, ...] | None, nodes: np.ndarray) -> pa.Array[Any]:
    """Return a column of nodes for `numbers_of`, by name, or by number if nodes have no names."""
    if names is None:
        return pa.array(nodes.astype(np.int32))
    whole = all(isinstance(name, int) for name in names)
    known = pa.array(list(names), pa.int64()) if whole else pa.array(list(map(str, names)), pa.string())
    places: pa.Array[Any] = pa.array(nodes.astype(np.int64), pa.int64(), mask=nodes < 0)
    return known.take(places)


def numbers_of(names: tuple[Any, ...], column: pa.ChunkedArray[Any], name: str, things: str) -> np.ndarray:
    """Return int64[R]: the numbers of the nodes or terminals that a column names. Raises BadInput for unknown names."""
    if column.null_count:
        raise BadInput(f"{name}: expected {things} in every row, got {counted(column.null_count, 'row')} without")
    given = _as_texts(column)
    import pyarrow.compute as pc  # takes 50 ms, so that it is imported only when needed

    found = pc.index_in(given, value_set=_texts(names))
    if found.null_count:
        row = int(np.argmin(found.is_valid().to_numpy(zero_copy_only=False)))
        raise BadInput(
            f"{name}: expected {things} as the network's file or graph names them, {named(names)}, got"
            f" {one_line(printable(given[row]), SHOWN)} in row {row + 1}"
        )
    return found.cast(pa.int64()).to_numpy()


def number_of(names: tuple[Any, ...] | None, given: Any, name: str) -> Any:
    """Return the number of the node or terminal that an option or argument names.

    given   a number, its digits, or a name; a number is returned unchanged if nodes have no names
    If no node is named 0, then 0, the default of options, is the first node. If no name is a whole number, a number is
    its place in the file's order. Raises BadInput for a name that no node has.
    """
    number = _whole(given)
    if names is None:
        if number is None:
            got = one_line(given, SHOWN)
            raise BadInput(f"{name}: expected a whole number from 0, as no node has a name, got {got}")
        return number
    place = _places(names).get(str(given))
    if place is not None:
        return place
    if number is not None and (given == 0 or has_no_numbers(names)):
        return number
    raise BadInput(
        f"{name}: expected a node as the network's file or graph names it, {named(names)}, got"
        f" {one_line(printable(given), SHOWN)}"
    )


@lru_cache(maxsize=4)
def has_no_numbers(names: tuple[Any, ...]) -> bool:
    """Return whether no node has a whole number as its name. Then a number can only mean a place."""
    return all(_whole(name) is None for name in names)


def named(names: tuple[Any, ...]) -> str:
    """List the first three names, for a message."""
    shown = ", ".join(one_line(printable(name), SHOWN) for name in names[:3])
    return shown + (", …" if len(names) > 3 else "")


def _as_texts(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    try:
        if pa.types.is_floating(column.type):  # whole numbers of a column that had gaps
            column = column.cast(pa.int64())
        return column.cast(pa.string())
    except pa.ArrowException as error:
        raise BadInput(f"expected names or whole numbers, got: {one_line(error)}") from None


@lru_cache(maxsize=4)
def _texts(names: tuple[Any, ...]) -> pa.Array[Any]:
    _places(names)  # checks that the names differ
    return pa.array(list(map(str, names)), pa.string())


@lru_cache(maxsize=4)
def _places(names: tuple[Any, ...]) -> dict[str, int]:
    places = {str(name): place for place, name in enumerate(names)}
    if len(places) < len(names):
        raise BadInput("expected nodes whose names differ as text, got two alike, such as 1 and '1'; rename one")
    return places
