"""One level of the search from several roots, in LLVM vector instructions: Numba compiles loops over lanes poorly.

The width is a type (a tuple's length), for each of which the code is compiled once. Operations are neither contracted
nor reordered, so that all widths give the same loads to the bit. For the arguments see `cpu.accumulate`.

Numbers with twice the digits of float64 are pairs (high, low) of vectors: see `torusweep_kernels.sums`.

Sums are not normalised: |low| may exceed half a unit in the last place of high, by a little for each term.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from llvmlite import ir

from torusweep_kernels.compile import DOUBLE, INT32, INT64, ONE, Vectors, intrinsic, types

Pair = tuple[Any, Any]


def plus(v: Vectors, one: Pair, other: Pair) -> Pair:
    """Return the sum of two pairs: high is the rounded sum of the high parts, low has both low parts and the error."""
    builder, (high, low), (more, rest) = v.builder, one, other
    total = builder.fadd(high, more)
    back = builder.fsub(total, high)
    error = builder.fadd(builder.fsub(high, builder.fsub(total, back)), builder.fsub(more, back))
    return total, builder.fadd(low, builder.fadd(error, rest))


def times(v: Vectors, one: Pair, factor: Any) -> Pair:
    builder, (high, low) = v.builder, one
    product = builder.fmul(high, factor)
    error = fused(v, high, factor, builder.fneg(product))
    return product, builder.fadd(error, builder.fmul(low, factor))


def over(v: Vectors, one: Pair, divisor: Any) -> Pair:
    builder, (high, low) = v.builder, one
    quotient = builder.fdiv(high, divisor)
    left = builder.fadd(fused(v, builder.fneg(quotient), divisor, high), low)
    return quotient, builder.fdiv(left, divisor)


def normal(v: Vectors, one: Pair) -> Pair:
    """Return the same number as a pair whose high part is the number rounded (Dekker)."""
    builder, (high, low) = v.builder, one
    total = builder.fadd(high, low)
    return total, builder.fsub(low, builder.fsub(total, high))


def fused(v: Vectors, one: Any, other: Any, more: Any) -> Any:
    """Return one · other + more, rounded once."""
    return v.call(f"fma.v{v.width}f64", v.doubles, one, other, more)


def chosen(v: Vectors, lanes: Any, one: Pair, other: Pair | None = None) -> Pair:
    """Return `one` in the lanes of a mask, and `other` (by default zero) in all other lanes."""
    high, low = other or (v.zero, v.zero)
    return v.builder.select(lanes, one[0], high), v.builder.select(lanes, one[1], low)


def over_lanes(v: Vectors, one: Pair) -> Pair:
    """Return the sum of all lanes as two scalars: halves are added until one lane is left."""
    builder, width = v.builder, v.width
    while width > 1:
        width //= 2
        halves = []
        for first in (0, width):
            places = ir.Constant(ir.VectorType(INT32, width), list(range(first, first + width)))
            halves.append(tuple(builder.shuffle_vector(part, part, places) for part in one))
        one = plus(v, (halves[0][0], halves[0][1]), (halves[1][0], halves[1][1]))
    first = ir.Constant(INT32, 0)
    return builder.extract_element(one[0], first), builder.extract_element(one[1], first)


class Variable:
    """Stack space for a pair (high, low), which a loop changes."""

    def __init__(self, v: Vectors, value: Pair) -> None:
        self.builder, self.places = v.builder, tuple(v.variable(part) for part in value)

    def load(self) -> Pair:
        return self.builder.load(self.places[0]), self.builder.load(self.places[1])

    def store(self, value: Pair) -> None:
        for part, place in zip(value, self.places):
            self.builder.store(part, place)


def scaled(v: Vectors, value: Any, capacity: Any, arc: Any) -> Any:
    return value if capacity is None else v.builder.fmul(value, v.spread(v.item(capacity, arc)))


def gathered(v: Vectors, node: Any, unrolled: int, rows: Any, stride: Any, masks: Any, own: Any) -> Any:
    """Sum capacity · other end's row over a node's arcs in order, in lanes set in both the end's mask and `own`."""
    builder, start, arcs, capacity = v.builder, *(v.data(f"side.{name}") for name in ("start", "node", "capacity"))
    total = v.variable(v.zero)

    def add_row(arc: Any) -> None:
        other = v.index(arcs, arc)
        both = v.lanes(builder.and_(v.item(masks, other), own))
        value = scaled(v, v.load(v.at(rows, builder.mul(other, stride))), capacity, arc)
        builder.store(builder.fadd(builder.load(total), builder.select(both, value, v.zero)), total)

    v.over_arcs(start, node, unrolled, add_row)
    return builder.load(total)


