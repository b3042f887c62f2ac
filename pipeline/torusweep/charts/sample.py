"""A sample of many designs that keeps the best ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def sampled(costs: Sequence[np.ndarray], count: int, most: int) -> np.ndarray:
    """int64[≤ most]: indices of the designs that are kept of `count`, ascending; the same for the same costs.

    costs  float64[count] each, less is better, NaN for no number

    The Pareto fronts of any two costs are kept as far as there is room (of designs equal in both, the
    first), and others evenly in their order.
    """
    if count <= most:
        return np.arange(count)
    kept = np.zeros(count, bool)
    for i, first in enumerate(costs):
        order = np.argsort(first, kind="stable")  # NaN last
        order = order[: np.count_nonzero(~np.isnan(first))]
        for second in costs[i:]:
            kept[_front(first, second, order)] = True
    front = np.flatnonzero(kept)[:most]
    others = np.flatnonzero(~kept)
    room = most - len(front)
    evenly = others[np.arange(room) * len(others) // room] if room else others[:0]
    return np.sort(np.concatenate([front, evenly]))


def _front(first: np.ndarray, second: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The designs on the Pareto front of two costs, one of equal ones. order: by the first cost."""
    order = order[~np.isnan(second[order])]
    if len(order) < 2 or np.any(np.diff(first[order]) == 0):
        order = order[np.lexsort((second[order], first[order]))]
    values = second[order]
    least = np.minimum.accumulate(values)
    return order[np.concatenate([[True], values[1:] < least[:-1]])] if len(order) else order
