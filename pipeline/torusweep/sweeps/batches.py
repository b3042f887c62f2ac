"""The points of a stage that are left to compute, handed out in batches of about equal time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

from torusweep.sweeps.points import MOST_NETWORKS, Point, networks_of

LEAST_SECONDS = 0.05  # a batch's way to a worker and its shard's way to the disk take some hundredths of a second
MOST_POINTS = 1_000  # in a batch: what a dead run can lose of very cheap points
PATIENCE = 20.0  # times its estimate a batch may take: estimates are right within a factor of about five


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
