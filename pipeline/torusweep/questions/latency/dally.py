"""k-ary n-cubes of equal bisection width, after Dally 1990: channel width, pins, wires and latency without contention.

The cubes are unidirectional, with N = k^n nodes. Every cube has the same number of wires across its middle as the
bit-serial binary cube: N, counting both directions. `Cube` describes one cube by numbers, or several by arrays.
Radices are real numbers (`cube`), as in the paper, or whole numbers, mixed if need be (`whole_cube`); `whole_radices`
finds the best radices. Lengths are in node pitches. The unit of delay is the delay of a wire of one pitch.

Eq. 13 gives the longest wire of a ring that is not folded, without the wire that closes the ring. The paper's own
layout folds its rings (Fig. 5), which puts neighbours two places apart if a ring has more than two nodes.
`Cube.folded` has these longer wires, which correct all numbers that depend on the delay of wires.
The paper's models of contention and of hot spots are not implemented.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isqrt, prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

UNREACHED = np.iinfo(np.int64).max // 2
LEAST_DIMENSIONS = 2  # half of the dimensions are placed along each side of the plane
WIRE_DELAYS: dict[str, Callable[[Floats], Floats]] = {
    "constant": np.ones_like,
    "logarithmic": lambda length: 1 + np.log2(length),  # charging the wire's capacitance (Eq. 4)
    "linear": lambda length: length,  # speed of light (Eq. 5)
}


@lru_cache(maxsize=64)
def whole_radices(nodes: int) -> dict[int, list[int]]:
    """Return, for every possible n ≥ 2, n whole radices ≥ 2 whose product is `nodes`, in descending order.

    Among all factorisations into n radices, the one with the least maximum is taken; among several, the least sum
    decides, then the least smallest radix, then the least second smallest, and so on. Highly composite numbers have
    millions of factorisations; tables over the divisors of N find the best without listing all.
    """
    divisors = _divisors(nodes)
    return {n: _of_least_sum(divisors, n, largest) for n, largest in sorted(_least_maxima(divisors).items()) if n > 1}


def _divisors(nodes: int) -> np.ndarray:
    """Return all divisors of N, from 1 to N, in ascending order, int64."""
    low = np.arange(1, isqrt(nodes) + 1)
    low = low[nodes % low == 0]
    return np.unique(np.concatenate([low, nodes // low]))


def _times(divisors: np.ndarray, factor: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the divisors d for which factor · d also divides N, and the indices of factor · d."""
    source = np.flatnonzero(divisors[-1] // factor % divisors == 0)
    return source, np.searchsorted(divisors, divisors[source] * factor)


def _least_maxima(divisors: np.ndarray) -> dict[int, int]:
    """Return, for each n that allows it, the least possible maximum of n factors ≥ 2 whose product is N."""
    most = _prime_factors(divisors)
    product = np.zeros((most + 1, len(divisors)), bool)  # [n, d]: n of the factors so far have the product d
    product[0, 0] = True
    found: dict[int, int] = {}
    for factor in divisors[1:].tolist():
        source, target = _times(divisors, factor)
        for n in range(most):  # in ascending order, so that a factor can be used several times
            product[n + 1, target] |= product[n, source]
            if product[n + 1, -1]:
                found.setdefault(n + 1, factor)
        if len(found) == most - 1:  # all but N itself
            break
    return found


def _of_least_sum(divisors: np.ndarray, dimension: int, largest: int) -> list[int]:
    """Return `dimension` factors from 2 to `largest` with product N and the least sum, in descending order."""
    factors = divisors[(divisors > 1) & (divisors <= largest)].tolist()
    total = np.full((dimension + 1, len(divisors)), UNREACHED)  # [n, d]: least sum of n factors whose product is d
    least = np.zeros((dimension + 1, len(divisors)), np.int64)  # the smallest of these factors
    total[0, 0] = 0
    for factor in reversed(factors):
        source, target = _times(divisors, factor)
        for n in range(dimension):
            better = total[n, source] + factor <= total[n + 1, target]  # of equal sums, the one with smaller factors
            better &= total[n, source] < UNREACHED
            total[n + 1, target[better]] = total[n, source[better]] + factor
            least[n + 1, target[better]] = factor
    found, rest = [], int(divisors[-1])
    for n in range(dimension, 0, -1):
        found.append(int(least[n, np.searchsorted(divisors, rest)]))
        rest //= found[-1]
    return found[::-1]


def _prime_factors(divisors: np.ndarray) -> int:
    """Return the number of prime factors of N, counted with multiplicity. divisors: all divisors of N, ascending."""
    rest, count = int(divisors[-1]), 0
    for divisor in divisors[1:].tolist():
        while rest % divisor == 0:
            rest, count = rest // divisor, count + 1
    return count


Floats: TypeAlias = NDArray[np.float64]


class Cube(NamedTuple):
    """Properties of one or several cubes of constant bisection width: numbers, or float64 arrays of one shape.

    mean_distance  mean number of hops between nodes, including from a node to itself (Eq. 11)
    width          W, bits of a channel (Eq. 7); may be a fraction
    pins           pins of a node, for 2n channels of W bits (Eq. 9)
    longest_wire   length of the longest wire in node pitches (Eq. 13)
    longest_fold   length of the longest wire in node pitches, in a layout with folded rings
    """

    mean_distance: Floats
    width: Floats
    pins: Floats
    longest_wire: Floats
    longest_fold: Floats

    def folded(self) -> Cube:
        """Return the same cubes with the longest wire of a layout with folded rings, instead of Eq. 13."""
        return self._replace(longest_wire=self.longest_fold)


def radix(nodes: ArrayLike, dimension: ArrayLike) -> Floats:
    """Return the radix k = N^(1/n) of a cube (Eq. 1), a real number; exact if it is whole."""
    found = np.asarray(nodes, np.float64) ** (1 / np.asarray(dimension, np.float64))
    whole = np.rint(found)
    return np.where(whole ** np.asarray(dimension) == nodes, whole, found)


def cube(nodes: ArrayLike, dimension: ArrayLike) -> Cube:
    """Return the k-ary n-cube: D = n(k-1)/2, W = k/2, nk pins, longest wire k^(n/2-1) (doubled if folded and k > 2).

    Raises ValueError for fewer than two dimensions or a radix below 2.
    """
    n, k = np.asarray(dimension, np.float64), radix(nodes, dimension)
    if (n < LEAST_DIMENSIONS).any() or (k < 2).any():
        raise ValueError(
            f"dimensions: expected 2 … log2 of the nodes, got {n.min():g} … {n.max():g}; expected a radix of 2 or more"
        )
    n, k = np.broadcast_arrays(n, k)
    wire = k ** (n / 2 - 1)
    return Cube(n * (k - 1) / 2, k / 2, n * k, wire, np.where(k > 2, 2 * wire, wire))


def whole_cube(radices: Sequence[int]) -> Cube:
    """Return a cube of whole radices, which may differ. Dally's footnote 5 leaves this case open.

    The narrowest cut in halves is across the dimension of the largest radix, so that W = max k / 2. The dimensions are
    assigned in turn to the two sides of the plane, the largest last. A wire of a side's last dimension passes all nodes
    of the side's other dimensions. For equal radices and an even n, the values equal `cube`'s. The cut across a
    smaller dimension has more wires than needed, so a mixed cube can be better than a cube of real radix.
    Raises ValueError for fewer than two dimensions or a radix below 2.
    """
    if len(radices) < LEAST_DIMENSIONS or min(radices) < 2:
        raise ValueError(f"radices: expected two at least, each 2 at least, got {list(radices)}")
    ordered = sorted(radices)
    sides = (ordered[-1::-2], ordered[-2::-2])
    reach = [prod(side[1:]) for side in sides]  # wire length in a side's last dimension, the side's largest
    fold = max(places * (2 if side[0] > 2 else 1) for places, side in zip(reach, sides))
    largest, dimension = ordered[-1], len(ordered)
    return Cube(*np.array([(sum(radices) - dimension) / 2, largest / 2, dimension * largest, max(reach), fold]))


def wire_delay(longest_wire: ArrayLike, model: str) -> Floats:
    """Return channels' cycle time by the longest wire's length l: 1 (constant), 1 + log2 l (logarithmic), l (linear).

    The unit is the cycle time of channels whose wires are one pitch long.
    """
    return WIRE_DELAYS[model](np.asarray(longest_wire, np.float64))


def wormhole(cube: Cube, message_bits: ArrayLike, *, delay: str = "constant", locality: ArrayLike = 1.0) -> Floats:
    """Return the latency of wormhole routing without contention, T = T_c (D + L/W) cycles (Eqs. 3, 12).

    locality   mean distance relative to uniform traffic, 0 < locality ≤ 1. The paper only describes in words
               that traffic to near nodes shortens the distance, and that this favours cubes of few dimensions
    """
    distance = cube.mean_distance * _share(locality)
    return wire_delay(cube.longest_wire, delay) * (distance + np.asarray(message_bits, np.float64) / cube.width)


def store_and_forward(
    cube: Cube, message_bits: ArrayLike, *, delay: str = "constant", locality: ArrayLike = 1.0
) -> Floats:
    """Return the latency of store-and-forward routing without contention, T = T_c D L/W cycles (Eq. 2)."""
    distance = cube.mean_distance * _share(locality)
    return wire_delay(cube.longest_wire, delay) * distance * np.asarray(message_bits, np.float64) / cube.width


def designs(nodes: int, *, whole: bool = False) -> list[tuple[int, Cube]]:
    """Return (n, cube of n dimensions) for every n ≥ 2 that allows a cube. Raises ValueError if no n does.

    whole   whether radices must be whole numbers
    """
    if whole:
        found = [(n, whole_cube(radices)) for n, radices in whole_radices(nodes).items()]
    else:
        dimensions = range(LEAST_DIMENSIONS, int(nodes).bit_length())
        found = [(n, cube(nodes, n)) for n in dimensions]
    if not found:
        raise ValueError(
            f"nodes: expected {'a product of two whole radices at least' if whole else '4 at least'}, got {nodes}"
        )
    return found


def wire_density(radices: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of wires across each gap of a row of nodes, for channels of one bit (Fig. 6).

    radices   radices of the dimensions along the row; the first varies fastest
    returns   int64[product - 1]: wires between nodes p and p + 1; for wider channels multiply by their bits
    Every ring crosses each gap between its first and its last node twice: a ring of two nodes by a channel each way, a
    longer ring because it closes, folded or not. So the row of a 2D torus has 2W = k bits across every gap.
    """
    nodes = prod(radices)
    change = np.zeros(nodes + 1, np.int64)
    stride = 1
    for count in radices:
        first = np.arange(nodes)[np.arange(nodes) // stride % count == 0]
        np.add.at(change, first, 2)
        np.add.at(change, first + (count - 1) * stride, -2)
        stride *= count
    return np.cumsum(change)[: nodes - 1]


def _share(locality: ArrayLike) -> Floats:
    share = np.asarray(locality, np.float64)
    if not ((share > 0) & (share <= 1)).all():
        raise ValueError(
            "locality: expected a share of the uniform mean distance, 0 < locality ≤ 1, got"
            f" {share.min():g} … {share.max():g}"
        )
    return share
