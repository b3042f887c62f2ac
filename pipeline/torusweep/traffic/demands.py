"""Demand matrices read from a file."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from scipy.sparse import coo_array, csr_array

from torusweep.counts import counted
from torusweep.errors import BadInput, Refused, one_line
from torusweep.networks.topology import Topology, default_memory
from torusweep.tables.parquet import foreign_table
from torusweep.traffic.matrix import Traffic, from_pairs

COLUMNS = ("source", "destination", "demand")
LEAST, MOST = 1e-100, 1e100  # sums and their reciprocals stay in the range of float64
# Peak memory per byte of the file: a row takes at least 6 bytes of CSV, and 24 bytes as numbers, which are copied.
MEMORY_PER_BYTE = 16
COPIES = 3  # of a Parquet file's numbers that are in memory at a time
MOST_ROWS = 10_000_000  # of a list, or as many as there are pairs; they take 4 s


def demand(topology: Topology, path: str) -> Traffic:
    """A demand matrix from a file: a list of pairs (CSV or Parquet), or T lines of T numbers (CSV).

    A list has the columns source, destination, demand; others are ignored. Source and destination are numbers of
    terminals, 0 … T − 1. Pairs that are not listed have no demand; repeated pairs add up. A CSV file without
    a line of column names is the matrix itself: line s, column t has the demand from s to t, as numpy.savetxt
    writes it. Demands may be in any unit; they are scaled to a mean of one flit per terminal. The path is relative
    to the current directory.
    Source: the file.
    """
    terminals = len(topology.terminals)
    table = _read(Path(path), max(MOST_ROWS, terminals**2))
    if isinstance(table, np.ndarray):
        return from_pairs(_square(table, terminals))
    source, destination, amount = (_column(table, name) for name in COLUMNS)
    for name, numbers in (("source", source), ("destination", destination)):
        _expect(name, (numbers >= 0) & (numbers < terminals), numbers, f"numbers of terminals, 0 … {terminals - 1}")
    _expect("demand", _in_range(amount), amount, f"0 or numbers of {LEAST:g} … {MOST:g}")
    if not amount.any():
        raise BadInput("expected some demand above 0, got none; list what the terminals send")
    own = csr_array(coo_array((amount, (source, destination)), shape=(terminals, terminals)))
    own.sum_duplicates()
    own.eliminate_zeros()
    return from_pairs(own)


def traffic_of_matrix(topology: Topology, matrix: np.ndarray | csr_array) -> Traffic:
    """The traffic of a matrix in memory, [T, T]: row s, column t has the demand of terminal s to terminal t.

    Demands may be in any unit; they are scaled to a mean of one flit per terminal.
    Raises BadInput for another shape, and for numbers that are no demands.
    """
    terminals, shape = len(topology.terminals), tuple(matrix.shape)
    if shape != (terminals, terminals):
        raise BadInput(
            f"traffic: expected a matrix [{terminals}, {terminals}], a row and a column for each terminal of"
            f" {topology.spelling}, got [{', '.join(map(str, shape))}]"
        )
    if matrix.dtype.kind not in "biuf":
        raise BadInput(f"traffic: expected a matrix of numbers, got {matrix.dtype}")
    own = csr_array(matrix, dtype=np.float64, copy=True)
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


def _square(matrix: np.ndarray, terminals: int) -> csr_array:
    """The demands of a matrix, checked."""
    if matrix.shape != (terminals, terminals):
        lines, columns = matrix.shape
        raise BadInput(
            f"expected {terminals} lines of {terminals} numbers, one for each terminal, or a first line"
            f" {','.join(COLUMNS)}, got {counted(lines, 'line')} of {counted(columns, 'number')}"
        )
    _expect("demand", _in_range(matrix), matrix, f"0 or numbers of {LEAST:g} … {MOST:g}")
    if not matrix.any():
        raise BadInput("expected some demand above 0, got none; list what the terminals send")
    return csr_array(matrix)


def _in_range(amount: np.ndarray) -> np.ndarray:
    return (amount == 0) | (amount >= LEAST) & (amount <= MOST)


def _read(path: Path, most_rows: int) -> pa.Table | np.ndarray:
    """A table of pairs, or float64[lines, columns] of a file that is a matrix."""
    try:
        if path.exists() and not path.is_file():  # opening a pipe would block
            raise BadInput("expected a demand file, got no regular file; write it to a file first")
        size = path.stat().st_size
        if size * MEMORY_PER_BYTE > default_memory():
            raise Refused(
                f"a file of {size / 2**30:.1f} GiB is more than this machine's memory can hold: list fewer pairs"
            )
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"expected a demand file, got: {reason}; paths are relative to {Path.cwd()}") from None
    try:
        if path.suffix.lower() == ".parquet":
            return _with_valid_names(foreign_table(content, default_memory() // COPIES, most_rows))
        if path.suffix.lower() == ".csv":
            return _of_csv(content)
    # OSError: damaged Parquet; ValueError: names not in UTF-8
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(f"expected a table with the columns {', '.join(COLUMNS)}, got: {one_line(error)}") from None
    raise BadInput(f"expected a suffix of .csv or .parquet, got '{path.suffix}'")


def _of_csv(content: bytes) -> pa.Table | np.ndarray:
    if b"\0" in content:
        raise ValueError("a NUL byte: this is a binary file")
    first = content.partition(b"\n")[0].decode("utf-8-sig", errors="replace").strip()
    delimiter = next((mark for mark in ",;\t " if mark in first), ",")
    separated = pyarrow.csv.ParseOptions(delimiter=delimiter)
    if not _is_number(first.partition(delimiter)[0]):
        return _with_valid_names(pyarrow.csv.read_csv(BytesIO(content), parse_options=separated))
    unnamed = pyarrow.csv.ReadOptions(autogenerate_column_names=True)
    table = pyarrow.csv.read_csv(BytesIO(content), unnamed, separated)
    lines = enumerate(table.columns, 1)
    return np.column_stack([_numbers(column, f"column {number}", pa.float64()) for number, column in lines])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _with_valid_names(table: pa.Table) -> pa.Table:
    """Return the table. Raises ValueError if a column's name is not UTF-8, which Arrow decodes on access."""
    _ = table.column_names
    return table


def _column(table: pa.Table, name: str) -> np.ndarray:
    """The values of a column: int64[rows], for demand float64[rows]."""
    if table.column_names.count(name) != 1:
        raise BadInput(
            f"expected the columns {', '.join(COLUMNS)}, got {one_line(', '.join(table.column_names)) or 'none'}"
        )
    return _numbers(table.column(name), name, pa.float64() if name == "demand" else pa.int64())


def _numbers(column: pa.ChunkedArray, name: str, kind: pa.DataType) -> np.ndarray:
    """The values of a column, int64[rows] or float64[rows]; `name` is for messages."""
    if column.null_count:
        raise BadInput(f"{name}: expected a number in every row, got {counted(column.null_count, 'row')} without")
    try:
        return column.cast(kind).to_numpy()
    except pa.ArrowException as error:
        raise BadInput(
            f"{name}: expected {'numbers' if kind == pa.float64() else 'whole numbers'}, got: {one_line(error)}"
        ) from None


def _expect(name: str, is_valid: np.ndarray, values: np.ndarray, what: str) -> None:
    if not is_valid.all():
        place = np.unravel_index(np.argmin(is_valid), is_valid.shape)
        words = ", ".join(f"{what} {at + 1}" for what, at in zip(("row", "column"), place))
        raise BadInput(f"{name}: expected {what}, got {values[place]} in {words}")
