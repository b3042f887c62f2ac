"""Traffic read from a file."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import Topology, default_memory
from torusweep.traffic.matrix import Traffic, from_pairs

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("source", "destination", "demand")
LEAST, MOST = 1e-100, 1e100  # so that neither sums nor their reciprocals leave the range of float64
MEMORY_PER_BYTE = 16  # while reading, per byte of the file: a row is 6 bytes of CSV at least, and 24 as numbers that are sorted and copied


def demand(topology: Topology, path: str) -> Traffic:
    """A demand matrix: a CSV or Parquet file of the columns source, destination, demand (others are ignored).

    Source and destination are numbers of terminals, 0 … T − 1; pairs that are not listed send nothing,
    pairs listed several times add up. Demands are in any unit: they are scaled to one flit per
    terminal in the mean. The path is relative to the current directory.
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
    import pyarrow as pa

    try:
        if path.exists() and not path.is_file():
            raise BadInput(
                "expected a demand file, got no regular file; write it to a file first"
            )  # a pipe would be waited for
        size = path.stat().st_size
        if size * MEMORY_PER_BYTE > default_memory():
            raise Refused(
                f"a file of {size / 2**30:.1f} GiB is more than this machine's memory can hold: list fewer pairs"
            )
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"expected a demand file, got: {reason}; paths are relative to {Path.cwd()}") from None
    try:
        if path.suffix.lower() == ".parquet":
            from torusweep.tables.store import foreign_table

            return _named(foreign_table(content, default_memory()))
        if path.suffix.lower() == ".csv":
            from pyarrow import csv

            return _named(csv.read_csv(BytesIO(content)))
    except (
        pa.ArrowException,
        OSError,
        ValueError,
    ) as error:  # damaged Parquet is an OSError, names that are no UTF-8 a ValueError
        raise BadInput(f"expected a table with the columns {', '.join(COLUMNS)}, got: {error}") from None
    raise BadInput(f"expected a suffix of .csv or .parquet, got '{path.suffix}'")


def _named(table: pa.Table) -> pa.Table:
    """The table. Raises ValueError where a column's name is no UTF-8, which Arrow finds out only when it is asked."""
    _ = table.column_names
    return table


def _column(table: pa.Table, name: str) -> np.ndarray:
    """int64[rows], or float64[rows] for demand."""
    import pyarrow as pa

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


def _expect(name: str, holds: np.ndarray, values: np.ndarray, what: str) -> None:
    if not holds.all():
        row = int(np.argmin(holds))
        raise BadInput(f"{name}: expected {what}, got {values[row]} in row {row + 1}")
