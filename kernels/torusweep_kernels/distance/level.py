"""Breadth-first search from many sources at once, a bit for each, in vector instructions.

Numba compiles loops over the words of a row to code several times slower than vector loads of the whole row, so the
loops are written as LLVM instructions. A row takes one or two vector registers. Its width is a type (a tuple's length),
for each of which the code is compiled once.

Row v of a buffer holds the sources that have reached node v. A level computes, for every node,
new[v] = old[v] | OR over predecessors u of old[u]. The bits that a level adds are the pairs at that distance.

A tile is 32 consecutive nodes. It is skipped in a level if neither it nor a tile that it reads changed in the
last level, and always once every lane has reached all of its nodes. On a torus only the wave fronts remain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from llvmlite import ir

from torusweep_kernels.compile import INT64, ONE, UNROLLED, Vectors, cached, cgutils, intrinsic, types
from torusweep_kernels.distance.reference import WORD

TILE = 32
FILLED = 1.25  # most arcs after filling up, for each arc before


class Graph(NamedTuple):
    """The arcs by head, and the tiles that each tile reads.

    start        int64[N+1]  arcs start[v] … start[v+1] − 1 lead to node v
    predecessor  int32[A]    tail of each arc
    degree       number of arcs into every node; 0 if it varies
    tile_start, tile_predecessor  int32[T+1], int32[·]: the same for tiles; empty if skipping tiles does not pay
    """

    start: np.ndarray
    predecessor: np.ndarray
    degree: int
    tile_start: np.ndarray
    tile_predecessor: np.ndarray


class Limits(NamedTuple):
    """The lanes that may enter each node; None if every lane may enter all nodes.

    kept_at  int32[N]      each node's row of `kept`
    kept     uint64[M·W]   rows of lanes that may enter
    """

    kept_at: np.ndarray | None
    kept: np.ndarray | None


@intrinsic
def advance(context, graph, limits, weight, old, new, low, high, full, totals, fresh, width):
    """Compute one level for the nodes low … high − 1.

    weight int64[N]: −1 where a node counts as a destination, else 0; None if all count. old, new: uint64[N·W].
    full uint64[W]: the used lanes. totals uint64[W] receives the number of new bits, fresh
    uint64[TILE·W] the new bits themselves; either may be None. width: a tuple of W elements.
    Returns 1 if anything changed, plus 2 if every lane has reached all these nodes.
    """
    words = len(width)

    def codegen(context, builder, signature, arguments):
        names = "graph limits weight old new low high full totals fresh width"
        v = Vectors(names, words, context, builder, signature, arguments)
        old, new, full, totals, fresh, kept = (
            v.data(name, v.words) for name in ("old", "new", "full", "totals", "fresh", "limits.kept")
        )
        start, predecessor, kept_at, weight = (
            v.data(name) for name in ("graph.start", "graph.predecessor", "limits.kept_at", "weight")
        )
        low, high = v.value("low"), v.value("high")
        zero = ir.Constant(INT64, 0)

        def load(pointer, row):
            return v.load(builder.gep(pointer, [row]))

        def store(value, pointer, row):
            v.store(value, builder.gep(pointer, [row]))

        lanes = load(full, zero)
        row, changed, reached = v.variable(lanes), v.variable(ir.Constant(v.words, None)), v.variable(lanes)
        total = v.variable(load(totals, zero)) if totals is not None else None

        def rows(unrolled):
            with v.loop(low, high) as (node, _):
                before = load(old, node)
                builder.store(before, row)

                def take(arc):
                    source = builder.sext(v.item(predecessor, arc), INT64)
                    builder.store(builder.or_(builder.load(row), load(old, source)), row)

                v.over_arcs(start, node, unrolled, take)
                after = builder.load(row)
                if kept is not None:
                    after = builder.and_(after, load(kept, builder.sext(v.item(kept_at, node), INT64)))
                store(after, new, node)
                gained = builder.xor(after, before)
                builder.store(builder.or_(builder.load(changed), gained), changed)
                builder.store(builder.and_(builder.load(reached), after), reached)
                if weight is not None:
                    gained = builder.and_(gained, v.spread(v.item(weight, node)))
                if totals is not None:
                    count = v.call(f"ctpop.v{words}i64", v.words, gained)
                    builder.store(builder.add(builder.load(total), count), total)
                if fresh is not None:
                    store(gained, fresh, builder.sub(node, low))

        v.by_degree(v.value("graph.degree"), rows)
        if totals is not None:
            store(builder.load(total), totals, zero)
        any_bit = f"vector.reduce.or.v{words}i64"
        some = builder.icmp_unsigned("!=", v.call(any_bit, INT64, builder.load(changed)), zero)
        missing = v.call(any_bit, INT64, builder.xor(builder.load(reached), lanes))
        complete = builder.icmp_unsigned("==", missing, zero)
        return builder.or_(builder.zext(some, INT64), builder.shl(builder.zext(complete, INT64), ONE))

    return types.int64(graph, limits, weight, old, new, low, high, full, totals, fresh, width), codegen


@intrinsic
def tally(context, fresh, rows, lanes, width):
    """Add the set bits of `rows` rows (< 256) of fresh uint64[TILE·W] to lanes int32[64·W], lane by lane."""
    words = len(width)

    def codegen(context, builder, signature, arguments):
        v = Vectors("fresh rows lanes width", WORD, context, builder, signature, arguments)
        bits, narrow, wide = (ir.VectorType(ir.IntType(n), WORD) for n in (1, 8, 32))
        fresh, lanes = v.data("fresh"), v.data("lanes", wide)
        step = ir.Constant(INT64, words)
        end = builder.mul(v.value("rows"), step)
        count = cgutils.alloca_once(builder, narrow)
        with v.loop(ir.Constant(INT64, 0), step) as (word, _):
            builder.store(ir.Constant(narrow, None), count)
            with cgutils.for_range_slice(builder, word, end, step, intp=INT64) as (place, _):
                new = builder.bitcast(v.item(fresh, place), bits)
                builder.store(builder.add(builder.load(count), builder.zext(new, narrow)), count)
            target = builder.gep(lanes, [word])
            v.store(builder.add(v.load(target), builder.zext(builder.load(count), wide)), target)
        return context.get_dummy_value()

    return types.void(fresh, rows, lanes, width), codegen


@cached
def search(graph, limits, weight, old, new, origin, totals, fresh, counts, steep, width):
    """Search all levels of one block.

    graph, limits, weight   as in `advance`
    old, new                uint64[N·W]: scratch
    origin                  int32[64·W]: node from which each lane starts, −1 = unused
    totals, fresh           scratch: int64[W] to count per word, or uint64[TILE·W] to count per lane; the other is None
    counts                  zeros, int64[levels, W] or int32[levels, 64·W], with room for some levels
    steep                   levels per used lane above which a queue is faster
    width                   a tuple of W elements

    Returns (levels, counts): the new pairs at each distance. levels is 0 if the search has at least WORD levels and
    at least `steep` per used lane.
    """
    words = len(width)
    nodes = len(graph.start) - 1
    tiles = -(-nodes // TILE)
    sparse = len(graph.tile_start) == tiles + 1
    full = np.zeros(words, np.uint64)  # the used lanes
    limit = 0
    old[:] = 0
    for lane in range(len(origin)):
        node = origin[lane]
        if node < 0:
            continue
        word, bit = lane // WORD, np.uint64(1) << np.uint64(lane % WORD)
        full[word] |= bit
        old[node * words + word] |= bit
        limit += steep
        if weight is None or weight[node] != 0:
            counts[0, lane if totals is None else word] += 1
    limit = max(limit, WORD)
    changed = np.ones(tiles, np.uint8)
    next_changed = np.zeros(tiles, np.uint8)
    # One buffer may lack the last bits of a complete tile; its readers took them one level after it was complete.
    complete = np.zeros(tiles, np.uint8)
    level = 0
    some = True
    while some:
        level += 1
        if level >= limit:
            return 0, counts
        if level == len(counts):
            longer = np.zeros((2 * level, counts.shape[1]), counts.dtype)
            longer[:level] = counts
            counts = longer
        if totals is not None:
            totals[:] = 0
        some = False
        for tile in range(tiles):
            next_changed[tile] = 0
            if complete[tile]:
                continue
            active = changed[tile] or not sparse
            if not active:
                for i in range(graph.tile_start[tile], graph.tile_start[tile + 1]):
                    if changed[graph.tile_predecessor[i]]:
                        active = True
                        break
            if active:
                low, high = tile * TILE, min(nodes, tile * TILE + TILE)
                outcome = advance(graph, limits, weight, old, new, low, high, full, totals, fresh, width)
                if outcome & 1:
                    next_changed[tile] = 1
                    some = True
                    if fresh is not None:
                        tally(fresh, high - low, counts[level], width)
                if outcome & 2:
                    complete[tile] = 1
        if totals is not None:
            counts[level] = totals
        old, new = new, old
        changed, next_changed = next_changed, changed
    return level, counts


@cached
def tile_graph(start, predecessor):
    """Return (tile_start int32[T+1], tile_predecessor int32[·]): the other tiles that each tile reads.

    Both are empty if a tile reads more than TILE others on average: looking at them would cost more than it saves.
    """
    nodes = len(start) - 1
    tiles = -(-nodes // TILE)
    tile_start = np.zeros(tiles + 1, np.int32)
    tile_predecessor = np.empty(TILE * tiles, np.int32)
    seen = np.full(tiles, -1, np.int32)
    used = 0
    for tile in range(tiles):
        seen[tile] = tile
        for link in range(start[tile * TILE], start[min(nodes, tile * TILE + TILE)]):
            other = predecessor[link] // TILE
            if seen[other] != tile:
                if used == len(tile_predecessor):
                    return np.zeros(0, np.int32), np.zeros(0, np.int32)
                seen[other] = tile
                tile_predecessor[used] = other
                used += 1
        tile_start[tile + 1] = used
    return tile_start, tile_predecessor[:used].copy()


def filled_up(start: np.ndarray, node: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | slice]:
    """Return (start, node, places of the given arcs), with arcs from nodes to themselves added so that all nodes have
    equally many, if nearly all had (as after faults). Such loops are compiled without a test of their end.

    start int64[N+1], node int32[A] as in `by_head`
    """
    many = np.diff(start)
    nodes, most = len(many), int(many.max(initial=0))
    if most not in UNROLLED or not len(node) < nodes * most <= FILLED * len(node):
        return start, node, slice(None)
    own = (np.arange(most) < many[:, None]).ravel()
    filled = np.repeat(np.arange(nodes, dtype=node.dtype), most)
    filled[own] = node
    return most * np.arange(nodes + 1), filled, np.flatnonzero(own)


def graph_of(start: np.ndarray, predecessor: np.ndarray, degree: int) -> Graph:
    """Return the `Graph` of arcs sorted by head (see `reference.predecessors`)."""
    return Graph(start, predecessor, degree, *tile_graph(start, predecessor))