def gathered_twice(v: Vectors, node: Any, unrolled: int, own: Any) -> Pair:
    """Sum unit + rest over a node's arcs as `gathered` does, with twice the digits of float64."""
    builder, start, arcs, capacity = v.builder, *(v.data(f"side.{name}") for name in ("start", "node", "capacity"))
    unit, rest, masks = v.data("rows.unit"), v.data("rest"), v.data("after")
    total = Variable(v, (v.zero, v.zero))

    def add_row(arc: Any) -> None:
        other = v.index(arcs, arc)
        value = v.load(v.at(unit, other)), v.load(v.at(rest, other))
        if capacity is not None:
            value = times(v, value, v.spread(v.item(capacity, arc)))
        both = v.lanes(builder.and_(v.item(masks, other), own))
        total.store(plus(v, total.load(), chosen(v, both, value)))

    v.over_arcs(start, node, unrolled, add_row)
    return total.load()


def fetch_ahead(v: Vectors, visit: Any, unrolled: int, *names: str) -> None:
    """Prefetch the rows of the node that is visited `side.ahead` visits later, and of its arcs' other ends."""
    if not unrolled:
        return
    builder, arcs, rows = v.builder, v.data("side.node"), [v.data(name) for name in names]
    ahead = v.value("side.ahead")
    later = builder.add(visit, ahead)
    some = builder.icmp_signed("!=", ahead, ir.Constant(INT64, 0))
    with builder.if_then(builder.and_(some, builder.icmp_signed("<", later, v.value("end")))):
        node = v.index(v.data("visits"), later)

        def fetch(node: Any) -> None:
            for row in rows:
                if row is not None:
                    v.fetch(v.at(row, node))

        fetch(node)
        v.over_arcs(v.data("side.start"), node, unrolled, lambda arc: fetch(v.index(arcs, arc)))


