"""Shards: files of finished points' rows, each named by the digest of its content, and what they hold of a sweep."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.tables.parquet import SCHEMA_VERSION, parquet, read_rows
from torusweep.tables.store import digest, publish

KEY = "key"
MEMBER = "member"
LEAST_SLICE = 64  # rows, on average, from which slices are faster than copies
BLOCK = 1 << 20  # rows put into order at once: their texts stay below the 2 GiB that Arrow can hold in one array


class Shard(NamedTuple):
    """A whole shard: its digest, its rows (`shard_schema`), and what its writer said of their origin."""

    digest: str
    rows: pa.Table
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
        content = path.read_bytes()
        if digest(content) != path.stem:
            path.unlink()
            complaints.append(f"{path} was damaged: removed, its points are computed again")
            continue
        try:
            rows = read_rows(content, checked=True)
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
        whole.append(Shard(path.stem, pa.Table.from_arrays(rows.columns, schema=wanted), origin))
    return Shards(whole, complaints)


class RowRange(NamedTuple):
    """What a point has in shards: the rows of a key and of an interval of members, both ends included."""

    key: str
    first: int = 0
    last: int = 0


class Assembled(NamedTuple):
    """What shards hold of what is wanted.

    rows     a table of `shard_schema`, in the order of what is wanted, and by member
    members  how many have rows
    shards   those that the rows are of
    """

    rows: pa.Table
    members: int
    shards: list[Shard]


def members_of(shards: Iterable[Shard]) -> dict[str, np.ndarray]:
    """The members that have rows, int64[…], in order, by key."""
    found: dict[str, list[np.ndarray]] = {}
    for shard in shards:
        keys = shard.rows.column(KEY).combine_chunks()
        members = shard.rows.column(MEMBER).to_numpy()
        number = keys.dictionary_encode().indices.to_numpy()
        first = np.flatnonzero(np.diff(number, prepend=-1))
        for key, begin, end in zip(keys.take(first).to_pylist(), first, [*first[1:], len(members)]):
            found.setdefault(str(key), []).append(members[begin:end])
    return {key: np.unique(np.concatenate(parts)) for key, parts in found.items()}


def missing(wanted: RowRange, members: Mapping[str, np.ndarray]) -> list[tuple[int, int]]:
    """The intervals of wanted members without rows (`members_of`)."""
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
    """The shards' rows of what is wanted, those of a member from one shard; other rows are left out.

    wanted   intervals of a key do not overlap
    schema   of the stage's table
    groups   a number for each of what is wanted, never falling: of equal ones the rows are in the order of members, and
             of a member in the order of what is wanted. By default all are different
    """
    place, member, shard = _places(shards, wanted)
    order = np.flatnonzero(place >= 0)
    group = place if groups is None else np.asarray(groups, np.int64)[place]
    order = order[np.lexsort((place[order], member[order], group[order]))]  # stable: shards stay in their order
    place, member, shard = place[order], member[order], shard[order]
    new = np.append(True, (np.diff(place) != 0) | (np.diff(member) != 0))[: len(order)]
    owner = shard[new][np.cumsum(new) - 1]  # of the first shard that has the member
    order = order[shard == owner]
    rows = pa.concat_tables([shard_schema(schema).empty_table(), *(part.rows for part in shards)])
    return Assembled(_taken(rows, order), int(new.sum()), [shards[number] for number in np.unique(owner)])


def _taken(rows: pa.Table, order: np.ndarray) -> pa.Table:
    """Rows in an order, int64[…]. Those that follow each other, as most do, are slices, which take no memory."""
    begins = np.flatnonzero(np.append(True, np.diff(order) != 1))[: len(order)]
    if len(begins) * LEAST_SLICE <= len(order):
        ends = [*begins[1:], len(order)]
        slices = [rows.slice(order[begin], end - begin) for begin, end in zip(begins, ends)]
        return pa.concat_tables([rows.slice(0, 0), *slices])
    blocks = [rows.slice(0, 0)]
    for begin in range(0, len(order), BLOCK):
        block = order[begin : begin + BLOCK]
        by_place = np.argsort(block)  # Arrow takes rows of many chunks one by one, unless they are in order
        blocks.append(rows.take(block[by_place]).take(np.argsort(by_place)))
    return pa.concat_tables(blocks)


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
        member = shard.rows.column(MEMBER).to_numpy()
        encoded = shard.rows.column(KEY).combine_chunks().dictionary_encode()
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
