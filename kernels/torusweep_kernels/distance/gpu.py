"""Compute distances on a GPU (levels.cu). Many levels of many searches are launched before the host waits for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.distance.reference import (
    EMPTY,
    WORD,
    Block,
    Part,
    Task,
    barred,
    blocks,
    collect,
    groups_of_words,
    last_level,
    pack,
    part,
    predecessors,
    table,
)
from torusweep_kernels.distance.single_source import near_order

SOURCE = Path(__file__).with_name("levels.cu")
PIECE = 16  # bytes of a row that a thread owns
LANES = 8 * PIECE
WIDEST = 32  # the most pieces of a row: 512 bytes, four cache lines
NARROWEST = 2  # the fewest pieces of a row: 32 bytes, the smallest read of a GPU
MOST_DEGREE = 16  # the most predecessors of a node for which a kernel is compiled; above it they are read as lists
MOST_AHEAD = 1024  # the most levels of a search that are launched at once
NEAR = 256  # sources that are near each other: of two pieces, the least that memory is read in
FEWEST = 4  # blocks of sources from which it is tried whether near sources have few rows with news
WIDE = 8  # the fewest pieces of a row for near sources: the predecessors of a node are read once for all of them
SPARSE = 0.5  # share of the pieces that the first block reads, up to which `sparse` is used (estimated from bytes)
COUNTS = 2**24  # bytes of the counts that are copied back together
ROWS_OF_TALLY = 31  # that a thread counts at once


def distances(task: Task, threads: int | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """GPU version of `all_pairs_distance`: (histogram int64[G, D+1], eccentricity int32[S] | None)."""
    plain = task._replace(eccentricity=False)  # which needs no counts of each lane
    in_order, per_lane = pack(plain)
    with cuda.gpu_errors("torusweep_kernels.distance"):
        network = Network(task, per_lane)

        def search(pieces: int) -> tuple[np.ndarray, np.ndarray | None]:
            if len(task.sources) < FEWEST * LANES * network.wide(pieces):
                network.make_room(pieces)
                return collect(task, list(network.parts(blocks(in_order, 2 * pieces, per_lane))))
            slots, _ = pack(plain, near_order(task.ports, task.sources, NEAR))
            wide = cuda.halve_until_it_fits(network.wide(pieces), network.make_room_for_news)
            parts = list(network.parts(blocks(slots[: wide * LANES], 2 * wide, per_lane)))
            if network.read_share() <= SPARSE:
                pieces = wide
            else:
                network.make_room(pieces)
            parts += network.parts(blocks(slots[wide * LANES :], 2 * pieces, per_lane))
            return collect(task, parts)

        return cuda.halve_until_it_fits(network.width(-(-len(in_order) // LANES)), search)


class Levels(NamedTuple):
    """The results of some levels of a search.

    gained  int[levels, counters+1]   counted new bits of each group of sources; last column: pieces that `sparse` read
    news    uint32[levels, lanes/32]  lanes that gained a counted bit; [levels, 1] unless eccentricities are wanted
    pairs   int[levels, lanes]        counted new bits of each lane; [levels, 1] unless the block counts per lane
    """

    gained: Any
    news: Any
    pairs: Any


class Counts:
    """Results of `blocks` searches next to each other on the device, so that a single copy fetches all of them.

    Each search has int32[levels + 2], whether there was work for each level and for the next one; then its `Levels`.
    """

    def __init__(self, cupy: Any, blocks: int, levels: int, sizes: tuple[int, int, int]) -> None:
        self.blocks, self.levels = blocks, levels
        self.array = cupy.zeros((blocks, sum(self.words(levels, sizes))), np.uint64)
        self.ends = np.cumsum(self.words(levels, sizes)).tolist()

    @staticmethod
    def words(levels: int, sizes: tuple[int, int, int]) -> tuple[int, int, int, int]:
        """Return the number of 8-byte words of each array, where `sizes` are those of one level. `levels` is even."""
        counters, news, pairs = sizes
        return levels // 2 + 1, levels * (counters + 1), levels // 2 * max(news, 1), levels // 2 * max(pairs, 1)

    def of(self, row: Any) -> tuple[Any, Levels]:
        """Return (happened, `Levels`) of one block's row, which is on the device or in a copy."""
        a, b, c, d = self.ends
        found = Levels(row[a:b], row[b:c].view(np.uint32), row[c:d].view(np.uint32))
        return row[:a].view(np.int32), Levels(*(array.reshape(self.levels, -1) for array in found))


