"""The specification: sums of fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def grouped_sums(high: np.ndarray, low: np.ndarray, group: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """See the package; without rounding but of the results."""
    total = [Fraction(0)] * groups
    for value, rest, own in zip(high.tolist(), low.tolist(), group.tolist()):
        total[own] += Fraction(value) + Fraction(rest)
    rounded = np.array([float(exact) for exact in total], np.float64)
    return rounded, np.array([float(exact - Fraction(value)) for exact, value in zip(total, rounded.tolist())])
