"""The task of all three implementations, and the constants of their random choices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels.pairs.tables import Tables

STREAM = 0  # fourth word of every counter; philox/draws.py reserves it for walks
HOPS = 4  # hops for each call of Philox
SCALE = 2.0**32  # number of draws, 2³², divided among a node's links
MOST = 2**32 - 1  # a limit above every draw: the largest draw counts as one less


class Searches:
    """What calls for one network leave for the next one: a GPU's distances and shares of ports, while they fit there.

    Whoever makes several calls for a network holds one, and gives it to each; the memory is free when it lets go.
    rows: of the backend that made them, which checks that they are of the same network; None = none.
    packets: the tables of the last call's random packets, likewise.
    """

    def __init__(self) -> None:
        self.rows: Any = None
        self.packets: Any = None


class RandomPackets(NamedTuple):
    """Packets drawn from a traffic between S nodes, which walk in a network of N nodes.

    tables         of the traffic (`torusweep_kernels.pairs.pair_tables`)
    start, finish  int32[S]  the network's nodes at which packets of each source start, and to each destination end;
                             None: the same nodes
    """

    tables: Tables
    start: np.ndarray | None = None
    finish: np.ndarray | None = None


class Task(NamedTuple):
    """The arguments of `shortest_walks` or `sampled_walks`, after their checks.

    ports int32[N, P], start and destination int32[B], group int32[B] of 0 … groups − 1, None = number modulo groups,
    first: number of the first packet, key: two words of 32 bits, by_paths: whether a link's weight is the number of
    paths over it, capacity float64[N, P] | None, searches: what is kept between calls, random: with `number`, the
    packets in place of start and destination, which then are empty"""

    ports: np.ndarray
    start: np.ndarray
    destination: np.ndarray
    group: np.ndarray | None
    groups: int
    first: int
    key: tuple[int, int]
    by_paths: bool
    capacity: np.ndarray | None
    searches: Searches | None = None
    random: RandomPackets | None = None
    number: int = 0

    @property
    def packets(self) -> int:
        return self.number if self.random else len(self.start)

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
