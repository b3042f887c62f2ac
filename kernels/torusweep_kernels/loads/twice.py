"""Vectors of numbers with twice the digits of float64, (high, low) in LLVM's terms: see `torusweep_kernels.sums`.

Sums are not normalised: |low| may exceed half a unit in the last place of high, by a little for each term.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from torusweep_kernels.compile import INT32, Vectors

Pair = tuple[Any, Any]


def plus(v: Vectors, one: Pair, other: Pair) -> Pair:
    """Their sum: the rounded sum of the high parts; what rounding left with both low parts."""
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
    """The same number, whose high part is the number rounded (Dekker)."""
    builder, (high, low) = v.builder, one
    total = builder.fadd(high, low)
    return total, builder.fsub(low, builder.fsub(total, high))


def fused(v: Vectors, one: Any, other: Any, more: Any) -> Any:
    """one · other + more, rounded once."""
    return v.call(f"fma.v{v.width}f64", v.doubles, one, other, more)


def chosen(v: Vectors, lanes: Any, one: Pair, other: Pair | None = None) -> Pair:
    """In some lanes one, in all others the other, or zero."""
    high, low = other or (v.zero, v.zero)
    return v.builder.select(lanes, one[0], high), v.builder.select(lanes, one[1], low)


def over_lanes(v: Vectors, one: Pair) -> Pair:
    """The sum of all lanes, two scalars: halves are added until one lane is left."""
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
    """Stack space for a number that a loop changes."""

    def __init__(self, v: Vectors, value: Pair) -> None:
        self.builder, self.places = v.builder, tuple(v.variable(part) for part in value)

    def load(self) -> Pair:
        return self.builder.load(self.places[0]), self.builder.load(self.places[1])

    def store(self, value: Pair) -> None:
        for part, place in zip(value, self.places):
            self.builder.store(part, place)
