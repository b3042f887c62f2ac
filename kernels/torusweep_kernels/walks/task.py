"""The task that all three implementations share, and the numbers that make their choices the same to the bit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

STREAM = 0  # fourth word of every counter; kernels/torusweep_kernels/philox/draws.py leaves it to walks
HOPS = 4  # hops that one call of Philox serves
SCALE = 2.0**32  # what a node's links divide among themselves: draws of 32 bits
MOST = 2**32 - 1  # a limit that no draw reaches, since the greatest draw counts as one less


class Task(NamedTuple):
    """The arguments of `shortest_walks`, after its checks.

    ports int32[N, P], start and destination int32[B], group int32[B] of 0 … groups − 1, first: number of the first
    packet, key: two words of 32 bits, by_paths: whether links count by the paths beyond them, capacity float64[N, P] |
    None
    """

    ports: np.ndarray
    start: np.ndarray
    destination: np.ndarray
    group: np.ndarray
    groups: int
    first: int
    key: tuple[int, int]
    by_paths: bool
    capacity: np.ndarray | None

    @property
    def nodes(self) -> int:
        return self.ports.shape[0]

    @property
    def width(self) -> int:
        return self.ports.shape[1]

    @property
    def heads(self) -> np.ndarray:
        """int32[N, P]: where each port leads; a missing one to its own node, which is never nearer than itself."""
        return np.where(self.ports < 0, np.arange(self.nodes, dtype=np.int32)[:, None], self.ports)


def too_many_paths() -> OverflowError:
    """What is raised where float64 cannot count a node's paths."""
    return OverflowError(
        "shortest_walks: expected at most 1.8e308 shortest paths between two nodes, got more;"
        " next-hops has no such limit"
    )
