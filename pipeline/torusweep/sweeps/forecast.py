"""The forecast of a sweep: points, time, memory and disk, before anything is computed.

The rest to compute is handed out in batches of about equal time. A forecast has a text and a JSON form.
"""

from __future__ import annotations

import heapq
import os
import re
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from math import ceil
from textwrap import shorten
from typing import Any, NamedTuple

from torusweep.errors import BadInput
from torusweep.quantities import counted, duration, size
from torusweep.questions.display import aligned
from torusweep.stages import STAGES
from torusweep.sweeps.configuration.schema import MOST_PARTS, Cluster
from torusweep.sweeps.left_out import notes_of
from torusweep.sweeps.points import MOST_NETWORKS, Point, networks_of

LEAST_SECONDS = 0.05  # a batch's way to a worker and its shard's way to the disk take some hundredths of a second
MOST_POINTS = 1_000  # in a batch: what a dead run can lose of very cheap points
PATIENCE = 20.0  # times its estimate a batch may take: estimates are right within a factor of about five
SHARD_BYTES = 24_000  # of a shard or table without its rows: the columns' names, units and meanings
PAGE_BYTES = 6_000_000  # of the report, the figures and the manifest
FEW_SHARDS = 30  # of a stage: batches become smaller towards its end, and those of dead workers are halved


class Batch(NamedTuple):
    """The points of one task, their estimated seconds (cost), and the workers that a lone point has cost (deaths)."""

    points: list[Point]
    cost: float
    deaths: tuple[str, ...] = ()


class Batches:
    """Points to hand out, long ones first, so that none is begun last; a network's equal points stay together.

    Estimated seconds (torusweep.sweeps.points.estimates) are corrected by the times of batches, since machines
    differ. Towards the end batches become smaller, so that the workers finish together.
    """

    def __init__(self, estimates: Mapping[Point, float], batch_seconds: float) -> None:
        number = {point.topology: place for place, point in enumerate(estimates)}  # stages share work on a network
        ordered = sorted(estimates.items(), key=lambda pair: (-pair[1], number[pair[0].topology]))
        self._points = deque((cost, point) for point, cost in ordered)
        self._again: deque[Batch] = deque()
        self._seconds = batch_seconds
        self._estimated = self._taken = 0.0
        self.cost = sum(cost for cost, _ in self._points)  # of all that is left, in estimated seconds

    def __bool__(self) -> bool:
        return bool(self._points or self._again)

    def next(self, places: int) -> Batch:
        """The next batch for one of `places` workers."""
        if self._again:
            batch = self._again.popleft()
        else:
            pace = self._pace
            enough = min(self._seconds, max(LEAST_SECONDS, self.cost * pace / (2 * places)))
            chosen: list[Point] = []
            cost = 0.0
            while self._points and cost * pace < enough and len(chosen) < MOST_POINTS:
                seconds, point = self._points.popleft()
                if (most := _networks_within(point, enough / pace - cost, seconds)) < point.count:
                    first, last = point.seeds
                    rest = seconds * (1 - most / point.count)
                    self._points.appendleft((rest, point.part(first + most, last)))
                    seconds, point = seconds - rest, point.part(first, first + most - 1)
                chosen.append(point)
                cost += seconds
            batch = Batch(chosen, cost)
        self.cost -= batch.cost
        return batch

    @property
    def _pace(self) -> float:
        """Seconds that an estimated second took so far."""
        return self._taken / self._estimated if self._taken else 1.0

    def limit(self, batch: Batch, least: float) -> float:
        """Seconds after which a batch counts as hanging: at least `least`, and more for each retry of a lone point."""
        return max(least, PATIENCE * batch.cost * self._pace) * 2 ** len(batch.deaths)

    def took(self, batch: Batch, seconds: float) -> None:
        """Learn from a finished batch."""
        self._estimated += batch.cost
        self._taken += seconds

    def halve(self, batch: Batch) -> None:
        """Put the halves of a batch back, to find the point that its worker died of."""
        points = batch.points
        if len(points) == 1:  # a run of networks
            ((first, last), point) = points[0].seeds, points[0]
            middle = (first + last) // 2
            points = [point.part(first, middle), point.part(middle + 1, last)]
        middle = len(points) // 2
        for part in (points[:middle], points[middle:]):
            self.put_back(Batch(part, batch.cost * networks_of(part) / networks_of(points)))

    def put_back(self, batch: Batch) -> None:
        self._again.append(batch)
        self.cost += batch.cost


