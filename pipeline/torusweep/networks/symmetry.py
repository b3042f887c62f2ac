"""Which nodes look alike: orbits of the automorphisms that a topology declares, each one proved first.

A declared permutation is checked against every link, in O(N·P); so an orbit is a fact about the
graph and not a promise of the family's author. One breadth-first search per orbit then answers for
every node of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from torusweep.networks.topology import NO_PORT, Topology

ROWS = 1 << 13  # nodes compared at a time, so that they stay in cache


class Orbits(NamedTuple):
    """representatives int32[R] (the lowest-numbered node of each orbit), sizes int64[R], member int32[N] (orbit of each node)."""

    representatives: np.ndarray
    sizes: np.ndarray
    member: np.ndarray


def is_automorphism(topology: Topology, image: np.ndarray) -> bool:
    """True where the permutation image int32[N] maps links onto links (and capacities and terminals onto themselves)."""
    n = topology.nodes
    if image.shape != (n,) or not np.array_equal(np.bincount(image, minlength=n), np.ones(n, np.int64)):
        return False
    terminals_at = np.bincount(topology.terminals, minlength=n)  # a node may carry several
    if not np.array_equal(terminals_at[image], terminals_at):
        return False
    if not np.array_equal(
        topology.degrees[image], topology.degrees
    ):  # what is no automorphism mostly shows it here already
        return False
    extended = np.append(image, NO_PORT)  # so that port -1 maps to -1
    for first in range(0, n, ROWS):
        rows = slice(first, first + ROWS)
        moved, there = extended[topology.ports[rows]], topology.ports[image[rows]]
        if topology.capacity is not None:
            most = int(topology.capacity.max(initial=0)) + 1
            moved = moved.astype(np.int64) * most + np.where(moved != NO_PORT, topology.capacity[rows], 0)
            there = there.astype(np.int64) * most + np.where(there != NO_PORT, topology.capacity[image[rows]], 0)
        # mostly one reordering of the ports fits every node; each row is sorted only where it does not
        order = np.argsort(there[0])[np.argsort(np.argsort(moved[0]))]
        if not np.array_equal(moved, there[:, order]) and not np.array_equal(
            np.sort(moved, axis=1), np.sort(there, axis=1)
        ):
            return False
    return True


def proved_symmetries(topology: Topology) -> list[np.ndarray]:
    """The declared automorphisms, each one checked.

    Raises AssertionError if a declared permutation is no automorphism: a defect of the family.
    """
    images = list(topology.plan.symmetries())
    for number, image in enumerate(images):
        assert is_automorphism(topology, image), f"{topology.spelling}: declared symmetry {number} is no automorphism"
    return images


def orbits(topology: Topology, *, use_symmetry: bool = True) -> Orbits:
    """Orbits of the nodes under the declared automorphisms, proved; every node its own orbit without symmetry."""
    return orbits_under(topology.nodes, proved_symmetries(topology) if use_symmetry else [])


def orbits_under(n: int, images: Sequence[np.ndarray]) -> Orbits:
    """Orbits of n nodes under the group that the permutations `images`, int32[n] each, generate."""
    if not images:
        everyone = np.arange(n, dtype=np.int32)
        return Orbits(everyone, np.ones(n, np.int64), everyone)
    tail = np.tile(np.arange(n, dtype=np.int32), len(images))
    graph = coo_array((np.ones(len(tail), np.int8), (tail, np.concatenate(images))), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    representatives, member, sizes = np.unique(label, return_index=True, return_inverse=True, return_counts=True)[1:]
    order = np.argsort(representatives)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Orbits(representatives[order].astype(np.int32), sizes[order].astype(np.int64), rank[member].astype(np.int32))
