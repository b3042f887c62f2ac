"""The task that all three implementations share, and how large its sums may grow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROWS = 2**18  # looked at together


class Task(NamedTuple):
    """The arguments of `route_flows`, after its checks.

    next int32[N, D], start and row int32[B], direction int8[R, L], hops int16[R, L],
    amount int64[B], or int64[1] where all packets stand for the same
    """

    next: np.ndarray
    start: np.ndarray
    row: np.ndarray
    direction: np.ndarray
    hops: np.ndarray
    amount: np.ndarray

    @property
    def packets(self) -> int:
        return len(self.start)

    @property
    def stride(self) -> int:
        """From one packet's amount to the next's."""
        return int(len(self.amount) == self.packets)

    @property
    def total(self) -> int:
        """All packets' amounts; a Python integer, which may exceed int64."""
        low, high = ((self.amount & 0xFFFFFFFF).sum(), (self.amount >> 32).sum())
        return ((int(high) << 32) + int(low)) * (1 if self.stride else self.packets)


def most_passes(task: Task, shortest_cycle: int) -> int:
    """No route passes a channel more often: a run passes one at most once for each time that it may have come round."""
    most = 0
    for first in range(0, len(task.hops), ROWS):
        direction, hops = task.direction[first : first + ROWS], task.hops[first : first + ROWS].astype(np.int64)
        passes = -(-hops // shortest_cycle)
        for d in range(task.next.shape[1]):
            most = max(most, int(np.where(direction == d, passes, 0).sum(axis=1).max(initial=0)))
    return most
