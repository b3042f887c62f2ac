"""Demand matrices read from a file."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from scipy.sparse import coo_array, csr_array

from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import Topology, default_memory
from torusweep.tables.store import foreign_table
from torusweep.traffic.matrix import Traffic, from_pairs

COLUMNS = ("source", "destination", "demand")
LEAST, MOST = 1e-100, 1e100  # sums and their reciprocals stay in the range of float64
# Peak memory per byte of the file: a row takes at least 6 bytes of CSV, and 24 bytes as numbers, which are copied.
MEMORY_PER_BYTE = 16


def demand(topology: Topology, path: str) -> Traffic:
    """A demand matrix from a CSV or Parquet file with the columns source, destination, demand (others are ignored).

    Source and destination are numbers of terminals, 0 … T − 1. Pairs that are not listed have no demand;
    repeated pairs add up. Demands may be in any unit; they are scaled to a mean of one flit per terminal.
    The path is relative to the current directory.
    Source: the file.
    """
    terminals = len(topology.terminals)
    table = _read(Path(path))
    source, destination, amount = (_column(table, name) for name in COLUMNS)
    for name, numbers in (("source", source), ("destination", destination)):
        _expect(name, (numbers >= 0) & (numbers < terminals), numbers, f"numbers of terminals, 0 … {terminals - 1}")
    _expect(
        "demand", (amount == 0) | (amount >= LEAST) & (amount <= MOST), amount, f"0 or numbers of {LEAST:g} … {MOST:g}"
    )
    if not amount.any():
        raise BadInput("expected some demand above 0, got none; list what the terminals send")
    own = csr_array(coo_array((amount, (source, destination)), shape=(terminals, terminals)))
    own.sum_duplicates()
    own.eliminate_zeros()
    return from_pairs(own)


def _read(path: Path) -> pa.Table:
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
            return _with_valid_names(foreign_table(content, default_memory()))
        if path.suffix.lower() == ".csv":
            return _with_valid_names(pyarrow.csv.read_csv(BytesIO(content)))
    # OSError: damaged Parquet; ValueError: names not in UTF-8
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(f"expected a table with the columns {', '.join(COLUMNS)}, got: {error}") from None
    raise BadInput(f"expected a suffix of .csv or .parquet, got '{path.suffix}'")


def _with_valid_names(table: pa.Table) -> pa.Table:
    """Return the table. Raises ValueError if a column's name is not UTF-8, which Arrow decodes on access."""
    _ = table.column_names
    return table


def _column(table: pa.Table, name: str) -> np.ndarray:
    """The values of a column: int64[rows], for demand float64[rows]."""
    if table.column_names.count(name) != 1:
        raise BadInput(f"expected the columns {', '.join(COLUMNS)}, got {', '.join(table.column_names) or 'none'}")
    column = table.column(name)
    kind = pa.float64() if name == "demand" else pa.int64()
    if column.null_count:
        raise BadInput(f"{name}: expected a number in every row, got {column.null_count} without")
    try:
        return column.cast(kind).to_numpy()
    except pa.ArrowException as error:
        raise BadInput(f"{name}: expected {'numbers' if name == 'demand' else 'whole numbers'}, got: {error}") from None


def _expect(name: str, is_valid: np.ndarray, values: np.ndarray, what: str) -> None:
    if not is_valid.all():
        row = int(np.argmin(is_valid))
        raise BadInput(f"{name}: expected {what}, got {values[row]} in row {row + 1}")
