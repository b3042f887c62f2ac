"""Random packets of a traffic pattern, from counter-based random numbers: packet i is the same in every block."""

from __future__ import annotations

import numpy as np
from torusweep_kernels.philox.draws import packet_words

from torusweep.traffic import Traffic

# streams of random numbers (torusweep_kernels.philox.draws); the purpose of the first two is the number of the attempt
PAIRS, REJECTIONS, ROUTES = 1, 2, 3
UNIT = 2.0**-53


class Packets:
    """Random packets of the traffic between the nodes, T[s, t] = weight[s] · common[t] + own[s, t].

    A pair comes from the product or from the positive entries of own. A negative entry of own reduces the product:
    the pair is rejected with the corresponding probability and drawn again.
    """

    def __init__(self, traffic: Traffic, seed: int, backend: str) -> None:
        self.seed, self.backend, self.nodes = seed, backend, len(traffic.weight)
        own = traffic.own.tocoo()
        positive = own.data > 0
        self.product_sum = float(traffic.weight.sum() * traffic.common.sum())
        self.by_weight, self.by_common = WeightedChoice(traffic.weight), WeightedChoice(traffic.common)
        self.by_pair = WeightedChoice(own.data[positive])
        self.pairs = own.row[positive].astype(np.int32), own.col[positive].astype(np.int32)
        self.own_sum = float(own.data[positive].sum())
        # pairs with less traffic than the product: their numbers, ascending, and the probability of rejection
        negative = np.flatnonzero(own.data < 0)
        source, destination = own.row[negative], own.col[negative]
        number = source.astype(np.int64) * self.nodes + destination
        order = np.argsort(number)
        self.reduced = number[order]
        self.rejection = (-own.data[negative] / (traffic.weight[source] * traffic.common[destination]))[order]

    def draw(self, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """(source int32[count], destination int32[count]) of packets first … first + count − 1."""
        packet = first + np.arange(count)
        source, destination, rejected = self._draw(packet, 0)
        attempt = 1
        while rejected.size:
            *pair, again = self._draw(packet[rejected], attempt)
            source[rejected], destination[rejected] = pair
            rejected, attempt = rejected[again], attempt + 1
        return source, destination

    def words(self, first: int, count: int, turn: int = 0) -> np.ndarray:
        """uint32[4, count]: random words for the choices of each packet's route, four in turn 0, four in turn 1, …."""
        return packet_words(first + np.arange(count), turn, ROUTES, self.seed, backend=self.backend)

    def _draw(self, packet: np.ndarray, attempt: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(source int32[B], destination int32[B], indices of rejected pairs)."""
        words = packet_words(packet, attempt, PAIRS, self.seed, backend=self.backend)
        one, two = unit(words[0], words[1]), unit(words[2], words[3])
        if not self.product_sum:
            pair = self.by_pair.of(one)
            return self.pairs[0][pair], self.pairs[1][pair], np.empty(0, np.int64)
        at = one * (self.product_sum + self.own_sum)
        product = at < self.product_sum
        if not self.own_sum:
            source, destination = self.by_weight.of(one), self.by_common.of(two)
        else:
            source, destination = np.empty(len(packet), np.int32), np.empty(len(packet), np.int32)
            source[product] = self.by_weight.of(at[product] / self.product_sum)
            destination[product] = self.by_common.of(two[product])
            pair = self.by_pair.of((at[~product] - self.product_sum) / self.own_sum)
            source[~product], destination[~product] = self.pairs[0][pair], self.pairs[1][pair]
        if not self.reduced.size:
            return source, destination, np.empty(0, np.int64)
        number = source.astype(np.int64) * self.nodes + destination
        place = np.minimum(np.searchsorted(self.reduced, number), len(self.reduced) - 1)
        chance = packet_words(packet, attempt, REJECTIONS, self.seed, backend=self.backend)[0] * 2.0**-32
        rejected = product & (self.reduced[place] == number) & (chance < self.rejection[place])
        return source, destination, np.flatnonzero(rejected)


class WeightedChoice:
    """A random choice among n by weights, float64[n]."""

    def __init__(self, weight: np.ndarray) -> None:
        self.number = len(weight)
        self.uniform = self.number > 0 and bool((weight == weight[0]).all())
        total = np.cumsum(weight)
        self.cdf = total / total[-1] if self.number and total[-1] else total

    def of(self, unit: np.ndarray) -> np.ndarray:
        """int32[B]: the choices, from random numbers in [0, 1), float64[B]."""
        if self.uniform:
            return np.minimum((unit * self.number).astype(np.int32), self.number - 1)
        return np.minimum(np.searchsorted(self.cdf, unit, side="right"), self.number - 1).astype(np.int32)


def unit(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """float64 in [0, 1) from two 32-bit words: 53 bits, exact."""
    bits = (high.astype(np.uint64) << np.uint64(21)) | (low.astype(np.uint64) >> np.uint64(11))
    return bits.astype(np.float64) * UNIT
