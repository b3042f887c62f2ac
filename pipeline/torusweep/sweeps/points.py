"""Points: a point is one request of a network, whose rows are computed together; its key identifies valid old rows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.networks.families import files_of
from torusweep.networks.seed_runs import Networks, count_of, first_of, pieces, seed_run, spellings_of
from torusweep.networks.topology import Plan
from torusweep.questions.how import How
from torusweep.questions.stage import LazyNetwork, Rows, attempt
from torusweep.stages import STAGES
from torusweep.tables import shards
from torusweep.tables.columns import arrow_schema
from torusweep.tables.keys import digest_of_code, file_digest, sources_of

MOST_NETWORKS = 1 << 14  # of a run, in a batch: their rows take some MB
FEW = 4  # networks of a batch from which computing them together takes less time than one by one
_KNOWN = 1 << 16  # points whose files and keys are remembered


@dataclass(frozen=True)
class Point:
    """A stage's request of a network: a row of its table, or several.

    stage      name (torusweep.stages.STAGES)
    topology   canonical spelling of the network, of a run of networks, or of the design space
    request    the stage's Request
    entry      number of the entry of the stage's section that asks for it; None: every network is asked this, or a
               paper's number needs it. Two points that differ in it alone are equal
    """

    stage: str
    topology: str
    request: Any
    entry: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.topology} {self.request}".rstrip()

    @property
    def key(self) -> str:
        """sha256 of the spellings, the request, the contents of all files they name, and the code that computes it.

        The files are read anew each time: they may have changed. Backend, symmetry and workers are no part
        of it, because a row does not depend on them; nor are a run's seeds, which its rows hold one by one
        (torusweep.tables.shards: MEMBER). Raises BadInput for a file that cannot be read.
        """
        return _key(self, tuple(file_digest(file) for file in _files_of(self)), stage_digest(self.stage))

    @property
    def seconds(self) -> float:
        """Estimated seconds on one core."""
        return self.count * STAGES[self.stage].seconds(LazyNetwork(first_of(self.topology)), self.request)

    @property
    def memory(self) -> int:
        """Approximate bytes that it takes."""
        stage = STAGES[self.stage]
        rows = stage.row_bytes * (min(self.count, MOST_NETWORKS) - 1)
        return rows + stage.memory(LazyNetwork(first_of(self.topology)), self.request)

    @property
    def row_count(self) -> int:
        """Approximate number of its rows."""
        return self.count * STAGES[self.stage].row_count(LazyNetwork(first_of(self.topology)), self.request)

    @property
    def count(self) -> int:
        """The number of its networks; a design space counts as one."""
        return count_of(self.topology)

    @property
    def seeds(self) -> tuple[int, int]:
        """The first and the last seed of a run; 0 and 0 of any other point."""
        run = seed_run(self.topology)
        return (run.first, run.last) if run else (0, 0)

    @property
    def wanted(self) -> shards.RowRange:
        """Its rows in shards."""
        return shards.RowRange(self.key, *self.seeds)

    def part(self, first: int, last: int) -> Point:
        """The point with seeds first … last of a run."""
        run = seed_run(self.topology)
        return replace(self, topology=str(run._replace(first=first, last=last))) if run else self

    @property
    def networks(self) -> list[Point]:
        """A point for each network."""
        return [replace(self, topology=spelling) for spelling in spellings_of(self.topology)]

    def record(self) -> dict[str, Any]:
        """Stage, topology and the request's fields, flat."""
        return {"stage": self.stage, "topology": self.topology, **asdict(self.request)}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Point:
        """The point of a `record`, and of its entry; other keys are ignored."""
        request = STAGES[record["stage"]].Request
        given = {one.name: record[one.name] for one in fields(request)}
        return cls(record["stage"], record["topology"], request(**given), record.get("entry"))


