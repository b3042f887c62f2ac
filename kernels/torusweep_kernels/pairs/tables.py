"""A traffic as tables that packets are drawn from, and the streams of their random words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# fourth words of the counters (philox/draws.py); the third one is the number of the attempt
PAIRS, REJECTIONS = 1, 2
HALF = 2.0**-32


class WeightedChoice(NamedTuple):
    """A random choice among n by weights.

    cdf      float64[n]  their cumulative sums, the last one 1
    uniform  bool        whether all weights are equal
    guide    int32[n]    where the search for a number from k / n on begins: about the first place whose sum is greater
    """

    cdf: np.ndarray
    uniform: bool
    guide: np.ndarray

    def of(self, unit: Any, xp: Any = np) -> Any:
        """int32[B]: the choices, from random numbers in [0, 1), float64[B], arrays of xp: numpy or cupy."""
        last = len(self.cdf) - 1
        if self.uniform:
            return xp.minimum((unit * len(self.cdf)).astype(np.int32), last)
        return xp.minimum(xp.searchsorted(self.cdf, unit, side="right"), last).astype(np.int32)


def choice_by_weight(weight: np.ndarray) -> WeightedChoice:
    """The choice among len(weight) by weight float64[n] ≥ 0."""
    uniform = len(weight) > 0 and bool((weight == weight[0]).all())
    total = np.cumsum(weight)
    cdf = total / total[-1] if len(weight) and total[-1] else total
    guide = np.searchsorted(cdf, np.arange(len(cdf)) / max(1, len(cdf)), side="right")
    return WeightedChoice(cdf, uniform, guide.astype(np.int32))


class Tables(NamedTuple):
    """The traffic T[s, t] = weight[s] · common[t] + own[s, t] between N nodes.

    by_weight, by_common      choices of the product's source and destination
    by_pair                   choice among the K positive entries of own
    source, destination       int32[K]: of these entries
    product_sum, own_sum      of the product, and of the positive entries of own
    reduced_start, reduced    int64[N+1], int32[M]: destinations to which s sends less than the product says, ascending,
                              at reduced_start[s] … reduced_start[s + 1] − 1
    rejection                 float64[M]: with which probability such a pair is drawn again
    """

    by_weight: WeightedChoice
    by_common: WeightedChoice
    by_pair: WeightedChoice
    source: np.ndarray
    destination: np.ndarray
    product_sum: float
    own_sum: float
    reduced_start: np.ndarray
    reduced: np.ndarray
    rejection: np.ndarray

    @property
    def nodes(self) -> int:
        return len(self.by_weight.cdf)
