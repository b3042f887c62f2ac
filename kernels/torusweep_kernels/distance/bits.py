"""Breadth-first search of many sources at once, one bit each, in vector instructions.

Row v of a buffer holds the sources that have reached node v. A level is, for every node,
new[v] = old[v] | OR over feeders u of old[u]; the bits that a level adds are the pairs at that
distance. Plain Numba loops over a row's words are several times slower than vector loads of the
whole row, so the inner loop is written in LLVM's terms; the row's width is a type (a tuple's
length), so that each width compiles once and is found in Numba's cache by every later process.

32 consecutive nodes form a tile. A tile needs no work at a level unless it or a tile that it reads
from changed at the level before, and never again once every lane has reached all of it. On a torus
this leaves the wave fronts only.

The vector code and its caller share this file because Numba's cache watches one file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, njit, types
from numba.core import cgutils

TILE = 32
WORD = 64
INT64 = ir.IntType(64)
INT32 = ir.IntType(32)
UNROLLED = (
    3,
    4,
    6,
)  # links a node, the same at all nodes, for which there is a loop of its own: rings of rings, tori of two dimensions and of three
intrinsic: Any = extending.intrinsic  # its type hint keeps the typing context in the signature


def cached(function: Callable[..., Any]) -> Any:
    """Compile without the GIL, and keep the result on disk where some cache folder can be written."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:  # Numba finds no folder that it may write to
        return njit(nogil=True)(function)


def by_degree(builder: Any, degree: Any, loop: Callable[[int], None]) -> None:
    """Emit loop(d) for every degree of UNROLLED, taken where all nodes have it, and loop(0) for the rest."""
    differs, done = (builder.append_basic_block(name) for name in ("differs", "done"))
    choice = builder.switch(degree, differs)
    for unrolled in UNROLLED:
        same = builder.append_basic_block(f"of_{unrolled}")
        choice.add_case(ir.Constant(INT64, unrolled), same)
        with builder.goto_block(same):
            loop(unrolled)
            builder.branch(done)
    with builder.goto_block(differs):
        loop(0)
        builder.branch(done)
    builder.position_at_end(done)


