"""Read links from a Parquet file with a row per link, as `torusweep export` or another program writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from torusweep.errors import BadInput, Refused, one_line, printable
from torusweep.networks.families.graph_listing import (
    ABSENT,
    BANDWIDTH,
    LARGEST,
    LINK_NUMBERS,
    Listing,
    class_names,
    ends_of,
    note_names,
    note_unread,
)
from torusweep.networks.families.graph_numbers import (
    ALSO_CALLED,
    DIRECTIONS,
    KNOWN,
    WEIGHT,
    direction_of,
    known_names,
    set_column,
    set_numbers,
)
from torusweep.networks.families.graph_tables import is_index
from torusweep.networks.link_lists import MOST_BANDWIDTH
from torusweep.networks.topology import default_memory
from torusweep.quantities import counted
from torusweep.tables.parquet import foreign_table

COPIES = 12  # copies of a file's numbers in memory at a time, while links are sorted
# keys of metadata
NODES, DIRECTED, TERMINALS, PORTS, CLASSES, NAMES = "nodes", "directed", "terminals", "ports", "classes", "names"
_KEYS = {key.encode() for key in (NODES, DIRECTED, TERMINALS, PORTS, CLASSES, NAMES)}


def parquet_links(path: Path) -> Listing:
    """Read the columns source and target of a Parquet file, which has one row per link.

    The ends may also be called source and destination, from and to, src and dst, u and v. They are whole numbers, or
    texts, which are numbered in the order of the file. The columns port, target_port, link_class, target_link_class,
    multiplicity, bandwidth (flits a cycle), latency (cycles) and weight are read, of any type whose values are numbers
    (`torusweep.networks.families.graph_numbers`). A note names other columns. The file's metadata may give, as JSON,
    nodes (their number), directed, terminals (node of each), ports (of a node), classes (names) and names (of nodes
    0, 1, …).
    """
    try:
        table = foreign_table(path.read_bytes(), default_memory() // COPIES)
        names = table.column_names
        metadata = {
            key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items() if key in _KEYS
        }
    except Refused as refusal:
        raise Refused(f"{printable(path)}: {refusal}") from None
    except (pa.ArrowException, OSError, ValueError) as error:  # OSError: damaged; ValueError: names not in UTF-8
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise BadInput(
            f"{printable(path)}: expected a Parquet file of links, got: {one_line(printable(error))}"
        ) from None
    try:
        return _listing(table, names, metadata)
    except BadInput as refusal:
        raise BadInput(f"{printable(path)}: {refusal}") from None


def _listing(table: pa.Table, names: list[str], metadata: dict[str, str]) -> Listing:
    places = ends_of(names)
    if places is None:
        raise BadInput(f"expected the columns source and target, got {one_line(printable(', '.join(names))) or 'none'}")
    ends = [names[place] for place in places]
    columns = [table.column(end) for end in ends]
    for end, column in zip(ends, columns):
        if column.null_count:
            raise BadInput(f"{end}: expected a node in every row, got {counted(column.null_count, 'row')} without")
    listing = Listing(directed=_flag(metadata))
    if all(pa.types.is_integer(column.type) for column in columns):
        listing.tails, listing.heads = (_nodes(end, column) for end, column in zip(ends, columns))
    else:
        listing.tails, listing.heads = _named(listing, columns)
    known = known_names(names, listing.notes)
    _set_numbers(listing, table, known)
    direction = _set_direction(listing, table)
    read = {*ends, *known.values(), direction}
    left = [name for name in names if name not in read and not is_index(name) and _is_there(table, name)]
    note_unread(listing, {"columns": left}, (*KNOWN, *ALSO_CALLED))
    _read_metadata(listing, metadata)
    return listing


def _set_numbers(listing: Listing, table: pa.Table, known: dict[str, str]) -> None:
    """Set the links' numeric attributes. `known` maps our name of a column to the table's name (`known_names`)."""
    names = table.column_names
    for name, called in known.items():
        if names.count(called) > 1:
            raise BadInput(f"expected one column {one_line(printable(called))}, got {names.count(called)}; remove one")
        column = table.column(called)
        if name in LINK_NUMBERS and pa.types.is_integer(column.type):
            listing.numbers[name] = _whole(name, column)
        elif name in (BANDWIDTH, WEIGHT) and _is_number(column.type):
            try:
                set_column(listing, name, _widths(name, column))
            except BadInput as wrong:
                if name != WEIGHT:
                    raise
                listing.wrong_weight = wrong
        elif column.null_count < len(column):  # decimals, texts, …
            set_numbers(listing, {name: [None if value != value else value for value in column.to_pylist()]})


def _set_direction(listing: Listing, table: pa.Table) -> str | None:
    """Set whether links are directed, and return the name of the column that says so; None without such a column."""
    typed = [name for name in table.column_names if name.strip().lower() in DIRECTIONS]
    direction, directed = direction_of({name: table.column(name).to_pylist() for name in typed})
    if directed is not None and listing.directed not in (None, directed):
        kinds = {True: "links of one direction", False: "links of both directions"}
        raise BadInput(
            f"{direction}: expected {kinds[listing.directed]}, as the metadata says, got {kinds[directed]}; remove the"
            " column"
        )
    listing.directed = listing.directed if directed is None else directed
    return direction


def _is_there(table: pa.Table, name: str) -> bool:
    """Return whether any row has a value in the column, or in one of several columns, with this name."""
    return any(table.column(place).null_count < len(table) for place in table.schema.get_all_field_indices(name))


def _nodes(end: str, column: pa.ChunkedArray[Any]) -> np.ndarray:
    """Return a column of node numbers as int64[L]. Raises BadInput for a number that is negative or too large."""
    try:
        numbers = column.cast(pa.int64()).to_numpy()
    except pa.ArrowException:
        numbers = np.array([-1])
    wrong = (numbers < 0) | (numbers >= LARGEST)
    if wrong.any():
        raise BadInput(f"{end}: expected numbers of nodes, 0 … 2⁶², got {column[int(np.argmax(wrong))]}")
    return numbers


def _named(listing: Listing, columns: list[pa.ChunkedArray[Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Number ends that are texts, in the order of the file. Return (tails int64[L], heads int64[L])."""
    try:
        texts = [column.cast(pa.large_string()).to_pylist() for column in columns]
    except (pa.ArrowException, ValueError) as error:  # ValueError: not UTF-8
        raise BadInput(f"expected ends that are numbers or texts, got: {one_line(printable(error))}") from None
    numbers: dict[str, int] = {}
    pairs = [(numbers.setdefault(u, len(numbers)), numbers.setdefault(v, len(numbers))) for u, v in zip(*texts)]
    note_names(listing, numbers)
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _whole(name: str, column: pa.ChunkedArray[Any]) -> np.ndarray:
    """Return a column of whole numbers as int64[L], with ABSENT for an empty row."""
    try:
        numbers = column.cast(pa.int64()).fill_null(pa.scalar(ABSENT, pa.int64())).to_numpy()
    except pa.ArrowException as error:
        raise BadInput(f"{name}: expected whole numbers, got: {one_line(printable(error))}") from None
    wrong = (numbers < 0) & column.is_valid().to_numpy(zero_copy_only=False)
    if wrong.any():
        raise BadInput(f"{name}: expected numbers of 0 or more, got {numbers[int(np.argmax(wrong))]}")
    return numbers


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _widths(name: str, column: pa.ChunkedArray[Any]) -> np.ndarray:
    """Return a column of numbers above 0 as float64[L], with NaN for an empty row."""
    numbers = column.cast(pa.float64()).fill_null(pa.scalar(np.nan, pa.float64())).to_numpy()
    wrong = column.is_valid().to_numpy(zero_copy_only=False) & ~((numbers > 0) & (numbers <= MOST_BANDWIDTH))
    if wrong.any():
        what = "flits a cycle above 0" if name == BANDWIDTH else "numbers above 0"
        first = numbers[int(np.argmax(wrong))]
        what += f", up to {MOST_BANDWIDTH:,}" if first > 0 else ""
        raise BadInput(f"{name}: expected {what}, got {first}")
    return numbers


