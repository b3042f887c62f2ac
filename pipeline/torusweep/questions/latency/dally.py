"""k-ary n-cubes of equal bisection width, after Dally 1990: channel width, pins, wires and latency without contention.

The cubes are unidirectional, N = k^n, and every network has as many wires across its middle as the
bit-serial binary cube has: N, counting both directions of its links. `Cube` describes one by numbers
or arrays that broadcast: of real-valued radix (`cube`), as the paper allows itself, or of whole,
mixed radices (`whole_cube`). Lengths are in node pitches, delays in those of a wire of one pitch.

Eq. 13 has the longest wire of a ring that is not folded, without its end-around channel. The paper's
own layout folds its rings (Fig. 5), which puts neighbours two places apart where there are more than
two nodes: `Cube.folded` has these wires, the correction of everything that depends on their delay.

The paper's text ends with the longest wire: its models of contention and hot spots are not here.

The best whole radices of a number of nodes, for every number of dimensions at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isqrt, prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

UNREACHED = np.iinfo(np.int64).max // 2
LEAST_DIMENSIONS = 2  # half of the dimensions lie along each side of the plane
WIRE_DELAYS: dict[str, Callable[[Floats], Floats]] = {
    "constant": np.ones_like,
    "logarithmic": lambda length: 1 + np.log2(length),  # charging the wire's capacitance (Eq. 4)
    "linear": lambda length: length,  # speed of light (Eq. 5)
}


@lru_cache(maxsize=64)
def whole_radices(nodes: int) -> dict[int, list[int]]:
    """By dimension n ≥ 2, n whole radices ≥ 2, descending, whose product is N; dimensions that have none are left out.

    Of all factorisations, that of the least maximum; of these the least sum; of these the least smallest radix,
    and so on upwards. Highly composite numbers have millions of factorisations: tables over N's divisors find the best
    ones without writing them out.
    """
    divisors = _divisors(nodes)
    return {n: _of_least_sum(divisors, n, largest) for n, largest in sorted(_least_maxima(divisors).items()) if n > 1}


def _divisors(nodes: int) -> np.ndarray:
    """int64: the divisors of N, ascending, 1 and N included."""
    low = np.arange(1, isqrt(nodes) + 1)
    low = low[nodes % low == 0]
    return np.unique(np.concatenate([low, nodes // low]))


def _times(divisors: np.ndarray, factor: int) -> tuple[np.ndarray, np.ndarray]:
    """(places of the divisors d for which factor · d divides N, too; places of factor · d)."""
    source = np.flatnonzero(divisors[-1] // factor % divisors == 0)
    return source, np.searchsorted(divisors, divisors[source] * factor)


def _least_maxima(divisors: np.ndarray) -> dict[int, int]:
    """n → the least possible maximum of n factors ≥ 2 with the product N, for every n with such factors."""
    most = _prime_factors(divisors)
    product = np.zeros((most + 1, len(divisors)), bool)  # [n, d]: n of the factors so far have the product d
    product[0, 0] = True
    found: dict[int, int] = {}
    for factor in divisors[1:].tolist():
        source, target = _times(divisors, factor)
        for n in range(most):  # ascending, so that a factor may come several times
            product[n + 1, target] |= product[n, source]
            if product[n + 1, -1]:
                found.setdefault(n + 1, factor)
        if len(found) == most - 1:  # all but N itself
            break
    return found


def _of_least_sum(divisors: np.ndarray, dimension: int, largest: int) -> list[int]:
    """The `dimension` factors 2 … largest with the product N and the least sum, descending."""
    factors = divisors[(divisors > 1) & (divisors <= largest)].tolist()
    total = np.full((dimension + 1, len(divisors)), UNREACHED)  # [n, d]: least sum of n factors with the product d
    least = np.zeros((dimension + 1, len(divisors)), np.int64)  # the smallest of these
    total[0, 0] = 0
    for factor in reversed(factors):
        source, target = _times(divisors, factor)
        for n in range(dimension):
            better = total[n, source] + factor <= total[n + 1, target]  # of equal sums, the one that begins smaller
            better &= total[n, source] < UNREACHED
            total[n + 1, target[better]] = total[n, source[better]] + factor
            least[n + 1, target[better]] = factor
    found, rest = [], int(divisors[-1])
    for n in range(dimension, 0, -1):
        found.append(int(least[n, np.searchsorted(divisors, rest)]))
        rest //= found[-1]
    return found[::-1]


def _prime_factors(divisors: np.ndarray) -> int:
    """Number of prime factors of N, with repetitions: the length of the longest chain of divisors."""
    rest, count = int(divisors[-1]), 0
    for divisor in divisors[1:].tolist():
        while rest % divisor == 0:
            rest, count = rest // divisor, count + 1
    return count


Floats: TypeAlias = NDArray[np.float64]


class Cube(NamedTuple):
    """Cubes of constant bisection width, float64 arrays of one shape or numbers.

    mean_distance  hops, a node to itself included (Eq. 11)
    width          W, bits of a channel (Eq. 7); may be a fraction where the radix is 2 or odd
    pins           pins of a node, for 2n channels of W bits (Eq. 9)
    longest_wire   node pitches (Eq. 13)
    longest_fold   node pitches, in a layout of folded rings
    """

    mean_distance: Floats
    width: Floats
    pins: Floats
    longest_wire: Floats
    longest_fold: Floats

    def folded(self) -> Cube:
        """The same cubes with the wires of the paper's own layout instead of Eq. 13's."""
        return self._replace(longest_wire=self.longest_fold)


def radix(nodes: ArrayLike, dimension: ArrayLike) -> Floats:
    """k = N^(1/n), a real number (Eq. 1); exact where it is a whole one."""
    found = np.asarray(nodes, np.float64) ** (1 / np.asarray(dimension, np.float64))
    whole = np.rint(found)
    return np.where(whole ** np.asarray(dimension) == nodes, whole, found)


def cube(nodes: ArrayLike, dimension: ArrayLike) -> Cube:
    """The k-ary n-cube of N nodes: D = n(k-1)/2, W = k/2, nk pins, wires of k^(n/2-1), twice that if folded and k > 2.

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
    """A cube of whole, mixed radices, which Dally's footnote 5 leaves open.

    Its narrowest middle cuts the dimension of largest radix, which sets the width: W = max k / 2. The
    dimensions are dealt out to the plane's two sides, the largest last, and a wire of a side's last
    dimension passes all nodes of that side's others. Equal radices and an even n give `cube`'s values.
    Smaller dimensions then have wires to spare across their middle: a mixed cube can beat the one of real radix.
    Raises ValueError for fewer than two dimensions or a radix below 2.
    """
    if len(radices) < LEAST_DIMENSIONS or min(radices) < 2:
        raise ValueError(f"radices: expected two at least, each 2 at least, got {list(radices)}")
    ordered = sorted(radices)
    sides = (ordered[-1::-2], ordered[-2::-2])
    reach = [prod(side[1:]) for side in sides]  # of a side's last dimension, its largest
    fold = max(places * (2 if side[0] > 2 else 1) for places, side in zip(reach, sides))
    largest, dimension = ordered[-1], len(ordered)
    return Cube(*np.array([(sum(radices) - dimension) / 2, largest / 2, dimension * largest, max(reach), fold]))


