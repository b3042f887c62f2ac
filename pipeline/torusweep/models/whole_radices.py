"""The best whole radices of a number of nodes, for every number of dimensions at once."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np

UNREACHED = np.iinfo(np.int64).max // 2


@lru_cache(maxsize=64)
def whole_radices(nodes: int) -> dict[int, list[int]]:
    """By dimension n ≥ 2, n whole radices ≥ 2, descending, whose product is N; dimensions that have none are left out.

    Of all factorisations, that of the least maximum; of these the least sum; of these the least smallest radix,
    and so on upwards. Highly composite numbers have millions of factorisations: tables over N's divisors find the best
    ones without writing them out.
    """
    divisors = _divisors(nodes)
    return {n: _of_least_sum(divisors, n, largest) for n, largest in sorted(_least_maxima(divisors).items()) if n > 1}


def _divisors(nodes: int) -> np.ndarray:
    """int64: of N, ascending, 1 and N included."""
    low = np.arange(1, isqrt(nodes) + 1)
    low = low[nodes % low == 0]
    return np.unique(np.concatenate([low, nodes // low]))


def _times(divisors: np.ndarray, factor: int) -> tuple[np.ndarray, np.ndarray]:
    """(places of the divisors d for which factor · d divides N, too; places of factor · d)."""
    source = np.flatnonzero(divisors[-1] // factor % divisors == 0)
    return source, np.searchsorted(divisors, divisors[source] * factor)


def _least_maxima(divisors: np.ndarray) -> dict[int, int]:
    """By n, the least possible maximum of n factors ≥ 2 whose product is N, for every n that has such factors."""
    most = _prime_factors(divisors)
    product = np.zeros((most + 1, len(divisors)), bool)  # [n, d]: n of the factors so far have the product d
    product[0, 0] = True
    found: dict[int, int] = {}
    for factor in divisors[1:].tolist():
        source, target = _times(divisors, factor)
        for n in range(most):  # ascending, so that a factor may come several times
            product[n + 1, target] |= product[n, source]
            if product[n + 1, -1]:
                found.setdefault(n + 1, factor)
        if len(found) == most - 1:  # all but N itself
            break
    return found


def _of_least_sum(divisors: np.ndarray, dimension: int, largest: int) -> list[int]:
    """So many factors 2 … largest whose product is N, of the least sum; descending."""
    factors = divisors[(divisors > 1) & (divisors <= largest)].tolist()
    total = np.full((dimension + 1, len(divisors)), UNREACHED)  # [n, d]: least sum of n factors with the product d
    least = np.zeros((dimension + 1, len(divisors)), np.int64)  # the smallest of these
    total[0, 0] = 0
    for factor in reversed(factors):
        source, target = _times(divisors, factor)
        for n in range(dimension):
            better = total[n, source] + factor <= total[n + 1, target]  # of equal sums, the one that begins smaller
            better &= total[n, source] < UNREACHED
            total[n + 1, target[better]] = total[n, source[better]] + factor
            least[n + 1, target[better]] = factor
    found, rest = [], int(divisors[-1])
    for n in range(dimension, 0, -1):
        found.append(int(least[n, np.searchsorted(divisors, rest)]))
        rest //= found[-1]
    return found[::-1]


def _prime_factors(divisors: np.ndarray) -> int:
    """Of N, each as often as it divides it: the longest chain of divisors."""
    rest, count = int(divisors[-1]), 0
    for divisor in divisors[1:].tolist():
        while rest % divisor == 0:
            rest, count = rest // divisor, count + 1
    return count
