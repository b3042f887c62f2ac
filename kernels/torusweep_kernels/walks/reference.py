"""The specification: packets in lockstep, the same code for NumPy and CuPy.

Backwards from each destination, level by level, count(u) = Σ weight(p) over the ports p of u that lead nearer to it.
The weight of a port is its capacity; where all paths are equally likely, it is the capacity times the count of the
node that the port leads to. limit(u, p) is the end of port p's part of the 2³² draws: a draw takes the port whose
number is the number of limits that it reaches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels.backend import host
from torusweep_kernels.distance.predecessors import predecessors
from torusweep_kernels.philox import philox
from torusweep_kernels.walks.task import HOPS, MOST, SCALE, STREAM, Task, too_many_paths

SCRATCH = 2**27  # the most bytes of a block's rows
PACKETS = 2**20  # the most packets in lockstep


def walks(task: Task, threads: int | None = None, xp: Any = np) -> tuple[np.ndarray, np.ndarray]:
    """(count int64[G·N·P], unreachable int64[G]); see `shortest_walks`."""
    network = Network(task, xp)
    passed, unreachable = xp.zeros(task.groups * task.ports.size, np.int64), xp.zeros(task.groups, np.int64)
    order = np.argsort(task.destination, kind="stable")
    targets, first = np.unique(task.destination[order], return_index=True)
    first = np.append(first, len(order))
    lanes = max(1, SCRATCH // (task.nodes * (8 * task.width + 24)))
    for block in range(0, len(targets), lanes):
        some = targets[block : block + lanes]
        distance, limit = network.search(some)
        for begin in range(first[block], first[block + len(some)], PACKETS):
            places = order[begin : min(begin + PACKETS, first[block + len(some)])]
            packets = Packets(*(xp.asarray(array.astype(np.int64)) for array in network.packets(places, some)))
            hops = distance[packets.row]
            unreachable += xp.bincount(packets.group[hops < 0], minlength=task.groups)
            network.walk(packets.only(hops > 0), limit, passed)
    return host(passed), host(unreachable)


class Packets(NamedTuple):
    """int64[K] each: low and high words of the number, group, row of the packet's node, and row of its destination."""

    low: Any
    high: Any
    group: Any
    row: Any
    end: Any

    def only(self, which: Any) -> Packets:
        return Packets(*(array[which] for array in self))


class Network:
    """Ports and predecessors in the array library. Row lane · N + node is that of a node and a destination of the
    block."""

    def __init__(self, task: Task, xp: Any) -> None:
        self.task, self.xp = task, xp
        self.heads = xp.asarray(task.heads.astype(np.int64))
        self.capacity = xp.asarray(np.ones(task.ports.shape) if task.capacity is None else task.capacity)
        start, predecessor = predecessors(task.ports)
        self.start, self.predecessor = xp.asarray(start), xp.asarray(predecessor.astype(np.int64))
        self.most = int(np.diff(start).max(initial=0))

    def packets(self, places: np.ndarray, targets: np.ndarray) -> Iterator[np.ndarray]:
        """The `Packets` at some places in the task's arrays; targets: the block's destinations in order."""
        lane, group = np.searchsorted(targets, self.task.destination[places]), self.task.group
        number = self.task.first % 2**32 + places
        yield number % 2**32
        yield self.task.first // 2**32 + number // 2**32
        yield (self.task.first % self.task.groups + places) % self.task.groups if group is None else group[places]
        yield lane * self.task.nodes + self.task.start[places]
        yield lane * self.task.nodes + self.task.destination[places]

    def search(self, targets: np.ndarray) -> tuple[Any, Any]:
        """(distance int64[rows], −2 where not reached; limit uint32[rows, P]) of a block of destinations."""
        xp, nodes = self.xp, self.task.nodes
        rows = len(targets) * nodes
        distance, count = xp.full(rows, -2, np.int64), xp.zeros(rows)
        limit, ticket = xp.zeros((rows, self.task.width), np.uint32), xp.empty(rows, np.int64)
        row = xp.asarray(np.arange(len(targets)) * nodes + targets)
        distance[row], count[row] = 0, 1.0
        level = 0
        while len(row):
            found = xp.concatenate([row[:0], *(other[distance[other] < 0] for other in self.behind(row))])
            ticket[found] = xp.arange(len(found))
            row = found[ticket[found] == xp.arange(len(found))]  # each one once
            level += 1
            distance[row] = level
            if len(row):
                self.divide(row, distance, count, limit)
        return distance, limit

    def behind(self, row: Any) -> Iterator[Any]:
        """For each p: the rows of the p-th predecessors of these nodes."""
        node = row % self.task.nodes
        for p in range(self.most):
            link = self.start[node] + p
            having = self.xp.flatnonzero(link < self.start[node + 1])
            yield row[having] - node[having] + self.predecessor[link[having]]

    def divide(self, row: Any, distance: Any, count: Any, limit: Any) -> None:
        """Fill in the count and limits of a level's rows."""
        xp, node = self.xp, row % self.task.nodes
        total, ends = xp.zeros(len(row)), []
        with np.errstate(over="ignore"):
            for p in range(self.task.width):
                other = row - node + self.heads[node, p]
                weight = (count[other] if self.task.by_paths else 1.0) * self.capacity[node, p]
                total = total + xp.where(distance[other] == distance[row] - 1, weight, 0.0)
                ends.append(total)
        if not np.isfinite(float(total.max())):
            raise too_many_paths()
        count[row] = total
        share = SCALE / total
        for p, end in enumerate(ends):
            limit[row, p] = xp.where(end * share < MOST, end * share, MOST).astype(np.uint32)

    def walk(self, packets: Packets, limit: Any, passed: Any) -> None:
        """Walk packets until all have arrived."""
        xp, (nodes, width) = self.xp, self.task.ports.shape
        hop = 0
        while len(packets.row):
            drawn = philox((packets.low, packets.high, hop // HOPS, STREAM), self.task.key, xp)[hop % HOPS]
            drawn = xp.where(drawn == MOST, np.uint32(MOST - 1), drawn)
            port = xp.zeros(len(drawn), np.int64)
            for p in range(width - 1):
                port += drawn >= limit[packets.row, p]
            node = packets.row % nodes
            passed += xp.bincount((packets.group * nodes + node) * width + port, minlength=len(passed))
            packets = packets._replace(row=packets.row - node + self.heads[node, port])
            packets = packets.only(packets.row != packets.end)
            hop += 1
