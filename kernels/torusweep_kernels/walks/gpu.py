"""Walks on a GPU: the kernels of walks.cu, a block of destinations at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.walks.task import Task, too_many_paths

SOURCE = Path(__file__).with_name("walks.cu")
NARROW = 32  # the fewest destinations at once, even if the cache holds fewer


def walks(task: Task, threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(count int64[G·N·P], unreachable int64[G]); see `shortest_walks`."""
    with cuda.gpu_errors("torusweep_kernels.walks"):
        network = Network(task)
        number = np.bincount(task.destination, minlength=task.nodes)
        targets, last = np.flatnonzero(number), np.cumsum(number[number > 0])

        def walk(lanes: int) -> tuple[np.ndarray, np.ndarray]:
            network.make_room(lanes, np.cumsum(number > 0) - 1)
            begin = 0
            for block in range(0, len(targets), lanes):
                some = targets[block : block + lanes]
                end = int(last[block + len(some) - 1])
                network.search(some)
                network.walk(begin, end)
                begin = end
            return network.passed.get().view(np.int64), network.unreachable.get().view(np.int64)

        return cuda.halve_until_it_fits(network.lanes(len(targets)), walk)


class Network:
    """Ports, packets and counters on the device, and the rows that blocks reuse."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.gpu = cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        self.reach_level, self.walk_packets = self.gpu.kernels(SOURCE, "reach", "walk")
        self.heads = cupy.asarray(task.heads)
        self.capacity = cupy.asarray(np.ones(task.ports.shape) if task.capacity is None else task.capacity)
        self.start, self.destination, self.group = (
            cupy.asarray(array) for array in (task.start, task.destination, task.group)
        )
        self.order = cupy.argsort(self.destination).astype(np.int32)
        self.passed, self.unreachable = (
            cupy.zeros(task.groups * task.ports.size, np.uint64),
            cupy.zeros(task.groups, np.uint64),
        )

    def lanes(self, targets: int) -> int:
        """Destinations at once: as many as fit into the cache, at least NARROW, at most as fit into free memory."""
        lane = (12 + 4 * self.task.width) * self.task.nodes  # bytes
        return max(1, min(targets, max(NARROW, self.gpu.cache // lane), self.gpu.free() // 2 // lane))

    def make_room(self, lanes: int, rank: np.ndarray) -> None:
        """Rows of this many lanes, and counts of zero. rank int64[N]: each destination's place among all."""
        self.distance: Any = None  # frees the rows of another width first
        self.count: Any = None
        self.limit: Any = None
        rows = lanes * self.task.nodes
        self.distance, self.count = self.cupy.empty(rows, np.int32), self.cupy.empty(rows)
        self.limit = self.cupy.empty(rows * self.task.width, np.uint32)
        self.lane = self.cupy.asarray((rank % lanes).astype(np.int32))
        self.passed.fill(0)
        self.unreachable.fill(0)

    def search(self, targets: np.ndarray) -> None:
        """Fill in the rows of a block of destinations."""
        cupy, nodes = self.cupy, self.task.nodes
        rows = cupy.asarray(np.arange(len(targets)) * nodes + targets)
        self.distance.fill(-2)
        self.count.fill(0)
        self.distance[rows], self.count[rows] = 0, 1.0
        size = *map(np.int32, self.task.ports.shape), np.int32(len(targets)), np.int32(self.task.by_paths)
        depth = reached = 0
        while reached == depth:
            happened = cupy.zeros(cuda.AHEAD + 1, np.int32)
            happened[0] = 1
            for step in range(cuda.AHEAD):
                what = self.heads, self.capacity, self.distance, self.count, self.limit, happened
                level = np.int32(step), np.int32(depth + step + 1)
                self.gpu.launch(self.reach_level, len(targets) * nodes, *what, *level, *size)
            reached += int(happened.sum()) - 1  # the only wait for the device; launches after the last level do nothing
            depth += cuda.AHEAD
        if not np.isfinite(float(self.count.max())):
            raise too_many_paths()

    def walk(self, begin: int, end: int) -> None:
        """Walk the packets begin … end − 1, in the order of their destinations."""
        packets = self.order, self.lane, self.start, self.destination, self.group
        numbers = (
            np.int32(begin),
            np.int32(end),
            np.uint64(self.task.first),
            *map(np.uint32, self.task.key),
            *map(np.int32, self.task.ports.shape),
        )
        rows = self.heads, self.distance, self.limit
        self.gpu.launch(self.walk_packets, end - begin, *rows, *packets, *numbers, self.passed, self.unreachable)
