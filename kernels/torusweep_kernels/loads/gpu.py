"""Loads on a GPU: the kernels of flows.cu, level by level for a block of roots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.loads.network import Arcs, Task, Totals, arcs
from torusweep_kernels.loads.order import share

SOURCE = Path(__file__).with_name("flows.cu")
NARROW = 32  # the fewest lanes, which use all that the device reads, even if the cache holds fewer
ROW = 20  # bytes of a node and lane: count, unit, distance
REST = 8  # and what rounding left of unit
TEMPORARY = 16  # bytes of a node and lane, for demands on their way


def loads(task: Task, threads: int | None = None) -> tuple[np.ndarray, np.ndarray | None, Totals]:
    """(load float64[N·P], what rounding left of it if exact, totals per root); see `minimal_loads`."""
    with cuda.gpu_errors("torusweep_kernels.loads"):
        network = Network(task)

        def search(lanes: int) -> tuple[np.ndarray, np.ndarray | None, Totals]:
            network.make_room(lanes)
            of_root = [network.search(first, lanes) for first in range(0, len(task.roots), lanes)]
            return *network.load(), Totals(*np.concatenate(of_root, axis=1))

        return cuda.halve_until_it_fits(network.lanes(), search)


class Network:
    """The channels on the device, and the rows that blocks reuse."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.gpu = cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        names = "reach", "total_up", "carry", "add_up", "carry_twice", "add_up_twice"
        self.reach, self.total_up, self.carry, self.add_up, self.carry_twice, self.add_up_twice = self.gpu.kernels(
            SOURCE, *names
        )
        toward, away = arcs(task)
        copies = {} if task.channels is None else task.channels.copies  # of these arcs
        if self.gpu.number not in copies:
            own = cupy.asarray(np.repeat(np.arange(task.nodes, dtype=np.int32), np.diff(away.start)))
            copies[self.gpu.number] = self.on_device(toward), self.on_device(away), own
        self.toward, self.away, self.own = copies[self.gpu.number]
        self.channel = away.channel
        self.partial, self.total = cupy.zeros(len(away.node)), cupy.zeros(len(away.node))

    def on_device(self, side: Arcs) -> tuple[Any, Any, Any]:
        """(start, other, capacity) as the kernels read them."""
        capacity = np.ones(len(side.node)) if side.capacity is None else side.capacity
        return self.cupy.asarray(side.start), self.cupy.asarray(side.node), self.cupy.asarray(capacity)

    def lanes(self) -> int:
        """Roots searched from at once: as many as fit into the cache, at least NARROW, at most as fit into free
        memory."""
        row = ROW + REST * self.task.how.exact
        wanted = max(NARROW, self.gpu.cache // (row * self.task.nodes))
        return max(1, min(len(self.task.roots), wanted, self.gpu.free() // 2 // ((row + TEMPORARY) * self.task.nodes)))

    def make_room(self, lanes: int) -> None:
        """Rows of this many lanes, and loads of zero."""
        self.count: Any = None  # frees the rows of another width first
        self.unit: Any = None
        self.distance: Any = None
        self.rest: Any = None
        size = self.task.nodes * lanes
        self.count, self.unit, self.distance = (
            self.cupy.empty(size),
            self.cupy.empty(size),
            self.cupy.empty(size, np.int32),
        )
        if self.task.how.exact:
            self.rest = self.cupy.zeros(size)
        self.partial.fill(0)
        self.total.fill(0)

    def search(self, first: int, lanes: int) -> np.ndarray:
        """Add the loads of the roots from `first` on; their totals, float64[4, lanes]."""
        cupy, nodes = self.cupy, self.task.nodes
        roots, weights, demand = self.task.block(first, lanes)
        lanes = len(roots)
        count, unit, distance = (rows[: nodes * lanes] for rows in (self.count, self.unit, self.distance))
        count.fill(1.0)
        unit.reshape(nodes, lanes)[:] = cupy.asarray(demand).T * cupy.asarray(weights)
        distance.fill(-2)
        distance[cupy.asarray(roots.astype(np.int64) * lanes + np.arange(lanes))] = 0
        depth = self.outwards(count, distance, lanes)
        totals = cupy.empty((len(Totals._fields), lanes))
        self.gpu.launch(self.total_up, lanes, count, distance, unit, totals, np.int32(nodes), np.int32(lanes))
        size = np.int32(nodes), np.int32(lanes), np.int32(self.task.how.by_hops)
        if self.task.how.exact:
            self.inwards_twice(depth, count, distance, unit, size)
            return totals.get()
        for level in range(depth, -1, -1):
            self.gpu.launch(self.carry, len(unit), *self.away, count, distance, unit, np.int32(level), *size)
        if len(self.own):
            sums = (
                self.partial,
                self.total,
                np.int32(len(self.own)),
                *size[1:],
                np.int64(first),
                np.int64(share(len(self.task.roots))),
            )
            self.gpu.launch(self.add_up, len(self.own), self.own, *self.away[1:], count, distance, unit, *sums)
        return totals.get()

    def inwards_twice(self, depth: int, count: Any, distance: Any, unit: Any, size: tuple[Any, ...]) -> None:
        """Add the loads with twice the digits."""
        rest = self.rest[: len(unit)]
        for level in range(depth, -1, -1):
            self.gpu.launch(
                self.carry_twice, len(unit), *self.away, count, distance, unit, rest, np.int32(level), *size
            )
        if len(self.own):
            sums = self.total, self.partial, np.int32(len(self.own)), *size[1:]
            self.gpu.launch(
                self.add_up_twice, len(self.own), self.own, *self.away[1:], count, distance, unit, rest, *sums
            )

    def outwards(self, count: Any, distance: Any, lanes: int) -> int:
        """Fill in distances and counts; return the largest distance."""
        depth, reached = 0, cuda.AHEAD
        size = np.int32(self.task.nodes), np.int32(lanes), np.int32(self.task.how.by_hops)
        while reached == cuda.AHEAD:
            happened = self.cupy.zeros(cuda.AHEAD + 1, np.int32)
            happened[0] = 1
            for step in range(cuda.AHEAD):
                level = np.int32(depth + step + 1)
                what = *self.toward, count, distance, happened, np.int32(step), level
                self.gpu.launch(self.reach, len(count), *what, *size)
            reached = int(happened.sum()) - 1  # the only wait for the device; launches after the last level do nothing
            depth += reached
        return depth

    def load(self) -> tuple[np.ndarray, np.ndarray | None]:
        """float64[N·P] each: the loads, and what rounding left of them if exact."""
        exact = self.task.how.exact
        load, rest = np.zeros((2, self.task.ports.size))
        load[self.channel] = (self.total if exact else self.total + self.partial).get()
        rest[self.channel] = self.partial.get()
        return load, rest if exact else None
