"""Store rows of finished points in shards, which are files. The name of a shard is the digest of its content."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from torusweep.tables.parquet import SCHEMA_VERSION, parquet, parquet_file, valid
from torusweep.tables.store import digest, file_digest, publish

KEY = "key"
MEMBER = "member"
LEAST_SLICE = 64  # average number of rows from which slices are faster than copies
BLOCK = 1 << 16  # number of rows, or of members, that are put into order at once
GROUPS_HELD = 16  # row groups of shards that are in memory at a time, in addition to those of a block
# a part of a shard's interval: `count` members from `first` on, each with `rows` rows, the first of which is `begin`
PIECE = np.dtype([(name, np.int64) for name in ("group", "place", "shard", "first", "count", "begin", "rows")])


class Shard(NamedTuple):
    """An undamaged shard, whose rows stay in its file. `origin` says how, where and when its rows were computed.

    Successive rows with the same key and member form a run. Runs of a key whose members follow each other and have
    equally many rows form an interval; a shard has I intervals.

    file     path of the file, or its bytes
    keys     distinct keys
    key      int64[I]: index in `keys` of each interval's key
    first    int64[I]: first member of each interval
    members  int64[I]: number of members of each interval
    begin    int64[I + 1]: first row of each interval, and then the number of rows
    """

    digest: str
    file: Path | bytes
    origin: dict[str, Any]
    keys: list[str]
    key: np.ndarray
    first: np.ndarray
    members: np.ndarray
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
        row = np.flatnonzero(_begins(key, member))
        begin, key, member = np.append(row, len(key)), key[row], member[row]
        first = np.flatnonzero(_begins(key, member - np.arange(len(key)), np.diff(begin)))
        count = np.diff(np.append(first, len(key)))
        keys = [str(one) for one in encoded.dictionary.to_pylist()]
        return cls(digest, file, origin, keys, key[first], member[first], count, np.append(row[first], begin[-1]))

    @property
    def row_count(self) -> int:
        """The number of the shard's rows."""
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
    """Return the schema of a stage's shards: each row's key and member, then the table's columns.

    key     key of the row's point
    member  which of the point's networks: its seed, if they differ in their seeds; 0 if there is only one
    """
    return pa.schema([pa.field(KEY, pa.string()), pa.field(MEMBER, pa.int64()), *schema])


def publish_shard(folder: Path, rows: pa.Table, origin: dict[str, Any]) -> str:
    """Publish rows of finished points (`shard_schema`) as a shard. Returns the shard's digest."""
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
    """Return whether a file is a shard of another stage, or has none of these keys. Only footer and keys are read."""
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


Members: TypeAlias = Mapping[str, Sequence[tuple[int, int]]]  # key → (first, last) of intervals, in ascending order


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


def members_of(shards: Iterable[Shard]) -> Members:
    """Return the members that have rows in the shards, as intervals, which may overlap."""
    found: dict[str, list[tuple[int, int]]] = {}
    for shard in shards:
        for key, first, count in zip(shard.key.tolist(), shard.first.tolist(), shard.members.tolist()):
            found.setdefault(shard.keys[key], []).append((first, first + count - 1))
    return {key: sorted(intervals) for key, intervals in found.items()}


def missing(wanted: RowRange, members: Members) -> list[tuple[int, int]]:
    """Return (first, last) of each interval of wanted members that have no rows."""
    gaps, begin = [], wanted.first
    for first, last in members.get(wanted.key, ()):
        if first > wanted.last:
            break
        if begin < first:
            gaps.append((begin, first - 1))
        begin = max(begin, last + 1)
    return gaps if begin > wanted.last else [*gaps, (begin, wanted.last)]


def finished(
    shards: Sequence[Shard], wanted: Sequence[RowRange], schema: pa.Schema, groups: Sequence[int] | None = None
) -> Assembled:
    """Collect the wanted rows of shards. If several shards have rows of a member, the first shard's are taken.

    wanted   intervals, which do not overlap within a key
    schema   schema of the stage's table
    groups   non-decreasing number for each interval. Rows of intervals with equal numbers are sorted by member, then by
             interval. None if all numbers are different
    """
    groups = range(len(wanted)) if groups is None else groups
    pieces = _pieces(shards, wanted, np.array(groups, np.int64))
    members, owners = 0, set[int]()
    for runs in _runs(pieces):
        members += int(_begins(runs["place"], runs["first"]).sum())
        owners.update(runs["shard"].tolist())
    tables = _tables(shards, _runs(pieces), shard_schema(schema))
    return Assembled(tables, members, [shards[number] for number in sorted(owners)])


def _begins(*columns: np.ndarray) -> np.ndarray:
    """bool[rows]: whether a row differs from the previous row in one of the columns, int64[rows]."""
    return np.append(True, np.any([np.diff(column) != 0 for column in columns], axis=0))[: len(columns[0])]


