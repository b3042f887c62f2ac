"""Layouts by plain loops: places as tuples in a dictionary, wires as pairs of nodes; an independent oracle."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

Node = tuple[int, ...]
Place = tuple[int, ...]
Links = list[tuple[Node, Node]]


def folded_ring(k: int) -> list[int]:
    """The nodes of a ring in their order in a folded layout: from both ends of the row inwards."""
    order, low, high = [], 0, k - 1
    while low <= high:
        order += [low] if low == high else [low, high]
        low, high = low + 1, high - 1
    return order


def torus_links(sides: Node, *, directed: bool = False) -> Links:
    """A torus's links: steps up along every dimension; if undirected, each pair of neighbours once."""
    steps = [
        (a, tuple((x + (i == d)) % k for i, (x, k) in enumerate(zip(a, sides))))
        for a in every(sides)
        for d in range(len(sides))
    ]
    return steps if directed else [tuple(sorted(link)) for link in {frozenset(link) for link in steps}]


def twisted_links(sides: Node, twists: dict[int, Node]) -> Links:
    """A torus's links; the wraparound of dimension j adds twists[j] to the address."""

    def up(a: Node, d: int) -> Node:
        shift = twists.get(d, (0,) * len(sides)) if a[d] == sides[d] - 1 else (0,) * len(sides)
        return tuple((x + (i == d) + s) % k for i, (x, s, k) in enumerate(zip(a, shift, sides)))

    return [tuple(sorted(link)) for link in {frozenset((a, up(a, d))) for a in every(sides) for d in range(len(sides))}]


def every(sides: Node) -> list[Node]:
    return list(itertools.product(*map(range, sides)))


def straight_or_folded(sides: Node, space: int, *, fold: bool, block: Node | None = None) -> dict[Node, Place]:
    """Place of each node (of its cabinet): digit i along dimension i modulo `space`, above the earlier digits there."""
    block = block or (1,) * len(sides)
    boxes = tuple(k // b for k, b in zip(sides, block))
    found = {}
    for a in every(sides):
        place = [0] * space
        for i in reversed(range(len(sides))):
            order = folded_ring(boxes[i]) if fold else list(range(boxes[i]))
            place[i % space] = place[i % space] * boxes[i] + order.index(a[i] // block[i])
        found[a] = tuple(place)
    return found


def measured(places: dict[Node, Place], links: Links, *, directed: bool = False) -> dict[str, object]:
    """Columns of the table `layout`, by plain counting."""
    wires = [(places[u], places[v]) for u, v in links if places[u] != places[v]]
    manhattan = [sum(abs(p - q) for p, q in zip(*wire)) for wire in wires]
    euclidean = [math.dist(*wire) for wire in wires]
    extent = [max(place[d] for place in places.values()) + 1 for d in range(len(next(iter(places.values()))))]
    both = 1 if directed else 2
    across = [
        [both * sum(min(p[d], q[d]) <= gap < max(p[d], q[d]) for p, q in wires) for gap in range(side - 1)]
        for d, side in enumerate(extent)
    ]
    rows = math.prod(extent[1:])
    middle = min((gaps[len(gaps) // 2] for gaps in across if gaps), default=0)
    return {
        "extent": extent,
        "wire_length_max": max(manhattan, default=None),
        "wire_length_mean": float(Fraction(sum(manhattan), len(wires))) if wires else None,
        "wire_length_total": sum(manhattan),
        "wire_length_max_euclidean": max(euclidean, default=None),
        "wire_length_total_euclidean": math.fsum(euclidean),
        "wire_length_histogram": [
            {"length": length, "wires": count} for length, count in sorted(Counter(manhattan).items())
        ],
        "wire_density_max": max(across[0], default=0) / rows,
        "wire_density_position": across[0].index(max(across[0])) + 1 if across[0] else None,
        "wire_density_middle": across[0][len(across[0]) // 2] / rows if across[0] else 0.0,
        "middle_channels": middle,
        "channel_width": len(places) / middle if middle else None,
    }
