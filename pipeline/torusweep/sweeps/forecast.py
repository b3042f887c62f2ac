"""What a sweep will take: points, time, memory and disk, known before anything is computed."""

from __future__ import annotations

import heapq
import os
from collections.abc import Mapping
from typing import NamedTuple

from torusweep.counts import counted, duration
from torusweep.stages import STAGES
from torusweep.sweeps.batches import disk_bytes
from torusweep.sweeps.configuration.schema import Cluster
from torusweep.sweeps.points import Point

START_SECONDS = 7.0  # of Snakemake, the steps and the page, on two cores
LONG = 3600.0  # seconds from which `torusweep run` says what it will take in a line of its own
MOST = 5  # points that are listed


class StageForecast(NamedTuple):
    """A stage of a sweep.

    rows      of its table
    seconds   of one core, together
    longest   seconds of its most expensive point
    """

    stage: str
    points: int
    rows: int
    seconds: float
    longest: float


class Forecast(NamedTuple):
    """What a sweep will take. Estimated times are right within a factor of about five.

    stages      in order
    workers     points that are computed at once; None where that depends on an existing scheduler
    seconds     from beginning to end on these workers (on one, where their number is unknown)
    memory      bytes of the largest point
    disk        bytes of the results' folder, rather too many
    expensive   the most expensive points with their seconds, the longest first
    """

    stages: tuple[StageForecast, ...]
    workers: int | None
    seconds: float
    memory: int
    disk: int
    expensive: tuple[tuple[Point, float], ...]

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
        seconds = [cost for point, cost in estimates.items() if point.stage == name]
        if seconds:
            rows = sum(point.row_count for point in estimates if point.stage == name)
            stages.append(StageForecast(name, len(seconds), rows, sum(seconds), max(seconds)))
    workers = worker_count(cluster)
    return Forecast(
        stages=tuple(stages),
        workers=workers,
        seconds=START_SECONDS + sum(max(stage.longest, stage.seconds / (workers or 1)) for stage in stages),
        memory=max((point.memory for point in estimates), default=0),
        disk=disk_bytes(estimates, cluster.batch_seconds),
        expensive=tuple(heapq.nlargest(MOST, estimates.items(), key=lambda item: item[1])),
    )


def worker_count(cluster: Cluster) -> int | None:
    """Points that are computed at once; None where that depends on an existing scheduler."""
    if cluster.scheduler is not None:
        return None
    if cluster.slurm is not None:
        return cluster.slurm.jobs * cluster.slurm.cores
    if cluster.workers == "auto":
        return len(os.sched_getaffinity(0))
    return max(1, cluster.workers)
