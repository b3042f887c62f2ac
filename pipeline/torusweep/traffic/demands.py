"""Make traffic from a demand matrix, which is read from a file or given in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy

from torusweep.errors import BadInput, located, one_line
from torusweep.networks.names import numbers_of, terminal_names
from torusweep.networks.readers.fields import NUMBER
from torusweep.networks.topology import Topology, default_memory
from torusweep.quantities import counted, rate_of
from torusweep.tables.parquet import content_of, expect_valid, numbers, read_foreign
from torusweep.traffic.matrix import Traffic, from_pairs

COLUMNS = ("source", "destination", "demand")
LEAST, MOST = 1e-100, 1e100  # of a demand, so that sums and their reciprocals stay in the range of float64
MOST_ROWS = 10_000_000  # of a list with fewer pairs of terminals than that; they take 4 s


def demand(topology: Topology, path: str) -> Traffic:
    """A demand matrix from a file: a list of pairs (CSV or Parquet), or T lines of T numbers (CSV).

    A list has the columns source, destination and demand; other columns are ignored. Source and destination are
    numbers of terminals, 0 … T − 1, or, on a network from a file or a graph, names of its nodes, unless a node has
    several terminals. Pairs that are not listed have no demand; demands of repeated pairs add up. A CSV file without
    a line of column names is the matrix itself: line s, column t has the demand from s to t, as numpy.savetxt
    writes it. Noxim's tables of traffic are also read. Demands may have any unit, written ("40 Gb/s") or not, and are
    scaled to a mean of one flit per terminal. The path is relative to the current directory.
    Source: the file.
    """
    terminals = len(topology.terminals)
    most = max(MOST_ROWS, terminals**2)
    table: pa.Table | np.ndarray | None = _of_noxim(located(path))
    if table is None:
        table = read_foreign(
            located(path), what="demand file", columns=COLUMNS, most_rows=most, memory=default_memory()
        )
    if isinstance(table, np.ndarray):
        return from_pairs(_square(table, terminals))
    columns = {name: column_of(table, name) for name in COLUMNS}
    source, destination = (_ends(topology, name, columns[name]) for name in COLUMNS[:2])
    amount, unit = amounts(columns["demand"])
    expect_valid("demand", _in_range(amount), amount, f"0 or numbers of {LEAST:g} … {MOST:g}")
    if not amount.any():
        raise BadInput("expected some demand above 0, got none; list what the terminals send")
    own = scipy.sparse.csr_array(scipy.sparse.coo_array((amount, (source, destination)), shape=(terminals, terminals)))
    own.sum_duplicates()
    own.eliminate_zeros()
    return replace(from_pairs(own), rate=unit and unit * float(amount.sum()) / terminals)


def _of_noxim(path: Path) -> pa.Table | None:
    """Read Noxim's table of traffic, lines `source destination rate`, as columns; None for any other file.

    The rate is in packets per cycle; if no line has a rate, all pairs have the same rate. A fourth number, for
    retransmissions, is ignored. Lines of seven numbers, for pairs that send only part of the time, are refused.
    Source: davidepatti/noxim, src/GlobalTrafficTable.cpp (load).
    """
    if path.suffix.lower() in (".csv", ".parquet"):
        return None
    content = content_of(path, what="a demand file", most_bytes=default_memory() // 64, remedy="; list fewer pairs")
    lines = (line for line in content.decode(errors="replace").splitlines() if line.strip() and line[0] != "%")
    rows = [line.split() for line in lines]
    if not rows or not all(len(row) >= 2 and all(map(NUMBER.fullmatch, row)) for row in rows):
        return None
    lengths = {min(len(row), 3) for row in rows}
    if len(lengths) > 1 or any(len(row) > 4 for row in rows):
        got = "lines with times" if any(len(row) > 4 for row in rows) else "a rate on some lines only"
        raise BadInput(f"expected lines of source, destination and rate, as Noxim reads them, got {got}")
    try:
        ends = [pa.array([row[place] for row in rows]).cast(pa.int64()) for place in (0, 1)]
    except pa.ArrowInvalid:
        raise BadInput("expected numbers of terminals as source and destination, got a decimal") from None
    rates = pa.array([float(row[2]) if len(row) > 2 else 1.0 for row in rows])
    return pa.table(dict(zip(COLUMNS, (*ends, rates))))


def amounts(column: pa.ChunkedArray[Any]) -> tuple[np.ndarray, float | None]:
    """Read values such as 3.5 or "40 Gb/s": (demands float64[R]; bits per second of a demand of 1, None if unknown)."""
    texts = column.to_pylist() if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) else []
    if not any(text is not None and text.strip()[-1:].isalpha() for text in texts):
        return numbers(column, "demand", pa.float64()), None
    try:
        rates = {text: 0.0 if text.strip() == "0" else float(rate_of(text)) for text in set(texts) if text is not None}
    except BadInput as wrong:
        raise BadInput(f"demand: {wrong}; give every demand a unit, or none") from None
    if None in texts:
        raise BadInput("demand: expected a demand in every row, got a row without")
    return np.array([rates[text] for text in texts]), 1.0


def traffic_of_matrix(topology: Topology, matrix: np.ndarray | scipy.sparse.csr_array) -> Traffic:
    """Make traffic from a matrix in memory, [T, T]: row s, column t has the demand of terminal s to terminal t.

    Demands may be in any unit; they are scaled to a mean of one flit per terminal.
    Raises BadInput if the matrix has another shape, or a number that is not a valid demand.
    """
    terminals, shape = len(topology.terminals), tuple(matrix.shape)
    if shape != (terminals, terminals):
        raise BadInput(
            f"traffic: expected a matrix [{terminals}, {terminals}], a row and a column for each terminal of"
            f" {topology.spelling}, got [{', '.join(map(str, shape))}]"
        )
    if matrix.dtype.kind not in "biuf":
        raise BadInput(f"traffic: expected a matrix of numbers, got {matrix.dtype}")
    own = scipy.sparse.csr_array(matrix, dtype=np.float64, copy=True)
    own.sum_duplicates()
    if not (valid := _in_range(own.data)).all():
        place = int(np.argmin(valid))
        row = int(np.searchsorted(own.indptr, place, side="right")) - 1
        raise BadInput(
            f"traffic: expected 0 or numbers of {LEAST:g} … {MOST:g}, got {own.data[place]} in"
            f" [{row}, {own.indices[place]}]"
        )
    own.eliminate_zeros()
    if not own.nnz:
        raise BadInput("traffic: expected some demand above 0, got none; a matrix says what the terminals send")
    return from_pairs(own)


def _square(matrix: np.ndarray, terminals: int) -> scipy.sparse.csr_array:
    """Return a matrix of demands in sparse form. Raises BadInput if its shape or a demand is wrong."""
    if matrix.shape != (terminals, terminals):
        lines, columns = matrix.shape
        raise BadInput(
            f"expected {terminals} lines of {terminals} numbers, one for each terminal, or a first line"
            f" {','.join(COLUMNS)}, got {counted(lines, 'line')} of {counted(columns, 'number')}"
        )
    expect_valid("demand", _in_range(matrix), matrix, f"0 or numbers of {LEAST:g} … {MOST:g}")
    if not matrix.any():
        raise BadInput("expected some demand above 0, got none; list what the terminals send")
    return scipy.sparse.csr_array(matrix)


def _in_range(amount: np.ndarray) -> np.ndarray:
    return (amount == 0) | (amount >= LEAST) & (amount <= MOST)


def _ends(topology: Topology, name: str, column: pa.ChunkedArray[Any]) -> np.ndarray:
    """int64[R]: number of the terminal in each row of a column. Raises BadInput for an unknown terminal."""
    names, terminals = terminal_names(topology), len(topology.terminals)
    if names is not None:
        return numbers_of(names, column, name, "nodes with a terminal")
    number = numbers(column, name, pa.int64())
    expect_valid(name, (number >= 0) & (number < terminals), number, f"numbers of terminals, 0 … {terminals - 1}")
    return number


def column_of(table: pa.Table, name: str) -> pa.ChunkedArray[Any]:
    """Return a column of a list of pairs. Raises BadInput if the list has no column of that name, or several."""
    if table.column_names.count(name) != 1:
        raise BadInput(
            f"expected the columns {', '.join(COLUMNS)}, got {one_line(', '.join(table.column_names)) or 'none'}"
        )
    return table.column(name)
