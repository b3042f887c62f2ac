"""Specification of `torusweep_kernels.walks`: packets in lockstep, with NumPy or CuPy.

Backwards from each destination, level by level, count(u) = Σ weight(p) over the ports p of u that lead nearer.
The weight of a port is its capacity; if all paths are equally likely, it is the capacity times the count of the
node that the port leads to. limit(u, p) is the end of port p's part of the 2³² draws: a draw takes the port whose
number is the number of limits that it reaches.

It also has the task of all three implementations, and the constants of their random choices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels.distance.reference import predecessors
from torusweep_kernels.pairs.reference import Tables
from torusweep_kernels.philox import philox

STREAM = 0  # fourth word of every counter; philox/draws.py reserves it for walks
HOPS = 4  # hops for each call of Philox
SCALE = 2.0**32  # number of draws, 2³², divided among a node's links
MOST = 2**32 - 1  # a limit above every draw: the largest draw counts as one less
SCRATCH = 2**27  # the most bytes of a block's rows
PACKETS = 2**20  # the most packets in lockstep


class Searches:
    """Cache that calls for one network share: a GPU's distances and shares of ports, while they fit its memory.

    Reuse one instance for all calls on a network; drop it to free memory.
    rows: rows of the backend that made them, which checks that the network is the same; None = none.
    packets: tables of the last call's random packets; None = none.
    """

    def __init__(self) -> None:
        self.rows: Any = None
        self.packets: Any = None


class RandomPackets(NamedTuple):
    """Random packets, drawn from a traffic between S nodes, that walk in a network of N nodes.

    tables         the traffic's tables (`torusweep_kernels.pairs.pair_tables`)
    start, finish  int32[S]  network nodes at which packets from each source start, and packets to each destination end;
                             None: the same nodes
    """

    tables: Tables
    start: np.ndarray | None = None
    finish: np.ndarray | None = None


class Task(NamedTuple):
    """The arguments of `shortest_walks` or `sampled_walks`, after their checks.

    ports int32[N, P], start and destination int32[B], group int32[B], 0 … groups − 1 (None = number modulo groups),
    first: number of the first packet, key: two words of 32 bits, by_paths: whether a link's weight is the number of
    paths over it, capacity float64[N, P] | None, searches: cache between calls, random: with `number`, the
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
    """Return the error for more paths than float64 can count."""
    return OverflowError(
        "shortest_walks: expected at most 1.8e308 shortest paths between two nodes, got more;"
        " next-hops has no such limit"
    )


def walks(task: Task, threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Specification of `shortest_walks`: (count int64[G·N·P], unreachable int64[G])."""
    network = Network(task)
    passed, unreachable = np.zeros(task.groups * task.ports.size, np.int64), np.zeros(task.groups, np.int64)
    order = np.argsort(task.destination, kind="stable")
    targets, first = np.unique(task.destination[order], return_index=True)
    first = np.append(first, len(order))
    lanes = max(1, SCRATCH // (task.nodes * (8 * task.width + 24)))
    for block in range(0, len(targets), lanes):
        some = targets[block : block + lanes]
        distance, limit = network.search(some)
        for begin in range(first[block], first[block + len(some)], PACKETS):
            places = order[begin : min(begin + PACKETS, first[block + len(some)])]
            packets = Packets(*(array.astype(np.int64) for array in network.packets(places, some)))
            hops = distance[packets.row]
            unreachable += np.bincount(packets.group[hops < 0], minlength=task.groups)
            network.walk(packets.only(hops > 0), limit, passed)
    return passed, unreachable


class Packets(NamedTuple):
    """Packets, int64[K] each: low and high word of the number, group, row of the packet's node, row of the end."""

    low: Any
    high: Any
    group: Any
    row: Any
    end: Any

    def only(self, which: Any) -> Packets:
        return Packets(*(array[which] for array in self))


class Network:
    """Ports and predecessors as arrays of NumPy or CuPy. Row lane · N + node is for a node and a destination."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.heads = task.heads.astype(np.int64)
        self.capacity = np.ones(task.ports.shape) if task.capacity is None else task.capacity
        start, predecessor = predecessors(task.ports)
        self.start, self.predecessor = start, predecessor.astype(np.int64)
        self.most = int(np.diff(start).max(initial=0))

    def packets(self, places: np.ndarray, targets: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the fields of `Packets` for places in the task's arrays. targets: the block's destinations, sorted."""
        lane, group = np.searchsorted(targets, self.task.destination[places]), self.task.group
        number = self.task.first % 2**32 + places
        yield number % 2**32
        yield self.task.first // 2**32 + number // 2**32
        yield (self.task.first % self.task.groups + places) % self.task.groups if group is None else group[places]
        yield lane * self.task.nodes + self.task.start[places]
        yield lane * self.task.nodes + self.task.destination[places]

    def search(self, targets: np.ndarray) -> tuple[Any, Any]:
        """Return (distance int64[rows], −2 if not reached; limit uint32[rows, P]) for a block of destinations."""
        nodes = self.task.nodes
        rows = len(targets) * nodes
        distance, count = np.full(rows, -2, np.int64), np.zeros(rows)
        limit, ticket = np.zeros((rows, self.task.width), np.uint32), np.empty(rows, np.int64)
        row = np.arange(len(targets)) * nodes + targets
        distance[row], count[row] = 0, 1.0
        level = 0
        while len(row):
            found = np.concatenate([row[:0], *(other[distance[other] < 0] for other in self.behind(row))])
            ticket[found] = np.arange(len(found))
            row = found[ticket[found] == np.arange(len(found))]  # each one once
            level += 1
            distance[row] = level
            if len(row):
                self.divide(row, distance, count, limit)
        return distance, limit

    def behind(self, row: Any) -> Iterator[Any]:
        """Yield for each p the rows of these nodes' p-th predecessors."""
        node = row % self.task.nodes
        for p in range(self.most):
            link = self.start[node] + p
            having = np.flatnonzero(link < self.start[node + 1])
            yield row[having] - node[having] + self.predecessor[link[having]]

    def divide(self, row: Any, distance: Any, count: Any, limit: Any) -> None:
        """Set the count and the limits of a level's rows."""
        node = row % self.task.nodes
        total, ends = np.zeros(len(row)), []
        with np.errstate(over="ignore"):
            for p in range(self.task.width):
                other = row - node + self.heads[node, p]
                weight = (count[other] if self.task.by_paths else 1.0) * self.capacity[node, p]
                total = total + np.where(distance[other] == distance[row] - 1, weight, 0.0)
                ends.append(total)
        if not np.isfinite(float(total.max())):
            raise too_many_paths()
        count[row] = total
        share = SCALE / total
        for p, end in enumerate(ends):
            limit[row, p] = np.where(end * share < MOST, end * share, MOST).astype(np.uint32)

    def walk(self, packets: Packets, limit: Any, passed: Any) -> None:
        """Walk packets until all have arrived."""
        nodes, width = self.task.ports.shape
        hop = 0
        while len(packets.row):
            drawn = philox((packets.low, packets.high, hop // HOPS, STREAM), self.task.key)[hop % HOPS]
            drawn = np.where(drawn == MOST, np.uint32(MOST - 1), drawn)
            port = np.zeros(len(drawn), np.int64)
            for p in range(width - 1):
                port += drawn >= limit[packets.row, p]
            node = packets.row % nodes
            passed += np.bincount((packets.group * nodes + node) * width + port, minlength=len(passed))
            packets = packets._replace(row=packets.row - node + self.heads[node, port])
            packets = packets.only(packets.row != packets.end)
            hop += 1
