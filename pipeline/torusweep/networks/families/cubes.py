"""k-ary n-cubes and their relatives: ring, torus, mesh, hypercube (Dally 1990, sec. 2).

Cube-connected cycles: a hypercube in which each node is replaced by a ring, with one ring node per dimension. De Bruijn
and Kautz graphs: directed networks whose nodes are words, with a channel to each word that shifting in a letter gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Annotated

import numpy as np

from torusweep.networks.families.algebra import box
from torusweep.networks.families.wiring import (
    ClassLinks,
    UnitSteps,
    affine,
    class_names,
    digit,
    first_of_each_side,
    neighbour,
    reflection,
    sides_of,
    swaps,
    translation,
    wiring,
    wiring_of_links,
)
from torusweep.networks.topology import Meaning, Plan, Whole, Wiring

Radix = Annotated[int, Whole(2, "radix: nodes along each dimension")]
Dimensions = Annotated[int, Whole(1, "number of dimensions", maximum=30)]
Sides = Annotated[
    list[Radix] | None, Meaning("radix of each dimension, x first, in place of k and n; at most 30, each ≥ 2")
]
OneWay = Annotated[bool, Meaning("whether links lead only in the direction of growing digits")]

PRODUCTS = "Aroca & Fernández Anta 2014, bisection width of product networks"


def ring(k: Radix) -> Plan:
    """Ring of k nodes.

    Source: the 1-dimensional torus.
    """
    return torus(k=k, n=1)


def torus(k: Radix | None = None, n: Dimensions | None = None, radices: Sides = None, directed: OneWay = False) -> Plan:
    """k-ary n-cube: along a link, one digit of a node changes by ± 1 modulo its radix; with directed=true by + 1 only.

    A radix of 2 gives one link, not two. Give k and n, or mixed radices=[8, 4, 4], not both.
    Source: Dally 1990, sec. 2 (directed); Parhami & Kwai 2004, sec. 3.A.
    """
    sides = sides_of(k, n, radices)
    bisection = _torus_bisection(sides, directed)
    return Plan(
        nodes=prod(sides),
        degree=sum(1 if directed or side == 2 else 2 for side in sides),
        radices=sides,
        directed=directed,
        wire=UnitSteps(box(sides), (True,) * len(sides), directed),
        symmetries=lambda: [
            *(neighbour(sides, i, 1).reshape(-1) for i in first_of_each_side(sides)),
            *(reflection(sides, i, 0) for i in first_of_each_side(sides) if sides[i] > 2 and not directed),
            *swaps(sides),
        ],
        bisection=bisection,
        bisection_source="" if bisection is None else PRODUCTS,
        classes=class_names(len(sides)),
        structure=box(sides),
        joined=True,
    )


def mesh(k: Radix | None = None, n: Dimensions | None = None, radices: Sides = None) -> Plan:
    """Mesh: the torus without its wraparound links.

    Give k and n, or mixed radices=[8, 4, 4], not both.
    Source: Rahman et al. 2005, Table 1 (64 × 64).
    """
    sides = sides_of(k, n, radices)
    return Plan(
        nodes=prod(sides),
        degree=sum(1 if side == 2 else 2 for side in sides),
        radices=sides,
        wire=UnitSteps(box(sides), (False,) * len(sides)),
        symmetries=lambda: [*(reflection(sides, i, -1) for i in first_of_each_side(sides)), *swaps(sides)],
        bisection=_array_bisection(sides),
        bisection_source=PRODUCTS,
        classes=class_names(len(sides)),
        joined=True,
    )


def hypercube(n: Dimensions) -> Plan:
    """Binary n-cube: the torus of radix 2.

    Source: Rahman et al. 2005, Table 1 (n = 12).
    """
    return torus(k=2, n=n)


def _array_bisection(sides: Sequence[int]) -> int:
    """Return the bisection width of a mesh, in links.

    The cut is across the longest side. If that side is odd, its middle plane is cut across the next
    longest side, and so on down to the first even side.
    """
    longest_first = sorted(sides, reverse=True)
    across = [prod(longest_first[i + 1 :]) for i in range(len(sides))]
    even = next((i for i, side in enumerate(longest_first) if side % 2 == 0), len(sides) - 1)
    return sum(across[: even + 1])


def _torus_bisection(sides: Sequence[int], directed: bool) -> int | None:
    """Return the bisection width of a torus, in links; None if no theorem applies.

    This is twice the width of the mesh. In a directed torus, half of these links leave one half of the nodes and half
    enter it, so the width is that of the mesh. A side of 2 has one link and is no ring, so the theorem holds only if no
    such side is cut: if the longest side is even and ≥ 4 (uniform traffic then loads the longest dimension most, and
    N²/4 pairs over that load give the same bound), or if all sides are 2 (hypercube).
    """
    longest = max(sides)
    if longest == 2:
        return prod(sides) // 2
    if 2 in sides and longest % 2:
        return None
    return _array_bisection(sides) * (1 if directed else 2)


CubeDimensions = Annotated[int, Whole(3, "dimensions of the cube, and nodes of each ring", maximum=26)]


def ccc(n: CubeDimensions) -> Plan:
    """Cube-connected cycles: node (i, word) joins (i ± 1, word) and (i, the word with bit i flipped).

    Digits: the place i in the ring, then the n bits of the word, bit 0 first.
    Source: Preparata & Vuillemin 1981; Rahman et al. 2005, Table 1 (n = 9).
    """
    sides = (n,) + (2,) * n
    unchanged = [0] * (n + 1)

    def wire() -> Wiring:
        place = digit(sides, 0)
        across = neighbour(sides, 1, 1).copy()
        for bit in range(1, n):
            np.copyto(across, neighbour(sides, 1 + bit, 1), where=place == bit)
        return wiring([neighbour(sides, 0, 1), neighbour(sides, 0, -1), across], [0, 0, 1])

    def symmetries() -> list[np.ndarray]:
        turn = affine(sides, [0, n, *range(1, n)], [1] * (n + 1), [1, *unchanged[1:]])
        mirror = affine(sides, [0, 1, *range(n, 1, -1)], [-1] + [1] * n, unchanged)
        flip = affine(sides, range(n + 1), [1] * (n + 1), [0, 1, *unchanged[2:]])
        return [turn, mirror, flip]

    return Plan(nodes=n * 2**n, degree=3, radices=sides, wire=wire, symmetries=symmetries, classes=("ring", "cube"))


Letters = Annotated[int, Whole(2, "channels that leave a node, d")]
Length = Annotated[int, Whole(2, "letters of a word, which is also the diameter", maximum=30)]


def de_bruijn(d: Letters, k: Length) -> Plan:
    """De Bruijn graph: d^k words of k letters. A word's channels lead to words with a letter shifted in on the right.

    A word's number has its letters as digits in base d, the last letter lowest. Channels from a word to itself (all
    letters equal) are left out.
    Source: de Bruijn 1946; as a network, Samatham & Pradhan 1989.
    """
    return Plan(
        nodes=d**k,
        degree=d,
        radices=(d**k,),
        wire=lambda: _shifted(d, d**k, lambda words: words * d % d**k),
        directed=True,
        symmetries=lambda: [translation((d,) * k, (1,) * k)],
        classes=("link",),
        joined=True,
    )


def kautz(d: Letters, k: Length) -> Plan:
    """Kautz graph: d^k + d^(k−1) words of k letters out of d + 1; adjacent letters differ. Channels as in de_bruijn.

    A word's number has these digits, from the lowest: the k − 1 differences between a letter and the letter before it,
    less 1, in base d, the last difference first; then the first letter.
    Source: Kautz 1968.
    """
    rest = d ** (k - 1)

    def after(words: np.ndarray) -> np.ndarray:
        """Shift a letter into each word, and return the number of the first word that can result, with difference 0."""
        first, differences = words // rest, words % rest
        second = (first + differences // (rest // d) + 1) % (d + 1)
        return second * rest + differences * d % rest

    return Plan(
        nodes=(d + 1) * rest,
        degree=d,
        radices=((d + 1) * rest,),
        wire=lambda: _shifted(d, (d + 1) * rest, after),
        directed=True,
        symmetries=lambda: [((np.arange((d + 1) * rest) + rest) % ((d + 1) * rest)).astype(np.int32)],
        classes=("link",),
        joined=True,
    )


def _shifted(d: int, nodes: int, after: Callable[[np.ndarray], np.ndarray]) -> Wiring:
    """Wire channels from each word to d words with consecutive numbers; `after` gives the first of these."""
    words, letters = np.arange(nodes), np.arange(d)[:, None]
    return wiring_of_links(nodes, [ClassLinks(np.tile(words, d), (after(words) + letters).reshape(-1))], directed=True)
