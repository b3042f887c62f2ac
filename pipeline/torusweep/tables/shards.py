"""Shards, which are files with the rows of finished points. The name of a shard is the digest of its content."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.tables.parquet import SCHEMA_VERSION, parquet, parquet_file, valid
from torusweep.tables.store import digest, file_digest, publish

KEY = "key"
MEMBER = "member"
LEAST_SLICE = 64  # average number of rows from which slices are faster than copies
BLOCK = 1 << 16  # number of rows that are put into order at once
GROUPS_HELD = 16  # row groups of shards that are in memory at a time, in addition to those of a block


class Shard(NamedTuple):
    """An undamaged shard, whose rows stay in its file. `origin` is how, where and when its rows were computed.

    Successive rows with the same key and member form a run; a shard has R runs.

    file     path of the file, or its bytes
    keys     distinct keys
    key      int64[R]: index in `keys` of each run's key
    member   int64[R]: member of each run
    begin    int64[R + 1]: first row of each run, and then the number of rows
    """

    digest: str
    file: Path | bytes
    origin: dict[str, Any]
    keys: list[str]
    key: np.ndarray
    member: np.ndarray
    begin: np.ndarray

    @classmethod
    def of(cls, digest: str, file: Path | bytes, origin: dict[str, Any]) -> Shard:
        """Open the shard in a file. Raises pyarrow.ArrowException, OSError or KeyError if the file is no shard."""
        with parquet_file(file) as opened:  # reads all, so that damage is found before any row is used
            groups = map(opened.read_row_group, range(opened.num_row_groups))
            rows = pa.concat_tables([valid(group).select([KEY, MEMBER]) for group in groups])
        encoded = rows.column(KEY).combine_chunks().dictionary_encode()
        key = encoded.indices.to_numpy().astype(np.int64)
        member = rows.column(MEMBER).to_numpy()
        new = np.append(True, (np.diff(key) != 0) | (np.diff(member) != 0))[: len(key)]
        first = np.flatnonzero(new)
        keys = [str(one) for one in encoded.dictionary.to_pylist()]
        return cls(digest, file, origin, keys, key[first], member[first], np.append(first, len(key)))

    @property
    def row_count(self) -> int:
        """Number of the shard's rows."""
        return int(self.begin[-1])

    @property
    def rows(self) -> pa.Table:
        """All rows of the shard, with the columns of `shard_schema`."""
        with parquet_file(self.file) as opened:
            return opened.read()


class Shards(NamedTuple):
    """The contents of a folder of shards: the undamaged shards, and a line of text for each file that is not used."""

    whole: list[Shard]
    complaints: list[str]


def shard_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of a stage's shards: each row's key and member, then the table's columns.

    key     key of the row's point
    member  which of the point's networks: its seed, if they differ in their seeds; 0 if there is only one
    """
    return pa.schema([pa.field(KEY, pa.string()), pa.field(MEMBER, pa.int64()), *schema])


def publish_shard(folder: Path, rows: pa.Table, origin: dict[str, Any]) -> str:
    """Publish rows of finished points as a shard. rows: see `shard_schema`. Returns the shard's digest."""
    content = parquet(rows, {"origin": json.dumps(origin, sort_keys=True)})
    name = digest(content)
    publish(folder / "shards" / f"{name}.parquet", content)
    return name


def read_shards(folder: Path, stage: str, schema: pa.Schema, keys: Set[str] | None = None) -> Shards:
    """Read a stage's shards in a results folder, by name. Damaged files are removed, and other files are skipped.

    schema   schema of the stage's table
    keys     keys of points: shards without any of these are skipped, and their digests not computed; None for all
    """
    whole, complaints = [], []
    wanted = shard_schema(schema)
    for path in sorted((folder / "shards").glob("[!.]*")):
        if len(path.stem) != 64 or path.suffix != ".parquet" or path.is_dir():
            complaints.append(f"{path} is no shard: not used")
            continue
        if keys is not None and _lacks(path, stage, keys):
            continue
        try:
            found = file_digest(path)
        except FileNotFoundError:  # damaged, and removed by another part of the stage
            continue
        if found != path.stem:
            path.unlink(missing_ok=True)
            complaints.append(f"{path} was damaged: removed, its points are computed again")
            continue
        try:
            with parquet_file(path) as opened:
                schema_there = opened.schema_arrow
            metadata = schema_there.metadata or {}
            if metadata.get(b"schema_version") != str(SCHEMA_VERSION).encode():
                raise ValueError
            origin = json.loads(metadata[b"origin"])
            if not isinstance(origin, dict):
                raise ValueError
            if origin.get("stage", stage) != stage:
                continue
            if not schema_there.equals(wanted):
                raise ValueError
            whole.append(Shard.of(path.stem, path, origin))
        except (pa.ArrowException, ValueError, KeyError, OSError):
            complaints.append(f"{path} has other columns than this version's shards: not used")
    return Shards(whole, complaints)


