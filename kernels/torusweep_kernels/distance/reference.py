"""Specification of all-pairs distances: whole-array operations level by level.

A node has a row of 64-bit words, with a bit for each source. A level ORs into every node's row that of its first
predecessor, then that of its second, and so on. Nodes are renumbered by decreasing number of predecessors: those with a
p-th predecessor come first, and a hub adds short steps instead of a wide table.

All three implementations share the lists of every node's predecessors, and the packing of sources into bits.

A lane is one bit, a word has 64 lanes, and a block is the few words that one search carries through the network.
Sources are sorted by group. Large groups each start at a new word, so that the bits of a word count pairs of one group.
For small groups this would waste most lanes; their pairs are counted lane by lane.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels.threads import in_threads

WORD = 64
EMPTY = -1
PADDING = 3  # the largest factor in words for groups that start at a new word; above it pairs are counted lane by lane
WORDS = 16  # two cache lines: gathering them costs hardly more than one word
SCRATCH = 2**29  # bytes that a thread's buffers may take before rows get narrower


class Task(NamedTuple):
    """The arguments of `all_pairs_distance`, with the same meaning.

    ports int32[N, d], sources int32[S], groups int32[S], counted bool[N] | None, removed int32[S, F] | None,
    eccentricity: whether to return each source's eccentricity
    """

    ports: np.ndarray
    sources: np.ndarray
    groups: np.ndarray
    counted: np.ndarray | None = None
    removed: np.ndarray | None = None
    eccentricity: bool = False

    @property
    def nodes(self) -> int:
        return self.ports.shape[0]

    @property
    def rows(self) -> int:
        """Number of rows of the histogram."""
        return int(self.groups.max(initial=-1)) + 1


class Block(NamedTuple):
    """The lanes of one search.

    words      number of words of a row
    slots      int64[64·words], place in `sources` of each lane's source, −1 = unused
    per_lane   whether pairs must be counted lane by lane
    """

    words: int
    slots: np.ndarray
    per_lane: bool


class Seeds(NamedTuple):
    """The initial state of a block.

    node, lane  int64[L]                          source node and number of each used lane
    full        uint64[words]                     bits of the used lanes
    kept_node   int64[M], kept uint64[M, words]   nodes that some lanes may not enter, and the lanes that may
    """

    node: np.ndarray
    lane: np.ndarray
    full: np.ndarray
    kept_node: np.ndarray
    kept: np.ndarray


def pack(task: Task, sources: np.ndarray | None = None, *, per_lane_allowed: bool = True) -> tuple[np.ndarray, bool]:
    """Return (slots int64[64·words], per_lane): all lanes, sorted by group, and whether pairs are counted per lane.

    sources int64[S]: order of the places in `sources` within a group; None for ascending
    """
    order = np.argsort(task.groups if sources is None else task.groups[sources], kind="stable")
    order = order if sources is None else sources[order]
    sizes = np.bincount(task.groups)
    words = -(-sizes // WORD)
    dense = -(-len(order) // WORD)
    if per_lane_allowed and (task.eccentricity or int(words.sum()) > PADDING * dense):
        slots = np.full(dense * WORD, EMPTY, np.int64)
        slots[: len(order)] = order
        return slots, True
    slots = np.full(int(words.sum()) * WORD, EMPTY, np.int64)
    first = WORD * (np.cumsum(words) - words)  # each group's first lane
    shift = first - (np.cumsum(sizes) - sizes)
    slots[np.arange(len(order)) + np.repeat(shift, sizes)] = order
    return slots, False


def blocks(slots: np.ndarray, words: int, per_lane: bool) -> Iterator[Block]:
    """Yield blocks of `words` words; the last block is filled up with unused lanes."""
    lanes = words * WORD
    filled = np.concatenate([slots, np.full(-len(slots) % lanes, EMPTY, np.int64)])
    for begin in range(0, len(filled), lanes):
        yield Block(words, filled[begin : begin + lanes], per_lane)


def seeds(task: Task, block: Block) -> Seeds:
    """Return the sources of a block's lanes, and the nodes that some lanes must not enter."""
    used = block.slots != EMPTY
    lane = np.flatnonzero(used)
    slot = block.slots[lane]
    full = np.packbits(used, bitorder="little").view("<u8").astype(np.uint64)
    return Seeds(task.sources[slot].astype(np.int64), lane, full, *barred(task, block))


