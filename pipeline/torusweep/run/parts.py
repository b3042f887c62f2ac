"""Divide a stage into parts, each a cluster job: its points, and the cores, memory, minutes and GPUs to request."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

from torusweep.errors import BadInput
from torusweep.sweeps.configuration.schema import MOST_PARTS, Cluster
from torusweep.sweeps.points import Point, networks_of

PART_CORES = 8  # of a job, where cluster.cores is auto: a fraction of any node
LATE = 4.0  # times its estimate that a job may take; what it has computed then is kept, and the next trial has longer
JOB_SECONDS = 600.0  # besides: Snakemake, imports, compilers, a busy file system
JOB_MEMORY, WORKER_MEMORY = 1 << 30, 400 << 20  # bytes, without points: of a job's Snakemakes and step, of a worker


class StagePart(NamedTuple):
    """A part of a stage: its number, counted from 1, and the number of parts (`of`)."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}-of-{self.of}"  # names files and locks

    @classmethod
    def read(cls, text: str) -> StagePart:
        """Read a part spelled 3/7 or 3-of-7. Raises BadInput for any other text."""
        found = re.fullmatch(r"([0-9]{1,9})(?:/|-of-)([0-9]{1,9})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MOST_PARTS:
            raise BadInput(
                f"expected one of at most {MOST_PARTS:,} parts, as in 3/7, the third of seven, got {text[:60]!r}"
            )
        return cls(int(found[1]), int(found[2]))


def read_parts(text: str, where: str = "") -> int | str:
    """Read a number of parts, or auto. Raises BadInput whose message begins with `where`."""
    if text == "auto":
        return text
    if re.fullmatch("[0-9]{1,9}", text) is None or not 1 <= int(text) <= MOST_PARTS:
        raise BadInput(f"{where}expected auto or a whole number from 1 to {MOST_PARTS:,}, got {text[:60]!r}")
    return int(text)


def cut(estimates: Mapping[Point, float], parts: int) -> list[dict[Point, float]]:
    """Divide a stage's points, in order, into parts of about equal time. Returns each part's points and seconds.

    The same points and number of parts give the same division. A part takes its equal share of the remaining time, to
    the nearest point, but at least one point. A run of networks is cut where a part is full. The last parts may be
    empty.
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


class PartJob(NamedTuple):
    """The resources that a part of a stage requests from a cluster.

    points   point → estimated seconds
    cores    number of points that are computed at once
    """

    points: Mapping[Point, float]
    cores: int

    @property
    def seconds(self) -> float:
        """Estimated seconds of the job."""
        longest = max((seconds / point.count for point, seconds in self.points.items()), default=0.0)
        return max(longest, sum(self.points.values()) / self.cores)

    @property
    def mem_mb(self) -> int:
        """Memory to request, in MB: enough for the points with the largest memory to be computed at once."""
        largest = max((point.memory for point in self.points), default=0)
        return ceil((JOB_MEMORY + self.cores * (WORKER_MEMORY + largest)) / 1e6)

    @property
    def minutes(self) -> int:
        """Time limit, in minutes, to request for the job's first attempt."""
        return ceil((JOB_SECONDS + LATE * self.seconds) / 60)


def jobs(estimates: Mapping[Point, float], cluster: Cluster) -> dict[StagePart, PartJob]:
    """Return a stage's parts, each with the resources that it requests from a cluster; one part if there are no points.

    If `parts` is auto, there are as few parts as take `part_minutes` each when a job has all the cores that it may
    have. Each job then requests as few cores as keep to `part_minutes`.
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
    """Return sbatch options for a job's GPUs, all on one node (a number of GPUs alone does not ensure that)."""
    gpus = int(backend == "cupy") if cluster.gpus is None else cluster.gpus
    if isinstance(gpus, str):
        return {"gres": gpus}
    return {"gpus": gpus, "nodes": 1} if gpus else {}
