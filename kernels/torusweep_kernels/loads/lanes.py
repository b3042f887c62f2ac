"""Several roots searched at once, a vector lane each, along lists of the nodes that a level reaches.

A node is visited at every level at which it is as far from some of the roots; a bit per lane says
from which. Roots near one another have most levels in common, so that sixteen of them cost about five
visits a node on a torus, and a visit's work on a channel is a vector instruction or two. With one lane this
is the textbook's queue.

Numba turns inner loops over lanes into slow code; they are written in LLVM's terms instead, the
width being a type (a tuple's length), so that each width compiles once. Nothing is contracted or
reordered: all widths give the same loads to the bit. The vector code and its caller share this file
because Numba's cache watches one file.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from torusweep_kernels.distance.bits import by_degree, cached, intrinsic

INT64, INT32, DOUBLE, BIT = ir.IntType(64), ir.IntType(32), ir.DoubleType(), ir.IntType(1)
ONE = ir.Constant(INT64, 1)


class Vectors:
    """Rows of `width` lanes in arrays that stand among an intrinsic's arguments."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any, width: int) -> None:
        self.context, self.builder, self.signature, self.arguments, self.width = (
            context,
            builder,
            signature,
            arguments,
            width,
        )
        self.doubles, self.integers, self.bits = (ir.VectorType(kind, width) for kind in (DOUBLE, INT32, BIT))
        self.zero = ir.Constant(self.doubles, None)

    def data(self, index: int) -> Any:
        """Pointer to an array argument's items; None where the argument is None."""
        if isinstance(self.signature.args[index], types.NoneType):
            return None
        return self.context.make_array(self.signature.args[index])(
            self.context, self.builder, self.arguments[index]
        ).data

    def item(self, pointer: Any, place: Any) -> Any:
        return self.builder.load(self.builder.gep(pointer, [place]))

    def index(self, pointer: Any, place: Any) -> Any:
        """An unsigned 32-bit item, as an index."""
        return self.builder.zext(self.item(pointer, place), INT64)

    def at(self, pointer: Any, row: Any, kind: Any = None) -> Any:
        """Pointer to a row of doubles, or of another kind."""
        first = self.builder.gep(pointer, [self.builder.mul(row, ir.Constant(INT64, self.width))])
        return self.builder.bitcast(first, (kind or self.doubles).as_pointer())

    def load(self, pointer: Any) -> Any:
        value = self.builder.load(pointer)
        value.align = 8 if value.type == self.doubles else 4
        return value

    def store(self, value: Any, pointer: Any) -> None:
        self.builder.store(value, pointer).align = 8 if value.type == self.doubles else 4

    def lanes(self, mask: Any) -> Any:
        """<width x i1> of an integer's low bits."""
        return self.builder.bitcast(
            self.builder.trunc(mask, ir.IntType(self.width)) if mask.type.width > self.width else mask, self.bits
        )

    def spread(self, value: Any) -> Any:
        """The same in every lane."""
        kind = ir.VectorType(value.type, self.width)
        single = self.builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(INT32, 0))
        return self.builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(INT32, self.width), None))

    def scaled(self, value: Any, capacity: Any, arc: Any) -> Any:
        return value if capacity is None else self.builder.fmul(value, self.spread(self.item(capacity, arc)))

    def variable(self, value: Any) -> Any:
        """Space for a vector that a loop changes."""
        place = cgutils.alloca_once(self.builder, value.type)
        self.builder.store(value, place)
        return place

    def over_arcs(self, start: Any, node: Any, unrolled: int, body: Callable[[Any], None]) -> None:
        """body(arc) for the arcs of a node, in order; unrolled: their number, or 0."""
        if unrolled:
            first = self.builder.mul(node, ir.Constant(INT64, unrolled))
            for place in range(unrolled):
                body(self.builder.add(first, ir.Constant(INT64, place)))
            return
        first, last = self.item(start, node), self.item(start, self.builder.add(node, ONE))
        with cgutils.for_range_slice(self.builder, first, last, ONE, intp=INT64) as (arc, _):
            body(arc)

    def gathered(
        self,
        start: Any,
        node: Any,
        unrolled: int,
        rows: Any,
        stride: Any,
        masks: Any,
        own: Any,
        arcs: Any,
        capacity: Any,
    ) -> Any:
        """Sum over a node's arcs, in their order, of capacity · the other end's row, in the lanes of its mask and `own`."""
        total = self.variable(self.zero)

        def add(arc: Any) -> None:
            other = self.index(arcs, arc)
            both = self.lanes(self.builder.and_(self.item(masks, other), own))
            value = self.scaled(self.load(self.at(rows, self.builder.mul(other, stride))), capacity, arc)
            self.builder.store(
                self.builder.fadd(self.builder.load(total), self.builder.select(both, value, self.zero)), total
            )

        self.over_arcs(start, node, unrolled, add)
        return self.builder.load(total)


