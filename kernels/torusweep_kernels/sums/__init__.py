"""Sums, products and quotients with twice the digits of float64. A number is the sum of two float64, high + low.

`high` is the number rounded, so |low| is at most half a unit in the last place of `high`. Each operation is exact to
about 2⁻¹⁰⁰ of its result. `rounded` rounds once, at the end: two computations of the same exact number then give the
same float64, even if their order and their rounding differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep_kernels.sums.arithmetic import NEAR, add, divided, times, two_product, two_sum

__all__ = ["add", "divided", "grouped_sums", "rounded", "times", "two_product", "two_sum"]


def grouped_sums(high: np.ndarray, low: np.ndarray, group: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (high float64[G], low float64[G]): the sums of the numbers of each group.

    high, low   float64[n]  the numbers
    group       int64[n]    group of each number, 0 … G − 1
    """
    from torusweep_kernels.sums import cpu

    total, rest = np.zeros(groups), np.zeros(groups)
    cpu.add_grouped(high, low, group, total, rest)
    return total, rest


def rounded(high: Any, low: Any) -> np.ndarray:
    """Return float64[…]: high + low, rounded once to the nearest number; a tie goes to the even number.

    A sum within 2⁻³⁰ of a tie (half a unit in the last place) is taken to be a tie: sums whose exact value is a tie
    differ from it, in either direction, by the rounding of numbers with twice the digits.
    """
    high, low = np.asarray(high, np.float64), np.asarray(low, np.float64)
    total = high + low
    rest = low - (total - high)
    other = np.nextafter(total, np.where(rest > 0, np.inf, -np.inf))
    middle = np.abs(rest) >= np.abs(other - total) * (0.5 * (1 - NEAR))
    odd = (total.view(np.int64) & 1).astype(bool)
    return np.where(middle & odd & (rest != 0), other, total)
