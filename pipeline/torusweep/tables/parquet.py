"""Write and read tables as Parquet files. Equal rows give equal bytes, and single parts of a file can be read.

Users' tables and matrices (CSV or Parquet) are read within a limit on memory. Errors are one line.
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
HOLE = 1 << 13  # bytes between columns that take less time to read than another request
MOST_SECONDS = 600.0  # time limit for reading a file
ROW_GROUP = 1 << 16  # rows; a reader of some sizes or families skips the other groups
# Peak memory per byte of the file: a row takes at least 6 bytes of CSV, and 24 bytes as numbers, which are copied.
MEMORY_PER_BYTE = 16
COPIES = 3  # number of copies of a Parquet file's numbers that are in memory at a time


class Streamed(NamedTuple):
    """A table whose rows are made while it is written: its schema, and parts with any number of rows."""

    schema: pa.Schema
    parts: Iterable[pa.Table]


def parquet(table: pa.Table | Streamed, metadata: dict[str, str]) -> bytes:
    """Return a table as the bytes of a Parquet file. They do not depend on the division into parts or chunks."""
    sink = pa.BufferOutputStream()
    write_parquet(sink, table, metadata)
    return sink.getvalue().to_pybytes()


def write_parquet(sink: Any, table: pa.Table | Streamed, metadata: dict[str, str]) -> int:
    """Write the bytes of `parquet` to a file, one row group at a time. Returns the number of rows."""
    schema = table.schema.with_metadata({"schema_version": str(SCHEMA_VERSION), **metadata})
    parts, rows = table.parts if isinstance(table, Streamed) else [table], 0
    with parquet_writer(sink, schema) as writer:
        for group in row_groups(schema.empty_table(), parts):
            writer.write_table(group, row_group_size=ROW_GROUP)
            rows += group.num_rows
    return rows


def row_groups(empty: pa.Table, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the rows of all parts in tables of ROW_GROUP rows, each a copy; without rows, one empty table."""
    left, written = empty, False
    for part in parts:
        whole, begin = pa.concat_tables([left, part.replace_schema_metadata(empty.schema.metadata)]), 0
        while whole.num_rows - begin >= ROW_GROUP:
            yield whole.slice(begin, ROW_GROUP).combine_chunks()
            begin, written = begin + ROW_GROUP, True
        left = whole.slice(begin)
    if left.num_rows or not written:
        yield left.combine_chunks()


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn errors of reading a table into BadInput, since the file and its manifest may both have been altered."""
    try:
        yield
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:  # UnicodeDecodeError: columns' names not in UTF-8
        raise BadInput(f"{path} is damaged ({one_line(error)}): delete it and run the sweep again") from None


class TableFile:
    """A table in Parquet files, of which only the requested parts are read. Methods raise BadInput if one is damaged.

    files  each file's bytes, or its path
    path   the table's name in error messages
    """

    def __init__(self, files: bytes | Sequence[bytes | Path], path: Path = Path("the table")) -> None:
        files = [files] if isinstance(files, bytes) else files
        self._contents = [arrow_buffer(file) if isinstance(file, bytes) else file for file in files]
        self._path = path
        with readable(path):
            self._made = [one.stat().st_mtime_ns if isinstance(one, Path) else 0 for one in self._contents]
            opened = [*self._files()]
            self.schema, self._rows = opened[0].schema_arrow, sum(int(file.metadata.num_rows) for file in opened)

    def _files(self) -> Iterator[pq.ParquetFile]:
        """Open each file. They are not kept, because their metadata take more memory than the bytes of a small file."""
        for content, made in zip(self._contents, self._made):
            with readable(self._path):
                file = parquet_file(content)
                if isinstance(content, Path) and content.stat().st_mtime_ns != made:
                    raise OSError("another run wrote it while it was read")
            yield file

    def __len__(self) -> int:
        return self._rows

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Read the named columns of all rows."""
        with readable(self._path):
            return pa.concat_tables(valid(file.read(list(columns))) for file in self._files())

    def refuse_nulls(self, columns: Sequence[str]) -> None:
        """Raise BadInput if a row has no value in one of these columns."""
        for rows in self.groups(columns) if columns else ():
            for name in columns:
                if nulls := rows.column(name).null_count:
                    got = f"expected a value in every row, got {counted(nulls, 'row')} without"
                    raise BadInput(f"{self._path}: column {name}: {got}; run the sweep again ('torusweep run CONFIG')")

    def groups(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield all rows, one row group at a time, with the named `columns`, or all if None."""
        for file in self._files():
            for number in range(file.num_row_groups):
                with readable(self._path):
                    rows = valid(file.read_row_group(number, None if columns is None else list(columns)))
                yield rows

    def take(self, places: np.ndarray) -> pa.Table:
        """Read the rows with these numbers, int64[…], in the given order."""
        if np.array_equal(places, np.arange(len(self))):
            return pa.concat_tables([self.schema.empty_table(), *self.groups()])
        order = np.argsort(places, kind="stable")
        ordered, begin, found = places[order], 0, [self.schema.empty_table()]
        for file, number in ((one, number) for one in self._files() for number in range(one.num_row_groups)):
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
    """Return the rows. Raises pyarrow.ArrowInvalid for texts that are not UTF-8, because Arrow reads them unchecked."""
    rows.validate(full=True)
    return rows


def arrow_places(places: np.ndarray) -> Any:
    """Convert int64[…] to an Arrow array. `pa.array` is avoided, as it imports pandas (a third of a second)."""
    content = np.ascontiguousarray(places, np.int64)
    return pa.Array.from_buffers(pa.int64(), len(content), [None, pa.py_buffer(content.tobytes())])


def parquet_file(file: Path | bytes | pa.Buffer) -> pq.ParquetFile:
    """Open a Parquet file by its path or bytes. Checksums of pages are verified on reading. Bytes are copied."""
    content = arrow_buffer(file) if isinstance(file, bytes) else file
    source = content if isinstance(content, Path) else pa.BufferReader(content)
    return pq.ParquetFile(source, page_checksum_verification=True)


def parquet_writer(sink: Any, schema: pa.Schema, level: int | None = None) -> pq.ParquetWriter:
    """Make a writer of row groups, with a compression level of zstd; by default Arrow's own level, which is fast.

    Columns that are `stored` by place have the first bytes of all their numbers, then the second bytes, and so on. This
    takes a quarter less space if hardly any number occurs twice.
    """
    by_place = [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in schema
        if (field.metadata or {}).get(b"stored") == b"by place"
    ]
    by_value: Any = True
    if by_place:  # the paths of all other columns must be listed
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
    """Read a user's Parquet file in a separate process (torusweep.tables.apart).

    memory     bytes of memory that its rows may take; a few kilobytes can contain billions of equal rows
    most_rows  greatest number of rows; None for any number
    Raises Refused for more rows or memory, and ValueError for a damaged file, another format, or a reader's crash.
    """
    given = {"memory": memory, "most_rows": most_rows}
    found = apart("torusweep.tables.parquet:decoded", given, content, memory=COPIES * memory, seconds=MOST_SECONDS)
    if found.table is None:
        raise ValueError("no table")
    return found.table


def decoded(content: bytes, *, memory: int, most_rows: int | None) -> Sent:
    """Read a user's Parquet file in the process of `foreign_table`. Texts are only decoded after counting their bytes.

    Raises Refused where `foreign_table` does, and pyarrow.ArrowException, OSError or ValueError for an invalid file.
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
    """Return the bytes of a column's values, where a value of a dictionary counts once for each row that has it."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    kind = column.type.value_type
    if not (pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind)):
        return len(column) * 8
    chunks: list[Any] = column.chunks
    return sum(int(pc.sum(pc.binary_length(one.dictionary).take(one.indices)).as_py() or 0) for one in chunks)


def read_rows(content: bytes | Any, *, checked: bool = False, where: Mapping[str, int] | None = None) -> pa.Table:
    """Read the rows of a Parquet file, without `pq.read_table`, which takes a third of a second to import.

    content  bytes of the file, or its path or an open file, of which only the necessary parts are read
    checked  whether to verify the checksums of pages
    where    as for `open_table`; row groups whose statistics exclude these values are not read
    """
    source = pa.BufferReader(arrow_buffer(content)) if isinstance(content, bytes) else content
    file = pq.ParquetFile(source, page_checksum_verification=checked)
    if not where:
        return valid(file.read())
    rows = file.read_row_groups([group for group in range(file.num_row_groups) if may_have(file, group, where)])
    return valid(rows).filter(reduce(operator.and_, (pc.field(name) == value for name, value in where.items())))


def stored_schema(content: bytes) -> pa.Schema:
    """Return the schema of the Parquet file with this content."""
    return pq.read_schema(pa.BufferReader(arrow_buffer(content)))


def spans(file: pq.ParquetFile, group: int, columns: Sequence[str]) -> list[tuple[int, int]]:
    """Return (begin, end) of the bytes of the named columns in a row group, in order; near ranges are combined."""
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
    """Return whether a row group may have rows with these values, by the minima and maxima of its columns."""
    columns = [file.metadata.row_group(group).column(number) for number in range(file.metadata.num_columns)]
    bounds: dict[str, Any] = {column.path_in_schema: column.statistics for column in columns}
    known = [(bounds[name], value) for name, value in where.items() if bounds[name] and bounds[name].has_min_max]
    return all(bound.min <= value <= bound.max for bound, value in known)


def arrow_buffer(content: bytes) -> pa.Buffer:
    """Copy bytes into a buffer that Arrow owns.

    Arrow's threads may release a file's buffer after the main thread has begun to exit. To release bytes of Python they
    would need the interpreter's lock, which no longer exists then, and the process would abort (status 134).
    """
    copy = pa.BufferOutputStream()
    copy.write(content)
    return copy.getvalue()


def read_foreign(
    path: Path, *, what: str, columns: Sequence[str], most_rows: int, memory: int
) -> pa.Table | np.ndarray:
    """Read a user's table, CSV or Parquet. A CSV file without a header gives float64[lines, columns].

    what       kind of file that is expected, for error messages: "demand file"
    columns    names of the expected columns, for error messages
    most_rows  greatest number of rows of a Parquet file
    memory     bytes of memory that the table may take

    Raises BadInput if the file cannot be read, and Refused if it is too large.
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
    """Read the bytes of a file.

    what        kind of file that is expected, for error messages, such as "a GOAL schedule"
    most_bytes  greatest size of the file
    remedy      remedy for a larger file, after a separator, such as "; list fewer messages"
    where       beginning of error messages: the file's name and a colon, or ""

    Raises BadInput if the file cannot be read, and Refused if it is too large.
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
    """int64[rows] or float64[rows]: the values of a column. Raises BadInput with `name` for null or invalid values."""
    if column.null_count:
        raise BadInput(f"{name}: expected a number in every row, got {counted(column.null_count, 'row')} without")
    try:
        return column.cast(kind).to_numpy()
    except pa.ArrowException as error:
        raise BadInput(
            f"{name}: expected {'numbers' if kind == pa.float64() else 'whole numbers'}, got: {one_line(error)}"
        ) from None


def expect_valid(name: str, is_valid: np.ndarray, values: np.ndarray, what: str) -> None:
    """Raise BadInput for the first invalid value of a column or matrix; `what` says what was expected."""
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
    """Return the table. Raises ValueError if a column's name is not UTF-8, which Arrow would notice only on access."""
    _ = table.column_names
    return table