def wire_delay(longest_wire: ArrayLike, model: str) -> Floats:
    """Cycle of a channel by the length l of its longest wire: constant 1, logarithmic 1 + log2 l, linear l.

    The unit is the cycle of a channel of one pitch.
    """
    return WIRE_DELAYS[model](np.asarray(longest_wire, np.float64))


def wormhole(cube: Cube, message_bits: ArrayLike, *, delay: str = "constant", locality: ArrayLike = 1.0) -> Floats:
    """T = T_c (D + L/W) cycles, without contention (Eqs. 3, 12).

    locality   mean distance as a share of the uniform one, 0 < locality ≤ 1: the paper says in words only
               that nearer partners shorten the distance, and that it helps cubes of few dimensions
    """
    distance = cube.mean_distance * _share(locality)
    return wire_delay(cube.longest_wire, delay) * (distance + np.asarray(message_bits, np.float64) / cube.width)


def store_and_forward(
    cube: Cube, message_bits: ArrayLike, *, delay: str = "constant", locality: ArrayLike = 1.0
) -> Floats:
    """T = T_c D L/W cycles, without contention (Eq. 2)."""
    distance = cube.mean_distance * _share(locality)
    return wire_delay(cube.longest_wire, delay) * distance * np.asarray(message_bits, np.float64) / cube.width


def designs(nodes: int, *, whole: bool = False) -> list[tuple[int, Cube]]:
    """(n, cube) of every dimension 2 … log2 N that has one. Raises ValueError if none has."""
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
    """Wires across each gap of a row of these dimensions, the first varying fastest; one bit a channel (Fig. 6).

    returns   int64[product - 1]: wires between nodes p and p + 1; multiply by the bits of wider channels
    A ring of two nodes has a channel each way; a longer one, folded or with its end-around channel, also
    passes every gap between its first and its last node twice. So the row of a 2D torus has 2W = k bits everywhere.
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
