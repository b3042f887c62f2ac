"""Distances on a GPU: the kernels of levels.cu, launched several levels at a time."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.distance.feeders import feeders
from torusweep_kernels.distance.lanes import WORD, Block, Part, Task, blocks, collect, pack, part, seeds

SOURCE = Path(__file__).with_name("levels.cu")
OPTIONS = ("--std=c++17",)
THREADS = 256  # a block
RESIDENT = 2048  # threads that a multiprocessor holds
AHEAD = 16  # levels launched between two looks at whether the search has ended; even, so that it ends in the buffer that it began in
WIDEST = 64  # words a row: 512 bytes, four cache lines
NARROWEST = 4  # words a row: 32 bytes, the least that a GPU reads
CACHED = 0.7  # part of the second-level cache that both buffers should fit in


def distances(task: Task, groups: int) -> tuple[np.ndarray, np.ndarray | None]:
    """(histogram int64[G, D+1], eccentricity int32[S] | None); see `all_pairs_distance`."""
    slots, per_lane = pack(task)
    with backends.gpu_errors("kernels/torusweep_kernels/distance"):
        network = Network(task)

        def search(words: int) -> tuple[np.ndarray, np.ndarray | None]:
            network.make_room(words)
            return collect(task, groups, [network.part(block) for block in blocks(slots, words, per_lane)])

        return backends.halved(network.width(len(slots) // WORD), search)


@cache
def functions(device: int) -> tuple[Any, Any]:
    """(advance, tally), compiled once for a device."""
    module = backends.array_module("cupy").RawModule(code=SOURCE.read_text(), options=OPTIONS)
    return module.get_function("advance"), module.get_function("tally")


class Network:
    """The graph on the device, and the two buffers that all blocks use in turn."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.cupy = cupy = backends.array_module("cupy")
        device = cupy.cuda.Device().id
        self.advance, self.tally = functions(device)
        properties = cupy.cuda.runtime.getDeviceProperties(device)
        self.most_threads = properties["multiProcessorCount"] * RESIDENT
        self.cache = properties["l2CacheSize"]
        self.start, self.feeder = feeders(cupy.asarray(task.ports), cupy)
        self.counted = (
            cupy.ones(task.nodes, np.uint8) if task.counted is None else cupy.asarray(task.counted.astype(np.uint8))
        )
        self.kept_at = cupy.full(task.nodes, -1, np.int32)

    def width(self, needed: int) -> int:
        """Words a row, a power of two: as many as needed, as the cache holds, and as the free memory allows."""
        row = 16 * self.task.nodes  # bytes of one word in both buffers
        pool = self.cupy.get_default_memory_pool().free_bytes()
        free = self.cupy.cuda.runtime.memGetInfo()[0] + pool
        words = WIDEST
        while words > 1 and (
            words >= 2 * needed or (words > NARROWEST and row * words > CACHED * self.cache) or row * words > free // 2
        ):
            words //= 2
        return words

    def make_room(self, words: int) -> None:
        """Buffers uint64[2, N·words], and no node marked."""
        self.buffers: Any = None  # gives back those of another width first
        self.buffers = self.cupy.empty((2, self.task.nodes * words), np.uint64)
        self.kept_at.fill(-1)

    def part(self, block: Block) -> Part:
        """A block's distances."""
        cupy, task, words = self.cupy, self.task, block.words
        lanes = WORD * words
        state = self.buffers
        start = seeds(task, block)
        place(cupy, state[0], start.node * words + start.lane // WORD, start.lane % WORD)
        full, kept, kept_node = (cupy.asarray(array) for array in (start.full, start.kept, start.kept_node))
        self.kept_at[kept_node] = cupy.arange(len(start.kept_node), dtype=np.int32)
        threads = self.threads(task.nodes * words, THREADS)
        lane_threads = self.threads(task.nodes * lanes, max(lanes, THREADS)) if block.per_lane else 0
        gained, pairs = cupy.empty((AHEAD, threads), np.uint32), cupy.empty((AHEAD, lane_threads), np.uint32)
        counts = [at_start(task, block, start.node, start.lane)]
        levels = AHEAD
        while levels == AHEAD:
            happened = cupy.zeros(AHEAD + 1, np.int32)
            happened[0] = 1
            for level in range(AHEAD):
                old, new = state[level % 2], state[1 - level % 2]
                size = np.int32(level), np.int32(task.nodes), np.int32(words)
                network = self.start, self.feeder, full, self.kept_at, kept, self.counted
                self.advance((threads // THREADS,), (THREADS,), (old, new, *network, gained, happened, *size))
                if block.per_lane:
                    self.tally((lane_threads // THREADS,), (THREADS,), (old, new, self.counted, pairs, happened, *size))
            levels = int(happened.sum()) - 1  # the only wait for the device; launches after the last level did nothing
            found = pairs.reshape(AHEAD, -1, lanes) if block.per_lane else gained.reshape(AHEAD, -1, words)
            counts.append(found[:levels].sum(axis=1, dtype=np.int64).get())
        self.kept_at[kept_node] = -1
        return part(task, block, np.concatenate(counts))

    def threads(self, items: int, multiple: int) -> int:
        """Threads to launch for so many items: a multiple of `multiple`, about as many as the device holds at most."""
        return -(-min(items, self.most_threads) // multiple) * multiple


def place(cupy: Any, state: Any, place: np.ndarray, bit: np.ndarray) -> None:
    """Clear uint64[·] and set each `bit` of word `place`; words may repeat."""
    state.fill(0)
    words, which = np.unique(place, return_inverse=True)
    values = np.zeros(len(words), np.uint64)
    np.bitwise_or.at(values, which, np.uint64(1) << bit.astype(np.uint64))
    state[cupy.asarray(words)] = cupy.asarray(values)


def at_start(task: Task, block: Block, node: np.ndarray, lane: np.ndarray) -> np.ndarray:
    """int64[1, words], or int64[1, lanes] where the block counts per lane: pairs at distance 0."""
    counted = lane if task.counted is None else lane[task.counted[node]]
    width = len(block.slots) if block.per_lane else block.words
    return np.bincount(counted if block.per_lane else counted // WORD, minlength=width)[None]
