"""Tables as Parquet files: the same bytes for the same rows; read whole, or only the rows of some numbers.

Somebody else's tables and matrices, CSV or Parquet, read with limits, and refused in one line.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from torusweep.errors import BadInput, Refused, one_line, printable, unreadable
from torusweep.quantities import counted
from torusweep.tables.apart import Sent, apart

SCHEMA_VERSION = 1
HOLE = 1 << 13  # bytes between columns that cost less to read than another request
MOST_SECONDS = 600.0  # that reading a file may take
ROW_GROUP = 1 << 16  # rows; a reader of some sizes or families skips the other groups
# Peak memory per byte of the file: a row takes at least 6 bytes of CSV, and 24 bytes as numbers, which are copied.
MEMORY_PER_BYTE = 16
COPIES = 3  # of a Parquet file's numbers that are in memory at a time


class Streamed(NamedTuple):
    """Rows of a table that are made when they are written: its schema, and its parts, of any sizes."""

    schema: pa.Schema
    parts: Iterable[pa.Table]


def parquet(table: pa.Table | Streamed, metadata: dict[str, str]) -> bytes:
    """The table as a Parquet file, the same bytes for the same rows however they were put together."""
    sink = pa.BufferOutputStream()
    write_parquet(sink, table, metadata)
    return sink.getvalue().to_pybytes()


def write_parquet(sink: Any, table: pa.Table | Streamed, metadata: dict[str, str]) -> int:
    """Write `parquet` to a file, a row group at a time; how many rows the table has."""
    schema = table.schema.with_metadata({"schema_version": str(SCHEMA_VERSION), **metadata})
    parts, rows = table.parts if isinstance(table, Streamed) else [table], 0
    with parquet_writer(sink, schema) as writer:
        for group in row_groups(schema.empty_table(), parts):
            writer.write_table(group, row_group_size=ROW_GROUP)
            rows += group.num_rows
    return rows


def row_groups(empty: pa.Table, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows of the parts, ROW_GROUP at a time, each group a copy of its own; of no rows, one group."""
    left, written = empty, False
    for part in parts:
        whole = pa.concat_tables([left, part.replace_schema_metadata(empty.schema.metadata)])
        begin = 0
        while whole.num_rows - begin >= ROW_GROUP:
            yield whole.slice(begin, ROW_GROUP).combine_chunks()
            begin, written = begin + ROW_GROUP, True
        left = whole.slice(begin)
    if left.num_rows or not written:
        yield left.combine_chunks()


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Refuse a table that is no Parquet file, though its digest is its manifest's: whoever altered one altered both."""
    try:
        yield
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:  # names of columns that are no UTF-8
        raise BadInput(f"{path} is damaged ({one_line(error)}): delete it and run the sweep again") from None


class TableFile:
    """A Parquet file's rows, of which what is asked for is read. It holds the file's bytes, or its path.

    path: what refusals call it. All raise BadInput where it is damaged.
    """

    def __init__(self, file: bytes | Path, path: Path = Path("the table")) -> None:
        self._content, self._path = arrow_buffer(file) if isinstance(file, bytes) else file, path
        with readable(path):
            self.schema, self._rows = self._file.schema_arrow, int(self._file.metadata.num_rows)

    @property
    def _file(self) -> pq.ParquetFile:
        """Open; what it knows of its columns takes more memory than a small file's bytes."""
        return parquet_file(self._content)

    def __len__(self) -> int:
        return self._rows

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all rows."""
        with readable(self._path):
            return valid(self._file.read(list(columns)))

    def refuse_nulls(self, columns: Sequence[str]) -> None:
        """Raise BadInput if a row has no value in one of these columns."""
        for rows in self.groups(columns):
            for name in columns:
                if nulls := rows.column(name).null_count:
                    got = f"expected a value in every row, got {counted(nulls, 'row')} without"
                    raise BadInput(f"{self._path}: column {name}: {got}; run the sweep again ('torusweep run CONFIG')")

    def groups(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows, some ROW_GROUP at a time. columns: None for all"""
        file = self._file
        for number in range(file.num_row_groups):
            with readable(self._path):
                rows = valid(file.read_row_group(number, None if columns is None else list(columns)))
            yield rows

    def take(self, places: np.ndarray) -> pa.Table:
        """The rows at these places, int64[…], in their order."""
        if np.array_equal(places, np.arange(len(self))):
            return pa.concat_tables([self.schema.empty_table(), *self.groups()])
        order = np.argsort(places, kind="stable")
        ordered, begin, found, file = places[order], 0, [self.schema.empty_table()], self._file
        for number in range(file.num_row_groups):
            end = begin + file.metadata.row_group(number).num_rows
            own = ordered[np.searchsorted(ordered, begin) : np.searchsorted(ordered, end)] - begin
            if len(own):
                with readable(self._path):
                    found.append(valid(file.read_row_group(number)).take(arrow_places(own)))
            begin = end
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_tables(found).combine_chunks().take(arrow_places(back))