@intrinsic
def _meet(context, visits, masks, degree, begin, end, start, arcs, seen, following):
    """Forward: mark the lanes that reach new nodes from the visits begin … end − 1, and append those nodes to the visits.

    Without a branch: every neighbour is written behind the last visit, and stays where it is met for the first time.
    Returns the visits' new end.
    """

    def codegen(context, builder, signature, arguments):
        v = Vectors(context, builder, signature, arguments, 1)
        visits, masks, start, arcs, seen, following = (v.data(i) for i in (0, 1, 5, 6, 7, 8))
        last = v.variable(arguments[4])

        def loop(unrolled):
            with cgutils.for_range_slice(builder, arguments[3], arguments[4], ONE, intp=INT64) as (visit, _):
                own = v.item(masks, visit)

                def meet(arc):
                    other = v.index(arcs, arc)
                    fresh = builder.and_(own, builder.not_(v.item(seen, other)))
                    mark = builder.gep(following, [other])
                    before = builder.load(mark)
                    after = builder.or_(before, fresh)
                    builder.store(after, mark)
                    place = builder.load(last)
                    builder.store(v.item(arcs, arc), builder.gep(visits, [place]))
                    zero = ir.Constant(before.type, 0)
                    first = builder.and_(
                        builder.icmp_unsigned("==", before, zero), builder.icmp_unsigned("!=", after, zero)
                    )
                    builder.store(builder.add(place, builder.zext(first, INT64)), last)

                v.over_arcs(start, v.index(visits, visit), unrolled, meet)

        by_degree(builder, arguments[2], loop)
        return builder.load(last)

    return types.int64(visits, masks, degree, begin, end, start, arcs, seen, following), codegen


@intrinsic
def _count(
    context,
    visits,
    masks,
    degree,
    begin,
    end,
    level,
    start,
    arcs,
    capacity,
    before,
    near,
    stride,
    count,
    distance,
    width,
):
    """Forward: count(v) = Σ near(u) · capacity over channels from the level before, for the visits begin … end − 1."""

    def codegen(context, builder, signature, arguments):
        v = Vectors(context, builder, signature, arguments, len(width))
        visits, masks, start, arcs, capacity, before, near, count, distance = (
            v.data(i) for i in (0, 1, 6, 7, 8, 9, 10, 12, 13)
        )
        begin, end, level, stride = (
            arguments[3],
            arguments[4],
            v.spread(builder.trunc(arguments[5], INT32)),
            arguments[11],
        )

        def loop(unrolled):
            with cgutils.for_range_slice(builder, begin, end, ONE, intp=INT64) as (visit, _):
                node, own = v.index(visits, visit), v.item(masks, visit)
                paths = v.gathered(start, node, unrolled, near, stride, before, own, arcs, capacity)
                row, hops = v.at(count, node), v.at(distance, node, v.integers)
                v.store(builder.select(v.lanes(own), paths, v.load(row)), row)
                v.store(builder.select(v.lanes(own), level, v.load(hops)), hops)

        by_degree(builder, arguments[2], loop)
        return context.get_dummy_value()

    return types.none(
        visits, masks, degree, begin, end, level, start, arcs, capacity, before, near, stride, count, distance, width
    ), codegen