def _lacks(path: Path, stage: str, keys: Set[str]) -> bool:
    """Whether a file is a shard of another stage, or has none of these keys. Only footer and keys are read."""
    try:
        with parquet_file(path) as opened:
            if json.loads((opened.schema_arrow.metadata or {})[b"origin"]).get("stage", stage) != stage:
                return True
            groups = (opened.read_row_group(group, [KEY])[KEY] for group in range(opened.num_row_groups))
            return all(keys.isdisjoint(group.unique().to_pylist()) for group in groups)
    except (pa.ArrowException, AttributeError, ValueError, KeyError, OSError):
        return False


class RowRange(NamedTuple):
    """Rows of a point in shards: the point's key, and an interval of members that includes both ends."""

    key: str
    first: int = 0
    last: int = 0


class Assembled(NamedTuple):
    """The requested rows that were found in shards.

    tables   rows (`shard_schema`), in the requested order and by member, as at least one table. Each table has a block
             of rows, and is read when it is needed
    members  number of members that have rows
    shards   shards that contain the rows
    """

    tables: Iterator[pa.Table]
    members: int
    shards: list[Shard]


def members_of(shards: Iterable[Shard]) -> dict[str, np.ndarray]:
    """Key → int64[…]: the members with rows in the shards, in ascending order."""
    found: dict[str, list[np.ndarray]] = {}
    for shard in shards:
        first = np.flatnonzero(np.diff(shard.key, prepend=-1))
        for begin, end in zip(first, [*first[1:], len(shard.key)]):
            found.setdefault(shard.keys[shard.key[begin]], []).append(shard.member[begin:end])
    return {key: np.unique(np.concatenate(parts)) for key, parts in found.items()}


def missing(wanted: RowRange, members: Mapping[str, np.ndarray]) -> list[tuple[int, int]]:
    """(first, last) of each interval of wanted members that have no rows. members: from `members_of`."""
    there = members.get(wanted.key)
    if there is None:
        return [(wanted.first, wanted.last)]
    inside = there[slice(*np.searchsorted(there, [wanted.first, wanted.last + 1]))]
    before = np.concatenate([[wanted.first - 1], inside])
    after = np.concatenate([inside, [wanted.last + 1]])
    gaps = after - before > 1
    return list(zip((before[gaps] + 1).tolist(), (after[gaps] - 1).tolist()))


def finished(
    shards: Sequence[Shard], wanted: Sequence[RowRange], schema: pa.Schema, groups: Sequence[int] | None = None
) -> Assembled:
    """Collect the wanted rows of shards. If several shards have rows of a member, those of the first shard are taken.

    wanted   intervals, which do not overlap within a key
    schema   schema of the stage's table
    groups   non-decreasing number for each interval. Rows of intervals with equal numbers are sorted by member, then by
             interval. None if all numbers are different
    """
    place, member, shard, begin, count = _runs(shards, wanted)
    order = np.flatnonzero(place >= 0)
    group = place[order] if groups is None else np.asarray(groups, np.int64)[place[order]]
    order = order[np.lexsort((place[order], member[order], group))]  # stable: shards stay in their order
    place, member, shard = place[order], member[order], shard[order]
    new = np.append(True, (np.diff(place) != 0) | (np.diff(member) != 0))[: len(order)]
    owner = shard[new][np.cumsum(new) - 1]  # the first shard that has the member
    kept = shard == owner
    order, shard = order[kept], shard[kept]
    tables = _tables(shards, shard, begin[order], count[order], shard_schema(schema))
    return Assembled(tables, int(new.sum()), [shards[number] for number in np.unique(owner)])


