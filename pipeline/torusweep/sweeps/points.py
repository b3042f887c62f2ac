"""Points of a sweep. A point is a request for a network; its key shows whether rows of earlier runs are still valid."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property
from importlib.metadata import version
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.networks.families.graph_files import files_of
from torusweep.networks.seed_runs import Networks, Planned, SeedRun, count_of, first_of, pieces, read_run, spellings_of
from torusweep.questions.how import How
from torusweep.questions.stage import LazyNetwork, Rows, alike, attempt
from torusweep.stages import STAGES
from torusweep.tables import shards, store
from torusweep.tables.columns import arrow_schema
from torusweep.tables.keys import digest_of_code, file_digest, sources_of
from torusweep.tables.parquet import arrow_places
from torusweep.tables.rows import numbers

MOST_NETWORKS = 1 << 14  # networks of a run in a batch; their rows take some MB


class Estimate(NamedTuple):
    """The cost of a point, and what its rows leave out, from the network's plan. Times are right within a factor of 5.

    seconds    seconds of the point on one core
    memory     bytes of memory that the point takes
    row_count  number of the point's rows
    unheeded   attributes of its network (torusweep.questions.heeds) that the rows do not take into account
    """

    seconds: float
    memory: int
    row_count: int
    unheeded: Sequence[str] = ()


@dataclass(frozen=True)
class Point:
    """A request for a network, from which a stage computes one or several rows of its table.

    stage      name of the stage (torusweep.stages.STAGES)
    topology   canonical spelling of a network or of a design space; or a run of networks
    request    object of the stage's class `Request`
    entry      number of the entry in the stage's section that requests the point; None if every network has the
               request, or a paper's number needs it. Points that differ only in `entry` are equal
    """

    stage: str
    topology: str | SeedRun
    request: Any
    entry: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.topology} {self.request}".rstrip()

    @property
    def key(self) -> str:
        """The SHA-256 of the spelling, the request, the contents of all files that these name, and the stage's code.

        The files are read each time, because they may have changed. The key leaves out backend, symmetry and workers,
        on which rows do not depend, and the seeds of a run, because each row has its seed (torusweep.tables.shards:
        MEMBER). Raises BadInput for a file that cannot be read.
        """
        depends = tuple(file_digest(file) for file in self._files), stage_digest(self.stage)
        known: tuple[Any, str] | None = vars(self).get("_key")
        if known is None or known[0] != depends:
            known = vars(self)["_key"] = depends, self._key_of(*depends)
        return known[1]

    def _key_of(self, files: tuple[str, ...], code: str) -> str:
        digest, run = _digest_begun(code).copy(), self.topology
        record = self.record() | ({"topology": run.before} if isinstance(run, SeedRun) else {})
        digest.update(json.dumps([record, files]).encode())
        return str(digest.hexdigest())

    @cached_property
    def _files(self) -> tuple[Path, ...]:
        """All files that the point's spelling and request name."""
        return (*files_of(first_of(self.topology)), *STAGES[self.stage].files(self.request))

    seconds = property(lambda self: self.estimate.seconds)
    memory = property(lambda self: self.estimate.memory)
    row_count = property(lambda self: self.estimate.row_count)

    @cached_property
    def estimate(self) -> Estimate:
        """The estimated cost of the point, and what its rows leave out."""
        network, stage, count = LazyNetwork(first_of(self.topology)), STAGES[self.stage], self.count
        return Estimate(
            count * stage.seconds(network, self.request),
            stage.row_bytes * (min(count, MOST_NETWORKS) - 1) + stage.memory(network, self.request),
            count * stage.row_count(network, self.request),
            stage.unheeded(network, self.request),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle: the fields, without cached values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def count(self) -> int:
        """The number of the point's networks; a design space counts as one."""
        return count_of(self.topology)

    @property
    def seeds(self) -> tuple[int, int]:
        """(first seed, last seed) of a run of networks; (0, 0) for any other point."""
        return self.topology[1:] if isinstance(self.topology, SeedRun) else (0, 0)

    @property
    def wanted(self) -> shards.RowRange:
        """The key and seeds by which the point's rows are found in shards."""
        return shards.RowRange(self.key, *self.seeds)

    def part(self, first: int, last: int) -> Point:
        """Return the part of a run with the seeds `first` … `last`; other points are returned unchanged."""
        run = self.topology
        return replace(self, topology=run._replace(first=first, last=last)) if isinstance(run, SeedRun) else self

    @property
    def networks(self) -> list[Point]:
        """This point, split into points of one network each."""
        return [replace(self, topology=spelling) for spelling in spellings_of(self.topology)]

    def record(self) -> dict[str, Any]:
        """Return the point as a flat dictionary: stage, topology and the request's fields."""
        return {"stage": self.stage, "topology": str(self.topology), **asdict(self.request)}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Point:
        """Return the point with the values of a `record`, and its `entry` if present. Other keys are ignored."""
        request = STAGES[record["stage"]].Request
        given = {one.name: record[one.name] for one in fields(request)}
        return cls(record["stage"], read_run(str(record["topology"])), request(**given), record.get("entry"))


class Points:
    """A list of a stage's points, in which each request for a network occurs once, alone or in a run.

    count   number of networks of all points
    """

    def __init__(self, stage: str) -> None:
        self.points: list[Point] = []
        self.count = 0
        self._stage = stage
        self._networks: defaultdict[Any, Networks] = defaultdict(Networks)

    def add(self, parts: Mapping[Any, Sequence[str | SeedRun]], entry: int | None = None) -> None:
        """Add each request that is new. `parts` maps a request to a network, or to parts of a run.

        A run is divided so that all requests of an entry have points with the same seeds, because their rows are sorted
        by network (torusweep.tables.shards.finished).
        """
        new = {
            request: [piece for part in topologies for piece in self._networks[request].add(part)]
            for request, topologies in parts.items()
        }
        requests, runs = [*new], [[piece for piece in each if isinstance(piece, SeedRun)] for each in new.values()]
        found = [(piece, request) for request, each in new.items() for piece in each]
        if len(requests) > 1 and any(runs):
            found = [(piece, requests[place]) for piece, places in pieces(runs) for place in places]
        points = [Point(self._stage, topology, request, entry) for topology, request in found]
        self.points += points
        self.count += networks_of(points)


def networks_of(points: Iterable[Point]) -> int:
    """Return the total number of networks of points."""
    return sum(point.count for point in points)


class Partly(NamedTuple):
    """The result of a run of networks, some of which failed: rows (or None), and each failed network's exception."""

    rows: pa.Table | None
    failed: Mapping[Point, Exception]


class _Network(NamedTuple):
    """A network of a point, with the point's index, the network's seed in a run, and a point of this network alone."""

    place: int
    seed: int
    point: Point


def rows_of_many(points: Sequence[Point], options: How) -> list[pa.Table | Exception | Partly]:
    """Compute for each of a stage's points its rows (torusweep.tables.shards.shard_schema) or an exception.

    Rows depend only on their network and the code. Exceptions are BadInput for a network that cannot be built or for
    which the request is not defined, Refused for a network that is too large, BackendUnavailable, and errors of
    defects.
    """
    if not points:
        return []
    stage = STAGES[points[0].stage]
    tables: dict[int, list[pa.Table]] = {place: [] for place in range(len(points))}
    failed: dict[int, dict[Point, Exception]] = {place: {} for place in tables}
    alone = set(tables)
    firsts = [LazyNetwork(first_of(point.topology), options.memory) for point in points]
    asked = [(point.topology, first, point.request) for point, first in zip(points, firsts)]
    for places, shared in alike(stage, asked).items():
        whole = attempt(_keyed_block, [points[place] for place in places], shared, options)
        if not isinstance(whole, Exception):  # points that failed together are computed one by one below
            alone -= {*places}
            for place, table in zip(places, whole):
                tables[place].append(table)
    networks = [
        _Network(place, seed, network)
        for place in sorted(alone)
        for seed, network in enumerate(points[place].networks, start=points[place].seeds[0])
    ]
    lazy = ((LazyNetwork(str(network.point.topology), options.memory), network.point.request) for network in networks)
    rows_of = dict(zip(networks, stage.rows_of_many(lazy, options), strict=True)) if networks else {}
    records = {network: rows for network, rows in rows_of.items() if isinstance(rows, list)}
    together = attempt(_keyed_together, points, records)
    if isinstance(together, Mapping):
        for place, table in together.items():
            tables[place].append(table)
        records = {}  # otherwise a row has a defect, or a file is gone: rows are converted one by one below
    for network, rows in rows_of.items():
        if isinstance(rows, list) and network not in records:
            continue
        one = rows if isinstance(rows, Exception) else attempt(keyed, points[network.place], rows, network.seed)
        if isinstance(one, Exception):
            failed[network.place][network.point] = one
        else:
            tables[network.place].append(one)
    return [_outcome(point, tables[place], failed[place]) for place, point in enumerate(points)]


def _keyed_block(points: Sequence[Point], networks: list[Planned], options: How) -> list[pa.Table]:
    """Compute the rows of points together. Returns what `keyed` returns for each point."""
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
    """Return what `keyed` returns for each point's networks, by point index. One conversion of many rows is faster."""
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
    """Add key and member to a point's rows. All rows belong to the network `seed`; by default, each to the next one."""
    schema = arrow_schema(STAGES[point.stage].columns)
    table = rows.cast(schema) if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows, schema=schema)
    first, last = point.seeds if seed is None else (seed, seed)
    seeds = np.full(table.num_rows, first) if first == last else np.arange(first, last + 1)
    key = pa.repeat(pa.scalar(point.key), table.num_rows)
    columns: list[Any] = [key, pa.array(seeds, pa.int64()), *table.columns]
    return pa.Table.from_arrays(columns, schema=shards.shard_schema(schema))


