"""Sums, products and quotients with twice the digits of float64: a number is high + low, float64 each.

`high` is the sum rounded, so |low| is at most half a unit in the last place of `high`. Each operation is exact to about
2⁻¹⁰⁰ of its result. `rounded` rounds once, at the end: two computations of the same exact number, whose order and whose
rounding differ, then give the same float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep_kernels.sums.arithmetic import NEAR, add, divided, times, two_product, two_sum

__all__ = ["add", "divided", "grouped_sums", "rounded", "times", "two_product", "two_sum"]


def grouped_sums(high: np.ndarray, low: np.ndarray, group: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """(high float64[G], low float64[G]): the sums of the numbers of each group.

    high, low   float64[n]
    group       int64[n]    0 … G − 1
    """
    from torusweep_kernels.sums import cpu

    total, rest = np.zeros(groups), np.zeros(groups)
    cpu.add_grouped(high, low, group, total, rest)
    return total, rest


def rounded(high: Any, low: Any) -> np.ndarray:
    """float64[…]: high + low, rounded once to the nearest number; in the middle between two, to the even one.

    A sum is taken to be in the middle where it is within 2⁻³⁰ of half a unit in the last place: sums whose exact value
    is there differ from it, in either direction, by what rounding to twice the digits leaves.
    """
    high, low = np.asarray(high, np.float64), np.asarray(low, np.float64)
    total = high + low
    rest = low - (total - high)
    other = np.nextafter(total, np.where(rest > 0, np.inf, -np.inf))
    middle = np.abs(rest) >= np.abs(other - total) * (0.5 * (1 - NEAR))
    odd = (total.view(np.int64) & 1).astype(bool)
    return np.where(middle & odd & (rest != 0), other, total)