def valid(rows: pa.Table) -> pa.Table:
    """The rows. Raises pyarrow.ArrowInvalid for texts that are no UTF-8: Arrow reads them, who uses them fails."""
    rows.validate(full=True)
    return rows


def arrow_places(places: np.ndarray) -> Any:
    """An Arrow array of int64[…]; `pa.array` would import pandas, which takes a third of a second."""
    content = np.ascontiguousarray(places, np.int64)
    return pa.Array.from_buffers(pa.int64(), len(content), [None, pa.py_buffer(content.tobytes())])


def parquet_file(file: Path | bytes | pa.Buffer) -> pq.ParquetFile:
    """A Parquet file, opened; its pages' checksums are looked at. Of bytes, Arrow has a copy."""
    content = arrow_buffer(file) if isinstance(file, bytes) else file
    source = content if isinstance(content, Path) else pa.BufferReader(content)
    return pq.ParquetFile(source, page_checksum_verification=True)


def parquet_writer(sink: Any, schema: pa.Schema, level: int | None = None) -> pq.ParquetWriter:
    """A writer of row groups. Columns of which hardly any number occurs twice (`Column`) are stored by place: the first
    bytes of all numbers, then the second, and so on. They take a quarter less than number by number.

    level  of zstd; by default Arrow's own, which is quick
    """
    by_place = [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in schema
        if (field.metadata or {}).get(b"stored") == b"by place"
    ]
    by_value: Any = True
    if by_place:  # the others have to be named, with what is in them
        empty = pa.BufferOutputStream()
        pq.write_table(schema.empty_table(), empty)
        there = parquet_file(empty.getvalue()).schema
        paths = [there.column(number).path for number in range(len(there))]
        by_value = [path for path in paths if path not in by_place]
    return pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=level,
        use_dictionary=by_value,
        column_encoding=dict.fromkeys(by_place, "BYTE_STREAM_SPLIT") or None,
        write_page_checksum=True,
    )


def foreign_table(content: bytes, memory: int, most_rows: int | None = None) -> pa.Table:
    """Somebody else's Parquet file, which no manifest knows, read by a process of its own.

    memory     bytes that its rows may take: a few kilobytes can stand for billions of equal ones
    most_rows  that have a use; None: any number
    Raises Refused for more, and ValueError where it is no Parquet file, a damaged one, or one that ends the process.
    """
    given = {"memory": memory, "most_rows": most_rows}
    found = apart("torusweep.tables.parquet:decoded", given, content, memory=COPIES * memory, seconds=MOST_SECONDS)
    if found.table is None:
        raise ValueError("no table")
    return found.table


def decoded(content: bytes, *, memory: int, most_rows: int | None) -> Sent:
    """What `foreign_table` asks its process for: texts stay in their dictionaries until their bytes are counted.

    Raises Refused as it does, and pyarrow.ArrowException, OSError or ValueError where it is no Parquet file.
    """
    about = pq.read_metadata(pa.BufferReader(content))
    if most_rows is not None and about.num_rows > most_rows:
        raise Refused(f"{about.num_rows:,} rows are more than the {most_rows:,} that are read; list each only once")
    if about.num_rows * about.num_columns * 8 > memory:
        raise Refused(
            f"{about.num_rows:,} rows of {about.num_columns} columns"
            " are more than this machine's memory can hold: list fewer"
        )
    types = pq.read_schema(pa.BufferReader(content))
    texts = [field.name for field in types if pa.types.is_string(field.type) or pa.types.is_binary(field.type)]
    with pq.ParquetFile(
        pa.BufferReader(arrow_buffer(content)), page_checksum_verification=True, read_dictionary=texts
    ) as file:
        table = file.read()
    left = memory
    for place, field in enumerate(types):
        column = table.column(place)
        left -= _bytes_of(column)
        if left < 0:
            raise Refused(
                f"the column {one_line(printable(field.name), 60)} is more than this machine's memory can hold:"
                " leave it out, or list less"
            )
        if not column.type.equals(field.type):
            table = table.set_column(place, field, column.cast(field.type))
    return Sent({}, table)


