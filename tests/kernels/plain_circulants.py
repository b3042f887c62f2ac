"""Classes of step sets, by plain loops."""

from __future__ import annotations

from itertools import combinations
from math import gcd


def orbits(nodes: int, steps: int) -> list[set[tuple[int, ...]]]:
    """All step sets, class by class: a plain loop over units."""
    left = set(combinations(range(1, nodes // 2 + 1), steps))
    found = []
    while left:
        one = min(left)
        images = set()
        for unit in range(nodes):
            if gcd(unit, nodes) == 1:
                images.add(tuple(sorted(min(unit * s % nodes, nodes - unit * s % nodes) for s in one)))
        found.append(images)
        left -= images
    return found
