"""Distances on a GPU: the kernels of levels.cu, launched several levels at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.distance.lanes import WORD, Block, Part, Task, blocks, collect, pack, part, seeds
from torusweep_kernels.distance.predecessors import predecessors

SOURCE = Path(__file__).with_name("levels.cu")
WIDEST = 64  # the most words of a row: 512 bytes, four cache lines
NARROWEST = 4  # the fewest words of a row: 32 bytes, the smallest read of a GPU
MOST_AHEAD = 64  # the most levels launched at once; each level keeps counts of all threads


def distances(task: Task, threads: int | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """(histogram int64[G, D+1], eccentricity int32[S] | None); see `all_pairs_distance`."""
    slots, per_lane = pack(task)
    with cuda.gpu_errors("torusweep_kernels.distance"):
        network = Network(task)

        def search(words: int) -> tuple[np.ndarray, np.ndarray | None]:
            network.make_room(words)
            return collect(task, [network.part(block) for block in blocks(slots, words, per_lane)])

        return cuda.halve_until_it_fits(network.width(len(slots) // WORD), search)


class Network:
    """The graph on the device, and the two buffers that blocks reuse."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.gpu = cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        self.advance, self.tally = self.gpu.kernels(SOURCE, "advance", "tally")
        self.start, self.predecessor = predecessors(cupy.asarray(task.ports), cupy)
        self.counted = (
            cupy.ones(task.nodes, np.uint8) if task.counted is None else cupy.asarray(task.counted.astype(np.uint8))
        )
        self.kept_at = cupy.full(task.nodes, -1, np.int32)
        self.ahead = cuda.AHEAD  # levels that are launched before the host waits for the device
        self.most_ahead = MOST_AHEAD

    def width(self, needed: int) -> int:
        """Words of a row, a power of 2: at most as many as are needed, fit in the cache, and fit in free memory."""
        row = 16 * self.task.nodes  # bytes of one word in both buffers
        free = self.gpu.free()

        def too_wide(words: int) -> bool:
            uncached = words > NARROWEST and row * words > self.gpu.cache
            return words >= 2 * needed or uncached or row * words > free // 2

        words = WIDEST
        while words > 1 and too_wide(words):
            words //= 2
        return words

    def make_room(self, words: int) -> None:
        """Zero buffers uint64[2, N·words]."""
        self.buffers: Any = None  # frees the buffers of another width first
        self.buffers = self.cupy.empty((2, self.task.nodes * words), np.uint64)
        self.kept_at.fill(-1)

    def counters(self, *threads: int) -> list[Any]:
        """uint32[ahead, threads] for each of these; of fewer levels, from now on, where memory does not suffice."""

        def made(pairs: int) -> list[Any]:
            return [self.cupy.empty((2 * pairs, number), np.uint32) for number in threads]

        found = cuda.halve_until_it_fits(self.ahead // 2, made)
        if len(found[0]) < self.ahead:
            self.most_ahead = len(found[0])
        return found

    def part(self, block: Block) -> Part:
        """A block's distances."""
        cupy, task, words = self.cupy, self.task, block.words
        lanes = WORD * words
        state = self.buffers
        start = seeds(task, block)
        place(cupy, state[0], start.node * words + start.lane // WORD, start.lane % WORD)
        full, kept, kept_node = (cupy.asarray(array) for array in (start.full, start.kept, start.kept_node))
        self.kept_at[kept_node] = cupy.arange(len(start.kept_node), dtype=np.int32)
        threads = self.gpu.threads(self.advance, task.nodes * words)
        of_tally = self.tally, task.nodes * lanes, max(lanes, cuda.THREADS)
        lane_threads = self.gpu.threads(*of_tally) if block.per_lane else 0
        gained, pairs = self.counters(threads, lane_threads)
        ahead = len(gained)
        counts = [at_start(task, block, start.node, start.lane)]
        depth, levels = 0, ahead
        while levels == ahead:
            happened = cupy.zeros(ahead + 1, np.int32)
            happened[0] = 1
            for level in range(ahead):
                old, new = state[level % 2], state[1 - level % 2]
                size = np.int32(level), np.int32(task.nodes), np.int32(words)
                network = self.start, self.predecessor, full, self.kept_at, kept, self.counted
                self.advance((threads // cuda.THREADS,), (cuda.THREADS,), (old, new, *network, gained, happened, *size))
                if block.per_lane:
                    self.tally(
                        (lane_threads // cuda.THREADS,),
                        (cuda.THREADS,),
                        (old, new, self.counted, pairs, happened, *size),
                    )
            levels = int(happened.sum()) - 1  # the only wait for the device; launches after the last level do nothing
            depth += levels
            found = pairs.reshape(ahead, -1, lanes) if block.per_lane else gained.reshape(ahead, -1, words)
            counts.append(found[:levels].sum(axis=1, dtype=np.int64).get())
        # blocks are about equally deep: the next one needs one wait; even, so that both buffers return to their places
        self.ahead = min(self.most_ahead, depth // 2 * 2 + 2)
        self.kept_at[kept_node] = -1
        return part(task, block, np.concatenate(counts))


def place(cupy: Any, state: Any, place: np.ndarray, bit: np.ndarray) -> None:
    """Clear uint64[·] and set each `bit` of word `place`; words may repeat."""
    state.fill(0)
    words, which = np.unique(place, return_inverse=True)
    values = np.zeros(len(words), np.uint64)
    np.bitwise_or.at(values, which, np.uint64(1) << bit.astype(np.uint64))
    state[cupy.asarray(words)] = cupy.asarray(values)


def at_start(task: Task, block: Block, node: np.ndarray, lane: np.ndarray) -> np.ndarray:
    """Pairs at distance 0: int64[1, words], or int64[1, lanes] if the block counts per lane."""
    counted = lane if task.counted is None else lane[task.counted[node]]
    width = len(block.slots) if block.per_lane else block.words
    return np.bincount(counted if block.per_lane else counted // WORD, minlength=width)[None]
