"""Sums with twice the digits of float64, compiled by Numba."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached, inlined
from torusweep_kernels.sums import arithmetic
from torusweep_kernels.sums.arithmetic import NEAR

BELOW_MIDDLE = 2.0**-54 * (1 - NEAR)  # of a number: nearer to it there is no middle, half a unit in the last place

two_sum = inlined(arithmetic.two_sum)
two_product = inlined(arithmetic.two_product)


@inlined
def add(high, low, more, rest):
    """Compiled version of `torusweep_kernels.sums.add`: (high, low) + (more, rest)."""
    total, error = two_sum(high, more)
    error = error + (low + rest)
    rounded = total + error
    return rounded, error - (rounded - total)


@inlined
def times(high, low, factor):
    """Compiled version of `torusweep_kernels.sums.times`: (high, low) · factor."""
    product, error = two_product(high, factor)
    error = error + low * factor
    rounded = product + error
    return rounded, error - (rounded - product)


@inlined
def round_once(high, low):
    """Compiled version of `torusweep_kernels.sums.rounded`, for one number ≥ 0."""
    total = high + low
    rest = low - (total - high)
    if abs(rest) < total * BELOW_MIDDLE:
        return total
    other = np.nextafter(total, np.inf if rest > 0 else 0.0)
    if abs(rest) < abs(other - total) * (0.5 * (1 - NEAR)):
        return total
    # of two neighbours the even one is the one that the middle, as a sum of float64, is rounded to
    return total + (other - total) * 0.5


@cached
def add_grouped(high, low, group, total, rest):
    """Add the numbers of each group to the group's total + rest."""
    for place in range(len(high)):
        own = group[place]
        total[own], rest[own] = add(total[own], rest[own], high[place], low[place])
