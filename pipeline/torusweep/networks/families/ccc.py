"""Cube-connected cycles: a hypercube whose nodes are replaced by rings, with one ring node per dimension."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from torusweep.networks.families.grids import affine, digit, neighbour, wiring
from torusweep.networks.topology import Plan, Whole, Wiring

Dimensions = Annotated[int, Whole(3, "dimensions of the cube, and nodes of each ring", maximum=26)]


def ccc(n: Dimensions) -> Plan:
    """Cube-connected cycles: node (i, word) joins (i ± 1, word) and (i, word with bit i flipped).

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