@intrinsic
def _carry(context, visits, masks, degree, begin, end, start, arcs, capacity, after, part, stride, unit, width):
    """Backward: unit(v) += part(v) · Σ unit(w) · capacity over channels to the level after, for the visits begin … end − 1."""

    def codegen(context, builder, signature, arguments):
        v = Vectors(context, builder, signature, arguments, len(width))
        visits, masks, start, arcs, capacity, after, part, unit = (v.data(i) for i in (0, 1, 5, 6, 7, 8, 9, 11))
        begin, end, stride = arguments[3], arguments[4], arguments[10]

        def loop(unrolled):
            with cgutils.for_range_slice(builder, begin, end, ONE, intp=INT64) as (visit, _):
                node, own = v.index(visits, visit), v.item(masks, visit)
                farther = v.gathered(start, node, unrolled, unit, ONE, after, own, arcs, capacity)
                row = v.at(unit, node)
                before = v.load(row)
                carried = builder.fadd(before, builder.fmul(v.load(v.at(part, builder.mul(node, stride))), farther))
                v.store(builder.select(v.lanes(own), carried, before), row)

        by_degree(builder, arguments[2], loop)
        return context.get_dummy_value()

    return types.none(
        visits, masks, degree, begin, end, start, arcs, capacity, after, part, stride, unit, width
    ), codegen


@intrinsic
def _add(context, nodes, start, arcs, capacity, near, stride, distance, unit, load, seen, asked, width):
    """load[a] += near(v) · unit(w) · capacity, lane by lane, of every arc a from v to w that leads one hop farther.

    Where the search ended early (asked is not None), nodes that no lane has seen are passed over.
    """

    def codegen(context, builder, signature, arguments):
        v = Vectors(context, builder, signature, arguments, len(width))
        start, arcs, capacity, near, distance, unit, load, seen = (v.data(i) for i in (1, 2, 3, 4, 6, 7, 8, 9))
        in_order = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(DOUBLE, [DOUBLE, v.doubles]), f"llvm.vector.reduce.fadd.v{v.width}f64"
        )
        with cgutils.for_range(builder, arguments[0], intp=INT64) as loop:
            node, reached = loop.index, v.item(seen, loop.index)
            some = builder.icmp_unsigned("!=", reached, ir.Constant(reached.type, 0))
            with nullcontext() if v.data(10) is None else builder.if_then(some):
                own = v.load(v.at(near, builder.mul(node, arguments[5])))
                following = builder.add(v.load(v.at(distance, node, v.integers)), v.spread(ir.Constant(INT32, 1)))

                def add(arc):
                    other = v.index(arcs, arc)
                    farther = builder.icmp_signed("==", v.load(v.at(distance, other, v.integers)), following)
                    flow = v.scaled(builder.fmul(own, v.load(v.at(unit, other))), capacity, arc)
                    place = builder.gep(load, [arc])
                    builder.store(
                        builder.call(in_order, [builder.load(place), builder.select(farther, flow, v.zero)]), place
                    )

                v.over_arcs(start, node, 0, add)
        return context.get_dummy_value()

    return types.none(nodes, start, arcs, capacity, near, stride, distance, unit, load, seen, asked, width), codegen


@intrinsic
def _turn(context, nodes, distance, unit, count, inward, totals, width):
    """Between forward and backward: unit holds the demand, and demand / count afterwards; count becomes 1 / count if inward.

    Rows of totals float64[4, W], over all nodes in order: demand reached, not reached, · distance; greatest count.
    """

    def codegen(context, builder, signature, arguments):
        v = Vectors(context, builder, signature, arguments, len(width))
        distance, unit, count, totals = (v.data(i) for i in (1, 2, 3, 5))
        ones = v.spread(ir.Constant(DOUBLE, 1.0))
        delivered, unreachable, hops, most = (v.variable(v.zero) for _ in range(4))
        with cgutils.for_range(builder, arguments[0], intp=INT64) as loop:
            row, ways = v.at(unit, loop.index), v.at(count, loop.index)
            away, wanted, paths = v.load(v.at(distance, loop.index, v.integers)), v.load(row), v.load(ways)
            reached = builder.icmp_signed(">=", away, ir.Constant(v.integers, None))
            through = builder.select(reached, wanted, v.zero)
            for place, value in (
                (delivered, through),
                (unreachable, builder.select(reached, v.zero, wanted)),
                (hops, builder.fmul(through, builder.sitofp(away, v.doubles))),
            ):
                builder.store(builder.fadd(builder.load(place), value), place)
            more = builder.and_(reached, builder.fcmp_ordered(">", paths, builder.load(most)))
            builder.store(builder.select(more, paths, builder.load(most)), most)
            v.store(builder.fdiv(wanted, paths), row)
            with builder.if_then(arguments[4]):
                v.store(builder.fdiv(ones, paths), ways)
        for row, place in enumerate((delivered, unreachable, hops, most)):
            v.store(builder.load(place), v.at(totals, ir.Constant(INT64, row)))
        return context.get_dummy_value()

    return types.none(nodes, distance, unit, count, inward, totals, width), codegen


