"""Sums with twice the digits, compiled by Numba."""

from __future__ import annotations

from torusweep_kernels.compile import cached, inlined
from torusweep_kernels.sums import arithmetic

two_sum = inlined(arithmetic.two_sum)
two_product = inlined(arithmetic.two_product)


@inlined
def add(high, low, more, rest):
    """See the package."""
    total, error = two_sum(high, more)
    error = error + (low + rest)
    rounded = total + error
    return rounded, error - (rounded - total)


@cached
def add_grouped(high, low, group, total, rest):
    """Add the numbers of each group to total + rest."""
    for place in range(len(high)):
        own = group[place]
        total[own], rest[own] = add(total[own], rest[own], high[place], low[place])
