"""Tables as Parquet files: the same bytes for the same rows; read whole, or only the rows of some numbers."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from torusweep.errors import Refused

SCHEMA_VERSION = 1
ROW_GROUP = 1 << 16  # rows; a reader of some sizes or families skips the other groups


def parquet(table: pa.Table, metadata: dict[str, str]) -> bytes:
    """The table as a Parquet file, the same bytes for the same rows however they were put together."""
    whole = table.combine_chunks().replace_schema_metadata({"schema_version": str(SCHEMA_VERSION), **metadata})
    sink = pa.BufferOutputStream()
    pq.write_table(whole, sink, compression="zstd", write_page_checksum=True, row_group_size=ROW_GROUP)
    return sink.getvalue().to_pybytes()


def foreign_table(content: bytes, memory: int, most_rows: int | None = None) -> pa.Table:
    """Somebody else's Parquet file, which no manifest knows.

    memory     bytes that its rows may take: a few kilobytes can stand for billions of equal ones
    most_rows  that have a use; None: any number
    Raises Refused for more, and pyarrow.ArrowException, OSError or ValueError where it is no Parquet file
    or a damaged one.
    """
    about = pq.read_metadata(pa.BufferReader(content))
    if most_rows is not None and about.num_rows > most_rows:
        raise Refused(f"{about.num_rows:,} rows are more than the {most_rows:,} that are read; list each only once")
    if about.num_rows * about.num_columns * 8 > memory:
        raise Refused(
            f"{about.num_rows:,} rows of {about.num_columns} columns"
            " are more than this machine's memory can hold: list fewer"
        )
    return read_rows(content, checked=True)


def read_rows(content: bytes, *, checked: bool = False, where: Mapping[str, int] | None = None) -> pa.Table:
    """What a Parquet file holds, its pages' checksums looked at if `checked`.

    where    as of `open_table`; row groups whose statistics exclude these values are not read
    `pq.read_table` and `pyarrow.dataset` would take a third of a second to import.
    """
    file = pq.ParquetFile(pa.BufferReader(arrow_buffer(content)), page_checksum_verification=checked)
    if not where:
        return file.read()
    rows = file.read_row_groups([group for group in range(file.num_row_groups) if _may_have(file, group, where)])
    return rows.filter(reduce(operator.and_, (pc.field(name) == value for name, value in where.items())))


def _may_have(file: pq.ParquetFile, group: int, where: Mapping[str, int]) -> bool:
    """Whether a row group's least and greatest values of some columns leave room for rows with these values."""
    columns = [file.metadata.row_group(group).column(number) for number in range(file.metadata.num_columns)]
    bounds: dict[str, Any] = {column.path_in_schema: column.statistics for column in columns}
    known = [(bounds[name], value) for name, value in where.items() if bounds[name] and bounds[name].has_min_max]
    return all(bound.min <= value <= bound.max for bound, value in known)


def arrow_buffer(content: bytes) -> pa.Buffer:
    """A copy of the bytes that Arrow owns.

    Arrow's threads may release a file's buffer after the main thread has begun to exit. To release Python's bytes they
    need the interpreter's lock, which is gone by then: the process aborts (status 134).
    """
    copy = pa.BufferOutputStream()
    copy.write(content)
    return copy.getvalue()
