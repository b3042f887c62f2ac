"""Shards: files of finished points' rows, each named by the digest of its content, and what they hold of a sweep."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.tables.parquet import SCHEMA_VERSION, Streamed, TableFile, arrow_places, parquet
from torusweep.tables.store import digest, publish

KEY = "key"
MEMBER = "member"
BLOCK = 1 << 16  # rows put into order at once


class Shard(NamedTuple):
    """A whole shard: its digest, its file's rows (`shard_schema`), and what its writer said of their origin."""

    digest: str
    rows: TableFile
    origin: dict[str, Any]


class Shards(NamedTuple):
    """What a folder of shards holds: the whole ones, and a line for each file that is not used."""

    whole: list[Shard]
    complaints: list[str]


def shard_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of a stage's shards: its table's, after each row's key and member.

    key     of the row's point
    member  which of the point's networks it is about: the seed, for a run of networks; 0 for one network
    """
    return pa.schema([pa.field(KEY, pa.string()), pa.field(MEMBER, pa.int64()), *schema])


def publish_shard(folder: Path, rows: pa.Table, origin: dict[str, Any]) -> str:
    """Publish rows (`shard_schema`) of finished points with their origin; returns the shard's digest."""
    content = parquet(rows, {"origin": json.dumps(origin, sort_keys=True)})
    name = digest(content)
    publish(folder / "shards" / f"{name}.parquet", content)
    return name


def read_shards(folder: Path, stage: str, schema: pa.Schema) -> Shards:
    """A stage's shards in a results folder, in order of their names. Damaged ones are removed, foreign ones skipped.

    schema   of the stage's table
    """
    whole, complaints = [], []
    wanted = shard_schema(schema)
    for path in sorted((folder / "shards").glob("[!.]*")):
        if len(path.stem) != 64 or path.suffix != ".parquet" or path.is_dir():
            complaints.append(f"{path} is no shard: not used")
            continue
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # damaged, and removed by another part of the stage
            continue
        if digest(content) != path.stem:
            path.unlink(missing_ok=True)
            complaints.append(f"{path} was damaged: removed, its points are computed again")
            continue
        try:
            rows = TableFile(content)
            metadata = rows.schema.metadata or {}
            if metadata.get(b"schema_version") != str(SCHEMA_VERSION).encode():
                raise ValueError
            origin = json.loads(metadata[b"origin"])
            if not isinstance(origin, dict):
                raise ValueError
            if origin.get("stage", stage) != stage:
                continue
            if not rows.schema.equals(wanted):
                raise ValueError
        except (pa.ArrowException, ValueError, KeyError, OSError):
            complaints.append(f"{path} has other columns than this version's shards: not used")
            continue
        whole.append(Shard(path.stem, rows, origin))
    return Shards(whole, complaints)


class RowRange(NamedTuple):
    """What a point has in shards: the rows of a key and of an interval of members, both ends included."""

    key: str
    first: int = 0
    last: int = 0


class Assembled(NamedTuple):
    """What shards hold of what is wanted.

    rows     of `shard_schema`, in the order of what is wanted, and by member; read of the shards part by part
    members  how many have rows
    shards   those that the rows are of
    """

    rows: Streamed
    members: int
    shards: list[Shard]


def members_of(shards: Iterable[Shard]) -> dict[str, list[np.ndarray]]:
    """The members that have rows, by key: a few arrays int64[…] each, in which one may occur several times."""
    found: dict[str, list[np.ndarray]] = {}
    for shard in shards:
        named = shard.rows.read([KEY, MEMBER])
        keys, members = named.column(KEY).combine_chunks(), named.column(MEMBER).to_numpy()
        number = keys.dictionary_encode().indices.to_numpy()
        first = np.flatnonzero(np.diff(number, prepend=-1))
        for key, begin, end in zip(keys.take(first).to_pylist(), first, [*first[1:], len(members)]):
            found.setdefault(str(key), []).append(members[begin:end])
    return found