@cached
def accumulate(
    toward_start,
    toward,
    toward_capacity,
    toward_degree,
    away_start,
    away,
    away_capacity,
    away_degree,
    roots,
    weights,
    demand,
    inward,
    masks,
    count,
    unit,
    distance,
    asked,
    width,
):
    """Loads and totals of some roots.

    toward_start, away_start int64[N+1], toward, away uint32[A], *_capacity float64[A] or None: `Arcs`; *_degree: arcs of
    every node, 0 where they differ; roots uint32[R],
    weights float64[R], demand float64[R or 1, N], inward: next hops instead of paths;
    scratch: masks uint16[2, N] of W bits, count and unit float64[N·W], distance int32[N·W]; width: a tuple of W elements.
    Returns (float64[A] of the arcs `away`, float64[4, R]: see `Totals`).
    asked: uint16[N] of W bits where a root's demand is of few nodes, and the search ends with the farthest, for beyond it nothing flows; or None.
    """
    lanes = len(width)
    nodes = len(toward_start) - 1
    load = np.zeros(len(away))
    of_root = np.empty((4, len(roots)))
    totals = np.empty(4 * lanes)
    ones = np.ones(lanes)
    near, part, stride = (ones, count, 0) if inward else (count, ones, 1)  # either stands for 1
    each = 1 if len(demand) > 1 else 0
    visits = np.empty(nodes * lanes + 1, np.uint32)
    visit_masks = np.empty(nodes * lanes, masks.dtype)
    levels = np.empty(nodes + 2, np.int64)  # where each level's visits begin
    seen = np.empty(nodes, masks.dtype)
    for first in range(0, len(roots), lanes):
        used = min(lanes, len(roots) - first)
        distance[:] = -2  # so that one more is no distance either
        seen[:] = 0
        left = -1  # demands still to be reached; below 0: nobody counts them
        for node in range(nodes):
            for lane in range(used):
                unit[node * lanes + lane] = weights[first + lane] * demand[(first + lane) * each, node]
        if asked is not None:
            left = 0
            asked[:] = 0
            for lane in range(used):
                for node in range(nodes):
                    if demand[first + lane, node] > 0.0 and node != roots[first + lane]:
                        asked[node] |= 1 << lane
                        left += 1
        masks[:] = 0
        now, following = masks[0], masks[1]
        end = 0
        for lane in range(used):
            root = roots[first + lane]
            distance[root * lanes + lane] = 0
            count[root * lanes + lane] = 1.0
            if now[root] == 0:
                visits[end] = root
                end += 1
            now[root] |= 1 << lane
            seen[root] |= 1 << lane
        for i in range(end):
            visit_masks[i] = now[visits[i]]
        levels[0], levels[1] = 0, end
        level = 0
        while left != 0 and levels[level] < levels[level + 1]:
            begin, middle = levels[level], levels[level + 1]
            end = _meet(visits, visit_masks, away_degree, begin, middle, away_start, away, seen, following)
            for i in range(middle, end):
                own = following[visits[i]]
                visit_masks[i] = own
                seen[visits[i]] |= own
            if asked is not None:
                for i in range(middle, end):
                    met = np.int64(asked[visits[i]] & visit_masks[i])
                    while met:
                        met &= met - 1
                        left -= 1
            level += 1
            _count(
                visits,
                visit_masks,
                toward_degree,
                middle,
                end,
                level,
                toward_start,
                toward,
                toward_capacity,
                now,
                near,
                stride,
                count,
                distance,
                width,
            )
            for i in range(begin, middle):
                now[visits[i]] = 0
            now, following = following, now
            levels[level + 1] = end
        _turn(nodes, distance, unit, count, inward, totals, width)
        of_root[:, first : first + used] = totals.reshape(4, lanes)[:, :used]
        for step in range(level - 1, -1, -1):
            begin, end = levels[step], levels[step + 1]
            _carry(
                visits,
                visit_masks,
                away_degree,
                begin,
                end,
                away_start,
                away,
                away_capacity,
                now,
                part,
                1 - stride,
                unit,
                width,
            )
            for i in range(begin, end):  # marks of levels beyond may stay: no channel leads two hops farther
                now[visits[i]] = visit_masks[i]
        _add(nodes, away_start, away, away_capacity, near, stride, distance, unit, load, seen, asked, width)
    return load, of_root
