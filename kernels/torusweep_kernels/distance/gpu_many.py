"""Distances in many small graphs on a GPU in one launch of search.cu: a block searches from 32 sources of one graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.distance import gpu
from torusweep_kernels.distance.reference import EMPTY, Task, by_head

SOURCE = Path(__file__).with_name("search.cu")
LANES = 32  # sources of a block
# the most nodes for blocks of few threads, many to a multiprocessor; of larger blocks it runs two or three
SMALL = 1024
THREADS = {True: 128, False: 1024}  # threads of a block, for large and small graphs
BYTES = {
    "node": 32,
    "arc": 80,
    "lane": 64,
    "removed": 40,
    "pairs": 8,
}  # bytes of device memory, sorting included; pairs: an element of the histogram

Answer = tuple[np.ndarray, np.ndarray | None]  # (histogram int64[G, D+1], eccentricity int32[S] | None)


def distances(tasks: Sequence[Task]) -> list[Answer]:
    """Each task's distances; see `many_distances`. Every task has a source."""
    answers: dict[int, Answer] = {}
    with cuda.gpu_errors("torusweep_kernels.distance"):
        device = cuda.Gpu()
        cupy, free = device.cupy, device.free() // 2
        (search,) = device.kernels(SOURCE, "search")
        for small, threads in THREADS.items():
            some = [
                i
                for i, task in enumerate(tasks)
                if (task.nodes <= SMALL) == small and shared(task) <= device.shared and size(task) <= free
            ]

            def run(together: int, some: list[int] = some, threads: int = threads) -> list[Answer]:
                parts = rounds([tasks[i] for i in some], free, together)
                return [answer for part in parts for answer in searched(cupy, search, part, threads)]

            answers |= zip(some, cuda.halve_until_it_fits(max(len(some), 1), run), strict=True)
    return [answers[i] if i in answers else gpu.distances(task) for i, task in enumerate(tasks)]


def shared(task: Task) -> int:
    """Shared memory of a block in bytes."""
    return 4 * (2 * task.nodes + 3 * LANES)


def size(task: Task) -> int:
    """Device memory of a task in bytes."""
    removed = 0 if task.removed is None else task.removed.size
    numbers = {
        "node": task.nodes,
        "arc": task.ports.size,
        "lane": len(task.sources) + LANES,
        "removed": removed,
        "pairs": task.rows * task.nodes,
    }
    return sum(BYTES[what] * number for what, number in numbers.items())


def rounds(tasks: Sequence[Task], memory: int, most: int) -> Iterator[list[Task]]:
    """Split tasks into rounds of one or more that fit into device memory together."""
    some: list[Task] = []
    taken = 0
    for task in tasks:
        if some and (taken + size(task) > memory or len(some) == most):
            yield some
            some, taken = [], 0
        some.append(task)
        taken += size(task)
    if some:
        yield some


def searched(cupy: Any, search: Any, tasks: Sequence[Task], threads: int) -> list[Answer]:
    """Each task's distances, by one launch."""
    lanes = Lanes(tasks)
    nodes = sum(task.nodes for task in tasks)
    counted = np.concatenate([np.ones(task.nodes, bool) if task.counted is None else task.counted for task in tasks])
    network = cupy.asarray(counted.astype(np.uint8)), *arcs(cupy, tasks, nodes)
    histogram = cupy.zeros(lanes.pairs, np.uint64)
    farthest = cupy.empty(lanes.source.shape, np.int32)
    blocks = [
        cupy.asarray(array)
        for array in (lanes.first, lanes.nodes, lanes.source, lanes.mates, lanes.row, *barred(tasks, lanes))
    ]
    search.max_dynamic_shared_size_bytes = memory = max(map(shared, tasks))
    wanted = np.int32(any(task.eccentricity for task in tasks))
    search((len(lanes.source),), (threads,), (*blocks, farthest, *network, histogram, wanted), shared_mem=memory)
    eccentricity = np.empty(len(lanes.order), np.int32)
    eccentricity[lanes.order] = farthest.get().ravel()[lanes.slot]
    return list(trimmed(tasks, histogram.get().view(np.int64), eccentricity))


