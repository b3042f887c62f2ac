"""Orbits of the nodes under the automorphisms that a topology declares.

Each declared permutation is verified against every link, in O(N·P), before it is used. One
breadth-first search per orbit then gives the distances from all nodes of the orbit.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from torusweep.networks.topology import NO_PORT, Topology

MOST_TABLES = 128  # tables of kinds; five dimensions have 5! orders
ROWS_AT_ONCE = 1 << 13  # nodes compared at once; their rows fit in the cache
# proved symmetries of networks in use: a row of a table needs them for distances and again for loads
_proved: WeakKeyDictionary[Topology, list[np.ndarray]] = WeakKeyDictionary()


class Orbits(NamedTuple):
    """Orbits of the nodes.

    representatives  int32[R]  the lowest-numbered node of each orbit
    sizes            int64[R]  number of nodes in each orbit
    member           int32[N]  number of each node's orbit
    """

    representatives: np.ndarray
    sizes: np.ndarray
    member: np.ndarray


def is_automorphism(topology: Topology, image: np.ndarray) -> bool:
    """Whether the permutation `image`, int32[N], preserves links, their kinds (`Topology.kinds`) and terminals."""
    n = topology.nodes
    if image.shape != (n,) or not np.array_equal(np.bincount(image, minlength=n), np.ones(n, np.int64)):
        return False
    terminals_at = np.bincount(topology.terminals, minlength=n)  # a node may have several terminals
    if not np.array_equal(terminals_at[image], terminals_at):
        return False
    if not np.array_equal(topology.degrees[image], topology.degrees):  # cheap, and rejects most wrong permutations
        return False
    kinds = topology.kinds
    most = 1 if kinds is None else int(kinds.max(initial=0)) + 1
    extended = np.append(image, NO_PORT)  # so that port -1 maps to -1
    for first in range(0, n, ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        moved, there = extended[topology.ports[rows]], topology.ports[image[rows]]
        if kinds is not None:
            moved = moved.astype(np.int64) * most + np.where(moved != NO_PORT, kinds[rows], 0)
            there = there.astype(np.int64) * most + np.where(there != NO_PORT, kinds[image[rows]], 0)
        # in most networks one order of the ports fits all nodes; otherwise sort each row
        order = np.argsort(there[0])[np.argsort(np.argsort(moved[0]))]
        if not np.array_equal(moved, there[:, order]) and not np.array_equal(
            np.sort(moved, axis=1), np.sort(there, axis=1)
        ):
            return False
    return True


def proved_symmetries(topology: Topology) -> list[np.ndarray]:
    """Return the declared automorphisms, int32[N] each, which are verified once for each network that is built.

    Raises AssertionError if a declared permutation is not an automorphism, which is a defect of the family.
    """
    if topology in _proved:
        return _proved[topology]
    images = list(topology.plan.symmetries())
    for number, image in enumerate(images):
        assert is_automorphism(topology, image), (
            f"{topology.spelling}: declared symmetry {number} is not an automorphism"
        )
    _proved[topology] = images
    return images


def those_that_keep_kinds(topology: Topology, images: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return generators, int32[N] each, of the automorphisms that keep the kinds of channels (`Topology.kinds`).

    images   int32[N] each, generators of a group of automorphisms of the links
    Automorphisms permute the table of kinds. By Schreier's lemma, closed paths between the tables that arise generate
    those that keep the first table. Above MOST_TABLES tables, only the members of `images` that keep it are returned.
    """
    if topology.kinds is None:
        return list(images)
    order = np.argsort(topology.ports, axis=1)
    heads = np.take_along_axis(topology.ports, order, axis=1)
    first = np.take_along_axis(topology.kinds, order, axis=1)

    def carried(table: np.ndarray, image: np.ndarray) -> np.ndarray:
        moved = np.empty_like(table)
        moved[image] = np.take_along_axis(table, np.argsort(np.append(image, NO_PORT)[heads], axis=1), axis=1)
        return moved

    itself = np.arange(topology.nodes, dtype=np.int32)
    leading = {_digest(first): itself}  # a permutation that leads to each table of kinds
    waiting = [(first, itself)]
    keeping = [image for image in images if np.array_equal(carried(first, image), first)]
    further = {}
    while waiting:
        table, way = waiting.pop(0)
        for image in images:
            moved, on = carried(table, image), image[way]
            name = _digest(moved)
            if name not in leading:
                if len(leading) == MOST_TABLES:
                    return keeping
                leading[name] = on
                waiting.append((moved, on))
                continue
            back = np.empty_like(itself)
            back[leading[name]] = itself
            further[_digest(back[on])] = back[on]
    for known in (itself, *keeping):
        further.pop(_digest(known), None)
    return [*keeping, *further.values()]


def _digest(table: np.ndarray) -> bytes:
    return blake2b(table.tobytes()).digest()


def orbits(topology: Topology, *, use_symmetry: bool = True) -> Orbits:
    """Return the orbits of the nodes under the verified automorphisms. Without symmetry, each node is an orbit."""
    return orbits_under(topology.nodes, proved_symmetries(topology) if use_symmetry else [])


def orbits_under(n: int, images: Sequence[np.ndarray]) -> Orbits:
    """Return the orbits of n nodes under the group generated by the permutations `images`, int32[n] each."""
    if not images:
        everyone = np.arange(n, dtype=np.int32)
        return Orbits(everyone, np.ones(n, np.int64), everyone)
    tail = np.tile(np.arange(n, dtype=np.int32), len(images))
    graph = scipy.sparse.coo_array((np.ones(len(tail), np.int8), (tail, np.concatenate(images))), shape=(n, n))
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    representatives, member, sizes = np.unique(label, return_index=True, return_inverse=True, return_counts=True)[1:]
    order = np.argsort(representatives)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Orbits(representatives[order].astype(np.int32), sizes[order].astype(np.int64), rank[member].astype(np.int32))
