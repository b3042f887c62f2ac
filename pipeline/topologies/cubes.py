"""k-ary n-cubes and their relatives: ring, torus, mesh, hypercube (Dally 1990, sec. 2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Annotated

import numpy as np

from pipeline.errors import BadInput
from pipeline.topology import NO_PORT, Plan, Whole, Wiring, addresses, node_index, require, simple_graph

Radix = Annotated[int, Whole(2, "radix: nodes along each dimension")]
Dimensions = Annotated[int, Whole(1, "number of dimensions", maximum=30)]


def ring(k: Radix) -> Plan:
    """Ring of k nodes.

    Source: the 1-dimensional torus.
    """
    return torus(k=k, n=1)


def torus(k: Radix | None = None, n: Dimensions | None = None, radices: list[Radix] | None = None, directed: bool = False) -> Plan:
    """k-ary n-cube: a_i ± 1 modulo the radix in every dimension; with directed=true a_i + 1 only.

    A radix of 2 gives one link, not two. Mixed radices: radices=[8, 4, 4].
    Source: Dally 1990, sec. 2 (directed); Parhami & Kwai 2004, sec. 3.A.
    """
    sides = sides_of(k, n, radices)
    dimensions = len(sides)
    ports = sum(1 if directed or side == 2 else 2 for side in sides)
    even_longest = not directed and max(sides) % 2 == 0
    width = 1 if max(sides) == 2 else 2
    return Plan(
        nodes=prod(sides),
        degree=ports,
        radices=sides,
        directed=directed,
        wire=lambda: _steps(sides, [1] if directed else [1, -1], wrap=True),
        symmetries=lambda: [*translations(sides), *([] if directed else reflections(sides, about=0)), *swaps(sides)],
        bisection=width * prod(sides) // max(sides) if even_longest else None,
        bisection_source="cut across the longest dimension, of even radix" if even_longest else "",
        classes=tuple("xyzw"[d] if dimensions <= 4 else f"dimension {d}" for d in range(dimensions)),
    )


def mesh(k: Radix | None = None, n: Dimensions | None = None, radices: list[Radix] | None = None) -> Plan:
    """Mesh: the torus without its wraparound links.

    Source: Rahman et al. 2005, Table 1 (64 × 64).
    """
    sides = sides_of(k, n, radices)
    even_longest = max(sides) % 2 == 0
    return Plan(
        nodes=prod(sides),
        degree=sum(1 if side == 2 else 2 for side in sides),
        radices=sides,
        wire=lambda: _steps(sides, [1, -1], wrap=False),
        symmetries=lambda: [*reflections(sides, about=-1), *swaps(sides)],
        bisection=prod(sides) // max(sides) if even_longest else None,
        bisection_source="cut across the longest dimension, of even radix" if even_longest else "",
        classes=tuple("xyzw"[d] if len(sides) <= 4 else f"dimension {d}" for d in range(len(sides))),
    )


def hypercube(n: Dimensions) -> Plan:
    """Binary n-cube: the torus of radix 2.

    Source: Rahman et al. 2005, Table 1 (n = 12).
    """
    return torus(k=2, n=n)


def sides_of(k: int | None, n: int | None, radices: list[int] | None) -> tuple[int, ...]:
    """The sides that k and n, or radices, give; dimension 0 (x) first."""
    if radices is not None:
        if k is not None or n is not None:
            raise BadInput("expected k and n, or radices, not both")
        require(len(radices) >= 1, "radices", radices, "at least one side", "a network has a dimension")
        require(len(radices) <= 30, "radices", f"({len(radices)} sides)", "at most 30 sides", "2³⁰ nodes and more do not fit")
        require(min(radices) >= 2, "radices", radices, "sides ≥ 2", "a side of 1 is no dimension")
        return tuple(radices)
    if k is None or n is None:
        raise BadInput("expected k and n, as in k=8, n=3, or radices=[8, 4, 4]")
    return (k,) * n


def _steps(sides: Sequence[int], steps: Sequence[int], *, wrap: bool) -> Wiring:
    """Links by ± 1 in every dimension."""
    digits = addresses(sides)
    columns, classes = [], []
    for dimension, step in product(range(len(sides)), steps):
        moved = digits.copy()
        moved[:, dimension] += step
        target = node_index(moved, sides)
        if not wrap:
            target[(moved[:, dimension] < 0) | (moved[:, dimension] >= sides[dimension])] = NO_PORT
        columns.append(target)
        classes.append(np.full(len(target), dimension, np.int8))
    return simple_graph(np.stack(columns, axis=1), np.stack(classes, axis=1))


# --- automorphisms that several families share ----------------------------------------------------


def translations(sides: Sequence[int]) -> list[np.ndarray]:
    """a → a + e_i for every dimension."""
    digits = addresses(sides)
    return [node_index(digits + np.eye(len(sides), dtype=np.int32)[i], sides) for i in range(len(sides))]


def reflections(sides: Sequence[int], *, about: int) -> list[np.ndarray]:
    """a_i → about − a_i for every dimension (about = 0 fixes the origin, −1 turns a mesh round)."""
    digits = addresses(sides)
    images = []
    for i in range(len(sides)):
        moved = digits.copy()
        moved[:, i] = about - moved[:, i]
        images.append(node_index(moved, sides))
    return images


def swaps(sides: Sequence[int]) -> list[np.ndarray]:
    """Exchange of each dimension with the previous one of the same side."""
    digits = addresses(sides)
    images = []
    last: dict[int, int] = {}
    for i, side in enumerate(sides):
        if side in last:
            moved = digits.copy()
            moved[:, [last[side], i]] = moved[:, [i, last[side]]]
            images.append(node_index(moved, sides))
        last[side] = i
    return images
