"""The specification: whole-array operations level by level, the same code for NumPy and CuPy.

A node has a row of 64-bit words, with a bit for each source. A level ORs into every node's row that of its first
predecessor, then that of its second, and so on. Nodes are renumbered by decreasing number of predecessors: those with a
p-th predecessor come first, and a hub adds short steps instead of a wide table.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from torusweep_kernels.backend import host
from torusweep_kernels.distance.lanes import WORD, Block, Part, Task, blocks, collect, last_level, pack, part, seeds
from torusweep_kernels.distance.predecessors import predecessors
from torusweep_kernels.threads import in_threads

WORDS = 16  # two cache lines: gathering them costs hardly more than one word
SCRATCH = 2**29  # bytes that a thread's buffers may take before rows get narrower


def distances(task: Task, threads: int | None, xp: Any = np) -> tuple[np.ndarray, np.ndarray | None]:
    """(histogram int64[G, D+1], eccentricity int32[S] | None); see `all_pairs_distance`."""
    slots, per_lane = pack(task, per_lane_allowed=False)
    words = max(1, min(WORDS, len(slots) // WORD, SCRATCH // (24 * task.nodes)))
    threads = 1 if xp is not np else threads or len(os.sched_getaffinity(0))
    network = Network(task, xp)
    return collect(task, in_threads(network.part, list(blocks(slots, words, per_lane)), threads))


class Network:
    """The graph, renumbered.

    rank int64[N]      a node's row
    layers             p-th item int64[n_p]: row of the p-th predecessor, of the n_p rows that have one
    led_to             n_0: rows that have any predecessor
    counted bool[N, 1] whether a row counts, or None
    """

    def __init__(self, task: Task, xp: Any) -> None:
        self.task, self.xp = task, xp
        start, predecessor = predecessors(task.ports)
        number = np.diff(start)
        order = np.argsort(-number, kind="stable")
        self.rank = np.empty(task.nodes, np.int64)
        self.rank[order] = np.arange(task.nodes)
        having = np.searchsorted(
            -number[order], -np.arange(int(number.max(initial=0)))
        )  # rows with more than p predecessors
        self.layers = [xp.asarray(self.rank[predecessor[start[order[:n]] + p]]) for p, n in enumerate(having)]
        self.led_to = len(self.layers[0]) if self.layers else 0
        self.counted = None if task.counted is None else xp.asarray(task.counted[order][:, None])

    def part(self, block: Block) -> Part:
        """A block's distances."""
        task, xp = self.task, self.xp
        clipped = {"mode": "clip"} if xp is np else {}  # `out` is several times faster; CuPy has no modes
        start = seeds(task, block)
        first = np.zeros((task.nodes, block.words), np.uint64)
        bit = np.uint64(1) << (start.lane % WORD).astype(np.uint64)
        np.bitwise_or.at(first, (self.rank[start.node], start.lane // WORD), bit)
        old, new = xp.asarray(first), xp.empty(first.shape, np.uint64)
        gathered, ones = xp.empty(first.shape, np.uint64), xp.empty(first.shape, np.uint8)
        kept_row, kept = xp.asarray(self.rank[start.kept_node]), xp.asarray(start.kept)
        counts, reached = [], []
        fresh = old.copy()
        while fresh.any():
            if self.counted is not None:
                fresh *= self.counted
            counts.append(xp.bitwise_count(fresh, out=ones).sum(axis=0, dtype=np.int64))
            if task.eccentricity:
                reached.append(any_row(fresh))
            new[self.led_to :] = old[self.led_to :]
            base = old
            for predecessor in self.layers:
                rows = len(predecessor)
                xp.take(old, predecessor, axis=0, out=gathered[:rows], **clipped)
                xp.bitwise_or(base[:rows], gathered[:rows], out=new[:rows])
                base = new
            if len(kept_row):
                new[kept_row] &= kept
            fresh = xp.bitwise_xor(new, old, out=old)
            old, new = new, gathered
            gathered = fresh
        result = part(task, block, host(xp.stack(counts)))
        if not task.eccentricity:
            return result
        lanes = np.unpackbits(host(xp.stack(reached)).view(np.uint8), axis=1, bitorder="little")
        used = block.slots >= 0
        return result._replace(slots=block.slots[used], eccentricity=last_level(lanes[:, used] != 0))


def any_row(rows: Any) -> Any:
    """uint64[W]: OR of all rows of uint64[n, W], by halving (CuPy's bitwise_or has no reduce)."""
    while len(rows) > 1:
        half = len(rows) // 2
        rest = rows[2 * half :]
        rows = rows[:half] | rows[half : 2 * half]
        rows[: len(rest)] |= rest
    return rows[0]