def arcs(cupy: Any, tasks: Sequence[Task], nodes: int) -> tuple[Any, Any]:
    """(start int64[nodes+1], predecessor int32[A]) of all graphs one after another, numbered within their
    graph."""
    sizes = np.array([task.nodes for task in tasks])
    first, ports = before(sizes), np.array([task.ports.shape[1] for task in tasks])
    head = cupy.asarray(np.concatenate([task.ports.ravel() for task in tasks]))
    # arcs are of nodes in their order: a node's number among all, less its graph's first one
    node = np.repeat(np.arange(nodes, dtype=np.int32), np.repeat(ports, sizes))
    offset = np.repeat(first.astype(np.int32), sizes * ports)
    tail, offset = cupy.asarray(node - offset), cupy.asarray(offset)
    present = cupy.flatnonzero(head >= 0)
    return by_head(tail[present], head[present] + offset[present], nodes, cupy)


class Lanes:
    """Which bit of which block represents each source: each task's sources sorted by group, 32 to a block.

    order int64[S]       the sources' positions among those of all tasks, in this order
    slot int64[S]        each source's lane, numbered through all blocks
    first, nodes, source, mates, row   see search.cu; pairs: elements of the histogram
    """

    def __init__(self, tasks: Sequence[Task]) -> None:
        sizes, nodes, rows = (
            np.array(column, np.int64)
            for column in zip(*((len(task.sources), task.nodes, task.rows) for task in tasks))
        )
        task = np.repeat(np.arange(len(tasks)), sizes)  # keys of the sources, and of the sources in order
        groups = np.concatenate([task.groups for task in tasks])
        self.order = np.lexsort((groups, task))
        blocks = -(-sizes // LANES)
        self.slot = np.arange(len(task)) + before(LANES * blocks - sizes)[task]
        self.nodes = np.repeat(nodes, blocks).astype(np.int32)
        self.first = np.repeat(before(nodes), blocks)
        self.source = np.full((len(self.nodes), LANES), EMPTY, np.int32)
        self.source.ravel()[self.slot] = np.concatenate([task.sources for task in tasks])[self.order]
        self.pairs = int((rows * nodes).sum())
        groups = groups[self.order]
        begins = self.slot % LANES == 0
        begins[1:] |= groups[1:] != groups[:-1]
        begin = np.flatnonzero(begins)  # runs of lanes with the same block and group
        block = self.slot[begin] // LANES
        place = np.arange(len(begin)) - np.searchsorted(block, block)
        self.mates = np.zeros(self.source.shape, np.uint32)
        self.mates[block, place] = np.bitwise_or.reduceat(np.uint32(1) << (self.slot % LANES).astype(np.uint32), begin)
        self.row = np.zeros(self.source.shape, np.int64)
        self.row[block, place] = before(rows * nodes)[task[begin]] + groups[begin] * nodes[task[begin]]


def barred(tasks: Sequence[Task], lanes: Lanes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(gone_at int64[blocks+1], gone int32[·], barred uint32[·]) of search.cu."""
    slot = np.empty(len(lanes.order), np.int64)
    slot[lanes.order] = lanes.slot
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int32))]
    for task, first in zip(tasks, before(np.array([len(task.sources) for task in tasks]))):
        if task.removed is not None:
            entry, column = np.nonzero(task.removed >= 0)
            found.append((slot[first + entry], task.removed[entry, column]))
    where, gone = (np.concatenate(column) for column in zip(*found))
    order = np.argsort(where // LANES, kind="stable")
    gone_at = np.searchsorted(where[order] // LANES, np.arange(len(lanes.source) + 1))
    return gone_at.astype(np.int64), gone[order], np.uint32(1) << (where[order] % LANES).astype(np.uint32)


def trimmed(tasks: Sequence[Task], histogram: np.ndarray, eccentricity: np.ndarray) -> Iterator[Answer]:
    """The distances of each task, without trailing columns of zeros."""
    at = lane = 0
    for task in tasks:
        table = histogram[at : at + task.rows * task.nodes].reshape(task.rows, task.nodes)
        deepest = np.flatnonzero(table.any(axis=0))[-1:]
        yield (
            table[:, : 1 + int(deepest.sum())].copy(),
            eccentricity[lane : lane + len(task.sources)].copy() if task.eccentricity else None,
        )
        at += table.size
        lane += len(task.sources)


def before(sizes: np.ndarray) -> np.ndarray:
    """int64: the sum of the elements before each one."""
    return np.cumsum(sizes) - sizes
