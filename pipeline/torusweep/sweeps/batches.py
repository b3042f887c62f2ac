"""Divide the points of a stage that are not yet computed into batches of about equal time for workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

from torusweep.sweeps.points import MOST_NETWORKS, Point, networks_of

LEAST_SECONDS = 0.05  # sending a batch to a worker and writing its shard take some hundredths of a second
MOST_POINTS = 1_000  # points in a batch: the most that a dead run can lose of very cheap points
PATIENCE = 20.0  # factor by which a batch may exceed its estimate, which is right within a factor of about five


class Batch(NamedTuple):
    """The points of one task, with their estimated seconds (`cost`) and, for each worker that died, why (`deaths`)."""

    points: list[Point]
    cost: float
    deaths: tuple[str, ...] = ()


class Batches:
    """The points that wait for a worker, the longest first. Equally long points of a network stay together.

    Estimated seconds (torusweep.sweeps.points.estimates) are corrected by the times that batches took, because machines
    differ. Towards the end batches become smaller, so that all workers finish at about the same time.
    """

    def __init__(self, estimates: Mapping[Point, float], batch_seconds: float) -> None:
        number = {point.topology: place for place, point in enumerate(estimates)}  # points of a network share work
        ordered = sorted(estimates.items(), key=lambda pair: (-pair[1], number[pair[0].topology]))
        self._points = deque((cost, point) for point, cost in ordered)
        self._again: deque[Batch] = deque()
        self._seconds = batch_seconds
        self._estimated = self._taken = 0.0
        self.cost = sum(cost for cost, _ in self._points)  # estimated seconds of all waiting points

    def __bool__(self) -> bool:
        return bool(self._points or self._again)

    def next(self, places: int) -> Batch:
        """Remove and return the next batch, sized for `places` workers."""
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
        """The mean number of seconds that an estimated second has taken so far."""
        return self._taken / self._estimated if self._taken else 1.0

    def limit(self, batch: Batch, least: float) -> float:
        """Return the seconds after which a batch counts as hanging, at least `least`, doubled per earlier death."""
        return max(least, PATIENCE * batch.cost * self._pace) * 2 ** len(batch.deaths)

    def took(self, batch: Batch, seconds: float) -> None:
        """Correct later estimates by the seconds that a finished batch took."""
        self._estimated += batch.cost
        self._taken += seconds

    def halve(self, batch: Batch) -> None:
        """Put back a batch in two halves, in order to find the point at which its worker died."""
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
    """Return how many of a point's networks fit in `seconds`, if the whole point takes `whole` seconds by estimate."""
    return max(1, min(point.count, MOST_NETWORKS, ceil(point.count * seconds / whole)))
