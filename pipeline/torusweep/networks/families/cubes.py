"""k-ary n-cubes and their relatives: ring, torus, mesh, hypercube (Dally 1990, sec. 2)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated

from torusweep.networks.families.grids import (
    class_names,
    digit,
    first_of_each_side,
    keep_where,
    neighbour,
    reflection,
    sides_of,
    swaps,
    wiring,
)
from torusweep.networks.families.hermite import box
from torusweep.networks.topology import Meaning, Plan, Whole, Wiring

Radix = Annotated[int, Whole(2, "radix: nodes along each dimension")]
Dimensions = Annotated[int, Whole(1, "number of dimensions", maximum=30)]
Sides = Annotated[
    list[Radix] | None, Meaning("radix of each dimension, x first, in place of k and n; at most 30, each ≥ 2")
]
OneWay = Annotated[bool, Meaning("links in the direction of growing digits only")]

PRODUCTS = "Aroca & Fernández Anta 2014, bisection width of product networks"


def ring(k: Radix) -> Plan:
    """Ring of k nodes.

    Source: the 1-dimensional torus.
    """
    return torus(k=k, n=1)


def torus(k: Radix | None = None, n: Dimensions | None = None, radices: Sides = None, directed: OneWay = False) -> Plan:
    """k-ary n-cube: a_i ± 1 modulo the radix in every dimension; with directed=true a_i + 1 only.

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
        wire=lambda: grid_steps(sides, directed=directed, wrap=[True] * len(sides)),
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
        wire=lambda: grid_steps(sides, directed=False, wrap=[False] * len(sides)),
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
    """Bisection width of a mesh, in links.

    The cut is across the longest side. If that side is odd, the middle plane is cut across the next
    longest side, and so on down to the first even side.
    """
    longest_first = sorted(sides, reverse=True)
    across = [prod(longest_first[i + 1 :]) for i in range(len(sides))]
    even = next((i for i, side in enumerate(longest_first) if side % 2 == 0), len(sides) - 1)
    return sum(across[: even + 1])


def _torus_bisection(sides: Sequence[int], directed: bool) -> int | None:
    """Bisection width of a torus, in links; None where no theorem applies.

    It is twice that of the mesh. In a directed torus as many arcs leave a half as enter it, so it is
    half of that. A side of 2 is one link and not a ring, so the theorem holds only if no such side is
    cut: if the longest side is even and ≥ 4 (uniform traffic then loads the longest dimension most, and
    N²/4 pairs over that load give the same bound), or if all sides are 2 (hypercube).
    """
    longest = max(sides)
    if longest == 2:
        return prod(sides) // 2
    if 2 in sides and longest % 2:
        return None
    return _array_bisection(sides) * (1 if directed else 2)


def grid_steps(sides: Sequence[int], *, directed: bool, wrap: Sequence[bool]) -> Wiring:
    """Links ± 1 in every dimension, round it where `wrap` says so: a + port, then a − port; one port if it is 2."""
    columns, classes = [], []
    for dimension, side in enumerate(sides):
        for step in (1,) if directed or side == 2 else (1, -1):
            column = neighbour(sides, dimension, step)
            if not wrap[dimension] and side > 2:
                column = keep_where(digit(sides, dimension) != (side - 1 if step == 1 else 0), column)
            columns.append(column)
            classes.append(dimension)
    return wiring(columns, classes)
