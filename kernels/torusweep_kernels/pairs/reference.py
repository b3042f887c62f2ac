"""The specification: packets in blocks, the same code for NumPy and CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep_kernels.backend import host
from torusweep_kernels.pairs.tables import HALF, PAIRS, REJECTIONS, Tables
from torusweep_kernels.philox import WORD, philox, unit

BLOCK = 2**16  # packets drawn at a time, which fit into cache


def pairs(
    tables: Tables, first: int, number: int, key: tuple[int, int], threads: int | None = None, xp: Any = np
) -> tuple[np.ndarray, np.ndarray]:
    """(source int32[B], destination int32[B]); see `draw_pairs`."""
    drawn = Pairs(tables, key, xp)
    parts = [drawn.block(first + begin, min(BLOCK, number - begin)) for begin in range(0, number, BLOCK)]
    source, destination = (np.concatenate([host(part[which]) for part in parts]) for which in (0, 1))
    return source, destination


class Pairs:
    """The tables in the array library."""

    def __init__(self, tables: Tables, key: tuple[int, int], xp: Any) -> None:
        self.xp, self.key, self.nodes = xp, key, tables.nodes
        self.by_weight, self.by_common, self.by_pair = (
            choice._replace(cdf=xp.asarray(choice.cdf)) for choice in tables[:3]
        )
        self.source, self.destination = xp.asarray(tables.source), xp.asarray(tables.destination)
        self.product_sum, self.own_sum = tables.product_sum, tables.own_sum
        rows = np.repeat(np.arange(tables.nodes), np.diff(tables.reduced_start))
        self.reduced = xp.asarray(rows * tables.nodes + tables.reduced)  # numbers of pairs, ascending
        self.rejection = xp.asarray(tables.rejection)

    def block(self, first: int, number: int) -> tuple[Any, Any]:
        """(source int32[B], destination int32[B])."""
        packet = self.xp.asarray(np.uint64(first) + np.arange(number, dtype=np.uint64))
        source, destination, rejected = self.attempt(packet, 0)
        attempt = 1
        while len(rejected):
            one, other, again = self.attempt(packet[rejected], attempt)
            source[rejected], destination[rejected] = one, other
            rejected, attempt = rejected[again], attempt + 1
        return source, destination

    def words(self, packet: Any, attempt: int, stream: int) -> tuple[Any, ...]:
        return philox((packet % WORD, packet // WORD, attempt, stream), self.key, self.xp)

    def attempt(self, packet: Any, attempt: int) -> tuple[Any, Any, Any]:
        """(source int32[B], destination int32[B], indices of rejected pairs)."""
        xp, words = self.xp, self.words(packet, attempt, PAIRS)
        one, two = unit(words[0], words[1]), unit(words[2], words[3])
        if not self.product_sum:
            pair = self.by_pair.of(one, xp)
            return self.source[pair], self.destination[pair], xp.arange(0)
        at = one * (self.product_sum + self.own_sum)
        product = at < self.product_sum
        if self.own_sum:
            source, destination = self.by_weight.of(at / self.product_sum, xp), self.by_common.of(two, xp)
            own = xp.flatnonzero(~product)
            pair = self.by_pair.of((at[own] - self.product_sum) / self.own_sum, xp)
            source[own], destination[own] = self.source[pair], self.destination[pair]
        else:
            source, destination = self.by_weight.of(one, xp), self.by_common.of(two, xp)
        if not len(self.reduced):
            return source, destination, xp.arange(0)
        number = source.astype(np.int64) * self.nodes + destination
        place = xp.minimum(xp.searchsorted(self.reduced, number), len(self.reduced) - 1)
        chance = self.words(packet, attempt, REJECTIONS)[0] * HALF
        rejected = product & (self.reduced[place] == number) & (chance < self.rejection[place])
        return source, destination, xp.flatnonzero(rejected)
