"""Routings from objects in memory: tables, data frames, matrices and functions of Python."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import count
from numbers import Integral, Real
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from torusweep.errors import BadInput, naming, one_line
from torusweep.networks.topology import Topology
from torusweep.routing import GivenRouting
from torusweep.routing.forms import TableRouting
from torusweep.routing.tables.columns import COLUMNS, LEAST, MOST, rows_of_matrix, rows_of_table
from torusweep.routing.tables.rows import TableRows, table_routing

NextHops = Callable[[int, int], Any]  # (at, destination) → node, or [(node, share), …]
_numbers = count(1)  # of routings without a name
_lambda_numbers = count(1)
_lambdas: WeakKeyDictionary[Callable[..., Any], int] = WeakKeyDictionary()


def routing_of(topology: Topology, given: Any, name: str | None = None) -> str | GivenRouting:
    """Turn a user's spelling, table, matrix or function into a routing that the stages take.

    given   a spelling; a `GivenRouting`; a table of rows (Arrow, pandas, Polars, dict of columns: `table_from`); a
            matrix of next nodes, int[N, N]; or a function (at, destination) → next node, or list of (node, share)
    name    name of the routing in tables and messages; by default the function's name, "lambda 1", … for functions
            without a name, and "given routing 1", … for tables and matrices

    Raises BadInput if `given` does not route the network (`table_routing`), or has another type.
    """
    if isinstance(given, str | GivenRouting):
        return given
    if callable(given):
        spelled = name or _name_of(given)
        maker: Callable[[Topology, Any], TableRouting] = table_from_function
    else:
        spelled, maker = name or f"given routing {next(_numbers)}", table_from
    known = f" {spelled}" if name or callable(given) else ""  # a number would say nothing to who gave it
    with naming(f"routing{known} on {topology.spelling}"):
        return GivenRouting(spelled, maker(topology, given))


def _name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function. A lambda gets a number, which stays the same if the lambda is given again."""
    name = str(getattr(function, "__name__", "function"))
    if name != "<lambda>":
        return name
    if function not in _lambdas:
        _lambdas[function] = next(_lambda_numbers)
    return f"lambda {_lambdas[function]}"


def table_from(topology: Topology, given: Any) -> TableRouting:
    """Make a routing from a table in memory with the columns of `table(path=…)`, or from a matrix of next nodes.

    given   pyarrow.Table; anything with Arrow's stream interface (pandas, Polars, DuckDB); a dict of columns; or a
            matrix int[N, N] of next nodes, by [at, destination], in which −1 or the node itself means none
    """
    if isinstance(given, pa.Table):
        return table_routing(topology, rows_of_table(topology, given), partial=True)
    if isinstance(given, Mapping) or hasattr(given, "__arrow_c_stream__"):
        if isinstance(given, Mapping) and (keys := [key for key in given if not isinstance(key, str)]):
            got = f"a {type(given).__name__} with the key {one_line(repr(keys[0]), 40)}"
            raise BadInput(f"expected a table with the columns {', '.join(COLUMNS)}, got {got}")
        try:
            found = pa.table(dict(given) if isinstance(given, Mapping) else given)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise BadInput(f"expected a table with the columns {', '.join(COLUMNS)}, got: {one_line(error)}") from None
        return table_routing(topology, rows_of_table(topology, found), partial=True)
    try:
        matrix = np.asarray(given)
    except ValueError as error:
        raise BadInput(f"expected a matrix of next nodes, got: {one_line(error)}") from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "iuf":
        raise BadInput(
            "expected a spelling, a table with the columns at, destination, to, a matrix of next nodes, or a function,"
            f" got {type(given).__name__}"
        )
    return table_routing(topology, rows_of_matrix(topology, matrix), partial=True)


def table_from_function(topology: Topology, function: NextHops) -> TableRouting:
    """Make a routing from a function (at, destination) → the next node, or a list of (next node, share).

    Nodes have the names of the network's graph or file. The function is called once for every node that packets to a
    destination reach, never at the destination. Its exceptions pass through.
    """
    names = topology.plan.names or range(topology.nodes)
    number = {name: place for place, name in enumerate(names)}
    terminals = np.unique(topology.terminals).tolist()
    neighbours = [set(row) - {-1} for row in topology.ports.tolist()]
    ports = [{to: port for port, to in reversed(list(enumerate(row)))} for row in topology.ports.tolist()]
    listed: list[tuple[int, int, int, float]] = []
    for destination in terminals:
        seen = {*terminals, destination}
        waiting = [source for source in terminals if source != destination]
        while waiting:
            at = waiting.pop()
            place, goal = names[at], names[destination]
            for given, share in _answer(function(place, goal), place, goal, number):
                to = number.get(given, -1)
                if to not in neighbours[at]:
                    known = ", ".join(str(names[other]) for other in sorted(neighbours[at]))
                    raise BadInput(
                        f"expected a neighbour of {place} towards {goal}, got {one_line(given, 60)}; there are {known}"
                    )
                listed.append((at, destination, ports[at][to], share))
                if to not in seen:
                    seen.add(to)
                    waiting.append(to)
    at, destination, port = np.array([row[:3] for row in listed], np.int64).reshape(-1, 3).T
    weight = np.array([row[3] for row in listed])
    return table_routing(topology, TableRows(at, destination, port, weight=weight))


def _answer(answer: Any, at: Any, destination: Any, known: Mapping[Any, int]) -> list[tuple[Any, float]]:
    """Return a function's answer as a list of (next node, share). Raises BadInput for an answer of another form."""
    if _is_node(answer, known):
        return [(answer, 1.0)]
    pairs = list(answer) if isinstance(answer, Iterable) and not isinstance(answer, str) else []
    valid = bool(pairs) and all(
        isinstance(pair, tuple | list) and len(pair) == 2 and _is_node(pair[0], known) and _is_share(pair[1])
        for pair in pairs
    )
    if not valid:
        raise BadInput(
            f"expected a node or a list of (node, share of {LEAST:g} … {MOST:g}) at {at} towards {destination},"
            f" got {one_line(answer, 80)}"
        )
    return [(to, float(share)) for to, share in pairs]


def _is_node(given: Any, known: Mapping[Any, int]) -> bool:
    return isinstance(given, Integral) or (isinstance(given, Hashable) and given in known)


def _is_share(given: Any) -> bool:
    """Return whether an object is a number in the range of shares, even a whole number too large for float64."""
    return isinstance(given, Real) and bool(LEAST <= given <= MOST)  # type: ignore[operator]  # typeshed's Real has no order
