"""What no graph of a size and degree can beat, and what no lattice can."""

from __future__ import annotations

from collections.abc import Callable
from math import comb


def moore_levels(nodes: int, degree: int, *, directed: bool = False) -> list[int]:
    """The most nodes that can be at distance 0, 1, 2, … from a node of a graph: 1, d, d(d − 1), d(d − 1)², … until all
    nodes are reached; 1, d, d², … where d links leave a node and other links lead to it.

    Raises ValueError where no connected graph has this degree.
    """
    if nodes > degree + 1 and degree < 2 - directed:
        raise ValueError(f"no connected graph of {nodes} nodes has degree {degree}")
    return _fill(nodes, lambda distance: degree * (degree - (not directed)) ** (distance - 1))


def lattice_levels(nodes: int, dimensions: int) -> list[int]:
    """The most nodes that can be at distance 0, 1, 2, … from a node of a lattice graph: as many as in Zⁿ itself,
    Σ 2ᵏ C(n, k) C(r − 1, k − 1) at distance r, until all nodes are reached.
    """
    n = dimensions
    return _fill(nodes, lambda r: sum(2**k * comb(n, k) * comb(r - 1, k - 1) for k in range(1, n + 1)))


def distance_sum(levels: list[int]) -> int:
    """Sum of a node's distances to all nodes; of `moore_levels`, the bound of Cerf, Cowan, Mullin & Stanton 1974."""
    return sum(distance * count for distance, count in enumerate(levels))


def diameter(levels: list[int]) -> int:
    """The last distance. Of `moore_levels` it is Moore's bound (Hoffman & Singleton 1960)."""
    return len(levels) - 1


def _fill(nodes: int, width: Callable[[int], int]) -> list[int]:
    """1, width(1), width(2), … until their sum is the number of nodes."""
    levels, left = [1], nodes - 1
    while left > 0:
        levels.append(min(width(len(levels)), left))
        left -= levels[-1]
    return levels
