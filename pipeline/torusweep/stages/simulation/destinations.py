"""Where a packet goes, given where it starts: one row of the traffic, drawn by counter."""

from __future__ import annotations

import numpy as np
from torusweep_kernels.philox.draws import packet_words

from torusweep.traffic import Traffic

UNIT = 2.0**-53


class Destinations:
    """Draws from the rows of T[s, t] = weight[s] · common[t] + own[s, t], between terminals.

    A packet is one of the product's or one of own's destinations. Where own takes something away, the
    product's packets are refused with the probability that is too much, and drawn again.
    """

    def __init__(self, traffic: Traffic, seed: int, backend: str) -> None:
        own = traffic.own.tocsr().copy()
        own.sum_duplicates()
        own.sort_indices()
        self.seed, self.backend, self.terminals = seed, backend, len(traffic.weight)
        self.sent = traffic.sent()
        together, whole = traffic.common.sum(), np.cumsum(traffic.common)
        self.even = bool((traffic.common == traffic.common[0]).all())
        self.below = whole / whole[-1] if together else whole
        more = np.maximum(own.data, 0)
        self.first, self.listed = own.indptr.astype(np.int64), own.indices.astype(np.int32)
        self.grown = np.concatenate([[0.0], np.cumsum(more)])
        apart = self.grown[self.first[1:]] - self.grown[self.first[:-1]]
        mass = traffic.weight * together
        self.product = mass / np.where(
            mass + apart > 0, mass + apart, 1
        )  # probability that a source's packet is of the product
        source = np.repeat(np.arange(self.terminals), np.diff(self.first))
        less = own.data < 0
        self.fewer = source[less] * self.terminals + own.indices[less]
        self.refused = -own.data[less] / (traffic.weight[source[less]] * traffic.common[own.indices[less]])

    def drawn(self, packet: np.ndarray, source: np.ndarray, streams: tuple[int, int]) -> np.ndarray:
        """int32[B]: the destination of each packet.

        packet   int64[B] ≥ 0   its number, which alone decides the draw
        source   int64[B]       terminal that sends it, with a row that is not empty
        streams  of draws (torusweep_kernels.philox.draws): for destinations, for refusals
        """
        found = np.empty(len(packet), np.int32)
        left, attempt = np.arange(len(packet)), 0
        while left.size:
            words = packet_words(packet[left], attempt, streams[0], self.seed, backend=self.backend)
            found[left], product = self._draw(source[left], unit(words[0], words[1]), unit(words[2], words[3]))
            if not self.fewer.size:
                break
            number = source[left] * self.terminals + found[left]
            place = np.minimum(np.searchsorted(self.fewer, number), len(self.fewer) - 1)
            chance = packet_words(packet[left], attempt, streams[1], self.seed, backend=self.backend)[0] * 2.0**-32
            left = left[product & (self.fewer[place] == number) & (chance < self.refused[place])]
            attempt += 1
        return found

    def _draw(self, source: np.ndarray, one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(destination int32[B], bool[B]: of the product)."""
        product = one < self.product[source]
        found = np.empty(len(source), np.int32)
        if self.even:
            found[product] = np.minimum((two[product] * self.terminals).astype(np.int32), self.terminals - 1)
        else:
            found[product] = np.minimum(np.searchsorted(self.below, two[product], side="right"), self.terminals - 1)
        apart = np.flatnonzero(~product)
        if apart.size:
            begin, end = self.first[source[apart]], self.first[source[apart] + 1]
            low, high = self.grown[begin], self.grown[end]
            at = np.minimum(
                low + two[apart] * (high - low), np.nextafter(high, 0)
            )  # never rounded up into the next row
            place = np.searchsorted(self.grown, at, side="right") - 1
            found[apart] = self.listed[np.clip(place, begin, end - 1)]
        return found, product


def unit(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """float64 in [0, 1) of two 32-bit words: 53 bits, exact."""
    return ((high.astype(np.uint64) << np.uint64(21)) | (low.astype(np.uint64) >> np.uint64(11))).astype(
        np.float64
    ) * UNIT
