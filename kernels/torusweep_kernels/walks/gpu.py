"""GPU version of `torusweep_kernels.walks` (walks.cu), with a block of destinations at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.distance.reference import predecessors
from torusweep_kernels.pairs.gpu import drawn, on_device
from torusweep_kernels.walks.reference import RandomPackets, Task, too_many_paths

SOURCE = Path(__file__).with_name("walks.cu")
NARROW = 32  # the fewest destinations at once, even if the cache holds fewer


def walks(task: Task, threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """GPU version of `shortest_walks`: (count int64[G·N·P], unreachable int64[G])."""
    with cuda.gpu_errors("torusweep_kernels.walks"):
        network = Network(task)

        def walk(lanes: int) -> tuple[np.ndarray, np.ndarray]:
            network.clear()
            if lanes == task.nodes and network.has_all_rows():
                network.walk_on_all_rows()
            else:
                network.walk_in_blocks(lanes)
            return network.counts()

        return cuda.halve_until_it_fits(network.lanes(), walk)


class Rows(NamedTuple):
    """Cached search results in `Searches`: the network, and on the device of this number where its ports lead, and the
    rows of all its nodes.
    """

    ports: np.ndarray
    capacity: np.ndarray | None
    by_paths: bool
    device: int
    heads: Any
    distance: Any
    limit: Any

    def are_of(self, task: Task, device: int) -> bool:
        same = self.by_paths == task.by_paths and self.device == device and np.array_equal(self.ports, task.ports)
        if self.capacity is None or task.capacity is None:
            return same and self.capacity is task.capacity
        return same and np.array_equal(self.capacity, task.capacity)


class Random(NamedTuple):
    """Cached random packets in `Searches`, and on the device of this number the arguments of kernels that draw them.

    starts, finishes  int32[S]: nodes at which packets from each source start, and at which those to a destination end
    traffic           the result of `torusweep_kernels.pairs.gpu.on_device`
    """

    packets: RandomPackets
    device: int
    starts: Any
    finishes: Any
    traffic: tuple[Any, ...]


class Packets(NamedTuple):
    """Packets on the device: int32[B] each.

    start, destination, group  group is any array if a packet's number gives its group
    order                      places of the packets, sorted by destination if these take several blocks
    """

    start: Any
    destination: Any
    group: Any
    order: Any


class Network:
    """Ports, packets and counters on the device, and the rows that blocks reuse."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.gpu = cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        self.distance: Any = None
        self.limit: Any = None
        self.links: tuple[Any, ...] = ()
        self.scratch: Any = None
        self.reach, self.walk_packets, self.walk_random = self.gpu.kernels(SOURCE, "reach", "walk", "walk_drawn")
        rows = task.searches.rows if task.searches else None
        self.kept: Rows | None = rows if rows is not None and rows.are_of(task, self.gpu.number) else None
        self.heads = self.kept.heads if self.kept else cupy.asarray(task.heads)
        self.passed, self.unreachable = (
            cupy.zeros(task.groups * task.ports.size, np.uint64),
            cupy.zeros(task.groups, np.uint64),
        )

    def lanes(self) -> int:
        """Return the number of destinations at once: as many as fit the cache, at least NARROW, if memory allows.

        If rows are kept between calls, take all nodes: searching only once is worth more than a cache.
        """
        targets = self.most_targets()
        lane = (4 + 4 * self.task.width) * self.task.nodes  # bytes
        fit = (self.gpu.free() // 2 - 12 * self.task.nodes * self.blocks()) // lane
        if self.task.searches is not None and 2 * targets > self.task.nodes and (self.kept or fit >= self.task.nodes):
            return self.task.nodes
        return max(1, min(targets, max(NARROW, self.gpu.cache // lane), fit))

    def most_targets(self) -> int:
        """Return the number of destinations; for random packets, the number that some packet may have."""
        if self.task.random is None:
            return int(np.count_nonzero(np.bincount(self.task.destination)))
        tables, _, finish = self.task.random
        some = np.diff(tables.by_common.cdf, prepend=0.0) > 0 if tables.product_sum else np.zeros(tables.nodes, bool)
        some[tables.destination] = True
        targets = np.flatnonzero(some) if finish is None else np.unique(np.asarray(finish)[some])
        return min(len(targets), self.task.packets)

    def has_all_rows(self) -> bool:
        """Take the rows of all nodes from the last call, or search for them and keep them.

        Returns False if they are not to be kept, or if some node, which may be no destination, has too many paths.
        """
        searches, nodes = self.task.searches, self.task.nodes
        if searches is None:
            return False
        if self.kept is None:
            searches.rows = None  # frees it
            self.make_room(nodes)
            if not self.search(np.arange(nodes)):
                return False
            self.links, self.scratch = (), None
            task = self.task
            capacity = None if task.capacity is None else task.capacity.copy()
            made = task.ports.copy(), capacity, task.by_paths, self.gpu.number
            self.kept = searches.rows = Rows(*made, self.heads, self.distance, self.limit)
        self.distance, self.limit = self.kept.distance, self.kept.limit
        return True

    def random(self) -> Random:
        """Return the task's random packets on the device, from the last call if they are the same."""
        task, device = self.task, self.gpu.number
        assert task.random is not None
        kept: Random | None = task.searches.packets if task.searches else None
        if kept is None or kept.packets is not task.random or kept.device != device:
            tables, *ends = task.random
            every = np.arange(tables.nodes)
            starts, finishes = (
                self.cupy.asarray(np.ascontiguousarray(every if end is None else end, np.int32)) for end in ends
            )
            kept = Random(task.random, device, starts, finishes, on_device(self.gpu, tables))
            if task.searches:
                task.searches.packets = kept
        return kept

    def clear(self) -> None:
        """Set all counts to zero."""
        self.passed.fill(0)
        self.unreachable.fill(0)

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        return self.passed.get().view(np.int64), self.unreachable.get().view(np.int64)

    def make_room(self, lanes: int) -> None:
        """Allocate rows of this many lanes, and what searches for them need."""
        self.distance = self.limit = self.scratch = None  # frees the rows of another width first
        cupy, task = self.cupy, self.task
        rows, blocks = lanes * task.nodes, min(lanes, self.blocks())
        self.distance, self.limit = cupy.empty(rows, np.int32), cupy.empty(rows * task.width, np.uint32)
        capacity = np.ones(task.ports.shape) if task.capacity is None else task.capacity
        self.links = tuple(map(cupy.asarray, (capacity, *predecessors(task.ports))))
        self.scratch = cupy.empty(blocks * task.nodes), cupy.empty(blocks * task.nodes, np.int32)

    def blocks(self) -> int:
        """Return the number of search blocks that run at once; each has one destination at a time."""
        return max(1, self.gpu.resident(self.reach) // cuda.THREADS)

    def search(self, targets: np.ndarray) -> bool:
        """Fill in the rows of a block of destinations in one launch. Returns whether float64 can count all paths."""
        cupy, task = self.cupy, self.task
        too_many = cupy.zeros(1, np.int32)
        what = self.heads, *self.links, cupy.asarray(targets.astype(np.int32)), self.distance, self.limit, *self.scratch
        size = *map(np.int32, task.ports.shape), np.int32(len(targets)), np.int32(task.by_paths)
        grid, shared = len(self.scratch[0]) // task.nodes, np.dtype(np.uint32).itemsize
        self.reach((min(grid, len(targets)),), (cuda.THREADS,), (*what, too_many, *size), shared_mem=shared)
        return not int(too_many[0])  # waits for the device

    def walk_on_all_rows(self) -> None:
        """Walk all packets in their order, as the rows of all nodes exist. Random packets are drawn where they walk."""
        task = self.task
        if task.random is None:
            lane = self.cupy.arange(task.nodes, dtype=np.int32)
            self.walk(self.packets(*self.ends(), sort=False), lane, 0, task.packets)
            return
        random, rows = self.random(), (self.heads, self.distance, self.limit)
        sizes = *map(np.int32, (*task.ports.shape, *self.groups())), self.passed, self.unreachable
        what = *random.traffic, np.int32(task.packets), np.uint64(task.first), *map(np.uint32, task.key)
        self.gpu.launch(self.walk_random, task.packets, *rows, random.starts, random.finishes, *what, *sizes)

    def walk_in_blocks(self, lanes: int) -> None:
        """Walk the packets to some destinations at a time, after searching for the rows of these.

        Raises OverflowError if there are too many paths.
        """
        start, destination = self.ends()
        number = self.cupy.bincount(destination, minlength=self.task.nodes).get()
        targets, last = np.flatnonzero(number), np.cumsum(number[number > 0])
        lanes = min(lanes, len(targets))
        self.make_room(lanes)
        lane = self.cupy.asarray(((np.cumsum(number > 0) - 1) % lanes).astype(np.int32))
        packets, begin = self.packets(start, destination, sort=len(targets) > lanes), 0
        for block in range(0, len(targets), lanes):
            some = targets[block : block + lanes]
            end = int(last[block + len(some) - 1])
            if not self.search(some):
                raise too_many_paths()
            self.walk(packets, lane, begin, end)
            begin = end

    def ends(self) -> tuple[Any, Any]:
        """Return (start int32[B], destination int32[B]) of all packets, on the device."""
        task = self.task
        if task.random is None:
            return self.cupy.asarray(task.start), self.cupy.asarray(task.destination)
        random = self.random()
        source, destination = drawn(self.gpu, random.traffic, task.first, task.packets, task.key)
        return random.starts[source], random.finishes[destination]

    def packets(self, start: Any, destination: Any, sort: bool) -> Packets:
        order = (
            self.cupy.argsort(destination).astype(np.int32) if sort else self.cupy.arange(len(start), dtype=np.int32)
        )
        group = start if self.task.group is None else self.cupy.asarray(self.task.group)
        return Packets(start, destination, group, order)

    def groups(self) -> tuple[int, int]:
        """Return (number of groups, group of the first packet) if a packet's number gives its group, else (0, 0)."""
        return (0, 0) if self.task.group is not None else (self.task.groups, self.task.first % self.task.groups)

    def walk(self, packets: Packets, lane: Any, begin: int, end: int) -> None:
        """Walk the packets begin … end − 1 of their order. lane int32[N]: number of each destination's rows."""
        task = self.task
        arrays = packets.order, lane, packets.start, packets.destination, packets.group
        numbers = np.int32(begin), np.int32(end), np.uint64(task.first), *map(np.uint32, task.key)
        sizes = *map(np.int32, (*task.ports.shape, *self.groups())), self.passed, self.unreachable
        rows = self.heads, self.distance, self.limit
        self.gpu.launch(self.walk_packets, end - begin, *rows, *arrays, *numbers, *sizes)
