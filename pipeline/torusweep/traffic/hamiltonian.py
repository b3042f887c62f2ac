"""Hamiltonian rings: cycles over the links of a network that visit every node once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology, addresses, node_index, require
from torusweep.traffic.ring_steps import LATTICES, MESHES, TORI, cosets, steps


def hamiltonian_ring(topology: Topology) -> np.ndarray:
    """int32[N]: the nodes in the order of a Hamiltonian ring, verified link by link.

    Tori, hypercubes and lattice graphs of any sides have one, meshes if a side is even.
    Raises BadInput if no construction is known here.
    """
    family = topology.family
    require(topology.nodes > 1, "nodes", topology.nodes, "two or more", "a single node has no ring")
    if family in TORI and topology.directed:
        order = _modular_gray_code(topology)
    elif family in TORI or family in LATTICES:
        order = _weave(steps(topology))
    elif family in MESHES:
        order = _weave([steps(topology)[dimension] for dimension in _dimensions_even_second(topology)])
    else:
        known = ", ".join((*TORI, *MESHES, *LATTICES))
        raise BadInput(f"no construction of a Hamiltonian ring is known here for {family}; there is one for {known}")
    once = np.array_equal(np.bincount(order, minlength=topology.nodes), np.ones(topology.nodes, np.int64))
    linked = (topology.ports[order] == np.roll(order, -1)[:, None]).any(axis=1)
    assert once, f"{topology.spelling}: a Hamiltonian ring meets every node once"
    assert linked.all(), f"{topology.spelling}: a Hamiltonian ring follows links"
    return order


def _weave(along: Sequence[np.ndarray]) -> np.ndarray:
    """int32[N]: a Hamiltonian ring, grown from the orbit of the first step by its copies along each further step.

    Given q copies, side by side, of a ring c_0 … c_{m−1}: traverse the first copy from c_1 to c_{m−1}, the
    second backwards, and so on, and return over the copies of c_0. The last copy ends at c_1 or at
    c_{m−1}, both neighbours of c_0. For even q it ends at c_1, so that the first ring may be an open line.
    """
    ring = np.zeros(1, np.int32)
    for step in along:
        copies = cosets(ring, step)
        if len(ring) == 1:
            ring = copies[:, 0]
        elif len(copies) > 1:
            rows = copies[:, 1:].copy()
            rows[1::2] = rows[1::2, ::-1]
            ring = np.concatenate([copies[0, :1], rows.ravel(), copies[:0:-1, 0]])
    return ring


def _dimensions_even_second(topology: Topology) -> list[int]:
    """The dimensions of a mesh, with an even side in second place, so that its lines need not be closed."""
    sides = topology.plan.radices
    even = [dimension for dimension, side in enumerate(sides) if side % 2 == 0]
    if not even:
        raise BadInput(
            f"a mesh of odd sides {list(sides)} has no Hamiltonian ring:"
            " its links connect even nodes with odd nodes, of which there is one fewer; make a side even"
        )
    if topology.nodes > 2 and len(sides) == 1:
        raise BadInput("a line of nodes has no Hamiltonian ring, because its ends are not connected; choose a ring")
    others = [dimension for dimension in range(len(sides)) if dimension != even[0]]
    return [*others[:1], even[0], *others[1:]]


def _modular_gray_code(topology: Topology) -> np.ndarray:
    """int32[N]: the modular Gray code: consecutive numbers with the next digit subtracted from each digit.

    At every count one digit grows by one. If digit i carries into digit i + 1, both grow by one modulo
    their radices, and the difference stays the same provided that the radix of digit i divides that of
    digit i + 1 (Guan 1998, Theorem 1, for equal radices).
    """
    sides = topology.plan.radices
    dimensions = sorted(range(len(sides)), key=lambda dimension: sides[dimension])
    radices = [sides[dimension] for dimension in dimensions]
    if any(larger % smaller for smaller, larger in pairwise(radices)):
        reason = f"a directed torus of sides {list(sides)}; there is one where each divides the next"
        raise BadInput(f"no construction of a Hamiltonian ring is known here for {reason}")
    digits = addresses(radices)
    digits[:, :-1] -= digits[:, 1:]
    arranged = np.empty_like(digits)
    arranged[:, dimensions] = digits
    return node_index(arranged, sides)
