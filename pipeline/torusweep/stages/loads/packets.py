"""Random packets of a traffic pattern: who sends to whom, drawn by counter, so that packet i is the same in any block."""

from __future__ import annotations

import numpy as np
from torusweep_kernels.philox.draws import packet_words

from torusweep.traffic import Traffic

PAIRS, REFUSALS, ROUTES = (
    1,
    2,
    3,
)  # streams of draws (torusweep_kernels.philox.draws); the first two have an attempt's number as their purpose
UNIT = 2.0**-53


class Packets:
    """Packets of the traffic between the nodes, T[s, t] = weight[s] · common[t] + own[s, t].

    A packet is one of the product's or one of own's pairs. Where own takes something away, the
    product's packets are refused with the probability that is too much, and drawn again.
    """

    def __init__(self, traffic: Traffic, seed: int, backend: str) -> None:
        self.seed, self.backend, self.nodes = seed, backend, len(traffic.weight)
        own = traffic.own.tocoo()
        more = own.data > 0
        self.together = float(traffic.weight.sum() * traffic.common.sum())
        self.by_weight, self.by_common = _Choice(traffic.weight), _Choice(traffic.common)
        self.by_pair = _Choice(own.data[more])
        self.pairs = own.row[more].astype(np.int32), own.col[more].astype(np.int32)
        self.apart = float(own.data[more].sum())
        # pairs that send less than the product says: their numbers in order, and the share to be drawn again
        less = np.flatnonzero(own.data < 0)
        number = own.row[less].astype(np.int64) * self.nodes + own.col[less]
        order = np.argsort(number)
        self.fewer = number[order]
        self.refused = (-own.data[less] / (traffic.weight[own.row[less]] * traffic.common[own.col[less]]))[order]

    def drawn(self, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """(source int32[count], destination int32[count]) of packets first … first + count − 1."""
        packet = first + np.arange(count)
        source, destination, refused = self._draw(packet, 0)
        attempt = 1
        while refused.size:
            more = self._draw(packet[refused], attempt)
            source[refused], destination[refused] = more[:2]
            refused, attempt = refused[more[2]], attempt + 1
        return source, destination

    def words(self, first: int, count: int) -> np.ndarray:
        """uint32[4, count]: draws for the choices of each packet's route."""
        return packet_words(first + np.arange(count), 0, ROUTES, self.seed, backend=self.backend)

    def _draw(self, packet: np.ndarray, attempt: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(source, destination, which of them are refused)."""
        words = packet_words(packet, attempt, PAIRS, self.seed, backend=self.backend)
        one, two = _unit(words[0], words[1]), _unit(words[2], words[3])
        whole = self.together + self.apart
        if not self.together:
            pair = self.by_pair.of(one)
            return self.pairs[0][pair], self.pairs[1][pair], np.empty(0, np.int64)
        at = one * whole
        product = at < self.together
        if not self.apart:
            source, destination = self.by_weight.of(one), self.by_common.of(two)
        else:
            source, destination = np.empty(len(packet), np.int32), np.empty(len(packet), np.int32)
            source[product] = self.by_weight.of(at[product] / self.together)
            destination[product] = self.by_common.of(two[product])
            pair = self.by_pair.of((at[~product] - self.together) / self.apart)
            source[~product], destination[~product] = self.pairs[0][pair], self.pairs[1][pair]
        if not self.fewer.size:
            return source, destination, np.empty(0, np.int64)
        number = source.astype(np.int64) * self.nodes + destination
        place = np.minimum(np.searchsorted(self.fewer, number), len(self.fewer) - 1)
        chance = packet_words(packet, attempt, REFUSALS, self.seed, backend=self.backend)[0] * 2.0**-32
        return (
            source,
            destination,
            np.flatnonzero(product & (self.fewer[place] == number) & (chance < self.refused[place])),
        )


class _Choice:
    """One of n by weight, float64[n], from a number in [0, 1)."""

    def __init__(self, weight: np.ndarray) -> None:
        self.number = len(weight)
        self.even = self.number > 0 and bool((weight == weight[0]).all())
        total = np.cumsum(weight)
        self.below = total / total[-1] if self.number and total[-1] else total

    def of(self, unit: np.ndarray) -> np.ndarray:
        """int32[B] of float64[B]."""
        if self.even:
            return np.minimum((unit * self.number).astype(np.int32), self.number - 1)
        return np.minimum(np.searchsorted(self.below, unit, side="right"), self.number - 1).astype(np.int32)


def _unit(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """float64 in [0, 1) of two words: 53 bits, exact."""
    return ((high.astype(np.uint64) << np.uint64(21)) | (low.astype(np.uint64) >> np.uint64(11))).astype(
        np.float64
    ) * UNIT
