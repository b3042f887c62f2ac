"""The axes of a network: rings and lines along which its nodes can be gone through."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.families import family_of
from torusweep.networks.families.algebra import Lattice
from torusweep.networks.topology import Plan, Topology, addresses, node_index

NOWHERE = -1
PRODUCTS = ("mesh", "slice")  # families of products of rings and lines that are no lattices


class AxisSteps(NamedTuple):
    """One step along an axis in either direction.

    following  int32[N]  the next node of each; NOWHERE at the end of a line
    previous   int32[N]
    """

    following: np.ndarray
    previous: np.ndarray

    @property
    def closed(self) -> bool:
        """Whether it consists of rings."""
        return bool((self.following != NOWHERE).all())


def axes_of(topology: Topology) -> list[AxisSteps]:
    """The axes of a lattice graph or of a product of rings and lines, those of one node left out.

    Raises BadInput for another network, and for one whose links are not all there.
    """
    shape = topology.plan.structure
    axes = _of_lattice(topology, shape) if isinstance(shape, Lattice) else _of_product(topology)
    present = link_keys(topology)
    for axis in axes:
        tail = np.flatnonzero(axis.following != NOWHERE)
        forth, back = (_keys(topology.nodes, *ends) for ends in _both(tail, axis.following[tail]))
        if not (np.isin(forth, present).all() and np.isin(back, present).all()):
            raise BadInput(
                f"{topology.spelling}: expected a lattice, or a product of rings and lines, with all its links;"
                " choose algorithm ring, direct or trees"
            )
    return axes


def may_have_axes(plan: Plan, spelling: str) -> bool:
    """Whether a network's plan promises axes."""
    return not plan.directed and (isinstance(plan.structure, Lattice) or family_of(spelling) in PRODUCTS)


def link_keys(topology: Topology) -> np.ndarray:
    """int64[A]: tail · N + head of every channel."""
    tail, head, _ = topology.arcs
    return _keys(topology.nodes, tail, head)


def _keys(nodes: int, tail: np.ndarray, head: np.ndarray) -> np.ndarray:
    return tail.astype(np.int64) * nodes + head


def _both(tail: np.ndarray, head: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    return (tail, head), (head, tail)


def _of_lattice(topology: Topology, shape: Lattice) -> list[AxisSteps]:
    digits = shape.digits(np.arange(topology.nodes))
    axes = []
    for axis in range(len(shape.sides)):
        following, previous = (
            shape.number([digit + sign * (place == axis) for place, digit in enumerate(digits)]).astype(np.int32)
            for sign in (1, -1)
        )
        if following[0] != 0:
            axes.append(AxisSteps(following, previous))
    return axes


def _of_product(topology: Topology) -> list[AxisSteps]:
    """Steps of 1 in each digit; round the end where all links are there that close the rings."""
    radices = topology.plan.radices
    digits = addresses(radices).astype(np.int64)
    present = link_keys(topology)
    everyone = np.arange(topology.nodes)
    axes = []
    for axis, radix in enumerate(radices):
        if radix == 1:
            continue
        ahead = node_index(digits + (np.arange(len(radices)) == axis), radices)
        behind = node_index(digits - (np.arange(len(radices)) == axis), radices)
        last, first = digits[:, axis] == radix - 1, digits[:, axis] == 0
        if radix == 2 or not np.isin(_keys(topology.nodes, everyone[last], ahead[last]), present).all():
            ahead[last], behind[first] = NOWHERE, NOWHERE
        axes.append(AxisSteps(ahead, behind))
    return axes


def merged(held: np.ndarray, axis: AxisSteps) -> np.ndarray:
    """int32[N]: labels of the sets of nodes that an axis joins, if nodes of the same label in `held` are joined."""
    nodes = len(held)
    joined = np.flatnonzero(axis.following != NOWHERE)
    ends = held[joined], held[axis.following[joined]]
    graph = scipy.sparse.coo_array((np.ones(len(joined), np.int8), ends), shape=(nodes, nodes))
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    _, first, found = np.unique(label[held], return_index=True, return_inverse=True)
    return first.astype(np.int32)[found]
