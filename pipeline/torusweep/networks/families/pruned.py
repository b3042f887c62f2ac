"""Pruned and directed tori of equal sides k (Kwai & Parhami 1998; Parhami & Kwai 2004).

All arithmetic is modulo k. The symmetries are the left translations of the papers' semidirect products,
a → c + M(c) a, and those reflections of the torus that remain symmetries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np

from torusweep.networks.families.wiring import (
    affine,
    class_names,
    digit,
    neighbour,
    reflection,
    swap,
    translation,
    wiring,
)
from torusweep.networks.topology import Plan, Whole, Wiring, require, simple_graph

Radix = Annotated[int, Whole(2, "radix: nodes along each dimension")]
Dimensions = Annotated[int, Whole(3, "number of dimensions; two or more alternate along another one", maximum=30)]
ManhattanDimensions = Annotated[int, Whole(2, "number of dimensions", maximum=30)]
Intact = Annotated[int, Whole(1, "number of dimensions that keep all their links, including dimension 0")]


@dataclass(frozen=True)
class Pruning:
    """The dimensions of a pruned torus that have links at only some nodes, and these nodes.

    base         dimension with all links; its digit selects the alternating dimension
    intact       other dimensions with all links
    alternating  dimension alternating[j] has links only where the digit of `base` ≡ j modulo len(alternating)
    """

    base: int
    intact: tuple[int, ...]
    alternating: tuple[int, ...]


def pruned_torus(k: Radix, n: Dimensions) -> Plan:
    """Pruned torus: links a_0 ± 1 at every node; links a_i ± 1 (i ≥ 1) only where a_0 ≡ i − 1 modulo n − 1.

    Constraint: k is a multiple of n − 1, so that the pruned dimensions alternate evenly around dimension 0.
    Source: Parhami & Kwai 2004, sec. 2.
    """
    return partly_pruned_torus(k=k, n=n, intact=1)


def partly_pruned_torus(k: Radix, n: Dimensions, intact: Intact) -> Plan:
    """Torus whose first `intact` dimensions keep all links; the other dimensions alternate along dimension 0.

    Links a_i ± 1 are at every node for i < intact; for i ≥ intact only where a_0 ≡ i − intact modulo n − intact.
    intact=1 is the pruned torus; intact=2, n=4 is the 4D example of degree 6.

    Constraints: intact is at most n − 2; k is a multiple of n − intact.
    Source: Parhami & Kwai 2004, sec. 2 and 7.
    """
    require(intact <= n - 2, "intact", intact, f"at most n − 2 = {n - 2}", "two dimensions or more have to alternate")
    _require_multiple(k, n - intact)
    return _pruned(k, base=0, intact=list(range(intact)), alternating=list(range(intact, n)))


def pruned_t1(k: Radix) -> Plan:
    """T1: links z ± 1 at every node, x ± 1 where z is even, y ± 1 where z is odd; isomorphic to the 3D pruned torus.

    Constraint: k is even.
    Source: Kwai & Parhami 1998, sec. 2.
    """
    _require_even(k, "otherwise two neighbouring planes keep the same dimension")
    return _pruned(k, base=2, intact=[2], alternating=[0, 1])


def pruned_t2(k: Radix) -> Plan:
    """T2, the 3D diamond network: links z ± 1 everywhere; x + 1, y + 1 where x + y + z is even, else x − 1, y − 1.

    Constraint: k is even.
    Source: Kwai & Parhami 1998, sec. 2.
    """
    return _by_parity(k, along=(0, 1, 2))


def pruned_xy(k: Radix) -> Plan:
    """Torus pruned along x + y: like T2, but with the parity of x + y. It is not connected.

    Constraint: k is even.
    Source: Kwai & Parhami 1998, Fig. 2.
    """
    return _by_parity(k, along=(0, 1))


def directed_torus(k: Radix, n: ManhattanDimensions) -> Plan:
    """Multidimensional Manhattan street network: a_i + 1 where the sum of the other digits is even, else a_i − 1.

    Constraint: k is even.
    Source: Parhami & Kwai 2004, sec. 2 and 3.C.
    """
    _require_even(k, "otherwise the wraparound links break the alternation")
    sides = (k,) * n

    def symmetries() -> list[np.ndarray]:
        left = [affine(sides, range(n), [1 if j == i else -1 for j in range(n)], _unit(n, i)) for i in range(n)]
        return [*left, *(swap(sides, i - 1, i) for i in range(1, n))]

    return Plan(
        nodes=k**n,
        degree=n,
        radices=sides,
        directed=True,
        wire=lambda: wiring([_street(sides, i) for i in range(n)], range(n)),
        symmetries=symmetries,
        # each torus link is one arc (both, if k = 2), and as many arcs leave a half as enter it:
        # half of the torus's 4 k^(n-1) / 2
        bisection=k ** (n - 1),
        bisection_source=(
            "Parhami & Kwai 2004, Table 1; half the torus's, for a directed network with equal in- and out-degrees"
        ),
        classes=class_names(n),
    )


def pruned_directed_torus(k: Radix, n: Dimensions) -> Plan:
    """Pruned directed torus: the links of the pruned torus, directed as in the directed torus.

    Constraints: k is even, and a multiple of n − 1.
    Source: Parhami & Kwai 2004, sec. 2 and 3.D.
    """
    _require_even(k, "otherwise the wraparound links break the alternation")
    _require_multiple(k, n - 1)
    sides = (k,) * n
    cycle = list(range(1, n))

    def wire() -> Wiring:
        streets = wiring([_street(sides, 0), _select_by_digit(sides, 0, [_street(sides, i) for i in cycle])], [0, 0])
        streets.link_class[:, 1] = _select_by_digit(sides, 0, [np.full((1,) * n, i, np.int8) for i in cycle]).reshape(
            -1
        )
        return streets

    def symmetries() -> list[np.ndarray]:
        # a_0 + 1 maps each other dimension to the next and flips its parity; a_1 + 1 flips the parity
        # of all dimensions but 1; the reflection of a_0 reverses the order in which they alternate
        forward = affine(sides, [0, *_rotate(cycle)], [1] + [-1] * (n - 1), _unit(n, 0))
        sideways = affine(sides, [0, *_mirror(cycle)], [1 if j == 1 else -1 for j in range(n)], _unit(n, 1))
        return [forward, sideways]

    # each link of the pruned torus is one arc, and as many arcs leave a half as enter it: half of the pruned torus's
    exact = k >= 2 * (n - 1)
    return Plan(
        nodes=k**n,
        degree=2,
        radices=sides,
        directed=True,
        wire=wire,
        symmetries=symmetries,
        bisection=k ** (n - 1) // (n - 1) if exact else None,
        bisection_source=(
            "Parhami & Kwai 2004, after Theorem 4; half the pruned torus's, as in- and out-degrees are equal"
            if exact
            else ""
        ),
        classes=class_names(n),
    )


def _pruned(k: int, *, base: int, intact: list[int], alternating: list[int]) -> Plan:
    """Plan the torus in which alternating[j] has links only where the digit of `base` ≡ j modulo len(alternating)."""
    n, period = len(intact) + len(alternating), len(alternating)
    sides, steps = (k,) * n, (1,) if k == 2 else (1, -1)

    def wire() -> Wiring:
        columns = [neighbour(sides, i, step) for i in intact for step in steps]
        columns += [_select_by_digit(sides, base, [neighbour(sides, i, step) for i in alternating]) for step in steps]
        wires = wiring(columns, [i for i in intact for _ in steps] + [0] * len(steps))
        alternates = _select_by_digit(sides, base, [np.full((1,) * n, i, np.int8) for i in alternating])
        wires.link_class[:, -len(steps) :] = np.broadcast_to(alternates, tuple(reversed(sides))).reshape(-1, 1)
        return wires

    def symmetries() -> list[np.ndarray]:
        forward, backward = list(range(n)), list(range(n))
        for place, source, mirrored in zip(alternating, _rotate(alternating), _mirror(alternating)):
            forward[place], backward[place] = source, mirrored
        free = [i for i in range(n) if i != base]
        others = [i for i in intact if i != base]
        return [
            affine(sides, forward, [1] * n, _unit(n, base)),
            affine(sides, backward, [-1 if i == base else 1 for i in range(n)], [0] * n),
            *(translation(sides, _unit(n, i)) for i in free),
            *(reflection(sides, i, 0) for i in free),
            *(swap(sides, i, j) for i, j in pairwise(others)),
        ]

    # A cut across an alternating dimension has this width, and no cut is narrower. Shortest paths take
    # k/4 hops on average in each alternating dimension, over N/period equivalent links, so that
    # N·k·period/8 of the N²/2 pairs use each link. For d hops along dimension 0 they take at most
    # max(d, 2(period − 1) − d) there, on average k/4 + 2(period − 1)²/k, over N links; that is no more if
    # k ≥ 2 · period. A cut separates N²/4 pairs.
    exact = k % 2 == 0 and k >= 2 * period and len(intact) == 1
    return Plan(
        nodes=k**n,
        degree=len(steps) * (len(intact) + 1),
        radices=sides,
        wire=wire,
        symmetries=symmetries,
        bisection=2 * k ** (n - 1) // period if exact else None,
        bisection_source=(
            "Parhami & Kwai 2004, Theorem 4; no narrower:"
            " of all pairs' shortest paths at most N·k·(n−1)/8 share a link, and N²/4 cross a half"
            if exact
            else ""
        ),
        classes=class_names(n),
        structure=Pruning(base, tuple(i for i in intact if i != base), tuple(alternating)),
    )


def _by_parity(k: int, along: tuple[int, ...]) -> Plan:
    """Plan a 3D torus with links z ± 1, and x + 1 and y + 1 where the digits in `along` have an even sum, else − 1."""
    _require_even(k, "otherwise the wraparound links break the alternation")
    sides = (k, k, k)

    def wire() -> Wiring:
        even = sum(digit(sides, i) for i in along) % 2 == 0
        x, y = (np.where(even, neighbour(sides, i, 1), neighbour(sides, i, -1)) for i in (0, 1))
        return simple_graph(*wiring([x, y, neighbour(sides, 2, 1), neighbour(sides, 2, -1)], [0, 1, 2, 2])[:2])

    def symmetries() -> list[np.ndarray]:
        turned = [affine(sides, (1, 0, 2), (-1, -1, 1), _unit(3, i)) for i in along]  # c odd: a → c + Φ a
        straight = [translation(sides, c) for c in ((1, 1, 0), *(_unit(3, i) for i in range(3) if i not in along))]
        return [*turned, *straight, swap(sides, 0, 1), reflection(sides, 2, 0)]

    return Plan(
        nodes=k**3, degree=3 if k == 2 else 4, radices=sides, wire=wire, symmetries=symmetries, classes=class_names(3)
    )


def _street(sides: Sequence[int], i: int) -> np.ndarray:
    """int32[k, …, k]: the next node in dimension i, or the previous one if the sum of a node's other digits is odd."""
    even = sum(digit(sides, j) for j in range(len(sides)) if j != i) % 2 == 0
    return np.where(even, neighbour(sides, i, 1), neighbour(sides, i, -1))


