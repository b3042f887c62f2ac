"""What a sample of draws, or all combinations, say of a measure: mean, quantiles, and how sure they are."""

from __future__ import annotations

from math import fsum, sqrt
from typing import NamedTuple

import numpy as np
import scipy

CONFIDENCE = 0.95
ROUNDING = 1e-12  # values of a measure that differ by a smaller share are one number, computed in another order
QUANTILES = (0.05, 0.5, 0.95)
EXACT = "exact"
WILSON = "Wilson (mean)"
STUDENT = "Student's t (mean)"
ORDER = "order statistics (quantiles)"


class IntervalEstimate(NamedTuple):
    """A number, and the ends of its 95 % interval; None where nothing is known of an end."""

    value: float
    low: float | None
    high: float | None


class Summary(NamedTuple):
    """Of a measure.

    mean            with its interval
    standard_error  of the mean; None where it is exact, or of one draw
    quantiles       of 5, 50 and 95 %, with intervals
    interval        how the intervals were computed
    """

    mean: IntervalEstimate
    standard_error: float | None
    quantiles: tuple[IntervalEstimate, ...]
    interval: str


def summary(values: np.ndarray, weight: np.ndarray | None, *, proportion: bool) -> Summary:
    """Mean and quantiles of the values of draws, at least one.

    values      float64[D]
    weight      float64[D]: probability of each value, where these are all; None: a random sample
    proportion  whether values are 0 and 1 only

    The q-quantile is the least value that at least a share q of the draws does not exceed. A sample's intervals: of a
    proportion by Wilson (1927), of another mean by Student's t, None where all values are alike, which says nothing of
    rarer ones; of quantiles by order statistics (David & Nagaraja 2003, sec. 7.1), whatever the distribution.
    """
    order = np.argsort(values, kind="stable")
    alike = bool(values[order[-1]] - values[order[0]] <= ROUNDING * abs(values[order[-1]]))
    if weight is not None:
        mean = float(values[0]) if alike else fsum(values * weight) / fsum(weight)
        reached = np.cumsum(weight[order])
        places = [int(np.argmax(reached >= q * reached[-1] * (1 - 1e-12))) for q in QUANTILES]
        found = tuple(IntervalEstimate(float(values[order[place]]), None, None) for place in places)
        return Summary(IntervalEstimate(mean, None, None), None, found, EXACT)
    ordered, number = values[order], len(values)
    mean = float(values[0]) if alike else fsum(values) / number
    error = sqrt(fsum((values - mean) ** 2) / (number - 1) / number) if number > 1 else None
    quantiles = tuple(_quantile(ordered, q) for q in QUANTILES)
    if proportion:
        return Summary(IntervalEstimate(mean, *wilson(mean, number)), error, quantiles, f"{WILSON}, {ORDER}")
    if alike or error is None:
        return Summary(IntervalEstimate(mean, None, None), error, quantiles, ORDER)
    half = float(scipy.special.stdtrit(number - 1, (1 + CONFIDENCE) / 2)) * error
    return Summary(IntervalEstimate(mean, mean - half, mean + half), error, quantiles, f"{STUDENT}, {ORDER}")


def wilson(share: float, number: int) -> tuple[float, float]:
    """The interval of a probability, of which a share was seen in a number of draws (Wilson 1927, without correction
    for continuity)."""
    z = float(scipy.special.ndtri((1 + CONFIDENCE) / 2))
    middle = share + z * z / (2 * number)
    half = z * sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    scale = 1 + z * z / number
    # rounding must not put the share seen outside
    return max(0.0, min(share, (middle - half) / scale)), min(1.0, max(share, (middle + half) / scale))


def _quantile(ordered: np.ndarray, q: float) -> IntervalEstimate:
    """The q-quantile of sorted values, and two of them that enclose that of the distribution.

    The number of draws at most the quantile is at least binomial: value number r (from 1) is above it with probability
    P(B < r), and value number r is below it with probability at most P(B ≥ r).
    """
    number = len(ordered)
    place = max(1, int(np.ceil(q * number * (1 - 1e-12))))
    tail = (1 - CONFIDENCE) / 2
    ranks = np.arange(1, number + 1)
    below = scipy.special.bdtr(ranks - 1, number, q)  # P(B < r)
    low = int((below <= tail).sum())  # the greatest rank that is above the quantile so rarely
    high = int((below < 1 - tail).sum()) + 1  # the least rank with P(B ≥ r) ≤ tail
    return IntervalEstimate(
        float(ordered[place - 1]),
        float(ordered[low - 1]) if low else None,
        float(ordered[high - 1]) if high <= number else None,
    )