class ListedPoints(NamedTuple):
    """A stage's points in points.parquet: for each its row number there, its estimated seconds, and its networks."""

    rows: np.ndarray
    seconds: np.ndarray
    counts: np.ndarray


def listed(folder: Path, stages: Iterable[str]) -> dict[str, ListedPoints]:
    """Return the points of stages, from three columns of points.parquet. Raises BadInput if the file was altered."""
    begin, found = 0, {stage: [ListedPoints(*[np.empty(0, np.int64)] * 3)] for stage in stages}
    for rows in store.open_file(folder / "points.parquet", schema_of("points")).groups(
        ["stage", "topology", "estimated_seconds"]
    ):
        names = np.array(rows["stage"].to_pylist(), object)
        for stage, parts in found.items():
            mine = rows.take(arrow_places(own := np.flatnonzero(names == stage)))
            counts = np.array([count_of(read_run(str(text))) for text in mine["topology"].to_pylist()], np.int64)
            parts.append(ListedPoints(own + begin, numbers(mine["estimated_seconds"]), counts))
        begin += len(names)
    made = {stage: ListedPoints(*map(np.concatenate, zip(*parts))) for stage, parts in found.items()}
    if not all(((one.seconds > 0) & (one.seconds < inf) & (one.counts > 0)).all() for one in made.values()):
        raise altered(folder)
    return made


def altered(folder: Path) -> BadInput:
    return BadInput(
        f"{folder / 'points.parquet'} was made by other code or from other files: delete it and run the sweep again"
    )


def estimates(points: Iterable[Point]) -> dict[Point, float]:
    """Return the estimated seconds of each point, in the order of the points."""
    return {point: point.seconds for point in points}


@cache
def _digest_begun(code: str) -> Any:
    """Return the common part of the keys of a stage's points: its code, and versions of libraries that affect rows."""
    libraries = {
        name: version(name) for name in ("igraph", "numpy", "pymetis", "scipy")
    }  # a partitioner's cut or the last digits of an eigenvalue may depend on the version
    return hashlib.sha256(json.dumps([code, libraries]).encode())


@cache
def stage_digest(stage: str) -> str:
    """Return the SHA-256 of the sources on which a stage's rows depend."""
    return digest_of_code(sources_of(type(STAGES[stage]).__module__))