class Points:
    """A stage's points in order: each request of a network once, alone or in a run.

    count   of networks
    """

    def __init__(self, stage: str) -> None:
        self.points: list[Point] = []
        self.count = 0
        self._stage = stage
        self._networks: defaultdict[Any, Networks] = defaultdict(Networks)

    def add(self, parts: dict[Any, list[str]], entry: int | None = None) -> None:
        """Add what is new of some requests of a network, or of a run's seeds.

        A run is cut so that its points of one entry are of the same seeds: their rows follow each other network by
        network (torusweep.tables.shards.finished).
        """
        new = {
            request: [piece for part in topologies for piece in self._networks[request].add(part)]
            for request, topologies in parts.items()
        }
        requests = list(new)
        if any(seed_run(piece) for each in new.values() for piece in each[:1]):
            found = [(piece, requests[place]) for piece, places in pieces(new.values()) for place in places]
        else:
            found = [(piece, request) for request, each in new.items() for piece in each]
        self.points += [Point(self._stage, topology, request, entry) for topology, request in found]
        self.count += sum(count_of(topology) for topology, _ in found)


def networks_of(points: Iterable[Point]) -> int:
    """The number of networks of some points."""
    return sum(point.count for point in points)


class Partly(NamedTuple):
    """The outcome of a run in which some networks failed: rows (or None), and the reasons of the failures."""

    rows: pa.Table | None
    failed: Mapping[Point, Exception]


class _Network(NamedTuple):
    """A network of a point: the point's place among others, the network's seed in a run, and itself as a point."""

    place: int
    seed: int
    point: Point


def rows_of_many(points: Sequence[Point], options: How) -> list[pa.Table | Exception | Partly]:
    """The rows of each of a stage's points, behind key and member (torusweep.tables.shards.shard_schema), or the reason
    why it has none.

    Rows depend on their network and the code alone. The exceptions are BadInput for a network that cannot be built or a
    request that does not suit it, Refused for one that does not fit, BackendUnavailable, and defects.
    """
    if not points:
        return []
    stage = STAGES[points[0].stage]
    tables: dict[int, list[pa.Table]] = {place: [] for place in range(len(points))}
    failed: dict[int, dict[Point, Exception]] = {place: {} for place in tables}
    alone = set(tables)
    for places, shared in _alike(points, options).items():
        whole = attempt(_keyed_block, [points[place] for place in places], shared, options)
        if not isinstance(whole, Exception):  # where they failed together, those that can be computed are
            alone -= {*places}
            for place, table in zip(places, whole):
                tables[place].append(table)
    networks = [
        _Network(place, seed, network)
        for place in sorted(alone)
        for seed, network in enumerate(points[place].networks, start=points[place].seeds[0])
    ]
    lazy = ((LazyNetwork(network.point.topology, options.memory), network.point.request) for network in networks)
    rows_of = dict(zip(networks, stage.rows_of_many(lazy, options), strict=True)) if networks else {}
    records = {network: rows for network, rows in rows_of.items() if isinstance(rows, list)}
    together = attempt(_keyed_together, points, records)
    if isinstance(together, Mapping):
        for place, table in together.items():
            tables[place].append(table)
        records = {}  # else one of them has a defect, or its file is gone
    for network, rows in rows_of.items():
        if isinstance(rows, list) and network not in records:
            continue
        one = rows if isinstance(rows, Exception) else attempt(keyed, points[network.place], rows, network.seed)
        if isinstance(one, Exception):
            failed[network.place][network.point] = one
        else:
            tables[network.place].append(one)
    return [_outcome(point, tables[place], failed[place]) for place, point in enumerate(points)]


def _alike(points: Sequence[Point], options: How) -> dict[tuple[int, ...], list[tuple[str, Plan]]]:
    """Points whose networks are computed together, by their places: each with its topology and its first one's plan."""
    stage, found = STAGES[points[0].stage], defaultdict[Any, dict[int, tuple[str, Plan]]](dict)
    for place, point in enumerate(points):
        first = LazyNetwork(first_of(point.topology), options.memory)
        shape = attempt(stage.together, first, point.request)
        if shape is None or isinstance(shape, Exception):
            continue
        if not first.plan.hosts_end and not first.plan.link_latencies:  # which blocks have no arrays for
            found[point.request, shape][place] = point.topology, first.plan
    return {
        tuple(own): list(own.values()) for own in found.values() if networks_of(points[place] for place in own) >= FEW
    }