def missing(wanted: RowRange, members: Mapping[str, Sequence[np.ndarray]]) -> list[tuple[int, int]]:
    """The intervals of wanted members without rows (`members_of`)."""
    there = members.get(wanted.key)
    if there is None:
        return [(wanted.first, wanted.last)]
    inside = np.concatenate(there)
    inside = np.unique(inside[(inside >= wanted.first) & (inside <= wanted.last)])
    before = np.concatenate([[wanted.first - 1], inside])
    after = np.concatenate([inside, [wanted.last + 1]])
    gaps = after - before > 1
    return list(zip((before[gaps] + 1).tolist(), (after[gaps] - 1).tolist()))


def finished(shards: Sequence[Shard], wanted: Sequence[RowRange], schema: pa.Schema) -> Assembled:
    """The shards' rows of what is wanted, those of a member from one shard; other rows are left out.

    wanted   intervals of a key do not overlap
    schema   of the stage's table
    """
    place, member, shard = _places(shards, wanted)
    order = np.flatnonzero(place >= 0)
    order = order[np.lexsort((member[order], place[order]))]  # stable: shards stay in their order
    place, member, shard = place[order], member[order], shard[order]
    new = np.append(True, (np.diff(place) != 0) | (np.diff(member) != 0))[: len(order)]
    owner = shard[new][np.cumsum(new) - 1]  # of the first shard that has the member
    order = order[shard == owner]
    rows = Streamed(shard_schema(schema), _parts(shards, order, shard_schema(schema)))
    return Assembled(rows, int(new.sum()), [shards[number] for number in np.unique(owner)])


def _parts(shards: Sequence[Shard], order: np.ndarray, schema: pa.Schema) -> Iterator[pa.Table]:
    """The shards' rows in an order, int64[…] over all of them, BLOCK rows at a time."""
    ends = np.cumsum([len(shard.rows) for shard in shards])
    for first in range(0, len(order), BLOCK):
        block = order[first : first + BLOCK]
        shard = np.searchsorted(ends, block, side="right")
        by_shard = np.argsort(shard, kind="stable")
        parts = [schema.empty_table()]
        for number in np.unique(shard).tolist():
            rows = shards[number].rows
            own = rows.take(block[shard == number] - (ends[number] - len(rows)))
            parts.append(pa.Table.from_arrays(own.columns, schema=schema))
        found = pa.concat_tables(parts)
        if not np.array_equal(by_shard, np.arange(len(block))):
            found = found.combine_chunks().take(arrow_places(np.argsort(by_shard)))
        yield found


def _places(shards: Sequence[Shard], wanted: Sequence[RowRange]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each row of all shards: which of `wanted` it belongs to (-1: none), its member, its shard; int64[rows]."""
    number = {key: place for place, key in enumerate(dict.fromkeys(one.key for one in wanted))}
    keys = pa.array(number, pa.string())
    last = np.array([one.last for one in wanted], np.int64)
    # keys and members as one number, in whose order an interval's members follow each other
    span = int(last.max(initial=0)) + 1
    start = np.array([number[one.key] * span + one.first for one in wanted], np.int64)
    order = np.argsort(start)
    end = start[order] + last[order] - np.array([one.first for one in wanted], np.int64)[order]
    places, members, owners = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for owner, shard in enumerate(shards):
        named = shard.rows.read([KEY, MEMBER])
        member = named.column(MEMBER).to_numpy()
        encoded = named.column(KEY).combine_chunks().dictionary_encode()
        key = pc.index_in(encoded.dictionary, keys).fill_null(-1).to_numpy().astype(np.int64)
        key = key[encoded.indices.to_numpy()]
        value = key * span + member
        at = np.searchsorted(start, value, side="right", sorter=order) - 1
        fits = (key >= 0) & (member < span) & (at >= 0)
        fits[fits] = value[fits] <= end[at[fits]]
        place = np.full(len(key), -1)
        place[fits] = order[at[fits]]
        places.append(place)
        members.append(member)
        owners.append(np.full(len(key), owner))
    return np.concatenate(places), np.concatenate(members), np.concatenate(owners)