def _networks_within(point: Point, seconds: float, whole: float) -> int:
    """The number of a point's networks for a batch with this many estimated seconds left; all take `whole`."""
    return max(1, min(point.count, MOST_NETWORKS, ceil(point.count * seconds / whole)))


class StagePart(NamedTuple):
    """A part of a stage: its number, from 1, and the number of parts."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}-of-{self.of}"  # names files and locks

    @classmethod
    def read(cls, text: str) -> StagePart:
        """Read a part from 3/7 or 3-of-7. Raises BadInput for another text."""
        found = re.fullmatch(r"([0-9]{1,9})(?:/|-of-)([0-9]{1,9})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MOST_PARTS:
            raise BadInput(
                f"expected one of at most {MOST_PARTS:,} parts, as in 3/7, the third of seven, got {text[:60]!r}"
            )
        return cls(int(found[1]), int(found[2]))


def read_parts(text: str, where: str = "") -> int | str:
    """Read a number of parts, or auto. Raises BadInput that begins with `where`."""
    if text == "auto":
        return text
    if re.fullmatch("[0-9]{1,9}", text) is None or not 1 <= int(text) <= MOST_PARTS:
        raise BadInput(f"{where}expected auto or a whole number from 1 to {MOST_PARTS:,}, got {text[:60]!r}")
    return int(text)


def cut(estimates: Mapping[Point, float], parts: int) -> list[dict[Point, float]]:
    """A stage's points in parts of about equal time, each point or network of a run in one, in their order.

    The same points and number give the same parts. A part has a point if there is one left, and fills up to its share
    of what is left, or half a point more. A run of networks is cut where a part is full. The last parts may be empty.
    """
    waiting, cut_off = deque(estimates.items()), []
    left = sum(estimates.values())
    for number in range(parts, 0, -1):
        part: dict[Point, float] = {}
        share, cost = left / number, 0.0
        while waiting:
            point, seconds = waiting[0]
            fitting = point.count if number == 1 else int((share - cost) * point.count / seconds + 0.5)
            taken = min(point.count, max(fitting, not part))
            if taken <= 0:
                break
            waiting.popleft()
            if taken < point.count:
                first, last = point.seeds
                rest = seconds * (1 - taken / point.count)
                waiting.appendleft((point.part(first + taken, last), rest))
                point, seconds = point.part(first, first + taken - 1), seconds - rest
            part[point] = seconds
            cost += seconds
        left -= cost
        cut_off.append(part)
    return cut_off


PART_CORES = 8  # of a job, where cluster.cores is auto: a fraction of any node
LATE = 4.0  # times its estimate that a job may take; what it has computed then is kept, and the next trial has longer
JOB_SECONDS = 600.0  # besides: Snakemake, imports, compilers, a busy file system
JOB_MEMORY, WORKER_MEMORY = 1 << 30, 400 << 20  # bytes, without points: of a job's Snakemakes and step, of a worker


class PartJob(NamedTuple):
    """The resources that a part of a stage needs from a cluster.

    points   points with their estimated seconds
    cores    number of points computed at once
    """

    points: Mapping[Point, float]
    cores: int

    @property
    def seconds(self) -> float:
        """Estimated seconds."""
        longest = max((seconds / point.count for point, seconds in self.points.items()), default=0.0)
        return max(longest, sum(self.points.values()) / self.cores)

    @property
    def mem_mb(self) -> int:
        """MB to request: as if the points that take most memory were computed at once."""
        largest = max((point.memory for point in self.points), default=0)
        return ceil((JOB_MEMORY + self.cores * (WORKER_MEMORY + largest)) / 1e6)

    @property
    def minutes(self) -> int:
        """Minutes to request the first time."""
        return ceil((JOB_SECONDS + LATE * self.seconds) / 60)


def jobs(estimates: Mapping[Point, float], cluster: Cluster) -> dict[StagePart, PartJob]:
    """A stage's parts, with the resources that each needs from a cluster; one part if there are no points.

    There are as few parts as take `part_minutes` with the most cores of a job; a single part has as few cores as that.
    """
    if cluster.workers == "auto":
        most = PART_CORES if cluster.cores == "auto" else cluster.cores
    else:
        most = max(1, cluster.workers)
    within = cluster.part_minutes * 60
    whole = sum(estimates.values())
    elsewhere = cluster.scheduler is not None or cluster.slurm is not None  # then a job only hands batches out
    parts = cluster.parts if cluster.parts != "auto" else 1 if elsewhere else ceil(whole / (most * within))
    parts = max(1, min(parts, networks_of(estimates), MOST_PARTS))
    cores = 1 if elsewhere else min(most, max(1, ceil(whole / (parts * within))))
    return {
        StagePart(number, parts): PartJob(part, cores)
        for number, part in enumerate(cut(estimates, parts), start=1)
        if part or number == 1
    }


def gpu_options(cluster: Cluster, backend: str) -> dict[str, int | str]:
    """Options of sbatch for the GPUs of a job, all on one node, which a number of GPUs alone does not ensure."""
    gpus = int(backend == "cupy") if cluster.gpus is None else cluster.gpus
    if isinstance(gpus, str):
        return {"gres": gpus}
    return {"gpus": gpus, "nodes": 1} if gpus else {}


def usable_cores(cluster: Cluster) -> int:
    """Cores of this machine that a process takes."""
    here = len(os.sched_getaffinity(0))
    return here if cluster.cores == "auto" else min(here, cluster.cores)


def _seconds_by_stage(estimates: Mapping[Point, float]) -> dict[str, float]:
    """Estimated seconds of all points of each stage.

    estimates  point → seconds on a core (torusweep.sweeps.points.estimates)
    """
    seconds = defaultdict[str, float](float)
    for point, cost in estimates.items():
        seconds[point.stage] += cost
    return seconds


def disk_bytes(estimates: Mapping[Point, float], batch_seconds: float) -> int:
    """Bytes that a sweep's folder takes in the end, rather too many.

    Its points come in batches of so many seconds, a shard each.
    """
    rows, seconds = Counter[str](), _seconds_by_stage(estimates)
    for point in estimates:
        rows[point.stage] += point.row_count
    shards = sum(
        min(rows[stage], rows[stage] // MOST_POINTS + 3 * seconds[stage] / batch_seconds + FEW_SHARDS) for stage in rows
    )
    of_rows = sum(STAGES[stage].row_bytes * count for stage, count in rows.items())
    return int(SHARD_BYTES * (shards + 2 * len(rows)) + of_rows + PAGE_BYTES)


START_SECONDS = 7.0  # of Snakemake, the steps and the page, on two cores
LONG = 3600.0  # seconds from which `torusweep run` says what it will take in a line of its own
MOST = 5  # points that are listed


class StageForecast(NamedTuple):
    """A stage of a sweep.

    rows      approximate rows of its table
    seconds   seconds of one core for all points
    longest   seconds of its most expensive point, or network of a run, which is cut among workers
    """

    stage: str
    points: int
    rows: int
    seconds: float
    longest: float


class Forecast(NamedTuple):
    """The forecast of a sweep. Estimated times are right within a factor of about five.

    stages      stages in order
    workers     number of points computed at once; None if that depends on an existing scheduler
    seconds     seconds from beginning to end on these workers (on one, if their number is unknown)
    memory      bytes of the largest point
    disk        bytes of the results' folder, rather too many
    expensive   the most expensive points with their seconds, the longest first
    notes       attributes of networks that tables leave out (torusweep.sweeps.left_out)
    """

    stages: tuple[StageForecast, ...]
    workers: int | None
    seconds: float
    memory: int
    disk: int
    expensive: tuple[tuple[Point, float], ...]
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        return sum(stage.points for stage in self.stages)

    @property
    def time(self) -> str:
        """Estimated time in words, as in 'about 12 s on 2 workers'."""
        place = "one core" if self.workers is None else counted(self.workers, "worker")
        return f"about {duration(self.seconds)} on {place}"


def forecast(estimates: Mapping[Point, float], cluster: Cluster) -> Forecast:
    """The forecast of a sweep's points.

    estimates  of every point, in seconds of a core (torusweep.sweeps.points.estimates)
    cluster    the configuration's section
    """
    stages = []
    for name in STAGES:
        points = {point: cost for point, cost in estimates.items() if point.stage == name}
        if points:
            rows = sum(point.row_count for point in points)
            longest = max(cost / point.count for point, cost in points.items())
            stages.append(StageForecast(name, networks_of(points), rows, sum(points.values()), longest))
    workers = worker_count(cluster)
    return Forecast(
        stages=tuple(stages),
        workers=workers,
        seconds=START_SECONDS + sum(max(stage.longest, stage.seconds / (workers or 1)) for stage in stages),
        memory=max((point.memory for point in estimates), default=0),
        disk=disk_bytes(estimates, cluster.batch_seconds),
        expensive=tuple(heapq.nlargest(MOST, estimates.items(), key=lambda item: item[1])),
        notes=notes_of(estimates),
    )


def worker_count(cluster: Cluster) -> int | None:
    """The number of points computed at once; None if that depends on an existing scheduler."""
    if cluster.scheduler is not None:
        return None
    if cluster.slurm is not None:
        return cluster.slurm.jobs * cluster.slurm.cores
    if cluster.workers == "auto":
        return usable_cores(cluster)
    return max(1, cluster.workers)


WIDTH = 100  # characters of a point; a simulation's may be long, and `--json` has all of it
HEADS = ("stage", "points", "rows, about", "time of one core", "longest point")


def text(sweep: str, forecast: Forecast) -> str:
    """The answer first, then each stage, then the most expensive points."""
    rows = [HEADS]
    for stage in forecast.stages:
        times = duration(stage.seconds), duration(stage.longest)
        rows.append((stage.stage, f"{stage.points:,}", f"{stage.rows:,}", *times))
    width = max(len(row[0]) for row in rows)
    lines = [
        f"{sweep}: {counted(forecast.points, 'point')}, {forecast.time};"
        f" memory {size(forecast.memory)} for the largest point, disk {size(forecast.disk)}",
        "",
        *aligned([(row[0].ljust(width), *row[1:]) for row in rows], gap=3),
    ]
    if forecast.expensive:
        lines += ["", "most expensive points:"]
        lines += [
            f"  {duration(seconds):>8}  {point.stage}  {shorten(str(point), WIDTH, placeholder=' …')}"
            for point, seconds in forecast.expensive
        ]
    return "\n".join([*lines, *(f"note: {note}" for note in forecast.notes)])


def record(sweep: str, forecast: Forecast) -> dict[str, Any]:
    """The forecast as one object: times in seconds, sizes in bytes."""
    return {
        "sweep": sweep,
        "points": forecast.points,
        "seconds": forecast.seconds,
        "workers": forecast.workers,
        "memory": forecast.memory,
        "disk": forecast.disk,
        "notes": list(forecast.notes),
        "stages": [stage._asdict() for stage in forecast.stages],
        "expensive": [
            {"stage": point.stage, "point": str(point), "seconds": seconds} for point, seconds in forecast.expensive
        ],
    }