def _tables(
    shards: Sequence[Shard], shard: np.ndarray, begin: np.ndarray, count: np.ndarray, schema: pa.Schema
) -> Iterator[pa.Table]:
    """Yield the rows of R runs in the given order, in tables of BLOCK rows; the last may have fewer rows, or none.

    shard  int64[R]: shard of each run
    begin  int64[R]: first row of each run in its shard
    count  int64[R]: number of rows of each run
    """

    @cache
    def edges(number: int) -> np.ndarray:
        with parquet_file(shards[number].file) as file:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        return np.append(0, np.cumsum(sizes))

    @lru_cache(GROUPS_HELD)
    def group_of(number: int, group: int) -> pa.Table:
        with parquet_file(shards[number].file) as file:
            return pa.Table.from_arrays(file.read_row_group(group).columns, schema=schema)

    end = np.cumsum(count)
    total = int(end[-1]) if len(end) else 0
    for first in range(0, total, BLOCK):
        last = min(first + BLOCK, total)
        runs = np.arange(np.searchsorted(end, first, "right"), np.searchsorted(end, last, "left") + 1)
        skipped = np.maximum(first - (end[runs] - count[runs]), 0)
        rows = np.minimum(end[runs], last) - (end[runs] - count[runs]) - skipped
        within = np.arange(rows.sum()) - np.repeat(np.cumsum(rows) - rows, rows)
        row = np.repeat(begin[runs] + skipped, rows) + within
        yield _gathered(np.repeat(shard[runs], rows), row, edges, group_of)
    yield schema.empty_table()


def _gathered(
    shard: np.ndarray, row: np.ndarray, edges: Callable[[int], np.ndarray], group_of: Callable[[int, int], pa.Table]
) -> pa.Table:
    """Read single rows, given by their shard (int64[…]) and their number in it (`row`, int64[…]), in this order."""
    parts, place, before = [], np.empty(len(row), np.int64), 0
    for number in np.unique(shard):
        here = np.flatnonzero(shard == number)
        begins = edges(int(number))
        group = np.searchsorted(begins, row[here], "right") - 1
        for one in np.unique(group):
            mine = here[group == one]
            place[mine] = row[mine] - begins[one] + before
            parts.append(group_of(int(number), int(one)))
            before += parts[-1].num_rows
    return _taken(pa.concat_tables(parts), place)


def _taken(rows: pa.Table, order: np.ndarray) -> pa.Table:
    """The rows in a given order, int64[…]. Successive rows, which are frequent, become slices, which take no memory."""
    begins = np.flatnonzero(np.append(True, np.diff(order) != 1))[: len(order)]
    if len(begins) * LEAST_SLICE <= len(order):
        ends = [*begins[1:], len(order)]
        return pa.concat_tables([rows.slice(order[begin], end - begin) for begin, end in zip(begins, ends)])
    by_place = np.argsort(order)  # Arrow takes rows of many chunks one by one, unless they are in order
    return rows.take(order[by_place]).take(np.argsort(by_place))


def _runs(shards: Sequence[Shard], wanted: Sequence[RowRange]) -> tuple[np.ndarray, ...]:
    """(index in `wanted` or -1, member, shard, first row there, number of rows) of all runs of shards: int64[runs]."""
    number = {key: place for place, key in enumerate(dict.fromkeys(one.key for one in wanted))}
    last = np.array([one.last for one in wanted], np.int64)
    # keys and members as one number, in whose order an interval's members follow each other
    span = int(last.max(initial=0)) + 1
    start = np.array([number[one.key] * span + one.first for one in wanted], np.int64)
    order = np.argsort(start)
    end = start[order] + last[order] - np.array([one.first for one in wanted], np.int64)[order]
    found: list[list[np.ndarray]] = [[np.empty(0, np.int64)] for _ in range(5)]
    for owner, shard in enumerate(shards):
        key = np.array([number.get(one, -1) for one in shard.keys], np.int64)[shard.key]
        value = key * span + shard.member
        at = np.searchsorted(start, value, side="right", sorter=order) - 1
        fits = (key >= 0) & (shard.member < span) & (at >= 0)
        fits[fits] = value[fits] <= end[at[fits]]
        place = np.full(len(key), -1)
        place[fits] = order[at[fits]]
        columns = place, shard.member, np.full(len(key), owner), shard.begin[:-1], np.diff(shard.begin)
        for column, values in zip(found, columns):
            column.append(values)
    return tuple(np.concatenate(column) for column in found)
