"""The operations of `torusweep_kernels.sums`, on numbers and on arrays of NumPy and CuPy; Numba compiles them, too.

Also the specification of grouped sums, as sums of fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

NEAR = 2.0**-30  # of the distance to the middle between two numbers: what is nearer than that is taken to be the middle


def two_sum(one: Any, other: Any) -> tuple[Any, Any]:
    """Return one + other as a rounded sum and what rounding left (Knuth 1969)."""
    total = one + other
    back = total - one
    return total, (one - (total - back)) + (other - back)


def two_product(one: Any, other: Any) -> tuple[Any, Any]:
    """Return one · other as a rounded product and what rounding left (Dekker 1971). Both factors are below 2⁹⁹⁵."""
    rounded = one * other
    wide = 134217729.0 * one
    one_high = wide - (wide - one)
    one_low = one - one_high
    wide = 134217729.0 * other
    other_high = wide - (wide - other)
    other_low = other - other_high
    error = ((one_high * other_high - rounded) + one_high * other_low + one_low * other_high) + one_low * other_low
    return rounded, error


def add(high: Any, low: Any, more: Any, rest: Any) -> tuple[Any, Any]:
    """Return the sum (high, low) + (more, rest), with twice the digits of float64."""
    total, error = two_sum(high, more)
    error = error + (low + rest)
    rounded = total + error
    return rounded, error - (rounded - total)


def times(high: Any, low: Any, factor: Any) -> tuple[Any, Any]:
    """Return the product (high, low) · factor, with twice the digits of float64."""
    product, error = two_product(high, factor)
    error = error + low * factor
    rounded = product + error
    return rounded, error - (rounded - product)


def divided(high: Any, low: Any, divisor: Any) -> tuple[Any, Any]:
    """Return the quotient (high, low) / divisor, with twice the digits of float64."""
    quotient = high / divisor
    back, left = two_product(quotient, divisor)
    more = ((high - back) - left + low) / divisor
    rounded = quotient + more
    return rounded, more - (rounded - quotient)


def grouped_sums(high: np.ndarray, low: np.ndarray, group: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Specification of `torusweep_kernels.sums.grouped_sums`: only the results are rounded."""
    total = [Fraction(0)] * groups
    for value, rest, own in zip(high.tolist(), low.tolist(), group.tolist()):
        total[own] += Fraction(value) + Fraction(rest)
    rounded = np.array([float(exact) for exact in total], np.float64)
    return rounded, np.array([float(exact - Fraction(value)) for exact, value in zip(total, rounded.tolist())])
