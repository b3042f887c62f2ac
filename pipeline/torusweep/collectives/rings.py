"""Rings through all nodes of a network: one, or several that share no link.

Hamiltonian cycles that share no link are found by exchanging links between sets with two links at each node. In the
algorithms on rings, each rank passes on the data that it received from the rank before.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import inf, prod

import numpy as np
import scipy

from torusweep.collectives.axes import NOWHERE, AxisSteps, axes_of, link_keys
from torusweep.collectives.cost import routed
from torusweep.collectives.operations import alike, channels_of, has_switches, hops_between
from torusweep.collectives.ring_search import SEED, directed_ring, packed_rings, rotated
from torusweep.collectives.schedule import Schedule, Transfers, check_transfers, schedule, together
from torusweep.errors import BadInput
from torusweep.networks.topology import Topology

ONE_WAY = "expected links in both directions"
ONE_EACH = "expected one terminal at each node"
LINK_SETS_SEED = 1  # of the search, so that every run finds the same rings
EXCHANGES = 200  # of squares, per node, until the search gives up


class _LinkSets:
    """The links of all axes, in sets with two links at each node; at most one set has only one link at each node.

    owner[j][v]  the set of the link from v along axis j
    ring[k][v]   a label of the ring of set k that goes through v
    """

    def __init__(self, nodes: int, axes: Sequence[AxisSteps]) -> None:
        self.nodes, self.axes = nodes, axes
        double = [bool((axis.following == axis.previous).all()) for axis in axes]  # one link instead of two at a node
        turning = len(double) - sum(double)
        order = sorted(range(len(axes)), key=double.__getitem__)
        # axes of rings have a set each, axes of pairs one for two of them
        holder = {
            axis: place if place < turning else turning + (place - turning) // 2 for place, axis in enumerate(order)
        }
        self.full = turning + sum(double) // 2
        self.owner = [np.full(nodes, holder[axis], np.int32) for axis in range(len(axes))]
        everyone = np.arange(nodes)
        # a link of a pair belongs to the end with the lower number
        self.tail = [np.minimum(everyone, axis.following) if pair else everyone for axis, pair in zip(axes, double)]
        self.count, self.ring = [0] * self.full, [everyone] * self.full
        for number in range(self.full):
            self.follow(number)

    def follow(self, number: int) -> None:
        """Count and label the rings of a set."""
        ends = self.ends(number)
        graph = scipy.sparse.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(self.nodes, self.nodes))
        self.count[number], self.ring[number] = scipy.sparse.csgraph.connected_components(graph, directed=False)

    def ends(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (tails, heads) of the links of a set."""
        everyone = np.arange(self.nodes)
        tails = [np.flatnonzero((own == number) & (tail == everyone)) for own, tail in zip(self.owner, self.tail)]
        heads = [axis.following[some] for axis, some in zip(self.axes, tails)]
        return np.concatenate(tails), np.concatenate(heads)

    def exchange(self, node: int, one: int, other: int) -> None:
        """Exchange two sets' sides of the square of two axes at a node, unless the sets then have more rings."""
        along, across = int(self.axes[one].following[node]), int(self.axes[other].following[node])
        sides = (
            (one, int(self.tail[one][node])),
            (one, int(self.tail[one][across])),
            (other, int(self.tail[other][node])),
            (other, int(self.tail[other][along])),
        )
        sets = [int(self.owner[axis][tail]) for axis, tail in sides]
        if sets[0] != sets[1] or sets[2] != sets[3] or sets[0] == sets[2]:
            return
        # two parallel sides of one ring leave one ring or two, those of two rings leave one
        full = [
            (number, pair)
            for number, pair in ((sets[0], (node, across)), (sets[2], (node, along)))
            if number < self.full
        ]
        if not any(self.ring[number][pair[0]] != self.ring[number][pair[1]] for number, pair in full):
            return
        before = sum(self.count[number] for number, _ in full)
        self._give(sides, (sets[2], sets[2], sets[0], sets[0]))
        for number, _ in full:
            self.follow(number)
        if sum(self.count[number] for number, _ in full) > before:
            self._give(sides, sets)
            for number, _ in full:
                self.follow(number)

    def _give(self, sides: Sequence[tuple[int, int]], sets: Sequence[int]) -> None:
        for (axis, tail), number in zip(sides, sets):
            self.owner[axis][tail] = number
            self.owner[axis][self.axes[axis].following[tail] if self._paired(axis) else tail] = number

    def _paired(self, axis: int) -> bool:
        return self.tail[axis][self.axes[axis].following[0]] == self.tail[axis][0]

    def walk(self, number: int) -> np.ndarray:
        """Return the nodes of a set, in ring order. The set must be a single ring."""
        beside: list[list[int]] = [[] for _ in range(self.nodes)]
        for tail, head in zip(*(ends.tolist() for ends in self.ends(number))):
            beside[tail].append(head)
            beside[head].append(tail)
        order, before, node = [0], 0, beside[0][0]
        while node != 0:
            order.append(node)
            one, other = beside[node]
            before, node = node, other if one == before else one
        return np.array(order, np.int32)


