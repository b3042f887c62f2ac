"""Random destinations of packets, given their sources, from counter-based random numbers."""

from __future__ import annotations

import numpy as np
from torusweep_kernels.pairs import choice_by_weight
from torusweep_kernels.philox import unit
from torusweep_kernels.philox.draws import packet_words

from torusweep.traffic import Traffic


class Destinations:
    """Draws destinations from the rows of T[s, t] = weight[s] · common[t] + own[s, t], between terminals.

    A destination comes from the product or from the positive entries of own. A negative entry of own reduces the
    product: the draw is rejected with the corresponding probability and repeated.
    """

    def __init__(self, traffic: Traffic, seed: int, backend: str) -> None:
        own = traffic.own.tocsr().copy()
        own.sum_duplicates()
        own.sort_indices()
        self.seed, self.backend, self.terminals = seed, backend, len(traffic.weight)
        self.sent = traffic.sent()
        self.by_common = choice_by_weight(traffic.common)
        self.first, self.listed = own.indptr.astype(np.int64), own.indices.astype(np.int32)
        self.own_sums = np.concatenate([[0.0], np.cumsum(np.maximum(own.data, 0))])
        from_own = self.own_sums[self.first[1:]] - self.own_sums[self.first[:-1]]
        from_product = traffic.weight * traffic.common.sum()
        # probability that a source's packet comes from the product
        self.product = from_product / np.where(from_product + from_own > 0, from_product + from_own, 1)
        source = np.repeat(np.arange(self.terminals), np.diff(self.first))
        negative = own.data < 0
        self.reduced = source[negative] * self.terminals + own.indices[negative]  # source · T + destination
        product = traffic.weight[source[negative]] * traffic.common[own.indices[negative]]
        self.rejection = -own.data[negative] / product

    def draw(self, packet: np.ndarray, source: np.ndarray, streams: tuple[int, int]) -> np.ndarray:
        """int32[B]: the destination of each packet.

        packet   int64[B] ≥ 0   its number, the counter of its random numbers
        source   int64[B]       terminal that sends it; its row must not be empty
        streams  of random numbers (torusweep_kernels.philox.draws): for destinations, and for rejections
        """
        found = np.empty(len(packet), np.int32)
        left, attempt = np.arange(len(packet)), 0
        while left.size:
            words = packet_words(packet[left], attempt, streams[0], self.seed, backend=self.backend)
            found[left], product = self._draw(source[left], unit(words[0], words[1]), unit(words[2], words[3]))
            if not self.reduced.size:
                break
            number = source[left] * self.terminals + found[left]
            place = np.minimum(np.searchsorted(self.reduced, number), len(self.reduced) - 1)
            chance = packet_words(packet[left], attempt, streams[1], self.seed, backend=self.backend)[0] * 2.0**-32
            left = left[product & (self.reduced[place] == number) & (chance < self.rejection[place])]
            attempt += 1
        return found

    def _draw(self, source: np.ndarray, one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(destination int32[B], bool[B]: whether from the product), from random numbers one and two in [0, 1)."""
        product = one < self.product[source]
        found = np.empty(len(source), np.int32)
        found[product] = self.by_common.of(two[product])
        own = np.flatnonzero(~product)
        if own.size:
            begin, end = self.first[source[own]], self.first[source[own] + 1]
            low, high = self.own_sums[begin], self.own_sums[end]
            # the minimum prevents rounding up into the next row
            at = np.minimum(low + two[own] * (high - low), np.nextafter(high, 0))
            place = np.searchsorted(self.own_sums, at, side="right") - 1
            found[own] = self.listed[np.clip(place, begin, end - 1)]
        return found, product
