"""Specification of `draw_pairs`: packets in blocks.

It also has the tables of a traffic from which packets are drawn, and the streams of their random words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels.philox import WORD, philox, unit

# fourth words of the counters (philox/draws.py); the third one is the number of the attempt
PAIRS, REJECTIONS = 1, 2
HALF = 2.0**-32
BLOCK = 2**16  # packets drawn at a time, which fit into cache


class WeightedChoice(NamedTuple):
    """A random choice among n items by weights.

    cdf      float64[n]  cumulative sums of the weights; the last one is 1
    uniform  bool        whether all weights are equal
    guide    int32[n]    place at which the search for a number ≥ k / n begins
    """

    cdf: np.ndarray
    uniform: bool
    guide: np.ndarray

    def of(self, unit: Any) -> Any:
        """Return the choices, int32[B], for random numbers float64[B] in [0, 1)."""
        last = len(self.cdf) - 1
        if self.uniform:
            return np.minimum((unit * len(self.cdf)).astype(np.int32), last)
        return np.minimum(np.searchsorted(self.cdf, unit, side="right"), last).astype(np.int32)


def choice_by_weight(weight: np.ndarray) -> WeightedChoice:
    """Return the random choice among len(weight) items by their weights float64[n] ≥ 0."""
    uniform = len(weight) > 0 and bool((weight == weight[0]).all())
    total = np.cumsum(weight)
    cdf = total / total[-1] if len(weight) and total[-1] else total
    guide = np.searchsorted(cdf, np.arange(len(cdf)) / max(1, len(cdf)), side="right")
    return WeightedChoice(cdf, uniform, guide.astype(np.int32))


class Tables(NamedTuple):
    """The traffic T[s, t] = weight[s] · common[t] + own[s, t] between N nodes, as tables from which packets are drawn.

    by_weight, by_common      choice of the product's source; choice of its destination
    by_pair                   choice among the K positive entries of own
    source, destination       int32[K]: source and destination of each of these entries
    product_sum, own_sum      sum of the product; sum of the positive entries of own
    reduced_start, reduced    int64[N+1], int32[M]: ascending destinations to which s sends less than the product says,
                              at reduced_start[s] … reduced_start[s + 1] − 1
    rejection                 float64[M]: probability that such a pair is rejected and drawn again
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


def pairs(
    tables: Tables,
    first: int,
    number: int,
    key: tuple[int, int],
    threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Specification of `draw_pairs`: (source int32[B], destination int32[B])."""
    drawn = Pairs(tables, key)
    parts = [drawn.block(first + begin, min(BLOCK, number - begin)) for begin in range(0, number, BLOCK)]
    source, destination = (np.concatenate([part[which] for part in parts]) for which in (0, 1))
    return source, destination


class Pairs:
    """The tables, and the streams of random words."""

    def __init__(self, tables: Tables, key: tuple[int, int]) -> None:
        self.key, self.nodes = key, tables.nodes
        self.by_weight, self.by_common, self.by_pair = tables[:3]
        self.source, self.destination = tables.source, tables.destination
        self.product_sum, self.own_sum = tables.product_sum, tables.own_sum
        rows = np.repeat(np.arange(tables.nodes), np.diff(tables.reduced_start))
        self.reduced = np.asarray(rows * tables.nodes + tables.reduced)  # numbers of pairs, ascending
        self.rejection = tables.rejection

    def block(self, first: int, number: int) -> tuple[Any, Any]:
        """Return (source int32[B], destination int32[B]) of `number` packets from number `first` on."""
        packet = np.uint64(first) + np.arange(number, dtype=np.uint64)
        source, destination, rejected = self.attempt(packet, 0)
        attempt = 1
        while len(rejected):
            one, other, again = self.attempt(packet[rejected], attempt)
            source[rejected], destination[rejected] = one, other
            rejected, attempt = rejected[again], attempt + 1
        return source, destination

    def words(self, packet: Any, attempt: int, stream: int) -> tuple[Any, ...]:
        return philox((packet % WORD, packet // WORD, attempt, stream), self.key)

    def attempt(self, packet: Any, attempt: int) -> tuple[Any, Any, Any]:
        """Return (source int32[B], destination int32[B], indices of rejected pairs)."""
        words = self.words(packet, attempt, PAIRS)
        one, two = unit(words[0], words[1]), unit(words[2], words[3])
        if not self.product_sum:
            pair = self.by_pair.of(one)
            return self.source[pair], self.destination[pair], np.arange(0)
        at = one * (self.product_sum + self.own_sum)
        product = at < self.product_sum
        if self.own_sum:
            source, destination = self.by_weight.of(at / self.product_sum), self.by_common.of(two)
            own = np.flatnonzero(~product)
            pair = self.by_pair.of((at[own] - self.product_sum) / self.own_sum)
            source[own], destination[own] = self.source[pair], self.destination[pair]
        else:
            source, destination = self.by_weight.of(one), self.by_common.of(two)
        if not len(self.reduced):
            return source, destination, np.arange(0)
        number = source.astype(np.int64) * self.nodes + destination
        place = np.minimum(np.searchsorted(self.reduced, number), len(self.reduced) - 1)
        chance = self.words(packet, attempt, REJECTIONS)[0] * HALF
        rejected = product & (self.reduced[place] == number) & (chance < self.rejection[place])
        return source, destination, np.flatnonzero(rejected)
