"""Walks on a GPU: the kernels of walks.cu, a block of destinations at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

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
            network.clear()
            if lanes == task.nodes and network.has_all_rows():
                network.walk(0, len(task.start))
                return network.counts()
            lanes = min(lanes, len(targets))
            network.make_room(lanes, np.cumsum(number > 0) - 1)
            begin = 0
            for block in range(0, len(targets), lanes):
                some = targets[block : block + lanes]
                end = int(last[block + len(some) - 1])
                if not network.search(some):
                    raise too_many_paths()
                network.walk(begin, end)
                begin = end
            return network.counts()

        return cuda.halve_until_it_fits(network.lanes(len(targets)), walk)


class Rows(NamedTuple):
    """What `Searches` keeps: the network, and on the device of this number the rows of all its nodes."""

    ports: np.ndarray
    capacity: np.ndarray | None
    by_paths: bool
    device: int
    distance: Any
    limit: Any

    def are_of(self, task: Task, device: int) -> bool:
        same = self.by_paths == task.by_paths and self.device == device and np.array_equal(self.ports, task.ports)
        if self.capacity is None or task.capacity is None:
            return same and self.capacity is task.capacity
        return same and np.array_equal(self.capacity, task.capacity)


class Network:
    """Ports, packets and counters on the device, and the rows that blocks reuse."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.gpu = cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        self.distance: Any = None
        self.count: Any = None
        self.limit: Any = None
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
        """Destinations at once: as many as fit into the cache, at least NARROW, at most as fit into free memory.

        All nodes where their rows are kept: searched once, they are worth more than a cache.
        """
        lane = (12 + 4 * self.task.width) * self.task.nodes  # bytes
        fit = self.gpu.free() // 2 // lane
        if self.task.searches is not None and 2 * targets > self.task.nodes:
            rows = self.task.searches.rows
            if fit >= self.task.nodes or (rows is not None and rows.are_of(self.task, self.gpu.number)):
                return self.task.nodes
        return max(1, min(targets, max(NARROW, self.gpu.cache // lane), fit))

    def has_all_rows(self) -> bool:
        """Take the rows of all nodes from the last call, or search for them and keep them.

        False where they are not to be kept, or where some node has too many paths, which may be no destination.
        """
        searches, nodes = self.task.searches, self.task.nodes
        if searches is None:
            return False
        if searches.rows is None or not searches.rows.are_of(self.task, self.gpu.number):
            searches.rows = None  # frees it
            self.make_room(nodes, np.arange(nodes))
            if not self.search(np.arange(nodes)):
                return False
            self.count = None
            task = self.task
            capacity = None if task.capacity is None else task.capacity.copy()
            made = task.ports.copy(), capacity, task.by_paths, self.gpu.number
            searches.rows = Rows(*made, self.distance, self.limit)
        self.distance, self.limit = searches.rows.distance, searches.rows.limit
        self.lane = self.cupy.arange(nodes, dtype=np.int32)
        return True

    def clear(self) -> None:
        """Counts of zero."""
        self.passed.fill(0)
        self.unreachable.fill(0)

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        return self.passed.get().view(np.int64), self.unreachable.get().view(np.int64)

    def make_room(self, lanes: int, rank: np.ndarray) -> None:
        """Rows of this many lanes. rank int64[N]: each destination's place among all."""
        self.distance = self.count = self.limit = None  # frees the rows of another width first
        rows = lanes * self.task.nodes
        self.distance, self.count = self.cupy.empty(rows, np.int32), self.cupy.empty(rows)
        self.limit = self.cupy.empty(rows * self.task.width, np.uint32)
        self.lane = self.cupy.asarray((rank % lanes).astype(np.int32))

    def search(self, targets: np.ndarray) -> bool:
        """Fill in the rows of a block of destinations; whether float64 counts all paths."""
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
        return bool(np.isfinite(float(self.count.max())))

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