def _flag(metadata: dict[str, str]) -> bool | None:
    if DIRECTED not in metadata:
        return None
    value = _json(metadata, DIRECTED)
    if not isinstance(value, bool):
        raise BadInput(f"metadata directed: expected true or false, got {one_line(printable(metadata[DIRECTED]), 60)}")
    return value


def _read_metadata(listing: Listing, metadata: dict[str, str]) -> None:
    most = min(2**31 - 1, default_memory() // 128)
    if NODES in metadata:
        nodes = _count(metadata, NODES, most)
        largest = max(np.max(listing.tails, initial=-1), np.max(listing.heads, initial=-1))
        if largest >= nodes:
            raise BadInput(f"metadata nodes: expected more than the largest node, {largest:,}, got {nodes:,}")
        listing.nodes = np.arange(nodes)
        if NAMES in metadata:
            names = _json(metadata, NAMES)
            if (
                not isinstance(names, list)
                or len(names) != nodes
                or not all(type(name) in (int, str) for name in names)
            ):
                raise BadInput(f"metadata names: expected a number or a text for each of {nodes:,} nodes")
            listing.names = tuple(names)
    if PORTS in metadata:
        listing.width = _count(metadata, PORTS, most)
    if CLASSES in metadata:
        listing.classes = class_names(_json(metadata, CLASSES))
    if TERMINALS in metadata:
        terminals = _json(metadata, TERMINALS)
        if not isinstance(terminals, list) or not all(type(node) is int for node in terminals):
            raise BadInput("metadata terminals: expected a list of numbers of nodes, got something else")
        known = np.unique(np.concatenate([listing.tails, listing.heads, listing.nodes]).astype(np.int64))
        wrong = [node for node in terminals if not 0 <= node < LARGEST]
        wrong = wrong or np.setdiff1d(np.array(terminals, np.int64), known).tolist()
        if wrong:
            raise BadInput(f"metadata terminals: expected nodes of the file, got {one_line(wrong[0], 40)}")
        listing.terminals = np.array(terminals, np.int64)


def _count(metadata: dict[str, str], key: str, most: int) -> int:
    value = _json(metadata, key)
    if type(value) is not int or not 0 <= value <= most:
        raise BadInput(f"metadata {key}: expected 0 … {most:,}, got {one_line(printable(metadata[key]), 60)}")
    return value


def _json(metadata: dict[str, str], key: str) -> Any:
    try:
        return json.loads(metadata[key])
    except (ValueError, RecursionError):
        raise BadInput(f"metadata {key}: expected JSON, got {one_line(printable(metadata[key]), 60)}") from None
