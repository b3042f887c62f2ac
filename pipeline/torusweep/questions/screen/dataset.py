"""A data set of lattices: compact columns, from which all columns `SCREEN` follow, read from a folder or by HTTP.

A data set has an index, `files.json`, and Parquet files sorted by dimensions and nodes. A reader fetches only the parts
of a file that a size and its columns need, from any server that answers range requests. For each file, the index has
one digest, made from the digests of the file's parts, so damaged data is never used. A forged index has other digests:
only the digest of the index itself, known from elsewhere, shows whose data set it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Annotated, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from torusweep.errors import BadInput, one_line, printable
from torusweep.questions.screen.columns import SCREEN
from torusweep.questions.screen.spaces import Lattices, ScreenedSpace, Space, lattice_guarantee
from torusweep.tables.columns import Column, arrow_schema
from torusweep.tables.manifest import Digest
from torusweep.tables.parquet import may_have, parquet_file, spans
from torusweep.tables.store import INDEX, digest

SECONDS = 30.0  # time limit of a server for its next bytes; callers limit the whole time
MOST_INDEX = 1 << 22  # bytes of an index
MOST_FILE = 1 << 32  # bytes of a file
PART = 1 << 16  # bytes of a part of a file; every part has a digest
PARTS = ".parts"  # suffix of the file next to each file that lists the digests of its parts, of DIGEST bytes each
DIGEST = hashlib.sha256().digest_size
TYPES = {  # types of the stored columns, as small as values up to 65,536 nodes allow; other columns follow from these
    "topology": "string",
    "nodes": "int32",
    "dimensions": "int8",
    "matrix": "list<int32>",
    "class_size": "int16",
    "degree": "int8",
    "diameter": "int32",
    "distance_sum": "int64",
    "distance_histogram": "list<int64>",
    "load": "list<float>",
    "max_channel_load": "double",
    "diameter_bound": "int32",
    "mean_distance_bound": "double",
    "lattice_diameter_bound": "int32",
    "lattice_mean_distance_bound": "double",
}
RING = (  # half of the largest common divisor of a row of the matrix
    "list_max(list_transform(range(dimensions), lambda i: list_reduce(matrix[i * dimensions + 1:(i + 1) * dimensions],"
    " lambda a, b: gcd(a, b)))) // 2"
)
UPPER = f"CASE WHEN diameter > 0 THEN least(degree / diameter, 2 / nullif({RING}, 0)) END"
FOLLOWING = {  # column → SQL expression of the column in stored columns
    "links": "nodes::BIGINT * degree // 2",
    "connected": "true",
    "mean_distance": "distance_sum::DOUBLE / (nodes::BIGINT * nodes)",
    "mean_distance_distinct": "distance_sum::DOUBLE / greatest(nodes::BIGINT * (nodes - 1), 1)",
    "saturation_load": "CASE WHEN max_channel_load > 0 THEN 1 / max_channel_load END",
    "guarantee_lower": f"CASE WHEN max_channel_load > 0 THEN least(0.5 / max_channel_load, {UPPER}) END",
    "guarantee_upper": UPPER,
}
FILTER = ("dimensions", "nodes")
COUNTED = (*FILTER, "class_size")  # columns that show whether all lattices of a size are there


def stored_columns() -> list[Column]:
    """Return the columns of the Parquet files, with their types in these files."""
    return [column._replace(type=TYPES[column.name]) for column in SCREEN if column.name in TYPES]


def stored(rows: pa.Table) -> pa.Table:
    """Return the stored columns of the rows `SCREEN` that are lattices. Raises BadInput for a value out of range."""
    rows = rows.filter(pc.and_(rows["dimensions"].is_valid(), pc.starts_with(rows["topology"], "lattice(")))
    schema = arrow_schema(stored_columns())
    try:
        return pa.Table.from_arrays([rows[field.name].cast(field.type) for field in schema], schema=schema)
    except pa.ArrowInvalid as error:
        raise BadInput(f"a row is too large for a data set ({one_line(error)}); leave out its size") from None


def made_of(column: str) -> list[str]:
    """Return the stored columns from which a column of `SCREEN` follows."""
    words = re.findall(r"\w+", FOLLOWING.get(column, column))
    return [name for name in TYPES if name in words]


def screen_rows(rows: pa.Table) -> pa.Table:
    """Return the columns `SCREEN` of stored rows. A column is null if a stored column that it needs is missing."""
    names = set(rows.column_names)
    nodes, degree, total, busiest = (
        rows[name].to_numpy() if name in names else np.ones(len(rows), np.int64)
        for name in ("nodes", "degree", "distance_sum", "max_channel_load")
    )
    nodes = nodes.astype(np.int64)
    following: dict[str, Any] = {
        "links": nodes * degree // 2,
        "connected": np.ones(len(nodes), bool),
        "mean_distance": total / nodes**2,
        "mean_distance_distinct": total / np.maximum(nodes * (nodes - 1), 1),
        "saturation_load": pa.array(1 / np.where(busiest > 0, busiest, 1), mask=busiest == 0),
    }
    if names.issuperset(needed := made_of("guarantee_lower")):
        own = {name: rows[name].to_numpy() for name in needed if name != "matrix"}
        matrix = pc.list_flatten(rows["matrix"]).to_numpy()
        bounds = lattice_guarantee(matrix, own["dimensions"].astype(np.int64), degree, own["diameter"], busiest)
        following |= zip(("guarantee_lower", "guarantee_upper"), bounds)
    arrays = []
    for field in arrow_schema(SCREEN):
        if not names.issuperset(made_of(field.name)):
            arrays.append(pa.chunked_array([pa.nulls(len(rows), field.type)]))
        elif field.name in following:
            arrays.append(pa.chunked_array([pa.array(following[field.name]).cast(field.type)]))
        else:
            arrays.append(rows[field.name].cast(field.type))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(SCREEN))


Size = tuple[Annotated[int, Field(ge=1, le=127)], Annotated[int, Field(ge=1, lt=1 << 31)]]


class DataFile(BaseModel):
    """A Parquet file of a data set.

    name         name of a file in the folder of the index, not a path
    sha256       digest of the file's content
    parts        sha256 of the digests of the file's parts, one after the other
    first, last  (dimensions, nodes) of the file's first and last row
    """

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.parquet$")]
    bytes: Annotated[int, Field(ge=12, le=MOST_FILE)]
    rows: Annotated[int, Field(ge=1, lt=1 << 40)]
    sha256: Digest
    parts: Digest
    first: Size
    last: Size


class Index(BaseModel):
    """The content of `files.json`, the index of a data set. Unknown keys are ignored."""

    files: Annotated[list[DataFile], Field(min_length=1, max_length=10_000)]


def is_remote(address: str | Path) -> bool:
    """Return whether an address is read by HTTP."""
    return str(address).startswith(("http://", "https://"))


def part_digests(content: bytes | memoryview) -> bytes:
    """Return the digests of a file's parts, one after the other. Parts have PART bytes each."""
    return b"".join(hashlib.sha256(content[at : at + PART]).digest() for at in range(0, len(content), PART))