@intrinsic
def _advance(context, old, new, start, feeder, degree, low, high, full, totals, fresh, kept_at, kept, weight, width):
    """One level for the nodes low … high − 1.

    old, new uint64[N·W], start int64[N+1], feeder int32[A], degree: links into every node, 0 where they differ,
    full uint64[W]; each of the rest may be None: totals uint64[W] takes the new bits' number, fresh uint64[TILE·W] the new bits themselves,
    kept_at int32[N] and kept uint64[·, W] say which lanes may enter a node, weight int64[N] is −1
    where a node counts and 0 where it does not; width a tuple of W elements.
    Returns 1 if anything changed, plus 2 if every lane has reached all these nodes.
    """
    words = len(width)
    vector = ir.VectorType(INT64, words)

    def codegen(context, builder, signature, arguments):
        def data(index, of_rows=True):
            if isinstance(signature.args[index], types.NoneType):
                return None
            pointer = context.make_array(signature.args[index])(context, builder, arguments[index]).data
            return builder.bitcast(pointer, vector.as_pointer()) if of_rows else pointer

        def load(pointer, row):
            value = builder.load(builder.gep(pointer, [row]))
            value.align = 8
            return value

        def store(value, pointer, row):
            builder.store(value, builder.gep(pointer, [row])).align = 8

        def call(name, result, value):
            kind = ir.FunctionType(result, [vector])
            return builder.call(
                cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{words}i64"), [value]
            )

        old, new, full, totals, fresh, kept = (data(i) for i in (0, 1, 7, 8, 9, 11))
        start, feeder, kept_at, weight = (data(i, of_rows=False) for i in (2, 3, 10, 12))
        degree, low, high = arguments[4:7]
        zero, one = ir.Constant(INT64, 0), ir.Constant(INT64, 1)
        lanes = load(full, zero)
        row, changed, reached, total = (cgutils.alloca_once(builder, vector) for _ in range(4))
        builder.store(ir.Constant(vector, None), changed)
        builder.store(lanes, reached)
        if totals is not None:
            builder.store(load(totals, zero), total)

        def take(link):
            source = builder.sext(builder.load(builder.gep(feeder, [link])), INT64)
            builder.store(builder.or_(builder.load(row), load(old, source)), row)

        def gather(node, unrolled):
            if unrolled:
                first = builder.mul(node, ir.Constant(INT64, unrolled))
                for link in range(unrolled):
                    take(builder.add(first, ir.Constant(INT64, link)))
                return
            first = builder.load(builder.gep(start, [node]))
            last = builder.load(builder.gep(start, [builder.add(node, one)]))
            with cgutils.for_range_slice(builder, first, last, one, intp=INT64) as (link, _):
                take(link)

        def rows(unrolled):
            with cgutils.for_range_slice(builder, low, high, one, intp=INT64) as (node, _):
                before = load(old, node)
                builder.store(before, row)
                gather(node, unrolled)
                after = builder.load(row)
                if kept is not None:
                    after = builder.and_(
                        after, load(kept, builder.sext(builder.load(builder.gep(kept_at, [node])), INT64))
                    )
                store(after, new, node)
                gained = builder.xor(after, before)
                builder.store(builder.or_(builder.load(changed), gained), changed)
                builder.store(builder.and_(builder.load(reached), after), reached)
                if weight is not None:
                    mask = builder.load(builder.gep(weight, [node]))
                    mask = builder.insert_element(ir.Constant(vector, ir.Undefined), mask, ir.Constant(INT32, 0))
                    mask = builder.shuffle_vector(mask, mask, ir.Constant(ir.VectorType(INT32, words), None))
                    gained = builder.and_(gained, mask)
                if totals is not None:
                    builder.store(builder.add(builder.load(total), call("ctpop", vector, gained)), total)
                if fresh is not None:
                    store(gained, fresh, builder.sub(node, low))

        by_degree(builder, degree, rows)
        if totals is not None:
            store(builder.load(total), totals, zero)
        some = builder.icmp_unsigned("!=", call("vector.reduce.or", INT64, builder.load(changed)), zero)
        missing = call("vector.reduce.or", INT64, builder.xor(builder.load(reached), lanes))
        complete = builder.icmp_unsigned("==", missing, zero)
        return builder.or_(builder.zext(some, INT64), builder.shl(builder.zext(complete, INT64), one))

    return types.int64(
        old, new, start, feeder, degree, low, high, full, totals, fresh, kept_at, kept, weight, width
    ), codegen


@intrinsic
def _tally(context, fresh, rows, lanes, width):
    """Add the set bits of `rows` rows (< 256) of fresh uint64[TILE·W] to lanes int32[64·W], lane by lane."""
    words = len(width)

    def codegen(context, builder, signature, arguments):
        bits, narrow, wide = (ir.VectorType(ir.IntType(n), WORD) for n in (1, 8, 32))
        fresh, lanes = (context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (0, 2))
        lanes = builder.bitcast(lanes, wide.as_pointer())
        zero, one, step = (ir.Constant(INT64, n) for n in (0, 1, words))
        end = builder.mul(arguments[1], step)
        count = cgutils.alloca_once(builder, narrow)
        with cgutils.for_range_slice(builder, zero, step, one, intp=INT64) as (word, _):
            builder.store(ir.Constant(narrow, None), count)
            with cgutils.for_range_slice(builder, word, end, step, intp=INT64) as (place, _):
                new = builder.bitcast(builder.load(builder.gep(fresh, [place])), bits)
                builder.store(builder.add(builder.load(count), builder.zext(new, narrow)), count)
            target = builder.gep(lanes, [word])
            total = builder.load(target)
            total.align = 4
            builder.store(builder.add(total, builder.zext(builder.load(count), wide)), target).align = 4
        return context.get_dummy_value()

    return types.void(fresh, rows, lanes, width), codegen