def _bytes_of(column: pa.ChunkedArray[Any]) -> int:
    """Bytes of a column's values, each written out: those of a dictionary as often as rows have them."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    kind = column.type.value_type
    if not (pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind)):
        return len(column) * 8
    chunks: list[Any] = column.chunks
    return sum(int(pc.sum(pc.binary_length(one.dictionary).take(one.indices)).as_py() or 0) for one in chunks)


def read_rows(content: bytes | Any, *, checked: bool = False, where: Mapping[str, int] | None = None) -> pa.Table:
    """What a Parquet file holds, its pages' checksums looked at if `checked`.

    content  bytes, or a path or open file, of which only what is needed is read
    where    as for `open_table`; row groups whose statistics exclude these values are not read
    `pq.read_table` and `pyarrow.dataset` would take a third of a second to import.
    """
    source = pa.BufferReader(arrow_buffer(content)) if isinstance(content, bytes) else content
    file = pq.ParquetFile(source, page_checksum_verification=checked)
    if not where:
        return valid(file.read())
    rows = file.read_row_groups([group for group in range(file.num_row_groups) if may_have(file, group, where)])
    return valid(rows).filter(reduce(operator.and_, (pc.field(name) == value for name, value in where.items())))


def stored_schema(content: bytes) -> pa.Schema:
    """The columns of a Parquet file, and their types."""
    return pq.read_schema(pa.BufferReader(arrow_buffer(content)))


def spans(file: pq.ParquetFile, group: int, columns: Sequence[str]) -> list[tuple[int, int]]:
    """(begin, end) of the bytes that hold some columns of a row group, in order; those that are near are one."""
    about, found = file.metadata.row_group(group), list[tuple[int, int]]()
    chunks = [about.column(number) for number in range(about.num_columns)]
    wanted = [chunk for chunk in chunks if chunk.path_in_schema.partition(".")[0] in columns]
    for begin, size in sorted(
        (c.dictionary_page_offset or c.data_page_offset, c.total_compressed_size) for c in wanted
    ):
        near = bool(found) and begin - found[-1][1] <= HOLE
        found.append((found.pop()[0] if near else begin, begin + size))
    return found


def may_have(file: pq.ParquetFile, group: int, where: Mapping[str, int]) -> bool:
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


def read_foreign(
    path: Path, *, what: str, columns: Sequence[str], most_rows: int, memory: int
) -> pa.Table | np.ndarray:
    """A table with names of columns, or float64[lines, columns] of a CSV file that has none.

    what       the file should be, for refusals: "demand file"
    columns    that it should have, for refusals
    most_rows  of a Parquet file
    memory     bytes that it may take

    Raises BadInput where it cannot be read, Refused where it is too large.
    """
    most = memory // MEMORY_PER_BYTE
    content = content_of(path, what=f"a {what}", most_bytes=most, remedy=": list fewer pairs")
    try:
        if path.suffix.lower() == ".parquet":
            return _with_valid_names(foreign_table(content, memory // COPIES, most_rows))
        if path.suffix.lower() == ".csv":
            return _of_csv(content)
    # OSError: damaged Parquet; ValueError: names not in UTF-8
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(f"expected a table with the columns {', '.join(columns)}, got: {one_line(error)}") from None
    raise BadInput(f"expected a suffix of .csv or .parquet, got '{path.suffix}'")


def content_of(path: Path, *, what: str, most_bytes: int, remedy: str, where: str = "") -> bytes:
    """The bytes of a file.

    what        it should be, for refusals: "a GOAL schedule"
    most_bytes  that it may have
    remedy      for a larger one, with what goes before it: "; list fewer messages"
    where       the file's name and a colon, where refusals begin with it

    Raises BadInput where it cannot be read, Refused where it is too large.
    """
    try:
        if path.exists() and not path.is_file():  # opening a pipe would block
            raise BadInput(f"{where}expected {what}, got no regular file; write it to a file first")
        size = path.stat().st_size
        if size > most_bytes:
            raise Refused(
                f"{where}a file of {size / 2**30:.1f} GiB is more than this machine's memory can hold{remedy}"
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: NUL in the name
        raise unreadable(path, error, what) from None


def numbers(column: pa.ChunkedArray[Any], name: str, kind: pa.DataType) -> np.ndarray:
    """The values of a column, int64[rows] or float64[rows]; `name` is for messages."""
    if column.null_count:
        raise BadInput(f"{name}: expected a number in every row, got {counted(column.null_count, 'row')} without")
    try:
        return column.cast(kind).to_numpy()
    except pa.ArrowException as error:
        raise BadInput(
            f"{name}: expected {'numbers' if kind == pa.float64() else 'whole numbers'}, got: {one_line(error)}"
        ) from None


def expect_valid(name: str, is_valid: np.ndarray, values: np.ndarray, what: str) -> None:
    """Refuse the first value, of a column or a matrix, that is not valid; rows and columns are counted from 1."""
    if not is_valid.all():
        place = np.unravel_index(np.argmin(is_valid), is_valid.shape)
        words = ", ".join(f"{what} {at + 1}" for what, at in zip(("row", "column"), place))
        raise BadInput(f"{name}: expected {what}, got {values[place]} in {words}")


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
    return np.column_stack([numbers(column, f"column {number}", pa.float64()) for number, column in lines])


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