class DataSet:
    """A data set at an address: a folder, or a URL http://…. Raises BadInput if there is no data set.

    wanted    the digest of its index, known from elsewhere; '': any

    digest    sha256 of the index, which determines all data
    files     Parquet files of the data set, in order
    requests  number of ranges that were read, and their total bytes
    """

    def __init__(self, address: str | Path, wanted: str = "") -> None:
        self.address = str(address).rstrip("/")
        self.requests = [0, 0]
        with self._reading(INDEX):
            content = self.read(INDEX, most=MOST_INDEX)
            self.digest = digest(content)
            if wanted and wanted != self.digest:
                raise BadInput(
                    f"{printable(self.address)}: expected the data set of sha256 {wanted}, got that of {self.digest};"
                    " it is another one, or was altered"
                )
            self.files = TypeAdapter(Index).validate_json(content, strict=False).files
            if len({one.name for one in self.files}) < len(self.files):
                raise ValueError("a file that is listed twice")

    @property
    def remote(self) -> bool:
        """Whether the data set is read by HTTP."""
        return is_remote(self.address)

    def read(self, name: str, begin: int = 0, end: int | None = None, *, most: int = 0) -> bytes:
        """Return the bytes begin … end − 1 of a file; without `end`, the whole file, if it has at most `most` bytes."""
        limit = most if end is None else end - begin
        if not self.remote:
            path = Path(self.address) / name
            if path.exists() and not path.is_file():
                raise ValueError("no regular file")  # reading a pipe would wait
            with path.open("rb") as file:
                file.seek(begin)
                content = file.read(limit + (end is None))
        else:
            ranges = {} if end is None else {"Range": f"bytes={begin}-{end - 1}"}
            with urlopen(Request(f"{self.address}/{name}", headers=ranges), timeout=SECONDS) as answer:
                if end is not None and answer.status != 206:
                    raise OSError("the server answers no range requests")
                content = answer.read(limit + 1)
        if len(content) > limit:
            raise ValueError(f"more than {limit:,} bytes")
        if end is not None and len(content) < limit:
            raise ValueError(f"{len(content):,} bytes of {limit:,} that were asked for")
        self.requests[0] += 1
        self.requests[1] += len(content)
        return content

    def whole(
        self,
        space: Space,
        reduce: Callable[[pa.Table], pa.Table] | None = None,
        by: Sequence[str] = (),
        kept: Sequence[str] = (),
    ) -> list[ScreenedSpace] | None:
        """Return all lattices of a size; None if the data set lacks some of them.

        reduce  maps rows to the wanted rows; None for all rows
        by      columns of `SCREEN` that `reduce` uses
        kept    further columns to return; all other columns are null
        """
        if not isinstance(space, Lattices):
            return None
        size = (space.dimensions, space.nodes)
        chosen_by = {name for column in (*COUNTED, *by) for name in made_of(column)}
        of_kept = chosen_by.union(*map(made_of, kept))
        names = [name for name in TYPES if reduce is None or name in chosen_by]
        found: list[tuple[Callable[[], pa.Table], int, int]] = []
        tables, place = [], 0
        for one in self.files:
            if not one.first <= size <= one.last:
                continue
            with self._reading(one.name):
                file = _OpenFile(self, one)
                for group in range(file.parquet.num_row_groups):
                    if may_have(file.parquet, group, dict(zip(FILTER, size))):
                        tables.append(file.rows(group, names))
                        found.append((partial(file.rows, group, list(of_kept)), place, len(tables[-1])))
                        place += len(tables[-1])
        if not tables:
            return None
        rows = pa.concat_tables(tables)
        here = np.flatnonzero(
            (rows["dimensions"].to_numpy() == space.dimensions) & (rows["nodes"].to_numpy() == space.nodes)
        )
        of_size = screen_rows(rows.take(here))
        if pc.sum(of_size["class_size"]).as_py() != space.lattices:
            return None
        if reduce is None:
            return [ScreenedSpace(of_size, 1.0)]
        number = pa.array(here)
        chosen = reduce(of_size.append_column("number", number))["number"].to_numpy()
        parts = []
        with self._reading(INDEX):
            for columns, begin, count in found:
                mine = chosen[(chosen >= begin) & (chosen < begin + count)] - begin
                if len(mine):
                    parts.append(screen_rows(columns().take(mine)))
        return [ScreenedSpace(pa.concat_tables(parts), 1.0, len(of_size))]

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """Turn errors that a `with` block raises while it reads the file `name` into a one-line refusal."""
        try:
            yield
        # RecursionError: too deeply nested brackets
        except (OSError, HTTPException, ValueError, RecursionError, pa.ArrowException) as error:
            raise self.refusal(name, error) from None

    def refusal(self, name: str, error: Exception) -> BadInput:
        """Return the error for a file that cannot be read."""
        reason: Any = error.reason if isinstance(error, URLError) else error
        if isinstance(error, HTTPError):
            error.close()  # the connection of its answer
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            reason = f"{'.'.join(map(str, first['loc'])) or 'no JSON'}: {first['msg']}"
        said = one_line(printable(reason)) or type(error).__name__
        return BadInput(
            f"{printable(self.address)}/{name}: expected a data set of 'torusweep dataset', got: {said}; name its"
            " folder, or the address of its files.json on a server that answers range requests"
        )


