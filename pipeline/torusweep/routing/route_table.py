"""Routes of pairs of nodes: made once for all keys if these are few, otherwise for the keys of each call."""

from __future__ import annotations

from math import lcm
from typing import NamedTuple

import numpy as np

from torusweep.routing.forms import Routes, SourceRouting

MOST_DENOMINATOR = 1 << 40  # of the shares of routes; beyond it they stay as they are, rounded
MAX_WHOLE_KEYS = 1 << 19  # largest number of keys for which all routes are made at once


class PairRoutes(NamedTuple):
    """pair int64[R] (ascending), row int32[R] in the table, weight float64[R] (the weights of a pair sum to 1)."""

    pair: np.ndarray
    row: np.ndarray
    weight: np.ndarray


class RouteTable:
    """Routes by row, for `torusweep_kernels.routes`: direction int8[R, L], hops int16[R, L].

    The rows may change with every call of a method.
    """

    def __init__(self, routing: SourceRouting) -> None:
        self.routing = routing
        self.whole = routing.keys <= MAX_WHOLE_KEYS
        self._routes = routing.routes(np.arange(routing.keys)) if self.whole else None

    @property
    def routes(self) -> Routes:
        assert self._routes is not None, "no routes yet: call a method first"
        return self._routes

    @property
    def direction(self) -> np.ndarray:
        return self.routes.direction

    @property
    def hops(self) -> np.ndarray:
        return self.routes.hops

    def key_index(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """int64[B]: for each pair, the index of its key among the keys in the table. Makes their routes if needed."""
        key = self.routing.key(source.astype(np.int64), destination.astype(np.int64))
        if self.whole:
            return key
        keys, index = np.unique(key, return_inverse=True)
        self._routes = self.routing.routes(keys)
        return index

    def weighted_rows(self, source: np.ndarray, destination: np.ndarray) -> PairRoutes:
        """All routes of B pairs; source and destination int32[B]."""
        index = self.key_index(source, destination)
        first = self.routes.first
        many = first[index + 1] - first[index]
        pair = np.repeat(np.arange(len(index)), many)
        before = np.cumsum(many) - many  # number of rows of earlier pairs
        row = np.arange(len(pair)) - np.repeat(before - first[index], many)
        return PairRoutes(pair, row.astype(np.int32), self.routes.weight[row])

    def sample(self, source: np.ndarray, destination: np.ndarray, word: np.ndarray) -> np.ndarray:
        """int32[B]: the row of one route of each pair, drawn by weight with the random words uint32[B]."""
        index = self.key_index(source, destination)
        first, last = self.routes.first[index], self.routes.first[index + 1]
        row = first.copy()
        # a key has few rows: step to the next row while the draw exceeds the cumulative weight
        left = word.astype(np.float64) * 2.0**-32 - self.routes.weight[row]
        while (exceeds := np.flatnonzero((left >= 0) & (row + 1 < last))).size:
            row[exceeds] += 1
            left[exceeds] -= self.routes.weight[row[exceeds]]
        return row.astype(np.int32)


def whole_weights(routes: Routes) -> tuple[np.ndarray, int] | None:
    """(int64[R], n): the share of each route is a whole number over n, where each is one over a whole number.

    None where some share is not, or n exceeds 2⁴⁰: the shares of a key then sum to 1 but for rounding.
    """
    shares, which = np.unique(routes.weight, return_inverse=True)
    ways = np.rint(1 / shares)
    if (np.abs(shares * ways - 1) > 1e-15).any():
        return None
    whole = lcm(*ways.astype(np.int64).tolist())
    if whole > MOST_DENOMINATOR:
        return None
    weight = (whole // ways.astype(np.int64))[which]
    if len(weight) and (np.add.reduceat(weight, routes.first[:-1]) != whole).any():
        return None
    return weight, whole