def exchanged(nodes: int, axes: Sequence[AxisSteps]) -> list[np.ndarray] | None:
    """Find Hamiltonian cycles that share no link by exchanging the sides of squares; None if the search gives up."""
    draw = random.Random(LINK_SETS_SEED)
    sets = _LinkSets(nodes, axes)
    for _ in range(EXCHANGES * nodes):
        if all(count == 1 for count in sets.count):
            return [sets.walk(number) for number in range(sets.full)]
        one, other = draw.sample(range(len(axes)), 2)
        sets.exchange(draw.randrange(nodes), one, other)
    return None


def ring_of(topology: Topology) -> tuple[np.ndarray, int]:
    """Find a ring: return (int32[N] the nodes in the order of the ring, most hops between successive nodes).

    All nodes are one hop apart if a Hamiltonian cycle is found. In a grid of addresses it is constructed; elsewhere it
    is searched by rotations of a growing path (Pósa 1976) or, with one-way links, by joining cycles that cover the
    network. Otherwise some messages take several hops: two in a grid of odd sides, which is bipartite with one node
    more of one colour, and so has no Hamiltonian cycle.
    """
    present = set(link_keys(topology).tolist())
    for forth in _grid_orders(topology.plan.radices):
        for order in (forth, forth[::-1]):
            if len(order) == topology.nodes and _is_ring(order, present):
                return np.array(order, np.int32), 1
    neighbours, everyone = _neighbours(topology), list(range(topology.nodes))
    heads = [dict.fromkeys(row, 1) for row in neighbours]
    found = (directed_ring if topology.directed else rotated)(heads, random.Random(SEED))
    if found is not None and topology.nodes > 2:
        return np.array(found, np.int32), 1
    orders = [order for order in _grid_orders(topology.plan.radices) if len(order) == topology.nodes]
    hops, number = min((_most_hops(order, neighbours), number) for number, order in enumerate([*orders, everyone]))
    return np.array([*orders, everyone][number], np.int32), hops


def disjoint_rings(topology: Topology) -> list[np.ndarray]:
    """Find Hamiltonian cycles, int32[N] each, that together use no link more often than its capacity in flits.

    The rings of each axis are a set with two links at every node. Exchanging the sides of a square between two such
    sets preserves this, and joins rings, until each set is one ring (Kotzig 1973 and Foregger 1978 prove that tori of
    two and three dimensions have such sets). Rings are packed at random (`ring_search`) if a network has no such axes,
    or has links that are parallel, one-way or wider than others.
    """
    try:
        axes = axes_of(topology) if not topology.directed else []
    except BadInput:
        axes = []
    if alike(topology) and len(axes) > 1 and all(axis.closed for axis in axes):
        found = exchanged(topology.nodes, axes)
        if found is not None:
            return found
    rings = [np.array(order, np.int32) for order in packed_rings(channels_of(topology), directed=topology.directed)]
    if rings:
        return rings
    first, hops = ring_of(topology)
    if hops > 1 or topology.nodes < 3:  # two nodes have one link, which both steps of their ring take
        raise BadInput(f"{topology.spelling}: expected a Hamiltonian cycle, found none")
    return [first]


def _neighbours(topology: Topology) -> list[list[int]]:
    return [[int(head) for head in row if head != NOWHERE] for row in topology.ports]


def _is_ring(order: Sequence[int], present: set[int]) -> bool:
    nodes = len(order)
    return nodes > 2 and all(one * nodes + other in present for one, other in zip(order, [*order[1:], order[0]]))


def _most_hops(order: Sequence[int], neighbours: Sequence[Sequence[int]]) -> int:
    """Return the largest number of hops between successive nodes of a ring."""
    most = 0
    for one, other in zip(order, [*order[1:], order[0]]):
        reached, hops = {one}, 0
        while other not in reached:
            reached |= {head for node in reached for head in neighbours[node]}
            hops += 1
        most = max(most, hops)
    return most


