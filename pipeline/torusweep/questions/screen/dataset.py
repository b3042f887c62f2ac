"""A data set of lattices: compact columns, from which all columns `SCREEN` follow, read from a folder or by HTTP.

A data set has an index, `files.json`, and Parquet files sorted by dimensions and nodes. Of a file, only the ranges of
bytes that a size and its columns need are read: any server that answers range requests will do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.errors import BadInput, one_line
from torusweep.questions.screen.columns import SCREEN
from torusweep.questions.screen.spaces import Lattices, ScreenedSpace, Space
from torusweep.tables.columns import Column, arrow_schema
from torusweep.tables.parquet import may_have, parquet_file, spans
from torusweep.tables.store import INDEX

SECONDS = 30.0  # that a server may take for an answer
TYPES = {  # of the stored columns, as small as their values are up to 65,536 nodes; others follow from them
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
FOLLOWING = {  # column → SQL of what it is, in stored columns
    "links": "nodes::BIGINT * degree // 2",
    "connected": "true",
    "mean_distance": "distance_sum::DOUBLE / (nodes::BIGINT * nodes)",
    "mean_distance_distinct": "distance_sum::DOUBLE / greatest(nodes::BIGINT * (nodes - 1), 1)",
    "saturation_load": "CASE WHEN max_channel_load > 0 THEN 1 / max_channel_load END",
}
FILTER = ("dimensions", "nodes")
COUNTED = (*FILTER, "class_size")  # what tells whether all lattices of a size are there


def stored_columns() -> list[Column]:
    """The columns of the Parquet files, with their types there."""
    return [column._replace(type=TYPES[column.name]) for column in SCREEN if column.name in TYPES]


def stored(rows: pa.Table) -> pa.Table:
    """The stored columns of rows `SCREEN` that are lattices. Raises BadInput for a value that its type cannot hold."""
    rows = rows.filter(pc.and_(rows["dimensions"].is_valid(), pc.starts_with(rows["topology"], "lattice(")))
    schema = arrow_schema(stored_columns())
    try:
        return pa.Table.from_arrays([rows[field.name].cast(field.type) for field in schema], schema=schema)
    except pa.ArrowInvalid as error:
        raise BadInput(f"a row is too large for a data set ({one_line(error)}); leave out its size") from None


def made_of(column: str) -> list[str]:
    """The stored columns that a column of `SCREEN` is, or follows from."""
    words = re.findall(r"\w+", FOLLOWING.get(column, column))
    return [name for name in TYPES if name in words]


def screen_rows(rows: pa.Table) -> pa.Table:
    """The columns `SCREEN` of stored rows; those that `rows` has not all the stored columns of are null."""
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
    arrays = []
    for field in arrow_schema(SCREEN):
        if not names.issuperset(made_of(field.name)):
            arrays.append(pa.chunked_array([pa.nulls(len(rows), field.type)]))
        elif field.name in following:
            arrays.append(pa.chunked_array([pa.array(following[field.name]).cast(field.type)]))
        else:
            arrays.append(rows[field.name].cast(field.type))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(SCREEN))


class DataFile(NamedTuple):
    """A Parquet file of a data set. first, last: (dimensions, nodes) of its first and last row."""

    name: str
    bytes: int
    rows: int
    sha256: str
    first: tuple[int, int]
    last: tuple[int, int]


class DataSet:
    """A data set at an address: a folder, or http://… of one. Raises BadInput where there is none.

    files     its Parquet files, in order
    requests  ranges that were read, and bytes of them
    """

    def __init__(self, address: str | Path) -> None:
        self.address = str(address).rstrip("/")
        self.requests = [0, 0]
        with self._reading(INDEX):
            listed = json.loads(self.read(INDEX))
            self.files = [
                DataFile(**{**one, "first": tuple(one["first"]), "last": tuple(one["last"])}) for one in listed["files"]
            ]

    @property
    def remote(self) -> bool:
        """Whether it is read by HTTP."""
        return self.address.startswith(("http://", "https://"))

    def read(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        """The bytes of a file from one place to before another; to its end by default."""
        if not self.remote:
            with (Path(self.address) / name).open("rb") as file:
                file.seek(begin)
                content = file.read(-1 if end is None else end - begin)
        else:
            ranges = {} if end is None else {"Range": f"bytes={begin}-{end - 1}"}
            with urlopen(Request(f"{self.address}/{name}", headers=ranges), timeout=SECONDS) as answer:
                if end is not None and answer.status != 206:
                    raise OSError("the server answers no range requests")
                content = answer.read()
            if end is not None and len(content) != end - begin:
                raise OSError("the server sent another range than was asked for")
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
        """A whole size of lattices; None where it has not all of them.

        reduce  keeps the rows that are wanted; others are not returned
        by      columns of `SCREEN` that it looks at
        kept    columns that the rows which it keeps have, too; they have no others: these are null
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
        rows = screen_rows(pa.concat_tables(tables))
        here = np.flatnonzero(
            (rows["dimensions"].to_numpy() == space.dimensions) & (rows["nodes"].to_numpy() == space.nodes)
        )
        of_size = rows.take(here)
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
        """Says in one line what cannot be read in a `with` block."""
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
            reason = error.reason if isinstance(error, URLError) else error
            raise BadInput(
                f"{self.address}/{name}: expected a data set of 'torusweep dataset', got: {one_line(reason)}; name its"
                " folder, or the address of its files.json on a server that answers range requests"
            ) from None


class _OpenFile:
    """A file of a data set in memory, as far as it was read: its last bytes, with the Parquet footer, at once.

    The bytes are Arrow's own (torusweep.tables.parquet.arrow_buffer says why); pages that were not read take no memory.
    """

    FOOT = 1 << 17

    def __init__(self, data: DataSet, file: DataFile) -> None:
        self._data, self._file, self._foot = data, file, max(0, file.bytes - self.FOOT)
        self._bytes = pa.allocate_buffer(file.bytes)
        self._read(self._foot, file.bytes)
        self.parquet = parquet_file(self._bytes)

    def rows(self, group: int, columns: Sequence[str]) -> pa.Table:
        """Columns of a row group, by few requests."""
        for begin, end in spans(self.parquet, group, columns):
            if begin < self._foot:
                self._read(begin, end)
        return self.parquet.read_row_group(group, columns=list(columns))

    def _read(self, begin: int, end: int) -> None:
        memoryview(self._bytes).cast("B")[begin:end] = self._data.read(self._file.name, begin, end)
