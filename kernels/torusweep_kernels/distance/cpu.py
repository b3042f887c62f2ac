"""Compute distances on the CPU, compiled by Numba. Each thread searches from one block of sources at a time.

The threads are Python's, because the compiled functions release the GIL. With Numba's own threads, two Python threads
could not start parallel work at once, and a barrier at each level would cost more than the level.
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels.distance.level import TILE, Limits, filled_up, graph_of, search
from torusweep_kernels.distance.reference import (
    EMPTY,
    WORD,
    Block,
    Part,
    Task,
    barred,
    blocks,
    collect,
    last_level,
    pack,
    part,
    same_degree,
    side_by_side,
)
from torusweep_kernels.distance.single_source import breadth_first, incoming_links
from torusweep_kernels.threads import in_threads, thread_count

COST = {
    1: 1.0,
    8: 2.2,
}  # words of a row, each compiled once: relative time of a level. Wider rows gain little, and exceed the cache sooner
SCRATCH = 2**28  # bytes that a thread's two buffers may take before rows get narrower
FEW = 8  # sources of a thread up to which a queue is faster than bits
SHALLOW = 256  # levels up to which the counts of all words need little memory, for a million nodes
STEEP = 4  # levels per lane above which a queue is faster than bits


def distances(task: Task, threads: int | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Compiled version of `all_pairs_distance`: (histogram int64[G, D+1], eccentricity int32[S] | None)."""
    threads = thread_count(threads)
    ports = np.ascontiguousarray(task.ports, np.int32)
    if len(task.sources) <= FEW * threads:
        shares = np.array_split(np.argsort(task.groups, kind="stable"), min(threads, len(task.sources)))
        return collect(task, in_threads(lambda slots: one_by_one(task, ports, slots), shares, threads))
    slots, per_lane = pack(task)
    words = width(len(slots) // WORD, task.nodes, threads)
    network = Network(task, ports)
    found = in_threads(network.found, list(blocks(slots, words, per_lane)), threads)
    parts = [piece for piece in found if isinstance(piece, Part)]
    counted = [piece for piece in found if not isinstance(piece, Part)]
    if counted:
        parts.append(part(task, *side_by_side(counted)))
    return collect(task, parts)


def width(words: int, nodes: int, threads: int) -> int:
    """Return the number of words of a row that takes the least time for `words` words and keeps within SCRATCH."""
    fitting = [w for w in COST if 16 * w * nodes <= SCRATCH] or [1]
    return min(fitting, key=lambda w: -(-words // (w * threads)) * COST[w])


class Network:
    """The graph in the form that the compiled searches read, and scratch memory that blocks reuse."""

    def __init__(self, task: Task, ports: np.ndarray) -> None:
        self.task = task
        self.ports = ports
        start, predecessor, _ = filled_up(*incoming_links(ports))  # a node's own row adds nothing to it
        self.graph = graph_of(start, predecessor, same_degree(start))
        self.steep = False
        self.scratch: list[tuple[np.ndarray, np.ndarray]] = []  # append and pop are atomic
        self.weight = None
        if task.counted is not None:
            self.weight = -task.counted.astype(np.int64)
        elif task.removed is not None:
            self.weight = np.full(task.nodes, -1, np.int64)

    def found(self, block: Block) -> Part | tuple[Block, np.ndarray]:
        """Return a block's distances, found with bits, or with a queue if the network has very many levels.

        If there are few levels, counts per word need little memory. They are returned with the block, and added up once
        for all blocks, because adding them up for each block would take a tenth of the time of a small search.
        """
        if not self.steep:
            levels, counts = self.search(block)
            if levels:
                counts = counts[:levels]
                return part(self.task, block, counts) if block.per_lane or levels > SHALLOW else (block, counts)
            self.steep = True  # for the other blocks, too
        return one_by_one(self.task, self.ports, block.slots[block.slots != EMPTY])

    def search(self, block: Block) -> tuple[int, np.ndarray]:
        """Return (levels, counts) of `level.search` for a block; levels is 0 if a queue would be faster."""
        kept_at = kept = None
        if self.weight is not None:
            kept_node, rows = barred(self.task, block)
            kept_at = np.zeros(self.task.nodes, np.int32)  # row 0: all lanes may enter
            kept_at[kept_node] = np.arange(1, len(kept_node) + 1)
            kept = np.concatenate([np.full((1, block.words), ~np.uint64(0)), rows]).ravel()
        old, new = self.scratch.pop() if self.scratch else buffers(self.task.nodes * block.words)
        if block.per_lane:
            totals, fresh, counts = (
                None,
                np.empty(TILE * block.words, np.uint64),
                np.zeros((16, WORD * block.words), np.int32),
            )
        else:
            totals, fresh, counts = np.empty(block.words, np.int64), None, np.zeros((16, block.words), np.int64)
        limits = Limits(kept_at, kept)
        origin = np.where(block.slots == EMPTY, np.int32(-1), self.task.sources[block.slots])
        levels, counts = search(
            self.graph, limits, self.weight, old, new, origin, totals, fresh, counts, STEEP, (0,) * block.words
        )
        self.scratch.append((old, new))
        return levels, counts


def one_by_one(task: Task, ports: np.ndarray, slots: np.ndarray) -> Part:
    """Compute the distances from the sources at places `slots` with a queue, one source after another."""
    seen, queue, counts = (
        np.full(task.nodes, -1, np.int32),
        np.empty(task.nodes, np.int32),
        np.empty(task.nodes, np.int64),
    )
    nothing = np.empty(0, np.int32)
    groups, place = np.unique(task.groups[slots], return_inverse=True)
    columns = np.zeros((len(groups), 1), np.int64)
    farthest = np.zeros(len(slots), np.int32)
    for i, slot in enumerate(slots):
        removed = nothing if task.removed is None else task.removed[slot]
        levels = breadth_first(ports, task.sources[slot], removed, task.counted, seen, i, queue, counts)
        if levels > columns.shape[1]:
            columns = np.concatenate(
                [columns, np.zeros((len(groups), 2 * levels - columns.shape[1]), np.int64)], axis=1
            )
        columns[place[i], :levels] += counts[:levels]
        farthest[i] = last_level(counts[:levels, None] != 0)[0]
    return Part(groups, columns, slots, farthest if task.eccentricity else None)


def buffers(words: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two uint64[words], aligned to cache lines and half a page apart: a store and a load at the same offset
    within a page would delay each other.
    """
    line, page = 8, 512
    raw = np.empty(2 * words + 2 * page, np.uint64)
    first = -(raw.ctypes.data // 8) % line
    second = first + -(-words // page) * page + page // 2
    return raw[first : first + words], raw[second : second + words]