def _tables(shards: Sequence[Shard], blocks: Iterable[np.ndarray], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of runs (PIECE, of one member each) in the given order, in tables of at most BLOCK rows."""

    @cache
    def edges(number: int) -> np.ndarray:
        with parquet_file(shards[number].file) as file:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        return np.append(0, np.cumsum(sizes))

    @lru_cache(GROUPS_HELD)
    def group_of(number: int, group: int) -> pa.Table:
        with parquet_file(shards[number].file) as file:
            return pa.Table.from_arrays(file.read_row_group(group).columns, schema=schema)

    for runs in blocks:
        end = np.cumsum(runs["rows"])
        begin = end - runs["rows"]
        for first in range(0, int(end[-1]), BLOCK):
            last = min(first + BLOCK, int(end[-1]))
            here = np.arange(np.searchsorted(end, first, "right"), np.searchsorted(end, last, "left") + 1)
            skipped = np.maximum(first - begin[here], 0)
            rows = np.minimum(end[here], last) - begin[here] - skipped
            within = np.arange(rows.sum()) - np.repeat(np.cumsum(rows) - rows, rows)
            row = np.repeat(runs["begin"][here] + skipped, rows) + within
            yield _gathered(np.repeat(runs["shard"][here], rows), row, edges, group_of)
    yield schema.empty_table()


def _gathered(
    shard: np.ndarray, row: np.ndarray, edges: Callable[[int], np.ndarray], group_of: Callable[[int, int], pa.Table]
) -> pa.Table:
    """Read single rows in the given order, by shard (`shard`, int64[…]) and row number in it (`row`, int64[…])."""
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
    """Return the rows in a given order, int64[…]. Successive rows, which are frequent, are slices without a copy."""
    begins = np.flatnonzero(np.append(True, np.diff(order) != 1))[: len(order)]
    if len(begins) * LEAST_SLICE <= len(order):
        ends = [*begins[1:], len(order)]
        return pa.concat_tables([rows.slice(order[begin], end - begin) for begin, end in zip(begins, ends)])
    by_place = np.argsort(order)  # Arrow takes rows of many chunks one by one, unless they are in order
    return rows.take(order[by_place]).take(np.argsort(by_place))


def _pieces(shards: Sequence[Shard], wanted: Sequence[RowRange], groups: np.ndarray) -> np.ndarray:
    """Return the parts of shards' intervals that are wanted: PIECE[…], in the order of groups and of first members.

    groups  int64[wanted]: group of each wanted interval
    """
    number = {key: place for place, key in enumerate(dict.fromkeys(one.key for one in wanted))}
    last = np.array([one.last for one in wanted], np.int64)
    # keys and members as one number, in whose order an interval's members follow each other
    span = int(last.max(initial=0)) + 1
    key = np.array([number[one.key] for one in wanted], np.int64) * span
    start = key + np.array([one.first for one in wanted], np.int64)
    order = np.argsort(start)
    start, end = start[order], (key + last)[order]
    found = [np.empty(0, PIECE)]
    for owner, shard in enumerate(shards):
        key = np.array([number.get(one, -1) for one in shard.keys], np.int64)[shard.key]
        known = np.flatnonzero((key >= 0) & (shard.first < span))
        begin = key[known] * span + shard.first[known]
        stop = key[known] * span + np.minimum(shard.first + shard.members, span)[known] - 1
        at = np.searchsorted(end, begin)
        most = np.searchsorted(start, stop, side="right")
        own, at = _spread(at, most - at)
        piece = np.empty(len(own), PIECE)
        first, rows = np.maximum(begin[own], start[at]), (np.diff(shard.begin) // shard.members)[known][own]
        piece["group"], piece["place"], piece["shard"], piece["rows"] = groups[order[at]], order[at], owner, rows
        piece["first"], piece["count"] = first % span, np.minimum(stop[own], end[at]) - first + 1
        piece["begin"] = shard.begin[:-1][known][own] + (first - begin[own]) * rows
        found.append(piece)
    pieces = np.concatenate(found)
    return pieces[np.lexsort((pieces["first"], pieces["group"]))]


def _spread(begin: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Expand intervals, given by begin and count, to int64[…] twice: each interval's index, and each number in it."""
    owner = np.repeat(np.arange(len(count)), count)
    return owner, np.arange(len(owner)) + (begin - np.cumsum(count) + count)[owner]


def _runs(pieces: np.ndarray) -> Iterator[np.ndarray]:
    """Yield pieces (in the order of `_pieces`) member by member, each from the first shard that has the member.

    Yields PIECE[…], of one member each, in the order of `finished`; about BLOCK members at a time, never none.
    """
    end = np.cumsum(pieces["count"])
    cuts = np.unique(np.searchsorted(end, np.arange(BLOCK, int(end[-1]) if len(end) else 0, BLOCK)) + 1)
    waiting = pieces[:0]
    for begin, stop in pairwise([0, *cuts[cuts < len(pieces)].tolist(), len(pieces)]):
        here = np.concatenate([waiting, pieces[begin:stop]])
        waiting = here[:0]
        if stop < len(pieces):  # members from the next piece's first one on wait for that piece
            reach = np.where(
                here["group"] == pieces["group"][stop], pieces["first"][stop] - here["first"], here["count"]
            )
            before = np.minimum(reach, here["count"])
            waiting = here[later := before < here["count"]]
            for name, moved in (("first", before), ("count", -before), ("begin", before * here["rows"])):
                waiting[name] += moved[later]
            here["count"] = before
        own, within = _spread(np.zeros(len(here), np.int64), here["count"])
        runs = here[own]
        runs["first"] += within
        runs["begin"] += within * runs["rows"]
        runs["count"] = 1
        runs = runs[np.lexsort([runs[name] for name in ("begin", "shard", "place", "first", "group")])]
        new = _begins(runs["place"], runs["first"])
        owner = runs["shard"][new][np.cumsum(new) - 1]
        if len(runs):
            yield runs[runs["shard"] == owner]