@intrinsic
def meet(context, visits, masks, begin, end, side, seen, following):
    """Mark the lanes that reach new nodes from the visits begin … end − 1 (forward), and append these nodes to the
    visits.

    There is no branch: every neighbour is written behind the last visit, and is kept if it is new at this level.
    Returns the end of the visits.
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
    """Set count(v) = Σ near(u) · capacity over channels from the level before, for visits begin … end − 1."""

    def codegen(context, builder, signature, arguments):
        names = "visits masks begin end level side before near stride rows width"
        v = Vectors(names, len(width), context, builder, signature, arguments)
        visits, masks, before, near = (v.data(name) for name in ("visits", "masks", "before", "near"))
        count, distance = v.data("rows.count"), v.data("rows.distance")
        level, stride = v.spread(builder.trunc(v.value("level"), INT32)), v.value("stride")

        def loop(unrolled):
            with v.loop(v.value("begin"), v.value("end")) as (visit, _):
                node, own = v.index(visits, visit), v.item(masks, visit)
                fetch_ahead(v, visit, unrolled, "near")
                paths = gathered(v, node, unrolled, near, stride, before, own)
                row, hops = v.at(count, node), v.at(distance, node, v.integers)
                v.store(builder.select(v.lanes(own), paths, v.load(row)), row)
                v.store(builder.select(v.lanes(own), level, v.load(hops)), hops)

        v.by_degree(v.value("side.degree"), loop)
        return context.get_dummy_value()

    return types.none(visits, masks, begin, end, level, side, before, near, stride, rows, width), codegen


def carry_once(v: Vectors, node: Any, unrolled: int, own: Any) -> None:
    """Do the step of `carry` for one node."""
    builder, unit, part = v.builder, v.data("rows.unit"), v.data("part")
    farther = gathered(v, node, unrolled, unit, ONE, v.data("after"), own)
    row = v.at(unit, node)
    before = v.load(row)
    share = v.load(v.at(part, builder.mul(node, v.value("stride"))))
    carried = builder.fadd(before, builder.fmul(share, farther))
    v.store(builder.select(v.lanes(own), carried, before), row)


def carry_twice(v: Vectors, node: Any, unrolled: int, own: Any) -> None:
    """Do the step of `carry` for one node, with twice the digits of float64."""
    builder, stride = v.builder, v.value("stride")
    farther = Variable(v, gathered_twice(v, node, unrolled, own))
    with builder.if_then(builder.icmp_signed("!=", stride, ir.Constant(stride.type, 0))):
        farther.store(over(v, normal(v, farther.load()), v.load(v.at(v.data("part"), node))))
    high, low = v.at(v.data("rows.unit"), node), v.at(v.data("rest"), node)
    before = v.load(high), v.load(low)
    carried = normal(v, plus(v, before, farther.load()))
    for part, row in zip(chosen(v, v.lanes(own), carried, before), (high, low)):
        v.store(part, row)


@intrinsic
def carry(context, visits, masks, begin, end, side, after, part, stride, rows, rest, width):
    """Add part(v) · Σ unit(w) · capacity over channels to the level after to unit(v), for visits begin … end − 1. With
    `rest`, numbers have twice the digits, and `part` divides if `stride` is 1.
    """

    def codegen(context, builder, signature, arguments):
        names = "visits masks begin end side after part stride rows rest width"
        v = Vectors(names, len(width), context, builder, signature, arguments)
        visits, masks = v.data("visits"), v.data("masks")

        def loop(unrolled):
            with v.loop(v.value("begin"), v.value("end")) as (visit, _):
                node, own = v.index(visits, visit), v.item(masks, visit)
                fetch_ahead(v, visit, unrolled, "rows.unit", "rest")
                if v.data("rest") is None:
                    carry_once(v, node, unrolled, own)
                else:
                    carry_twice(v, node, unrolled, own)

        v.by_degree(v.value("side.degree"), loop)
        return context.get_dummy_value()

    return types.none(visits, masks, begin, end, side, after, part, stride, rows, rest, width), codegen


@intrinsic
def add(context, nodes, side, near, stride, rows, rest, load, low, seen, wanted, width):
    """Add near(v) · unit(w) · capacity to load[a], lane by lane, for every arc a from v to w one hop farther;
    with `rest`, to load + low.

    If the search ended early (wanted is not None), nodes that no lane has reached are skipped.
    """

    def codegen(context, builder, signature, arguments):
        names = "nodes side near stride rows rest load low seen wanted width"
        v = Vectors(names, len(width), context, builder, signature, arguments)
        start, arcs, capacity = (v.data(f"side.{name}") for name in ("start", "node", "capacity"))
        near, distance, unit, rest, load, low, seen = (
            v.data(name) for name in ("near", "rows.distance", "rows.unit", "rest", "load", "low", "seen")
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
                    place = builder.gep(load, [arc])
                    if rest is not None:
                        each = times(v, (v.load(v.at(unit, other)), v.load(v.at(rest, other))), own)
                        if capacity is not None:
                            each = times(v, each, v.spread(v.item(capacity, arc)))
                        flows = over_lanes(v, chosen(v, farther, each))
                        left = builder.gep(low, [arc])
                        for part, where in zip(
                            plus(v, (builder.load(place), builder.load(left)), flows), (place, left)
                        ):
                            builder.store(part, where)
                        return
                    flow = scaled(v, builder.fmul(own, v.load(v.at(unit, other))), capacity, arc)
                    flow = builder.select(farther, flow, v.zero)
                    builder.store(v.call(in_order, DOUBLE, builder.load(place), flow), place)

                v.over_arcs(start, node, 0, add_flow)
        return context.get_dummy_value()

    return types.none(nodes, side, near, stride, rows, rest, load, low, seen, wanted, width), codegen


@intrinsic
def turn(context, nodes, rows, rest, by_hops, totals, width):
    """Replace unit (the demand) by demand / count, and if by_hops count by 1 / count, between the forward and the
    backward search. With `rest`, the quotients are unit + rest, and count stays.

    totals float64[4, W] gets, summed over all nodes in order, demand reached, demand not reached, demand · distance;
    and the largest count.
    """

    def codegen(context, builder, signature, arguments):
        v = Vectors("nodes rows rest by_hops totals width", len(width), context, builder, signature, arguments)
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
            if v.data("rest") is None:
                v.store(builder.fdiv(wanted, paths), row)
                with builder.if_then(v.value("by_hops")):
                    v.store(builder.fdiv(ones, paths), ways)
            else:
                quotient = over(v, (wanted, v.zero), paths)
                for value, where in zip(quotient, (row, v.at(v.data("rest"), node))):
                    v.store(value, where)
        for row, place in enumerate((delivered, unreachable, hops, most)):
            v.store(builder.load(place), v.at(totals, ir.Constant(INT64, row)))
        return context.get_dummy_value()

    return types.none(nodes, rows, rest, by_hops, totals, width), codegen
