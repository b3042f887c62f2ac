"""One level of the search from several roots, with LLVM's vector instructions: Numba compiles loops over lanes poorly.

The width is a type (a tuple's length): each width is compiled once. Operations are neither contracted nor reordered:
all widths give the same loads to the bit. Arguments: see `lanes`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from llvmlite import ir
from numba import types

from torusweep_kernels.compile import DOUBLE, INT32, INT64, ONE, Vectors, intrinsic


def scaled(v: Vectors, value: Any, capacity: Any, arc: Any) -> Any:
    return value if capacity is None else v.builder.fmul(value, v.spread(v.item(capacity, arc)))


def gathered(v: Vectors, node: Any, unrolled: int, rows: Any, stride: Any, masks: Any, own: Any) -> Any:
    """Sum over a node's arcs, in their order, of capacity · the other end's row, in the lanes of its mask and `own`."""
    builder, start, arcs, capacity = v.builder, *(v.data(f"side.{name}") for name in ("start", "node", "capacity"))
    total = v.variable(v.zero)

    def add_row(arc: Any) -> None:
        other = v.index(arcs, arc)
        both = v.lanes(builder.and_(v.item(masks, other), own))
        value = scaled(v, v.load(v.at(rows, builder.mul(other, stride))), capacity, arc)
        builder.store(builder.fadd(builder.load(total), builder.select(both, value, v.zero)), total)

    v.over_arcs(start, node, unrolled, add_row)
    return builder.load(total)


@intrinsic
def meet(context, visits, masks, begin, end, side, seen, following):
    """Forward: mark the lanes that reach new nodes from the visits begin … end − 1, and append those nodes to the
    visits.

    There is no branch: every neighbour is written behind the last visit, and is kept if it is new at this level.
    Returns the visits' new end.
    """

    def codegen(context, builder, signature, arguments):
        v = Vectors("visits masks begin end side seen following", 1, context, builder, signature, arguments)
        visits, masks, seen, following = (v.data(name) for name in ("visits", "masks", "seen", "following"))
        start, arcs = v.data("side.start"), v.data("side.node")
        last = v.variable(v.value("end"))

        def loop(unrolled):
            with v.loop(v.value("begin"), v.value("end")) as (visit, _):
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

        v.by_degree(v.value("side.degree"), loop)
        return builder.load(last)

    return types.int64(visits, masks, begin, end, side, seen, following), codegen


@intrinsic
def count_paths(context, visits, masks, begin, end, level, side, before, near, stride, rows, width):
    """Forward: count(v) = Σ near(u) · capacity over channels from the level before, for the visits begin … end − 1."""

    def codegen(context, builder, signature, arguments):
        names = "visits masks begin end level side before near stride rows width"
        v = Vectors(names, len(width), context, builder, signature, arguments)
        visits, masks, before, near = (v.data(name) for name in ("visits", "masks", "before", "near"))
        count, distance = v.data("rows.count"), v.data("rows.distance")
        level, stride = v.spread(builder.trunc(v.value("level"), INT32)), v.value("stride")

        def loop(unrolled):
            with v.loop(v.value("begin"), v.value("end")) as (visit, _):
                node, own = v.index(visits, visit), v.item(masks, visit)
                paths = gathered(v, node, unrolled, near, stride, before, own)
                row, hops = v.at(count, node), v.at(distance, node, v.integers)
                v.store(builder.select(v.lanes(own), paths, v.load(row)), row)
                v.store(builder.select(v.lanes(own), level, v.load(hops)), hops)

        v.by_degree(v.value("side.degree"), loop)
        return context.get_dummy_value()

    return types.none(visits, masks, begin, end, level, side, before, near, stride, rows, width), codegen


@intrinsic
def carry(context, visits, masks, begin, end, side, after, part, stride, rows, width):
    """Backward: unit(v) += part(v) · Σ unit(w) · capacity over channels to the level after, for the visits begin … end
    − 1."""

    def codegen(context, builder, signature, arguments):
        names = "visits masks begin end side after part stride rows width"
        v = Vectors(names, len(width), context, builder, signature, arguments)
        visits, masks, after, part = (v.data(name) for name in ("visits", "masks", "after", "part"))
        unit, stride = v.data("rows.unit"), v.value("stride")

        def loop(unrolled):
            with v.loop(v.value("begin"), v.value("end")) as (visit, _):
                node, own = v.index(visits, visit), v.item(masks, visit)
                farther = gathered(v, node, unrolled, unit, ONE, after, own)
                row = v.at(unit, node)
                before = v.load(row)
                carried = builder.fadd(before, builder.fmul(v.load(v.at(part, builder.mul(node, stride))), farther))
                v.store(builder.select(v.lanes(own), carried, before), row)

        v.by_degree(v.value("side.degree"), loop)
        return context.get_dummy_value()

    return types.none(visits, masks, begin, end, side, after, part, stride, rows, width), codegen


@intrinsic
def add(context, nodes, side, near, stride, rows, load, seen, wanted, width):
    """load[a] += near(v) · unit(w) · capacity, lane by lane, of every arc a from v to w that leads one hop farther.

    If the search ended early (wanted is not None), nodes that no lane has reached are skipped.
    """

    def codegen(context, builder, signature, arguments):
        names = "nodes side near stride rows load seen wanted width"
        v = Vectors(names, len(width), context, builder, signature, arguments)
        start, arcs, capacity = (v.data(f"side.{name}") for name in ("start", "node", "capacity"))
        near, distance, unit, load, seen = (
            v.data(name) for name in ("near", "rows.distance", "rows.unit", "load", "seen")
        )
        in_order = f"vector.reduce.fadd.v{v.width}f64"
        with v.loop(ir.Constant(INT64, 0), v.value("nodes")) as (node, _):
            reached = v.item(seen, node)
            some = builder.icmp_unsigned("!=", reached, ir.Constant(reached.type, 0))
            with nullcontext() if v.data("wanted") is None else builder.if_then(some):
                own = v.load(v.at(near, builder.mul(node, v.value("stride"))))
                following = builder.add(v.load(v.at(distance, node, v.integers)), v.spread(ir.Constant(INT32, 1)))

                def add_flow(arc):
                    other = v.index(arcs, arc)
                    farther = builder.icmp_signed("==", v.load(v.at(distance, other, v.integers)), following)
                    flow = scaled(v, builder.fmul(own, v.load(v.at(unit, other))), capacity, arc)
                    place = builder.gep(load, [arc])
                    flow = builder.select(farther, flow, v.zero)
                    builder.store(v.call(in_order, DOUBLE, builder.load(place), flow), place)

                v.over_arcs(start, node, 0, add_flow)
        return context.get_dummy_value()

    return types.none(nodes, side, near, stride, rows, load, seen, wanted, width), codegen


@intrinsic
def turn(context, nodes, rows, inward, totals, width):
    """Between the forward and the backward search: replace unit, the demand, by demand / count; count by 1 / count if
    inward.

    Rows of totals float64[4, W], over all nodes in order: demand reached, demand not reached, demand · distance,
    largest count.
    """

    def codegen(context, builder, signature, arguments):
        v = Vectors("nodes rows inward totals width", len(width), context, builder, signature, arguments)
        distance, unit, count, totals = (
            v.data(name) for name in ("rows.distance", "rows.unit", "rows.count", "totals")
        )
        ones = v.spread(ir.Constant(DOUBLE, 1.0))
        delivered, unreachable, hops, most = (v.variable(v.zero) for _ in range(4))
        with v.loop(ir.Constant(INT64, 0), v.value("nodes")) as (node, _):
            row, ways = v.at(unit, node), v.at(count, node)
            away, wanted, paths = v.load(v.at(distance, node, v.integers)), v.load(row), v.load(ways)
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
            with builder.if_then(v.value("inward")):
                v.store(builder.fdiv(ones, paths), ways)
        for row, place in enumerate((delivered, unreachable, hops, most)):
            v.store(builder.load(place), v.at(totals, ir.Constant(INT64, row)))
        return context.get_dummy_value()

    return types.none(nodes, rows, inward, totals, width), codegen
