"""Divide a stage into parts, one cluster job each: its points, and the cores, memory, minutes and GPUs to request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import ceil
from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput
from torusweep.sweeps.configuration.schema import MOST_PARTS, Cluster
from torusweep.sweeps.points import Point

PART_CORES = 8  # of a job, where cluster.cores is auto: a fraction of any node
LATE = 4.0  # times its estimate that a job may take; what it has computed then is kept, and the next trial has longer
JOB_SECONDS = 600.0  # besides: Snakemake, imports, compilers, a busy file system
JOB_MEMORY, WORKER_MEMORY = 1 << 30, 400 << 20  # bytes, without points: of a job's Snakemakes and step, of a worker
POINT_MEMORY = 4 << 10  # bytes of a point in a step that hands it out: with its key and its plan


class StagePart(NamedTuple):
    """A part of a stage, such as 3/7: its number, counted from 1, and the number of parts (`of`)."""

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


class PartSlice(NamedTuple):
    """A part of a stage, as ranges of points and of networks; numbers count from the beginning of the stage.

    first, last  number of the first point, and of the first point after the part
    begin, end   number of the first network, and of the first network after the part
    start        number of the first network of point `first`, whose earlier networks may be in another part
    """

    first: int
    last: int
    begin: int
    end: int
    start: int

    def of(self, points: Iterable[tuple[Point, float]]) -> dict[Point, float]:
        """Return the part's points with their seconds, from `points`, the stage's points from `first` up to `last`."""
        found, start = dict[Point, float](), self.start
        for point, seconds in points:
            low, high = max(self.begin - start, 0), min(self.end - start, point.count)
            if low < high:
                seed = point.seeds[0]
                found[point.part(seed + low, seed + high - 1)] = seconds * ((high - low) / point.count)
            start += point.count
        return found


def slices(seconds: np.ndarray, counts: np.ndarray, parts: int) -> list[PartSlice]:
    """Divide a stage's points, in order, into parts of about equal time.

    seconds  float64[points]: estimated seconds of each point
    counts   int64[points]: number of networks of each point

    The same points and number of parts give the same division. A part takes its equal share of the remaining time, to
    the nearest network, but at least one network. The last parts may be empty.
    """
    ends, costs, edges = np.append(0, np.cumsum(counts)), np.cumsum(seconds), [0]
    for number in range(parts, 1, -1) if len(costs) else ():
        point = np.searchsorted(ends[1:-1], edges[-1], "right")
        cost = costs[point] - seconds[point] * (ends[point + 1] - edges[-1]) / counts[point]
        goal = cost + (costs[-1] - cost) / number
        point = np.searchsorted(costs[:-1], goal)
        nearest = int(ends[point + 1] - (costs[point] - goal) * counts[point] / seconds[point] + 0.5)
        edges.append(min(max(nearest, edges[-1] + 1), int(ends[-1])))
    edges += [int(ends[-1])] * (parts + 1 - len(edges))
    first, last = np.searchsorted(ends[1:], edges[:-1], "right"), np.searchsorted(ends[:-1], edges[1:])
    return [PartSlice(*map(int, one)) for one in zip(first, last, edges, edges[1:], ends[first])]


class PartJob(NamedTuple):
    """The resources that a part of a stage requests from a cluster.

    points   point → estimated seconds
    cores    number of points that are computed at once
    """

    points: Mapping[Point, float]
    cores: int

    @property
    def seconds(self) -> float:
        """The estimated seconds of the job."""
        longest = max((seconds / point.count for point, seconds in self.points.items()), default=0.0)
        return max(longest, sum(self.points.values()) / self.cores)

    @property
    def mem_mb(self) -> int:
        """The memory to request, in MB: for the list of points, and for the largest points that run at once."""
        largest = max((point.memory for point in self.points), default=0)
        return ceil((JOB_MEMORY + len(self.points) * POINT_MEMORY + self.cores * (WORKER_MEMORY + largest)) / 1e6)

    @property
    def minutes(self) -> int:
        """The time limit, in minutes, to request for the job's first attempt."""
        return ceil((JOB_SECONDS + LATE * self.seconds) / 60)


def jobs(estimates: Mapping[Point, float], cluster: Cluster) -> dict[StagePart, PartJob]:
    """Return a stage's parts, each with the resources to request from a cluster; `estimates` maps point → seconds."""
    points = list(estimates.items())
    seconds = np.array([cost for _, cost in points], float)
    cores, parts = division(seconds, np.array([point.count for point, _ in points], np.int64), cluster)
    return {name: PartJob(part.of(points[part.first : part.last]), cores) for name, part in parts.items()}


def division(seconds: np.ndarray, counts: np.ndarray, cluster: Cluster) -> tuple[int, dict[StagePart, PartSlice]]:
    """Return the cores of each job of a stage, and the stage's parts; no part if there are no points.

    seconds, counts  as for `slices`

    If `parts` is auto, there are as few parts as keep to `part_minutes` with all cores that a job may have. Then each
    job requests as few cores as keep to `part_minutes`.
    """
    if cluster.workers == "auto":
        most = PART_CORES if cluster.cores == "auto" else cluster.cores
    else:
        most = max(1, cluster.workers)
    within, whole = cluster.part_minutes * 60, float(seconds.sum())
    elsewhere = cluster.scheduler is not None or cluster.slurm is not None  # then a job only hands batches out
    parts = cluster.parts if cluster.parts != "auto" else 1 if elsewhere else ceil(whole / (most * within))
    parts = max(1, min(parts, int(counts.sum()), MOST_PARTS))
    cores = 1 if elsewhere else min(most, max(1, ceil(whole / (parts * within))))
    found = enumerate(slices(seconds, counts, parts), start=1)
    return cores, {StagePart(number, parts): part for number, part in found if part.begin < part.end}


def gpu_options(cluster: Cluster, backend: str) -> dict[str, int | str]:
    """Return sbatch options that give a job its GPUs on a single node, which a number of GPUs alone does not ensure."""
    gpus = int(backend == "cupy") if cluster.gpus is None else cluster.gpus
    if isinstance(gpus, str):
        return {"gres": gpus}
    return {"gpus": gpus, "nodes": 1} if gpus else {}