class _OpenFile:
    """A data set's file of which some parts are in memory. The last bytes, with the Parquet footer, are read at once.

    Bytes are used only after the digest of their part was found to agree with the index. The bytes are Arrow's own
    (torusweep.tables.parquet.arrow_buffer says why); pages that were not read take no memory.
    """

    FOOT = 1 << 17

    def __init__(self, data: DataSet, file: DataFile) -> None:
        self._data, self._file = data, file
        parts = -(-file.bytes // PART)
        name = file.name.removesuffix(".parquet") + PARTS
        self._digests = data.read(name, 0, parts * DIGEST)
        if digest(self._digests) != file.parts:
            raise ValueError(f"{name} was altered: its digest is not that of {INDEX}")
        self._there = np.zeros(parts, bool)
        self._bytes = pa.allocate_buffer(file.bytes)
        self._read(max(0, file.bytes - self.FOOT), file.bytes)
        self.parquet = parquet_file(self._bytes)
        expected = arrow_schema(stored_columns())
        if not self.parquet.schema_arrow.remove_metadata().equals(expected.remove_metadata()):
            raise ValueError("other columns, or types of them, than a data set has")
        if self.parquet.metadata.num_rows != file.rows:
            raise ValueError(f"{self.parquet.metadata.num_rows:,} rows, where {INDEX} says {file.rows:,}")

    def rows(self, group: int, columns: Sequence[str]) -> pa.Table:
        """Return columns of a row group, with few requests."""
        for begin, end in spans(self.parquet, group, columns):
            self._read(begin, end)
        rows = self.parquet.read_row_group(group, columns=list(columns))
        for name in rows.column_names:
            values = rows[name]
            if values.null_count or (pa.types.is_list(values.type) and pc.list_flatten(values).null_count):
                raise ValueError(f"a row without {name}")
        return rows

    def _read(self, begin: int, end: int) -> None:
        """Read the missing parts of the file that contain the bytes begin … end − 1."""
        if not 0 <= begin <= end <= self._file.bytes:
            raise ValueError("a column that is outside of its file")
        first, last = begin // PART, -(-end // PART)
        missing = first + np.flatnonzero(~self._there[first:last])
        for run in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
            if len(run):
                here = slice(int(run[0]) * PART, min((int(run[-1]) + 1) * PART, self._file.bytes))
                content = self._data.read(self._file.name, here.start, here.stop)
                if part_digests(content) != self._digests[int(run[0]) * DIGEST : (int(run[-1]) + 1) * DIGEST]:
                    raise ValueError("bytes that were altered: their digest is not the one that the index vouches for")
                memoryview(self._bytes).cast("B")[here] = content
                self._there[run] = True
