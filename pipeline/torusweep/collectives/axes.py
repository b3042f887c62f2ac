"""Find the axes of a network, which are rings and lines through its nodes, and make algorithms that follow them.

If an algorithm goes along one axis after another, the sets of nodes that share data grow axis by axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.collectives.schedule import Schedule, Transfers, check_transfers, schedule, together
from torusweep.errors import BadInput
from torusweep.networks.families import family_of
from torusweep.networks.families.algebra import Lattice
from torusweep.networks.topology import Plan, Topology, addresses, node_index

NOWHERE = -1
NO_AXES = "expected a lattice, or a product of rings and lines, with all its links"
PRODUCTS = ("mesh", "slice")  # families of products of rings and lines that are no lattices
WAYS = 2  # parts of each chunk, one for each direction


class AxisSteps(NamedTuple):
    """One step from every node along an axis, in either direction.

    following  int32[N]  node after each node; NOWHERE at the end of a line
    previous   int32[N]  node before each node; NOWHERE at the start of a line
    """

    following: np.ndarray
    previous: np.ndarray

    @property
    def closed(self) -> bool:
        """Whether the axis consists of rings."""
        return bool((self.following != NOWHERE).all())


def axes_of(topology: Topology) -> list[AxisSteps]:
    """Return the axes of a lattice graph or a product of rings and lines. Raises BadInput if a network has none."""
    shape = topology.plan.structure
    axes = _of_lattice(topology, shape) if isinstance(shape, Lattice) else _of_product(topology)
    present = link_keys(topology)
    for axis in axes:
        tail = np.flatnonzero(axis.following != NOWHERE)
        forth, back = (_keys(topology.nodes, *ends) for ends in _both(tail, axis.following[tail]))
        if not (np.isin(forth, present).all() and np.isin(back, present).all()):
            raise BadInput(f"{topology.spelling}: {NO_AXES}")
    return axes


def may_have_axes(plan: Plan, spelling: str) -> bool:
    """Return whether a network's plan and spelling promise axes; missing links may still prevent them."""
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
    """Return an axis for each digit, with steps of 1. An axis is closed if all links that close its rings exist."""
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
    """int32[N]: set of each node, after an axis has joined the sets in `held` (equal labels mean the same set)."""
    nodes = len(held)
    joined = np.flatnonzero(axis.following != NOWHERE)
    ends = held[joined], held[axis.following[joined]]
    graph = scipy.sparse.coo_array((np.ones(len(joined), np.int8), ends), shape=(nodes, nodes))
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    _, first, found = np.unique(label[held], return_index=True, return_inverse=True)
    return first.astype(np.int32)[found]


def by_dimension(topology: Topology) -> Schedule:
    """All-gather along one axis after another, on rings in both directions."""
    return _gathered(topology, axes_of(topology))


def bucket(topology: Topology) -> Schedule:
    """All-gather along all axes at once: each part of the data starts on its own axis, then takes the others in turn.

    Source: Sack & Gropp 2015 (multiport bucket algorithm).
    """
    axes = axes_of(topology)
    return together([_gathered(topology, order) for order in _turns(axes)])


def all_to_all_by_dimension(topology: Topology) -> Schedule:
    """All-to-all along one axis after another; each step brings all data to their destination's place on an axis."""
    return _scattered(topology, axes_of(topology))


def all_to_all_bucket(topology: Topology) -> Schedule:
    """All-to-all along all axes at once: each part of the data takes the axes in a different order."""
    return together([_scattered(topology, order) for order in _turns(axes_of(topology))])


def _turns(axes: Sequence[AxisSteps]) -> list[list[AxisSteps]]:
    return [[*axes[first:], *axes[:first]] for first in range(len(axes))]


def _gathered(topology: Topology, axes: Sequence[AxisSteps]) -> Schedule:
    nodes = topology.nodes
    check_transfers(WAYS * len(axes) * nodes * (nodes - 1))
    transfers = Transfers()
    held, step = np.arange(nodes, dtype=np.int32), 0
    for axis in axes:
        joined = merged(held, axis)
        step = _gather_along(transfers, axis, held, joined, step)
        held = joined
    everyone = np.arange(nodes, dtype=np.int32)
    home = np.tile(everyone, WAYS)
    return schedule("all_gather", everyone, (WAYS * nodes, np.ones(len(home), np.int64)), (home, -1), transfers)


def _gather_along(transfers: Transfers, axis: AxisSteps, held: np.ndarray, joined: np.ndarray, step: int) -> int:
    """Append to `transfers` an all-gather along an axis, from `step` on; return the number of the next step.

    held, joined  int32[N]  labels of the sets of nodes that share their data, before and after
    Each node passes on its own set's data, then the data of other sets. On a ring, half of the data goes each way; on a
    line, all data goes both ways.
    """
    nodes = len(held)
    _, members, sizes = np.unique(held, return_inverse=True, return_counts=True)
    content = np.argsort(held, kind="stable").reshape(len(sizes), -1)[members]
    sets = int(np.unique(joined, return_counts=True)[1][0]) // int(sizes[0])
    for way, (ahead, behind) in enumerate(((axis.following, axis.previous), (axis.previous, axis.following))):
        parts = [way * nodes] if axis.closed else [0, nodes]
        origin = np.arange(nodes)
        for round_ in range(sets - 1):
            tails = np.flatnonzero((ahead != NOWHERE) & (origin != NOWHERE))
            for part in parts:
                chunk = content[origin[tails]] + part
                transfers.add(step + round_, tails[:, None], ahead[tails][:, None], chunk)
            origin = np.where(origin == NOWHERE, NOWHERE, behind[origin])
    return step + sets - 1


def _scattered(topology: Topology, axes: Sequence[AxisSteps]) -> Schedule:
    """All-to-all along the axes, last axis first; each step puts a chunk where the other axes lead to its target."""
    nodes = topology.nodes
    check_transfers(WAYS * len(axes) * nodes * (nodes - 1))
    transfers = Transfers()
    labels = [np.arange(nodes, dtype=np.int32)]
    for axis in axes[:-1]:
        labels.append(merged(labels[-1], axis))
    home, target = (np.repeat(np.arange(nodes), nodes), np.tile(np.arange(nodes), nodes))
    for way in range(WAYS):
        at = home.copy()
        for step, (axis, label) in enumerate(zip(reversed(axes), reversed(labels))):
            there = _nearest(axis if way == 0 else AxisSteps(axis.previous, axis.following), label, at, target)
            moving = np.flatnonzero(there != at)
            transfers.add(step, at[moving], there[moving], moving + way * len(at))
            at = there
    everyone = np.arange(nodes, dtype=np.int32)
    ends = np.tile(home, WAYS), np.tile(target, WAYS)
    return schedule("all_to_all", everyone, (WAYS * nodes, np.ones(len(ends[0]), np.int64)), ends, transfers)


def _nearest(axis: AxisSteps, label: np.ndarray, at: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return for each chunk the nearest node along the axis whose set holds the target; of two, the one ahead."""
    found = np.where(label[at] == label[target], at, NOWHERE)
    ahead, behind = np.arange(len(label)), np.arange(len(label))
    while (found == NOWHERE).any():
        for way, step in ((ahead, axis.following), (behind, axis.previous)):
            way[:] = np.where(way == NOWHERE, NOWHERE, step[way])
            there = way[at]
            better = (found == NOWHERE) & (there != NOWHERE)
            better[better] = label[there[better]] == label[target[better]]
            found[better] = there[better]
    return found