@cached
def search(
    start,
    feeder,
    degree,
    tile_start,
    tile_feeder,
    old,
    new,
    sources,
    slots,
    kept_at,
    kept,
    weight,
    totals,
    fresh,
    counts,
    steep,
    width,
):
    """All levels of one block.

    start int64[N+1], feeder int32[A]; degree: links into every node, 0 where they differ; tile_start, tile_feeder int32:
    `tile_graph`; old, new uint64[N·W]: scratch; sources int32[S], slots int64[64·W]: a lane starts at sources[its slot],
    and where that is −1, nowhere; kept_at int32[N] and kept uint64[M·W], or None: lanes that may enter each node;
    weight int64[N], or None: −1 where a node counts, else 0;
    totals int64[W], or else fresh uint64[TILE·W]: scratch to count per word, or per lane (the other is None);
    counts int64[levels, W] or int32[levels, 64·W]: zeros with room for some levels; steep: levels per lane; width: W elements.
    Returns (levels, counts): the new pairs at each distance; levels 0 where there are at least WORD and `steep` for each used lane.
    """
    words = len(width)
    nodes = len(start) - 1
    tiles = -(-nodes // TILE)
    sparse = len(tile_start) == tiles + 1
    full = np.zeros(words, np.uint64)  # the used lanes
    limit = 0
    old[:] = 0
    for lane in range(len(slots)):
        if slots[lane] < 0:
            continue
        node, word, bit = sources[slots[lane]], lane // WORD, np.uint64(1) << np.uint64(lane % WORD)
        full[word] |= bit
        old[node * words + word] |= bit
        limit += steep
        if weight is None or weight[node] != 0:
            counts[0, lane if totals is None else word] += 1
    limit = max(limit, WORD)
    changed = np.ones(tiles, np.uint8)
    next_changed = np.zeros(tiles, np.uint8)
    # A complete tile may stay behind in one buffer: whoever reads from it took all of it a level after it was complete.
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
                for i in range(tile_start[tile], tile_start[tile + 1]):
                    if changed[tile_feeder[i]]:
                        active = True
                        break
            if active:
                low, high = tile * TILE, min(nodes, tile * TILE + TILE)
                outcome = _advance(
                    old, new, start, feeder, degree, low, high, full, totals, fresh, kept_at, kept, weight, width
                )
                if outcome & 1:
                    next_changed[tile] = 1
                    some = True
                    if fresh is not None:
                        _tally(fresh, high - low, counts[level], width)
                if outcome & 2:
                    complete[tile] = 1
        if totals is not None:
            counts[level] = totals
        old, new = new, old
        changed, next_changed = next_changed, changed
    return level, counts


@cached
def tile_graph(start, feeder):
    """(tile_start int32[T+1], tile_feeder int32[·]): which tiles each tile reads from, itself left out.

    Empty where a tile reads from more than TILE others on average: then looking costs more than it saves.
    """
    nodes = len(start) - 1
    tiles = -(-nodes // TILE)
    tile_start = np.zeros(tiles + 1, np.int32)
    tile_feeder = np.empty(TILE * tiles, np.int32)
    seen = np.full(tiles, -1, np.int32)
    used = 0
    for tile in range(tiles):
        seen[tile] = tile
        for link in range(start[tile * TILE], start[min(nodes, tile * TILE + TILE)]):
            other = feeder[link] // TILE
            if seen[other] != tile:
                if used == len(tile_feeder):
                    return np.zeros(0, np.int32), np.zeros(0, np.int32)
                seen[other] = tile
                tile_feeder[used] = other
                used += 1
        tile_start[tile + 1] = used
    return tile_start, tile_feeder[:used].copy()