def _grid_orders(radices: Sequence[int]) -> Iterator[list[int]]:
    """Yield orders of a box's nodes that may be rings, whether its sides are lines or rings; the likeliest come first.

    One axis numbers the rows; a path through all other axes numbers the columns. The walk goes through all rows but row
    0 column by column, and returns along row 0. It closes if the number of columns is even, or else if rows are rings.
    """
    sides = [(side, axis) for axis, side in enumerate(radices) if side > 1]
    for side, axis in sorted(sides, key=lambda pair: (prod(radices) // pair[0] % 2, -pair[0])):
        rest = [(other, place) for other, place in sides if place != axis]
        if not rest:
            if side > 2:
                yield list(range(side))
                yield [*range(0, side, 2), *reversed(range(1, side, 2))]
            continue
        strides = [prod(radices[:place]) for place in range(len(radices))]
        columns = _snake([(other, strides[place]) for other, place in rest])
        stride = strides[axis]
        order = []
        for number, column in enumerate(columns):
            rows = range(1, side) if number % 2 == 0 else range(side - 1, 0, -1)
            order += [column + row * stride for row in rows]
        yield order + columns[::-1]
        if side % 2 and len(columns) % 2:
            yield _odd_grid(side, stride, columns)


def _snake(axes: Sequence[tuple[int, int]]) -> list[int]:
    """Return a path through a box, back and forth along its first axis; axes: (side, stride) of each axis."""
    path = [0]
    for side, stride in axes:
        ways = path, path[::-1]
        path = [node + place * stride for place in range(side) for node in ways[place % 2]]
    return path


def _odd_grid(side: int, stride: int, columns: Sequence[int]) -> list[int]:
    """Return a closed walk through a grid of two odd sides, in which only one step, at the corner, takes two hops.

    Rows 1, 2, … form a grid with an even number of rows; the walk goes along these rows, and returns in column 0. The
    nodes of row 0 except the corner are inserted in pairs next to row 1, the corner next to its neighbour in column 0.
    """
    order = []
    for row in range(1, side):
        places = range(1, len(columns)) if row % 2 else range(len(columns) - 1, 0, -1)
        order += [columns[place] + row * stride for place in places]
    order += [columns[0] + row * stride for row in range(side - 1, 0, -1)]
    place = {node: number for number, node in enumerate(columns)}
    woven: list[int] = []
    for node in order:
        column = place.get(node - stride)
        if column is not None and column > 0:  # in row 1
            woven += [node, columns[column]] if column % 2 else [columns[column], node]
        else:
            woven.append(node)
    return [*woven, columns[0]]


def one_way_ring(topology: Topology) -> Schedule:
    """All-gather on one ring in one direction: N − 1 steps.

    Source: Patarasuk & Yuan 2009.
    """
    order = order_of_ranks(topology)
    return on_rings(topology, [order])._replace(ring=order)


def ring(topology: Topology) -> Schedule:
    """All-gather on one ring, half of the data in each direction."""
    if topology.directed:
        raise BadInput(f"{topology.spelling}: {ONE_WAY}")
    order = order_of_ranks(topology)
    return on_rings(topology, [order, order[::-1]])._replace(ring=order)


def rings(topology: Topology) -> Schedule:
    """All-gather on several rings that share no link, each with a part of the data, both ways if links allow it."""
    if has_switches(topology):
        raise BadInput(f"{topology.spelling}: {ONE_EACH}")
    orders = disjoint_rings(topology)
    return on_rings(topology, orders if topology.directed else [way for one in orders for way in (one, one[::-1])])


def on_rings(topology: Topology, orders: Sequence[np.ndarray]) -> Schedule:
    """All-gather on rings, each with an equal part of the data. orders: int32[R], the ranks in the order of each."""
    ranks = len(topology.terminals)
    check_transfers(len(orders) * ranks * (ranks - 1))
    return together([_gathered(ranks, order) for order in orders])


def order_of_ranks(topology: Topology) -> np.ndarray:
    """int32[R]: the terminals in the order of a ring.

    If each node has one terminal, this is the order of `ring_of`. Otherwise up to three orders are compared: by number;
    by going to the nearest terminal not yet visited (the lowest number if several are equally near); and, if every node
    has terminals, node by node in the order of `ring_of`. The order with the least load on its busiest channel is
    returned.
    """
    if not has_switches(topology):
        return ring_of(topology)[0]
    numbers = np.arange(len(topology.terminals), dtype=np.int32)
    orders = [numbers, _nearest_next(topology)]
    if len(np.unique(topology.terminals)) == topology.nodes:
        place = np.argsort(ring_of(topology)[0])
        orders.append(np.argsort(place[topology.terminals], kind="stable").astype(np.int32))
    return min(orders, key=lambda order: _busiest(topology, order))


def _busiest(topology: Topology, order: np.ndarray) -> float:
    """Return the busiest channel's load over bandwidth if each rank sends a unit to the next; inf without a path."""
    (tail, _, port), ends = topology.arcs, (topology.terminals[order], topology.terminals[np.roll(order, -1)])
    try:
        load, _ = routed(topology, *ends, np.ones(len(order)))
    except BadInput:
        return inf
    return round(float((load if topology.bandwidth is None else load / topology.bandwidth[tail, port]).max()), 9)


def _nearest_next(topology: Topology) -> np.ndarray:
    nodes, row = np.unique(topology.terminals, return_inverse=True)
    hops = hops_between(topology, nodes)[:, topology.terminals]
    hops[hops < 0] = hops.max() + 1  # no path
    far = hops.max() + 1
    order, left = [0], np.zeros(hops.shape[1], hops.dtype)  # `far` for those that have been visited
    while len(order) < len(left):
        left[order[-1]] = far
        order.append(int(np.argmin(hops[row[order[-1]]] + left)))
    return np.array(order, np.int32)


def _gathered(nodes: int, order: np.ndarray) -> Schedule:
    transfers = Transfers()
    following = np.roll(order, -1)
    for step in range(nodes - 1):
        transfers.add(step, order, following, np.roll(order, step))
    everyone = np.arange(nodes, dtype=np.int32)
    return schedule("all_gather", everyone, (nodes, np.ones(nodes, np.int64)), (everyone, -1), transfers)
