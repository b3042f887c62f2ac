"""Séquin's doubly twisted torus, which is not a lattice graph."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from torusweep.networks.families.grids import affine, class_names, neighbour, swap
from torusweep.networks.topology import Plan, Whole, Wiring, simple_graph

Radix = Annotated[int, Whole(3, "radix: nodes along each dimension")]
Twist = Annotated[int, Whole(0, "shift of the other dimension by the wraparound links")]


def sequin(k: Radix, s: Twist, t: Twist) -> Plan:
    """Doubly twisted torus k × k: the wraparound of x adds s to y, the wraparound of y adds t to x, modulo k.

    Translations are not automorphisms, unless s or t is 0 (use twisted_torus then). The rotation of the
    grid by 180° is an automorphism, and so is the exchange of x and y if s = t.
    Source: Cámara et al. 2010, sec. 2, after Séquin 1981.
    """
    sides = (k, k)

    def wire() -> Wiring:
        right, up = neighbour(sides, 0, 1), neighbour(sides, 1, 1)  # [y, x]
        right[:, -1] = np.roll(right[:, -1], -s)
        up[-1, :] = np.roll(up[-1, :], -t)
        ports = np.empty((k * k, 4), np.int32)
        everyone = np.arange(k * k, dtype=np.int32)
        for port, onwards in ((0, right.reshape(-1)), (2, up.reshape(-1))):
            ports[:, port] = onwards
            ports[onwards, port + 1] = everyone
        return simple_graph(ports, np.broadcast_to(np.array([0, 0, 1, 1], np.int8), ports.shape).copy())

    return Plan(
        nodes=k * k,
        degree=4,
        radices=sides,
        wire=wire,
        symmetries=lambda: [
            affine(sides, (0, 1), (-1, -1), (-1, -1)),
            *([swap(sides, 0, 1)] if (s - t) % k == 0 else []),
        ],
        classes=class_names(2),
    )
