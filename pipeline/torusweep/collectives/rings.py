"""Rings through all nodes of a network: one, or several that share no link."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from torusweep.collectives.axes import NOWHERE, axes_of, link_keys
from torusweep.collectives.link_sets import exchanged
from torusweep.errors import BadInput
from torusweep.networks.topology import Topology

SEED = 1  # of the searches: the same rings in every run
ROTATIONS = 400  # for each node, until a search for a single ring gives up
Links = set[tuple[int, int]]


def ring_of(topology: Topology) -> tuple[np.ndarray, int]:
    """(int32[N] the nodes in the order of a ring, the most hops between two that follow each other).

    One hop where a Hamiltonian cycle is found: through the box of the addresses where that is a grid, else by rotations
    of a growing path (Pósa 1976). Otherwise an order with messages over several hops: two in a grid of odd sides,
    which is bipartite with one node more of one colour, so that it has no Hamiltonian cycle.
    """
    present = set(link_keys(topology).tolist())
    for order in _grid_orders(topology.plan.radices):
        if len(order) == topology.nodes and _is_ring(order, present):
            return np.array(order, np.int32), 1
    neighbours, everyone = _neighbours(topology), list(range(topology.nodes))
    rotated = _rotated(neighbours) if not topology.directed else None
    if rotated is not None:
        return np.array(rotated, np.int32), 1
    orders = [order for order in _grid_orders(topology.plan.radices) if len(order) == topology.nodes]
    hops, number = min((_most_hops(order, neighbours), number) for number, order in enumerate([*orders, everyone]))
    return np.array([*orders, everyone][number], np.int32), hops


def disjoint_rings(topology: Topology) -> list[np.ndarray]:
    """Hamiltonian cycles that share no link, int32[N] each: as many as axes of three nodes or more, if they are found.

    The rings of each axis are a set of links with two at every node. Exchanging the sides of a square between two
    such sets keeps that, and joins rings, until each set is one ring (Kotzig 1973 and Foregger 1978 prove that tori of
    two and three dimensions have such sets). Where a network has no such axes, a ring is sought that leaves others.
    """
    if topology.directed:
        raise BadInput(f"{topology.spelling}: expected links in both directions; choose one_way_ring or trees")
    try:
        axes = axes_of(topology)
    except BadInput:
        axes = []
    if len(axes) > 1 and all(axis.closed for axis in axes):
        found = exchanged(topology.nodes, axes)
        if found is not None:
            return found
    rings = []
    neighbours = _neighbours(topology)
    first, hops = ring_of(topology)
    if hops > 1 or topology.nodes < 3:  # two nodes that send to each other use their only link twice
        raise BadInput(f"{topology.spelling}: expected a Hamiltonian cycle, found none; choose algorithm ring or trees")
    order: list[int] | None = first.tolist()
    while order is not None:
        rings.append(np.array(order, np.int32))
        for one, other in zip(order, order[1:] + order[:1]):
            neighbours[one].remove(other)
            neighbours[other].remove(one)
        order = _rotated(neighbours) if min(map(len, neighbours)) >= 2 else None
    return rings


def _neighbours(topology: Topology) -> list[list[int]]:
    return [[int(head) for head in row if head != NOWHERE] for row in topology.ports]


def _is_ring(order: Sequence[int], present: set[int]) -> bool:
    nodes = len(order)
    return nodes > 2 and all(one * nodes + other in present for one, other in zip(order, [*order[1:], order[0]]))


def _most_hops(order: Sequence[int], neighbours: Sequence[Sequence[int]]) -> int:
    """The greatest distance between two nodes that follow each other."""
    most = 0
    for one, other in zip(order, [*order[1:], order[0]]):
        reached, hops = {one}, 0
        while other not in reached:
            reached |= {head for node in reached for head in neighbours[node]}
            hops += 1
        most = max(most, hops)
    return most


def _grid_orders(radices: Sequence[int]) -> Iterator[list[int]]:
    """Closed walks through a box, whether its sides are lines or rings: candidates, the likeliest first.

    Rows are one axis; the columns are a path through all other axes. Row 0 is the way back; the others are gone through
    column by column. It closes if the number of columns is even, or else if the rows are rings.
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
    """A path through a box, (side, stride) of each axis: back and forth along the first."""
    path = [0]
    for side, stride in axes:
        ways = path, path[::-1]
        path = [node + place * stride for place in range(side) for node in ways[place % 2]]
    return path


def _odd_grid(side: int, stride: int, columns: Sequence[int]) -> list[int]:
    """A closed walk through an odd × odd grid with one step of two hops, from and to the corner.

    Rows 1 … form a grid with an even number of rows, gone through along them with column 0 as the way back. The nodes
    of row 0 but the corner are inserted in pairs beside row 1, and the corner beside its neighbour in column 0.
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


def _rotated(neighbours: Sequence[Sequence[int]]) -> list[int] | None:
    """A Hamiltonian cycle by Pósa's rotations; None where the search gives up."""
    nodes = len(neighbours)
    if nodes < 3 or min(map(len, neighbours)) < 2:
        return None
    draw = random.Random(SEED)
    path, place = [0], {0: 0}
    for _ in range(ROTATIONS * nodes):
        end = path[-1]
        if len(path) == nodes and path[0] in neighbours[end]:
            return path
        fresh = [head for head in neighbours[end] if head not in place]
        if fresh:
            # to the neighbour that has the fewest ways on, so that it is not left behind
            ways = [sum(head not in place for head in neighbours[node]) for node in fresh]
            least = min(ways)
            head = draw.choice([node for node, number in zip(fresh, ways) if number == least])
            place[head] = len(path)
            path.append(head)
            continue
        pivot = draw.choice(neighbours[end])
        start = place[pivot] + 1
        path[start:] = path[start:][::-1]
        for position in range(start, len(path)):
            place[path[position]] = position
    return None
