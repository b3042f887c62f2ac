"""The routes of the pairs in hand: of all keys once where they are few, else of those that occur."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.routing.forms import Routes, SourceRouting

MAX_WHOLE_KEYS = 1 << 19  # keys up to which all routes are made at once


class PairRoutes(NamedTuple):
    """pair int64[R] (ascending), row int32[R] of the table's routes, weight float64[R] (of one pair: 1 together)."""

    pair: np.ndarray
    row: np.ndarray
    weight: np.ndarray


class RouteTable:
    """Routes by row, for `torusweep_kernels.routes`: direction int8[R, L], hops int16[R, L]; which rows they are may change with every call."""

    def __init__(self, routing: SourceRouting) -> None:
        self.routing = routing
        self.whole = routing.keys <= MAX_WHOLE_KEYS
        self._routes = routing.routes(np.arange(routing.keys)) if self.whole else None

    @property
    def routes(self) -> Routes:
        assert self._routes is not None, "no pairs were asked for yet"
        return self._routes

    @property
    def direction(self) -> np.ndarray:
        return self.routes.direction

    @property
    def hops(self) -> np.ndarray:
        return self.routes.hops

    def key_index(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """int64[B]: for each pair, the number of its key among those whose routes are in the table now."""
        key = self.routing.key(source.astype(np.int64), destination.astype(np.int64))
        if self.whole:
            return key
        keys, place = np.unique(key, return_inverse=True)
        self._routes = self.routing.routes(keys)
        return place

    def weighted_rows(self, source: np.ndarray, destination: np.ndarray) -> PairRoutes:
        """All routes of B pairs, int32[B] each."""
        place = self.key_index(source, destination)
        first = self.routes.first
        many = first[place + 1] - first[place]
        pair = np.repeat(np.arange(len(place)), many)
        behind = np.cumsum(many) - many  # rows of the pairs before
        row = np.arange(len(pair)) - np.repeat(behind - first[place], many)
        return PairRoutes(pair, row.astype(np.int32), self.routes.weight[row])

    def sample(self, source: np.ndarray, destination: np.ndarray, word: np.ndarray) -> np.ndarray:
        """int32[B]: one route of each pair by its weight, from a 32-bit draw, uint32[B]."""
        place = self.key_index(source, destination)
        first, last = self.routes.first[place], self.routes.first[place + 1]
        row = first.copy()
        # at most a few rows a key: go on while the draw lies beyond the rows so far
        left = word.astype(np.float64) * 2.0**-32 - self.routes.weight[row]
        while (beyond := np.flatnonzero((left >= 0) & (row + 1 < last))).size:
            row[beyond] += 1
            left[beyond] -= self.routes.weight[row[beyond]]
        return row.astype(np.int32)