def _select_by_digit(sides: Sequence[int], base: int, options: Sequence[np.ndarray]) -> np.ndarray:
    """Choose the option for every node by its digit of `base`, modulo the number of options."""
    which = digit(sides, base) % len(options)
    chosen = np.broadcast_to(options[0], tuple(reversed(sides))).copy()
    for number, option in enumerate(options[1:], start=1):
        np.copyto(chosen, option, where=which == number)
    return chosen


def _rotate(dimensions: list[int]) -> list[int]:
    """Return, for each alternating dimension, the dimension that maps onto it if the base digit grows by one (Ψ)."""
    return dimensions[-1:] + dimensions[:-1]


def _mirror(dimensions: list[int]) -> list[int]:
    """Return, for each alternating dimension, the one that maps onto it if the base digit changes sign: j → −j."""
    return dimensions[:1] + dimensions[:0:-1]


def _unit(n: int, i: int) -> list[int]:
    return [int(j == i) for j in range(n)]


def _require_even(k: int, why: str) -> None:
    require(k % 2 == 0, "k", k, "an even radix", why)


def _require_multiple(k: int, period: int) -> None:
    require(
        k % period == 0,
        "k",
        k,
        f"a multiple of {period}",
        f"the {period} pruned dimensions take turns along dimension 0, around its ring",
    )
