"""The task of all three implementations, and the constants of their random choices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

STREAM = 0  # fourth word of every counter; philox/draws.py reserves it for walks
HOPS = 4  # hops for each call of Philox
SCALE = 2.0**32  # number of draws, 2³², divided among a node's links
MOST = 2**32 - 1  # a limit above every draw: the largest draw counts as one less


class Searches:
    """What calls for one network leave for the next one: a GPU's distances and shares of ports, while they fit there.

    Whoever makes several calls for a network holds one, and gives it to each; the memory is free when it lets go.
    rows: of the backend that made them, which checks that they are of the same network; None = none.
    """

    def __init__(self) -> None:
        self.rows: Any = None


class Task(NamedTuple):
    """The arguments of `shortest_walks`, after its checks.

    ports int32[N, P], start and destination int32[B], group int32[B] of 0 … groups − 1, first: number of the first
    packet, key: two words of 32 bits, by_paths: whether a link's weight is the number of paths over it, capacity
    float64[N, P] | None, searches: what is kept between calls"""

    ports: np.ndarray
    start: np.ndarray
    destination: np.ndarray
    group: np.ndarray
    groups: int
    first: int
    key: tuple[int, int]
    by_paths: bool
    capacity: np.ndarray | None
    searches: Searches | None = None

    @property
    def nodes(self) -> int:
        return self.ports.shape[0]

    @property
    def width(self) -> int:
        return self.ports.shape[1]

    @property
    def heads(self) -> np.ndarray:
        """int32[N, P]: node that each port leads to; a missing port leads to its own node, which is never nearer."""
        return np.where(self.ports < 0, np.arange(self.nodes, dtype=np.int32)[:, None], self.ports)


def too_many_paths() -> OverflowError:
    """The error if float64 cannot count a node's paths."""
    return OverflowError(
        "shortest_walks: expected at most 1.8e308 shortest paths between two nodes, got more;"
        " next-hops has no such limit"
    )
