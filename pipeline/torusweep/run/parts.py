"""Parts of a stage, each a job of a cluster: which points each has, and which cores, memory, minutes and GPUs."""

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
