"""The task of all three implementations of `route_flows`, and the largest possible sum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROWS = 2**18  # routes checked at a time


class Task(NamedTuple):
    """The arguments of `route_flows`, after its checks.

    next int32[N, D], start and row int32[B], direction int8[R, L], hops int16[R, L],
    amount int64[B], or int64[1] if it is the same for all packets; packet b is in group (first + b) modulo groups
    """

    next: np.ndarray
    start: np.ndarray
    row: np.ndarray
    direction: np.ndarray
    hops: np.ndarray
    amount: np.ndarray
    groups: int = 1
    first: int = 0

    @property
    def packets(self) -> int:
        return len(self.start)

    @property
    def stride(self) -> int:
        """The step in `amount` from one packet to the next: 1, or 0 if all packets have the same amount."""
        return int(len(self.amount) == self.packets)

    @property
    def total(self) -> int:
        """The sum of all packets' amounts, a Python integer that may exceed int64."""
        low, high = ((self.amount & 0xFFFFFFFF).sum(), (self.amount >> 32).sum())
        return ((int(high) << 32) + int(low)) * (1 if self.stride else self.packets)


def most_passes(task: Task, shortest_cycle: int) -> int:
    """Return the most times that a route may pass a channel, ⌈h / k⌉ for a run of h hops on a ring of k nodes."""
    most = 0
    for first in range(0, len(task.hops), ROWS):
        direction, hops = task.direction[first : first + ROWS], task.hops[first : first + ROWS].astype(np.int64)
        passes = -(-hops // shortest_cycle)
        for d in range(task.next.shape[1]):
            most = max(most, int(np.where(direction == d, passes, 0).sum(axis=1).max(initial=0)))
    return most