class Search(NamedTuple):
    """A block of sources, with its data on the device.

    groups int64[k]; which int32[words]: each word's group, as an index into `groups`. On the device: source
    int32[lanes], −1 = unused; full uint64[words]: bits of the used lanes; counter: copy of `which`
    """

    block: Block
    groups: np.ndarray
    which: np.ndarray
    source: Any
    full: Any
    counter: Any


class Network:
    """The graph on the device, and the buffers that blocks reuse."""

    def __init__(self, task: Task, per_lane: bool) -> None:
        self.task, self.per_lane = task, per_lane
        self.gpu = cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        self.start, self.predecessor = predecessors(cupy.asarray(task.ports), cupy)
        columns = table(self.start, self.predecessor, MOST_DEGREE, cupy)
        if columns is not None:
            self.predecessor = columns
        self.removed = task.removed is not None and bool((task.removed >= 0).any())
        self.news = task.eccentricity and not per_lane  # counts of each lane tell as much
        self.dense, self.sparse, self.tally, self.clear, self.seed = self.gpu.kernels(
            SOURCE,
            *("dense", "sparse", "tally", "clear", "seed"),
            DEGREE=0 if columns is None else len(columns),
            REMOVED=self.removed,
            CHOSEN=task.counted is not None,
            NEWS=self.news,
        )
        chosen = np.ones(1, bool) if task.counted is None else task.counted  # not read unless it says something
        self.counted = cupy.asarray(chosen.astype(np.uint8))
        self.kept_at = cupy.full(task.nodes if self.removed else 1, -1, np.int32)
        self.none = cupy.zeros(2, np.uint64)
        # levels of a search that are launched at once; even: both buffers return to their places
        self.ahead = cuda.AHEAD
        self.most_ahead = MOST_AHEAD
        self.in_a_row = False  # whether so many levels will do for most searches

    def width(self, needed: int) -> int:
        """Return the pieces of a row, a power of 2: at most `needed`, and few enough for the cache and free memory."""
        row = 2 * PIECE * self.task.nodes  # bytes of one piece in both buffers
        free = self.gpu.free()

        def too_wide(pieces: int) -> bool:
            uncached = pieces > NARROWEST and row * pieces > self.gpu.cache
            too_many = self.task.nodes * pieces >= 2**31  # kernels count them in 32 bits
            return pieces >= 2 * needed or uncached or too_many or row * pieces > free // 2

        pieces = WIDEST
        while pieces > 1 and too_wide(pieces):
            pieces //= 2
        return pieces

    def wide(self, pieces: int) -> int:
        """Return the pieces of a row for near sources: at least WIDE, or fewer if half the free memory is too small."""
        wide = max(pieces, WIDE)
        while wide > pieces and (3 * PIECE + 2) * self.task.nodes * wide > self.gpu.free() // 2:
            wide //= 2
        return wide

    def make_room(self, pieces: int) -> None:
        """Make zeroed buffers uint64[2, N+1, 2·pieces]. The last row stays 0; it stands for missing predecessors."""
        self.is_sparse = False
        self.make_buffers(2, pieces)

    def make_room_for_news(self, pieces: int) -> int:
        """Allocate memory for `sparse`: a third bit buffer, and change flags for the other two."""
        self.is_sparse = True
        self.make_buffers(3, pieces, flags=(self.task.nodes + 1) * pieces)
        return pieces

    def make_buffers(self, number: int, pieces: int, flags: int = 1) -> None:
        self.state: Any = None  # frees the buffers of another width first
        self.is_new: Any = None
        self.is_new = self.cupy.zeros((2, -(-flags // 4) * 4), np.uint8)  # set by words of 4 bytes
        self.state = self.cupy.zeros((number, self.task.nodes + 1, 2 * pieces), np.uint64)
        self.kept_at.fill(-1)
        self.size = np.int32(self.task.nodes), np.int32(pieces.bit_length() - 1)
        self.items = self.task.nodes * pieces
        self.read = self.visits = 0  # pieces that `sparse` read, and might have read

    def read_share(self) -> float:
        """Return the share of pieces that `sparse` read, of all pieces in all levels."""
        return self.read / max(self.visits, 1)

    def parts(self, blocks: Iterable[Block]) -> Iterator[Part]:
        """Yield the blocks' distances. The host waits for the device once for the counts of several blocks.

        A search begins when the previous search has ended. If that one needs more levels than were launched, all later
        searches do nothing, and the host continues it.
        """
        searches = self.searches(list(blocks))
        at = 0  # the first search that is not done
        found: list[Levels] = []  # of that search
        while at < len(searches):
            counts = self.counts(searches[at:] if self.in_a_row else searches[at : at + 1])
            for i in range(counts.blocks):
                self.launch(searches[at + i], counts, i, goes_on=bool(found) and i == 0)
            depth, done = 0, True  # of the deepest search, or of the one that is not done
            for row in counts.array.get():
                happened, here = counts.of(row)
                levels = int(happened.sum()) - 1  # launches after the last level do nothing
                found.append(Levels(*(array[:levels] for array in here)))
                self.read += int(here.gained[:levels, -1].sum())
                self.visits += levels * self.items
                done = levels < counts.levels
                levels = sum(len(some.gained) for some in found)
                depth = max(depth, levels) if done else levels
                if not done:
                    break
                yield self.part(searches[at], found)
                at, found = at + 1, []
            # blocks are about equally deep, and one launch more finds nothing; else as many levels again
            self.ahead = min(depth // 2 * 2 + 2 if done else depth, self.most_ahead)
            self.in_a_row = done and depth < self.ahead

    def searches(self, blocks: Sequence[Block]) -> list[Search]:
        """Return the data of all blocks, which are copied to the device at once."""
        if not blocks:
            return []
        slots = np.concatenate([block.slots for block in blocks])
        used = slots != EMPTY
        groups = [groups_of_words(self.task, block) for block in blocks]
        of_all = (
            np.where(used, self.task.sources[slots], -1).astype(np.int32),
            np.packbits(used, bitorder="little").view(np.uint64),
            np.concatenate([which for _, which in groups]),
        )
        device = [self.cupy.asarray(array).reshape(len(blocks), -1) for array in of_all]
        return [Search(block, *groups[i], *(array[i] for array in device)) for i, block in enumerate(blocks)]

    def counts(self, searches: Sequence[Search]) -> Counts:
        """Return `Counts` for the first of these searches: as many as COUNTS allows, fewer if memory is short."""
        lanes = len(searches[0].block.slots)
        counters = 1 if self.per_lane else max(len(search.groups) for search in searches)
        sizes = counters, lanes // 32 if self.news else 0, lanes if self.per_lane else 0
        bytes_of_one = 8 * sum(Counts.words(self.ahead, sizes))
        number = max(1, min(len(searches), COUNTS // bytes_of_one))

        def made(pairs: int) -> Counts:  # of levels
            return Counts(self.cupy, max(1, 2 * pairs // self.ahead), min(self.ahead, 2 * pairs), sizes)

        found = cuda.halve_until_it_fits(number * self.ahead // 2, made)
        if found.levels < self.ahead:
            self.most_ahead = found.levels
        return found

    def launch(self, search: Search, counts: Counts, i: int, *, goes_on: bool) -> None:
        """Launch the levels of a search, number i of these counts; `goes_on` says whether its rows exist already."""
        happened, found = counts.of(counts.array[i])
        rows, flags, method = tuple(self.state), tuple(self.is_new), np.int32(self.is_sparse)
        if goes_on:
            happened[:1] = 1
        else:
            last, before = (counts.levels, counts.of(counts.array[i - 1])[0]) if i else (-1, self.none.view(np.int32))
            place = rows[0], rows[2] if self.is_sparse else self.none, flags[0]
            self.gpu.launch(self.clear, self.items, *place, before, happened, np.int32(last), method, *self.size)
            lanes = len(search.block.slots)
            self.gpu.launch(self.seed, lanes, *place, search.source, happened, np.int32(lanes), method, self.size[1])
        kept_node, kept = self.keep(search.block)
        graph = self.start, self.predecessor
        limits = self.kept_at, kept, self.counted, search.counter
        counters = found.gained.shape[1] - 1
        answers = found.gained, found.news if self.news else self.none.view(np.uint32), happened
        kernel, full = (self.sparse, ()) if self.is_sparse else (self.dense, (search.full,))
        block = (cuda.THREADS,)
        grid, of_tally = (
            (self.gpu.threads(some, items) // cuda.THREADS,)
            for some, items in ((kernel, self.items), (self.tally, -(-self.items // ROWS_OF_TALLY)))
        )
        shared = 4 * (counters + 1 + (len(search.full) * 2 if self.news else 0))
        for level in range(counts.levels):
            (old, new), (was, now) = ((pair[level % 2], pair[1 - level % 2]) for pair in (rows, flags))
            state = (rows[2], old, new, was, now) if self.is_sparse else (old, new)
            size = np.int32(level), *self.size
            everything = *state, *graph, *full, *limits, *answers, *size, np.int32(counters)
            kernel(grid, block, everything, shared_mem=shared)
            if self.per_lane:
                pairs = old, new, now, self.counted, found.pairs, happened, method, *size
                self.tally(of_tally, block, pairs, shared_mem=4 * len(search.block.slots))
        if self.removed:
            self.kept_at[kept_node] = -1

    def keep(self, block: Block) -> tuple[Any, Any]:
        """Return the nodes that some lanes may not enter, and the other lanes of each. Sets `kept_at` on the device."""
        if not self.removed:
            return None, self.none
        kept_node, kept = (self.cupy.asarray(array) for array in barred(self.task, block))
        self.kept_at[kept_node] = self.cupy.arange(len(kept_node), dtype=np.int32)
        return kept_node, kept

    def part(self, search: Search, found: Sequence[Levels]) -> Part:
        """Return a block's distances, from the results of its levels."""
        task, block = self.task, search.block
        lane = np.flatnonzero(block.slots != EMPTY)
        slot = block.slots[lane]
        counted = lane if task.counted is None else lane[task.counted[task.sources[slot]]]  # at distance 0
        if self.per_lane:
            start = np.bincount(counted, minlength=len(block.slots))[None]
            return part(task, block, np.concatenate([start, *(levels.pairs for levels in found)]))
        start = np.bincount(search.which[counted // WORD], minlength=len(search.groups))[None]
        gained = [levels.gained[:, : len(search.groups)].astype(np.int64) for levels in found]
        columns = np.ascontiguousarray(np.concatenate([start, *gained]).T)
        eccentricity = None
        if task.eccentricity:
            news = np.concatenate(
                [np.zeros((1, len(block.slots) // 32), np.uint32), *(levels.news for levels in found)]
            )
            reached = np.unpackbits(news.view(np.uint8), axis=1, bitorder="little")
            eccentricity = last_level(reached[:, lane] != 0)
        return Part(search.groups, columns, slot, eccentricity)