def _keyed_block(points: Sequence[Point], networks: list[tuple[str, Plan]], options: How) -> list[pa.Table]:
    """`keyed` of points that are computed together."""
    table = STAGES[points[0].stage].rows_of_block(networks, points[0].request, options)
    counts = [point.count for point in points]
    seeds = np.concatenate([np.arange(first, last + 1) for first, last in (point.seeds for point in points)])
    keys = pa.array([point.key for point in points], pa.string()).take(np.repeat(np.arange(len(points)), counts))
    columns: list[Any] = [keys, pa.array(seeds, pa.int64()), *table.columns]
    whole = pa.Table.from_arrays(columns, schema=shards.shard_schema(table.schema))
    return [whole.slice(end - size, size) for end, size in zip(accumulate(counts), counts)]


def _outcome(point: Point, tables: list[pa.Table], failed: Mapping[Point, Exception]) -> pa.Table | Exception | Partly:
    rows = pa.concat_tables(tables) if tables else None
    if rows is not None and not failed:
        return rows
    return failed[point] if point in failed else Partly(rows, failed)


def _keyed_together(points: Sequence[Point], records: Mapping[_Network, list[dict[str, Any]]]) -> dict[int, pa.Table]:
    """`keyed` of the records of networks, by their point's place. Arrow takes as long for a row as for many."""
    if not records:
        return {}
    schema = arrow_schema(STAGES[points[0].stage].columns)
    owners = [network for network, rows in records.items() for _ in rows]
    keys = {place: points[place].key for place in dict.fromkeys(network.place for network in records)}
    columns: list[Any] = [
        pa.array([keys[owner.place] for owner in owners], pa.string()),
        pa.array([owner.seed for owner in owners], pa.int64()),
        *pa.Table.from_pylist([row for rows in records.values() for row in rows], schema=schema).columns,
    ]
    table = pa.Table.from_arrays(columns, schema=shards.shard_schema(schema))
    rows_of = Counter(owner.place for owner in owners)
    ends = accumulate(rows_of[place] for place in keys)
    return {place: table.slice(end - rows_of[place], rows_of[place]) for place, end in zip(keys, ends)}


def keyed(point: Point, rows: Rows, seed: int | None = None) -> pa.Table:
    """Rows of a point's stage after its key and the network they are of: that of a seed, each of a run, or the one."""
    schema = arrow_schema(STAGES[point.stage].columns)
    table = rows.cast(schema) if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows, schema=schema)
    first, last = point.seeds if seed is None else (seed, seed)
    seeds = np.full(table.num_rows, first) if first == last else np.arange(first, last + 1)
    key = pa.repeat(pa.scalar(point.key), table.num_rows)
    columns: list[Any] = [key, pa.array(seeds, pa.int64()), *table.columns]
    return pa.Table.from_arrays(columns, schema=shards.shard_schema(schema))


def estimates(points: Iterable[Point]) -> dict[Point, float]:
    """The points with their estimated seconds, in order."""
    return {point: point.seconds for point in points}


@lru_cache(_KNOWN)
def _key(point: Point, files: tuple[str, ...], code: str) -> str:
    digest = _digest_begun(code).copy()
    run = seed_run(point.topology)
    record = point.record() | ({"topology": run.before} if run else {})
    digest.update(json.dumps([record, files]).encode())
    return digest.hexdigest()


@cache
def _digest_begun(code: str) -> Any:
    """The common part of the keys of a stage's points: its code, and versions of libraries a row may depend on."""
    libraries = {
        name: version(name) for name in ("igraph", "numpy", "pymetis", "scipy")
    }  # the partitioner's cut, an eigenvalue's last digits
    return hashlib.sha256(json.dumps([code, libraries]).encode())


@lru_cache(_KNOWN)
def _files_of(point: Point) -> tuple[Path, ...]:
    """Every file that a point's spellings name."""
    return (*files_of(first_of(point.topology)), *STAGES[point.stage].files(point.request))


@cache
def stage_digest(stage: str) -> str:
    """sha256 of the sources that a stage's rows depend on."""
    return digest_of_code(sources_of(type(STAGES[stage]).__module__))
