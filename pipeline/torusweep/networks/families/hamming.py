"""Networks in which all nodes of a row are joined to each other: HyperX, Hamming graphs and their other names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated

import numpy as np

from torusweep.networks.families.grids import class_names, digit, neighbour, swap, validate_radices, wiring
from torusweep.networks.families.linked import Terminals, terminals_of
from torusweep.networks.topology import Meaning, Plan, Whole, Wiring, require

Radix = Annotated[int, Whole(2, "routers in each row of a dimension")]
Radices = Annotated[list[Radix], Meaning("routers along each dimension, x first; at most 30, each ≥ 2")]
Widths = Annotated[list[int] | None, Meaning("parallel links between two routers of each dimension; 1 where left out")]

SPECTRAL = (
    "N λ₂/4 links at least cross a bisection (Fiedler 1975); λ₂ is the least of side × width, and halving that"
    " dimension cuts as many"
)


@dataclass(frozen=True)
class Hamming:
    """The structure of a Hamming graph: its sides, x first."""

    sides: tuple[int, ...]


def hyperx(radices: Radices, terminals: Terminals = 1, widths: Widths = None) -> Plan:
    """HyperX: routers that differ in one digit are joined, by as many links as the width of that dimension.

    Constraint: widths has as many values as radices, each ≥ 1.
    Source: Ahn et al. 2009, sec. 2 (L dimensions, S = radices, K = widths, T = terminals).
    """
    sides = validate_radices(radices)
    wide = tuple([1] * len(sides) if widths is None else widths)
    require(
        len(wide) == len(sides) and min(wide) >= 1,
        "widths",
        list(wide),
        f"{len(sides)} values ≥ 1, as radices",
        "each dimension has one",
    )
    kinds = list(zip(sides, wide))
    least = min(kinds, key=lambda kind: (kind[0] * kind[1], kind[0] % 2))
    even = least[0] % 2 == 0
    return Plan(
        nodes=prod(sides),
        degree=sum(side - 1 for side in sides),
        radices=sides,
        wire=lambda: _wire(sides, wide, terminals),
        symmetries=lambda: _symmetries(kinds),
        bisection=prod(sides) * least[0] * least[1] // 4 if even else None,
        bisection_source=SPECTRAL if even else "",
        classes=class_names(len(sides)),
        structure=Hamming(sides),
        joined=terminals == 1,
    )


def hamming(radices: Radices) -> Plan:
    """Hamming graph: nodes that differ in one digit are joined; the HyperX with one terminal a router.

    Source: Hamming 1950; as an interconnection network, Bhuyan & Agrawal 1984.
    """
    return hyperx(radices)


def generalised_hypercube(radices: Radices) -> Plan:
    """Generalised hypercube: another name of the Hamming graph.

    Source: Bhuyan & Agrawal 1984, sec. II.
    """
    return hyperx(radices)


def full_mesh(radices: Radices, terminals: Terminals = 1) -> Plan:
    """nD full mesh: in each dimension, all routers of a row are joined; another name of the HyperX of width 1.

    Source: Liao et al. 2025, UB-Mesh, sec. 3.
    """
    return hyperx(radices, terminals)


def _wire(sides: Sequence[int], widths: Sequence[int], terminals: int) -> Wiring:
    columns, classes, wide = [], [], []
    for dimension, side in enumerate(sides):
        for step in range(1, side):
            columns.append(neighbour(sides, dimension, step))
            classes.append(dimension)
            wide.append(widths[dimension])
    plain = wiring(columns, classes)
    capacity = np.broadcast_to(np.array(wide, np.int32), plain.ports.shape).copy() if max(wide) > 1 else None
    nodes = np.arange(prod(sides), dtype=np.int32)
    return plain._replace(capacity=capacity, terminals=None if terminals == 1 else terminals_of(nodes, terminals))


def _symmetries(kinds: Sequence[tuple[int, int]]) -> list[np.ndarray]:
    """Turn a dimension's digits, exchange two of them, and exchange equal dimensions: these generate all."""
    sides = [side for side, _ in kinds]
    first = [i for i, kind in enumerate(kinds) if kind not in kinds[:i]]
    nodes = np.arange(prod(sides), dtype=np.int32).reshape(tuple(reversed(sides)))
    exchanged = []
    for i in first:
        if sides[i] > 2:
            step = np.array([1, -1, *[0] * (sides[i] - 2)], np.int32)[digit(sides, i)]
            exchanged.append((nodes + step * prod(sides[:i])).astype(np.int32).reshape(-1))
    turned = [neighbour(sides, i, 1).reshape(-1) for i in first]
    swapped = [swap(sides, kinds.index(kind), i) for i, kind in enumerate(kinds) if kind in kinds[:i]]
    return [*turned, *exchanged, *swapped]
