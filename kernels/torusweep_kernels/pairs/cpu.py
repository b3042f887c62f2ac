"""Compiled version of `draw_pairs`. A tile's random words are drawn first, in a loop of vector instructions."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached, inlined, njit
from torusweep_kernels.pairs.reference import HALF, PAIRS, REJECTIONS, Tables
from torusweep_kernels.philox.cpu import philox4x32, unit
from torusweep_kernels.threads import in_threads, thread_count

BLOCK = 2**16  # packets that a thread draws at a time
TILE = 256  # packets whose words are drawn at once
philox = njit(inline="always")(philox4x32.py_func)  # inlined into the loop, which becomes one of vector instructions
ZERO, ONE, WORD = np.uint64(0), np.uint64(1), np.uint64(32)


def pairs(
    tables: Tables, first: int, number: int, key: tuple[int, int], threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Compiled version of `draw_pairs`: (source int32[B], destination int32[B])."""
    source, destination = np.empty(number, np.int32), np.empty(number, np.int32)
    words = np.uint32(key[0]), np.uint32(key[1])

    def of_block(begin: int) -> None:
        part = slice(begin, begin + BLOCK)
        draw(tables, np.uint64(first + begin), words, source[part], destination[part])

    in_threads(of_block, range(0, number, BLOCK), thread_count(threads))
    return source, destination


@inlined
def chosen(choice, at):
    """Return the choice, a uint64, that a random number in [0, 1) makes."""
    number = np.uint64(len(choice.cdf))
    place = min(np.uint64(np.int64(at * np.float64(number))), number - ONE)
    if choice.uniform:
        return place
    cdf, place = choice.cdf, np.uint64(choice.guide[place])
    while place > ZERO and cdf[place - ONE] > at:
        place -= ONE
    while place < number and cdf[place] <= at:
        place += ONE
    return min(place, number - ONE)


@inlined
def rejection(tables, source, destination):
    """Return the probability with which this pair of the product is rejected and drawn again."""
    low, end = np.uint64(tables.reduced_start[source]), np.uint64(tables.reduced_start[source + ONE])
    high = end
    while low < high:
        middle = (low + high) >> ONE
        if tables.reduced[middle] < destination:
            low = middle + ONE
        else:
            high = middle
    return tables.rejection[low] if low < end and tables.reduced[low] == destination else 0.0


@inlined
def pair(tables, one, two):
    """Return (source, destination, whether the pair may be rejected) for two random numbers in [0, 1)."""
    at = one * (tables.product_sum + tables.own_sum)
    product = at < tables.product_sum
    if tables.product_sum != 0.0 and (product or tables.own_sum == 0.0):
        first = one if tables.own_sum == 0.0 else at / tables.product_sum
        return chosen(tables.by_weight, first), chosen(tables.by_common, two), product
    left = one if tables.product_sum == 0.0 else (at - tables.product_sum) / tables.own_sum
    place = chosen(tables.by_pair, left)
    return np.uint64(tables.source[place]), np.uint64(tables.destination[place]), False


@cached
def draw(tables, first, key, source, destination):
    """Set source and destination int32[B] of the packets from number `first`, a uint64, on. key: two uint32."""
    one, two = np.empty(TILE), np.empty(TILE)
    reduces = len(tables.reduced) > 0
    for begin in range(0, len(source), TILE):
        some = min(TILE, len(source) - begin)
        for i in range(some):
            number = first + np.uint64(begin + i)
            a, b, c, d = philox(np.uint32(number), np.uint32(number >> WORD), 0, PAIRS, key[0], key[1])
            one[i], two[i] = unit(a, b), unit(c, d)
        for i in range(some):
            s, t, product = pair(tables, one[i], two[i])
            if reduces and product:
                chance = rejection(tables, s, np.int64(t))
                if chance > 0.0:
                    s, t = kept(tables, first + np.uint64(begin + i), key, s, t, chance)
            source[begin + i], destination[begin + i] = s, t


@njit
def kept(tables, number, key, s, t, chance):
    """Return the first pair not rejected. s, t: pair of the first attempt, rejected with probability `chance`."""
    low, high = np.uint32(number), np.uint32(number >> WORD)
    attempt = 0
    while chance > 0.0 and philox4x32(low, high, attempt, REJECTIONS, key[0], key[1])[0] * HALF < chance:
        attempt += 1
        a, b, c, d = philox4x32(low, high, attempt, PAIRS, key[0], key[1])
        s, t, product = pair(tables, unit(a, b), unit(c, d))
        chance = rejection(tables, s, np.int64(t)) if product else 0.0
    return s, t
