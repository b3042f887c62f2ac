"""Forecast a sweep's points, time, memory and disk space before anything is computed, as text and as JSON."""

from __future__ import annotations

import heapq
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any, NamedTuple

from torusweep.quantities import counted, duration, size
from torusweep.questions.display import aligned
from torusweep.stages import STAGES
from torusweep.sweeps.batches import MOST_POINTS
from torusweep.sweeps.configuration.schema import Cluster
from torusweep.sweeps.left_out import notes_of
from torusweep.sweeps.points import Point, networks_of

SHARD_BYTES = 24_000  # bytes of a shard or table without rows: the columns' names, units and meanings
PAGE_BYTES = 6_000_000  # bytes of the report, the figures and the manifest
FEW_SHARDS = 30  # additional shards of a stage, as the last batches are small and those of dead workers are halved
START_SECONDS = 7.0  # time of Snakemake, the steps and the page, on two cores
LONG = 3600.0  # seconds; `torusweep run` announces a longer forecast in a line of its own
MOST = 5  # number of points that are listed
WIDTH = 100  # characters of a listed point; `--json` has longer ones in full
HEADS = ("stage", "points", "rows, about", "time of one core", "longest point")


def usable_cores(cluster: Cluster) -> int:
    """Return the number of this machine's cores that the configuration lets a process use."""
    here = len(os.sched_getaffinity(0))
    return here if cluster.cores == "auto" else min(here, cluster.cores)


def _seconds_by_stage(estimates: Mapping[Point, float]) -> dict[str, float]:
    """Return the estimated seconds of all points of each stage.

    estimates  point → seconds on a core (torusweep.sweeps.points.estimates)
    """
    seconds = defaultdict[str, float](float)
    for point, cost in estimates.items():
        seconds[point.stage] += cost
    return seconds


def disk_bytes(estimates: Mapping[Point, float], batch_seconds: float) -> int:
    """Estimate the bytes of a sweep's folder after the run. The estimate is rather too high.

    batch_seconds   seconds of a batch of points; each batch writes a shard
    """
    rows, seconds = Counter[str](), _seconds_by_stage(estimates)
    for point in estimates:
        rows[point.stage] += point.row_count
    shards = sum(
        min(rows[stage], rows[stage] // MOST_POINTS + 3 * seconds[stage] / batch_seconds + FEW_SHARDS) for stage in rows
    )
    of_rows = sum(STAGES[stage].row_bytes * count for stage, count in rows.items())
    return int(SHARD_BYTES * (shards + 2 * len(rows)) + of_rows + PAGE_BYTES)


class StageForecast(NamedTuple):
    """The forecast of a stage of a sweep.

    rows      approximate number of rows in the stage's table
    seconds   seconds of one core for all points
    longest   seconds of the longest point, or network of a run, since workers can divide a run
    """

    stage: str
    points: int
    rows: int
    seconds: float
    longest: float


class Forecast(NamedTuple):
    """The forecast of a sweep. Estimated times are right within a factor of about five.

    stages      forecasts of the stages, in order
    workers     number of points that are computed at the same time; None if an existing scheduler decides it
    seconds     seconds from start to end with these workers (with one, if their number is unknown)
    memory      bytes of memory of the largest point
    disk        bytes of the results' folder, estimated rather too high
    expensive   the most expensive points with their seconds, the longest first
    notes       what tables leave out of networks (torusweep.sweeps.left_out), and what papers add
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
        """The estimated time in words, such as 'about 12 s on 2 workers'."""
        place = "one core" if self.workers is None else counted(self.workers, "worker")
        return f"about {duration(self.seconds)} on {place}"


def forecast(estimates: Mapping[Point, float], cluster: Cluster, of_papers: Sequence[Point] = ()) -> Forecast:
    """Make the forecast of a sweep.

    estimates  point → seconds on a core, for all points (torusweep.sweeps.points.estimates)
    cluster    section `cluster` of the configuration
    of_papers  points that the sweep has only for its papers
    """
    stages = []
    for name in STAGES:
        points = [(point, cost) for point, cost in estimates.items() if point.stage == name]
        if points:
            rows = sum(point.row_count for point, _ in points)
            longest = max(cost / point.count for point, cost in points)
            seconds = sum(cost for _, cost in points)
            stages.append(StageForecast(name, networks_of(point for point, _ in points), rows, seconds, longest))
    workers, notes = worker_count(cluster), [*notes_of(estimates)]
    if of_papers:
        part = f"{counted(networks_of(of_papers), 'point')}, {duration(sum(map(estimates.__getitem__, of_papers)))}"
        notes.append(f"papers add {part} of one core; 'verify' in place of 'papers' compares only what the sweep has")
    return Forecast(
        stages=tuple(stages),
        workers=workers,
        seconds=START_SECONDS + sum(max(stage.longest, stage.seconds / (workers or 1)) for stage in stages),
        memory=max((point.memory for point in estimates), default=0),
        disk=disk_bytes(estimates, cluster.batch_seconds),
        expensive=tuple(heapq.nlargest(MOST, estimates.items(), key=lambda item: item[1])),
        notes=tuple(notes),
    )


def worker_count(cluster: Cluster) -> int | None:
    """Return the number of points that are computed at the same time; None if an existing scheduler decides it."""
    if cluster.scheduler is not None:
        return None
    if cluster.slurm is not None:
        return cluster.slurm.jobs * cluster.slurm.cores
    if cluster.workers == "auto":
        return usable_cores(cluster)
    return max(1, cluster.workers)


def text(sweep: str, forecast: Forecast) -> str:
    """Return the forecast as text: the totals, a line for each stage, the most expensive points, and notes."""
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
    """Return the forecast as a JSON object, with times in seconds and sizes in bytes."""
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