def barred(task: Task, block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Return (kept_node, kept) as in `Seeds`: nodes that some lanes may not enter, and the lanes that may."""
    if task.removed is None:
        return np.zeros(0, np.int64), np.zeros((0, block.words), np.uint64)
    lane = np.flatnonzero(block.slots != EMPTY)
    slot, word, bit = block.slots[lane], lane // WORD, np.uint64(1) << (lane % WORD).astype(np.uint64)
    entry, column = np.nonzero(task.removed[slot] >= 0)
    kept_node, row = np.unique(task.removed[slot[entry], column].astype(np.int64), return_inverse=True)
    kept = np.full((len(kept_node), block.words), ~np.uint64(0))
    np.bitwise_and.at(kept, (row, word[entry]), ~bit[entry])
    return kept_node, kept


class Part(NamedTuple):
    """The result of a search for some lanes.

    groups int64[k], columns int64[k, levels]: pairs at each distance; slots int64[L], eccentricity int32[L] | None
    """

    groups: np.ndarray
    columns: np.ndarray
    slots: np.ndarray
    eccentricity: np.ndarray | None


def part(task: Task, block: Block, counts: np.ndarray) -> Part:
    """Return the `Part` for new pairs per distance: int[levels, words], or int[levels, lanes] if counted per lane."""
    slots = block.slots if block.per_lane else block.slots[::WORD]  # a used word's first lane is used
    used = np.flatnonzero(slots != EMPTY)
    of_slot = task.groups[slots[used]]  # in rising order, as `pack` has them
    first = np.flatnonzero(np.append(True, of_slot[1:] != of_slot[:-1]))
    groups = of_slot[first]
    columns = np.add.reduceat(counts.T[used], first, axis=0, dtype=np.int64)
    eccentricity = last_level(counts[:, used] != 0) if task.eccentricity and block.per_lane else None
    return Part(groups, columns, slots[used], eccentricity)


def groups_of_words(task: Task, block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Return (int64[k]: groups in ascending order; int32[words]: index of each word's group, 0 if unused)."""
    first = block.slots[::WORD]  # a used word's first lane is used
    groups, used = np.unique(task.groups[first[first != EMPTY]], return_inverse=True)
    which = np.zeros(block.words, np.int32)
    which[first != EMPTY] = used
    return groups.astype(np.int64), which


def side_by_side(counted: Sequence[tuple[Block, np.ndarray]]) -> tuple[Block, np.ndarray]:
    """Join blocks that count per word into one, and their new pairs at each distance into int64[levels, words]."""
    counts = np.zeros((max(len(levels) for _, levels in counted), sum(block.words for block, _ in counted)), np.int64)
    first = 0
    for block, levels in counted:
        counts[: len(levels), first : first + block.words] = levels
        first += block.words
    return Block(first, np.concatenate([block.slots for block, _ in counted]), False), counts


def last_level(reached: np.ndarray) -> np.ndarray:
    """Return int32[L]: the last level at which each column of bool[levels, L] is true; 0 if none is."""
    last = len(reached) - 1 - np.argmax(reached[::-1], axis=0)
    return np.where(reached.any(axis=0), last, 0).astype(np.int32)


def collect(task: Task, parts: Sequence[Part]) -> tuple[np.ndarray, np.ndarray | None]:
    """Return (int64[G, D+1], int32[S] | None): the sum of the parts, without trailing columns of zeros."""
    eccentricity = np.zeros(len(task.sources), np.int32) if task.eccentricity else None
    depth = max((piece.columns.shape[1] for piece in parts), default=1)
    histogram = np.zeros((task.rows, depth), np.int64)
    for piece in parts:
        histogram[piece.groups, : piece.columns.shape[1]] += piece.columns
        if eccentricity is not None:
            assert piece.eccentricity is not None
            eccentricity[piece.slots] = piece.eccentricity
    reached = np.flatnonzero(histogram.any(axis=0))
    return np.ascontiguousarray(histogram[:, : reached[-1] + 1 if len(reached) else 1]), eccentricity


def predecessors(ports: Any, xp: Any = np) -> tuple[Any, Any]:
    """Return (start int64[N+1], predecessor int32[A]): links from predecessor[start[v] : start[v+1]] lead to node v.

    ports int32[N, d]. Rows may have any length, so that a hub costs only its links.
    """
    flat = ports.ravel()
    present = xp.flatnonzero(flat >= 0)
    return by_head((present // max(ports.shape[1], 1)).astype(np.int32), flat[present], ports.shape[0], xp)


def by_head(tail: Any, head: Any, nodes: int, xp: Any) -> tuple[Any, Any]:
    """Return (start int64[N+1], int32[A]): the arcs' tails sorted by head. start[v] is the place of the first arc to v.

    tail, head   int32[A]
    """
    start = xp.zeros(nodes + 1, np.int64)
    start[1:] = xp.cumsum(xp.bincount(head, minlength=nodes))
    return start, tail[xp.argsort(head, kind="stable")]


def table(start: Any, predecessor: Any, most: int, xp: Any) -> Any:
    """Return int32[k, N]: column v has the predecessors of node v, filled up with N. Return None if it would have no
    row or more than `most`, or be more than half empty.

    start int64[N+1], predecessor int32[A] as in `predecessors`
    """
    nodes, arcs = len(start) - 1, len(predecessor)
    rows = int((start[1:] - start[:-1]).max())
    if not 0 < rows <= most or not rows * nodes <= min(2 * arcs, 2**31 - 1):
        return None
    start = start.astype(np.int32)
    place = start[:-1] + xp.arange(rows, dtype=np.int32)[:, None]
    there = place < start[1:]
    return xp.where(there, predecessor[xp.where(there, place, 0)], nodes).astype(np.int32)


def same_degree(start: np.ndarray) -> int:
    """Return the number of arcs at each node if it is the same for all, else 0. start int64[N+1] as in `by_head`."""
    many = np.diff(start)
    return int(many[0]) if len(many) and (many == many[0]).all() else 0


def distances(task: Task, threads: int | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Specification of `all_pairs_distance`: (histogram int64[G, D+1], eccentricity int32[S] | None)."""
    slots, per_lane = pack(task, per_lane_allowed=False)
    words = max(1, min(WORDS, len(slots) // WORD, SCRATCH // (24 * task.nodes)))
    threads = threads or len(os.sched_getaffinity(0))
    network = Network(task)
    return collect(task, in_threads(network.part, list(blocks(slots, words, per_lane)), threads))


class Network:
    """The graph, with nodes renumbered as rows.

    rank int64[N]      row of each node
    layers             p-th item int64[n_p]: row of the p-th predecessor, for each of the n_p rows that have one
    led_to             n_0: number of rows that have a predecessor
    counted bool[N, 1] whether a row counts as a destination; None if all do
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        start, predecessor = predecessors(task.ports)
        number = np.diff(start)
        order = np.argsort(-number, kind="stable")
        self.rank = np.empty(task.nodes, np.int64)
        self.rank[order] = np.arange(task.nodes)
        having = np.searchsorted(
            -number[order], -np.arange(int(number.max(initial=0)))
        )  # rows with more than p predecessors
        self.layers = [self.rank[predecessor[start[order[:n]] + p]] for p, n in enumerate(having)]
        self.led_to = len(self.layers[0]) if self.layers else 0
        self.counted = None if task.counted is None else task.counted[order][:, None]

    def part(self, block: Block) -> Part:
        """Return a block's distances."""
        task = self.task
        start = seeds(task, block)
        first = np.zeros((task.nodes, block.words), np.uint64)
        bit = np.uint64(1) << (start.lane % WORD).astype(np.uint64)
        np.bitwise_or.at(first, (self.rank[start.node], start.lane // WORD), bit)
        old, new = first, np.empty(first.shape, np.uint64)
        gathered, ones = np.empty(first.shape, np.uint64), np.empty(first.shape, np.uint8)
        kept_row, kept = self.rank[start.kept_node], start.kept
        counts, reached = [], []
        fresh = old.copy()
        while fresh.any():
            if self.counted is not None:
                fresh *= self.counted
            counts.append(np.bitwise_count(fresh, out=ones).sum(axis=0, dtype=np.int64))
            if task.eccentricity:
                reached.append(np.bitwise_or.reduce(fresh))
            new[self.led_to :] = old[self.led_to :]
            base = old
            for predecessor in self.layers:
                rows = len(predecessor)
                # with a mode, `out` is several times faster
                np.take(old, predecessor, axis=0, out=gathered[:rows], mode="clip")
                np.bitwise_or(base[:rows], gathered[:rows], out=new[:rows])
                base = new
            if len(kept_row):
                new[kept_row] &= kept
            fresh = np.bitwise_xor(new, old, out=old)
            old, new = new, gathered
            gathered = fresh
        result = part(task, block, np.stack(counts))
        if not task.eccentricity:
            return result
        lanes = np.unpackbits(np.stack(reached).view(np.uint8), axis=1, bitorder="little")
        used = block.slots >= 0
        return result._replace(slots=block.slots[used], eccentricity=last_level(lanes[:, used] != 0))
