"""One level of the search from many sources; a node's row takes one or two vector registers.

Numba compiles loops over the words of a row to code several times slower than vector loads of the whole row. The loops
are therefore written with LLVM's instructions. The row's width is a type (a tuple's length): each is compiled once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from torusweep_kernels.compile import INT64, ONE, Vectors, intrinsic
from torusweep_kernels.distance.lanes import WORD

TILE = 32


class Graph(NamedTuple):
    """The arcs by head, and the tiles that each tile reads.

    start        int64[N+1]  arcs start[v] … start[v+1] − 1 lead to node v
    predecessor  int32[A]    their tails
    degree       number of arcs into every node, 0 if it varies
    tile_start, tile_predecessor  int32[T+1], int32[·]: the same for tiles; empty if skipping tiles does not pay
    """

    start: np.ndarray
    predecessor: np.ndarray
    degree: int
    tile_start: np.ndarray
    tile_predecessor: np.ndarray


class Limits(NamedTuple):
    """The lanes that may enter a node; None if all may enter all nodes.

    kept_at  int32[N]      a node's row of `kept`
    kept     uint64[M·W]   lanes that may enter
    """

    kept_at: np.ndarray | None
    kept: np.ndarray | None


@intrinsic
def advance(context, graph, limits, weight, old, new, low, high, full, totals, fresh, width):
    """One level for the nodes low … high − 1.

    weight int64[N]: −1 where a node counts as a destination, else 0; None where all count; old, new uint64[N·W];
    full uint64[W]: the lanes in use; totals uint64[W] receives the number of new bits, fresh
    uint64[TILE·W] the new bits themselves, each unless None; width: a tuple of W elements.
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
