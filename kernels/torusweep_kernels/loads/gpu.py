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
TEMPORARY = 16  # bytes of a node and lane, for demands on their way


def loads(task: Task, threads: int | None = None) -> tuple[np.ndarray, Totals]:
    """(load float64[N·P], totals per root); see `minimal_loads`."""
    with cuda.gpu_errors("torusweep_kernels.loads"):
        network = Network(task)

        def search(lanes: int) -> tuple[np.ndarray, Totals]:
            network.make_room(lanes)
            of_root = [network.search(first, lanes) for first in range(0, len(task.roots), lanes)]
            return network.load(), Totals(*np.concatenate(of_root, axis=1))

        return cuda.halve_until_it_fits(network.lanes(), search)


class Network:
    """The channels on the device, and the rows that blocks reuse."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.gpu = cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        self.reach, self.total_up, self.carry, self.add_up = self.gpu.kernels(
            SOURCE, "reach", "total_up", "carry", "add_up"
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
        wanted = max(NARROW, self.gpu.cache // (ROW * self.task.nodes))
        return max(1, min(len(self.task.roots), wanted, self.gpu.free() // 2 // ((ROW + TEMPORARY) * self.task.nodes)))

    def make_room(self, lanes: int) -> None:
        """Rows of this many lanes, and loads of zero."""
        self.count: Any = None  # frees the rows of another width first
        self.unit: Any = None
        self.distance: Any = None
        size = self.task.nodes * lanes
        self.count, self.unit, self.distance = (
            self.cupy.empty(size),
            self.cupy.empty(size),
            self.cupy.empty(size, np.int32),
        )
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
        size = np.int32(nodes), np.int32(lanes), np.int32(self.task.inward)
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

    def outwards(self, count: Any, distance: Any, lanes: int) -> int:
        """Fill in distances and counts; return the largest distance."""
        depth, reached = 0, cuda.AHEAD
        size = np.int32(self.task.nodes), np.int32(lanes), np.int32(self.task.inward)
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

    def load(self) -> np.ndarray:
        """float64[N·P]: the loads."""
        load = np.zeros(self.task.ports.size)
        load[self.channel] = (self.total + self.partial).get()
        return load
