"""Dimension-order routing on grids: tori, meshes and hypercubes.

On a HyperX, where all routers of a row are joined, dimension order takes one hop in each dimension that differs. ROMM
is dimension order through a random node between source and destination.

Turn models are minimal routings on meshes that forbid just enough turns to be deadlock-free with one virtual channel.
A packet takes all hops in a first set of directions, in any order, before any hop in the second set of directions. It
therefore never turns from a direction of the second set into a direction of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import prod
from typing import Annotated, Literal

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.algebra import Lattice
from torusweep.networks.families.low_diameter import Hamming
from torusweep.networks.families.wiring import class_names, neighbour
from torusweep.networks.topology import NO_PORT, Meaning, Topology, require
from torusweep.routing.forms import LayeredRouting, Moves, Routes, SourceRouting, combinations, in_two_phases, port_to

MOST_DIRECTIONS = 127  # a direction is an int8
MAX_SIDE = 1 << 15  # of a grid
MAX_DIMENSIONS = 5  # for random_order: the number of an order, up to 5! = 120, is a phase, which is an int8
MOST_ROUTES = 1 << 22  # of all keys together; a route takes about 50 bytes


def hamming_order(topology: Topology, *, reverse: bool = False) -> SourceRouting:
    """Take one hop per dimension, to the router with the destination's digit; x is first, or last with `reverse`.

    Each direction is a step along a dimension: s = 1, 2, … up to half its side, forwards (+) and backwards (−).

    Constraint: a HyperX, or one of its other names.
    Source: Ahn et al. 2009, sec. 3 (dimension order on the HyperX).
    """
    shape = topology.plan.structure
    assert isinstance(shape, Hamming), "the caller asks"
    sides = shape.sides
    steps = [(dimension, step) for dimension, side in enumerate(sides) for step in range(1, side // 2 + 1)]
    if 2 * len(steps) > MOST_DIRECTIONS:
        raise Refused(
            f"expected at most {MOST_DIRECTIONS} directions, got {2 * len(steps)};"
            " choose minimal, which suits every network"
        )
    port = np.full((topology.nodes, 2 * len(steps)), NO_PORT, np.int8)
    direction_of = [np.zeros(side, np.int8) for side in sides]  # by the difference of the digits
    for place, (dimension, step) in enumerate(steps):
        for backwards, by in ((0, step), (1, sides[dimension] - step)):
            if backwards and by == step:
                continue  # the same link
            port[:, 2 * place + backwards] = port_to(topology, neighbour(sides, dimension, by).reshape(-1))
            direction_of[dimension][by] = 2 * place + backwards
    names = class_names(len(sides))
    moves = Moves(topology, port, tuple(f"{names[dimension]} by {step} " for dimension, step in steps))
    order = list(range(len(sides)))[:: -1 if reverse else 1]

    def key(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        relative, stride = source * 0 + destination * 0, 1
        for side in sides:
            relative = relative + (destination // stride % side - source // stride % side) % side * stride
            stride *= side
        return relative

    def routes(keys: np.ndarray) -> Routes:
        keys = np.asarray(keys, np.int64)
        direction = np.zeros((len(keys), len(sides)), np.int8)
        hops = np.zeros((len(keys), len(sides)), np.int16)
        strides = np.cumprod([1, *sides[:-1]])
        for run, dimension in enumerate(order):
            apart = keys // strides[dimension] % sides[dimension]
            direction[:, run], hops[:, run] = direction_of[dimension][apart], apart > 0
        return Routes(np.arange(len(keys) + 1), np.ones(len(keys)), direction, hops, np.zeros_like(direction))

    return SourceRouting(moves, np.zeros(topology.nodes, np.int32), topology.nodes, key, routes)


Tie = Annotated[
    Literal["split", "positive", "sign", "random"],
    Meaning(
        "which way round at half a ring: split or random: both equally; positive: +;"
        " sign: + where the destination's digit is the larger"
    ),
]


def dimension_order(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """Route along x first, then y, then z …, the shorter way round each; on a HyperX, in one hop per dimension.

    Constraint: a grid: torus, mesh, hypercube, rt or pt, with all its links, also from a file or graph that
    numbers its nodes x first; or a HyperX.
    Source: Dally & Seitz 1987, sec. 4 (e-cube); Dally 1990; Ahn et al. 2009 (HyperX).
    """
    if isinstance(topology.plan.structure, Hamming):
        return hamming_order(topology)
    grid = grid_of("dimension_order", topology)
    return grid.routing(tie, [tuple(range(len(grid.sides)))])


def reverse_order(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """Dimension order with the last dimension first: along y, then x (y–x order), or along z, then y, then x.

    Constraint: a grid as for dimension_order.
    Source: Dally & Towles 2004, sec. 8.4.2.
    """
    if isinstance(topology.plan.structure, Hamming):
        return hamming_order(topology, reverse=True)
    grid = grid_of("reverse_order", topology)
    return grid.routing(tie, [tuple(reversed(range(len(grid.sides))))])


def random_order(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """Dimension order in a random order of the dimensions for every packet; with two dimensions, this is O1TURN.

    Constraint: a grid as for dimension_order, of 2 to 5 dimensions.
    Source: Seo et al. 2005 (O1TURN), for two dimensions.
    """
    grid = grid_of("random_order", topology)
    dimensions = len(grid.sides)
    require(
        2 <= dimensions <= MAX_DIMENSIONS,
        "dimensions",
        dimensions,
        f"2 … {MAX_DIMENSIONS}",
        "all orders are written out",
    )
    return grid.routing(tie, list(permutations(range(dimensions))))


@dataclass(frozen=True)
class Grid:
    """A network as a grid: each dimension's side, whether it is a ring (`round`), and whether it has only + links."""

    moves: Moves
    sides: tuple[int, ...]
    round: tuple[bool, ...]
    forward: tuple[bool, ...]

    def routing(self, tie: str, orders: Sequence[tuple[int, ...]]) -> SourceRouting:
        """Return the routing that splits packets equally over `orders` of dimensions; a route's phase is its order."""
        sides = self.sides
        # in a ring only the difference modulo its length matters, except for tie=sign
        modular = [closed and (tie != "sign" or side % 2 == 1 or side == 2) for closed, side in zip(self.round, sides)]
        bases = [side if wraps else 2 * side - 1 for side, wraps in zip(sides, modular)]

        def key(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
            relative, stride, scale = source * 0 + destination * 0, 1, 1
            for side, base, wraps in zip(sides, bases, modular):
                apart = destination // stride % side - source // stride % side
                relative = relative + (apart % side if wraps else apart + side - 1) * scale
                stride, scale = stride * side, scale * base
            return relative

        def routes(keys: np.ndarray) -> Routes:
            return self.routes(keys, tie, bases, modular, orders)

        cell = np.zeros(self.moves.topology.nodes, np.int32)
        return SourceRouting(self.moves, cell, prod(bases), key, routes, phases=len(orders), separable=True)

    def routes(
        self,
        keys: np.ndarray,
        tie: str,
        bases: Sequence[int],
        modular: Sequence[bool],
        orders: Sequence[tuple[int, ...]],
    ) -> Routes:
        keys = np.asarray(keys, np.int64)
        ahead, ways, stride = [], np.ones((len(keys), len(self.sides) + 1), np.int64), 1
        for i, (side, base) in enumerate(zip(self.sides, bases)):
            apart = keys // stride % base - (0 if modular[i] else side - 1)  # 0 … k − 1, or −(k − 1) … k − 1
            stride *= base
            ahead.append(apart)
            if self.round[i] and not self.forward[i] and side > 2 and tie in ("split", "random"):
                ways[:, i] += 2 * apart == side
        ways[:, -1] = len(orders)
        first, choice = combinations(ways)
        key = np.repeat(np.arange(len(keys)), np.diff(first))
        direction = np.empty((len(key), len(self.sides)), np.int8)
        hops = np.empty_like(direction, np.int16)
        for i, side in enumerate(self.sides):
            apart = ahead[i][key]
            if self.round[i]:
                onwards = apart % side
                back = (2 * onwards > side) | (
                    (2 * onwards == side) & ((choice[:, i] == 1) | ((tie == "sign") & (apart < 0)))
                )
                back &= not self.forward[i] and side > 2
                length = np.where(back, side - onwards, onwards)
            else:
                back, length = apart < 0, abs(apart)
            direction[:, i], hops[:, i] = 2 * i + back, length
        which = choice[:, -1]
        order = np.asarray(orders)[which]
        phase = np.broadcast_to(which[:, None], direction.shape).astype(np.int8)
        weight = 1 / ways.prod(axis=1)[key]
        return Routes(
            first, weight, np.take_along_axis(direction, order, axis=1), np.take_along_axis(hops, order, axis=1), phase
        )


def grid_of(routing: str, topology: Topology) -> Grid:
    """Return the network as a grid. Raises BadInput if a link of the grid is missing, or if there are other links."""
    for sides in _sides_of(topology) if topology.links else ():
        if max(sides) > MAX_SIDE:
            raise Refused(
                f"expected sides of at most {MAX_SIDE:,}, got {max(sides):,}: the hops of a run are 16-bit;"
                " choose minimal"
            )
        grid = _grid(topology, sides)
        if grid is not None:
            return grid
    raise _not_a_grid(routing, topology)


def _sides_of(topology: Topology) -> Iterator[tuple[int, ...]]:
    """Yield the sides that the network may have as a grid: the plan's and, if these are one side, all that links allow.

    In a grid, a step along a dimension adds the product of the sides before it to a node's number.
    """
    yield topology.plan.radices
    if len(topology.plan.radices) > 1:
        return
    tail, head, _ = topology.arcs
    apart, nodes = set(np.unique(np.abs(head - tail)).tolist()), topology.nodes

    def further(stride: int) -> Iterator[tuple[int, ...]]:
        if stride == nodes:
            yield ()
        for onwards in range(2 * stride, nodes + 1, stride):
            if nodes % onwards == 0 and (onwards in apart or onwards == nodes):
                yield from ((onwards // stride, *rest) for rest in further(onwards))

    if 1 in apart:
        yield from (sides for sides in further(1) if len(sides) > 1)


def _grid(topology: Topology, sides: tuple[int, ...]) -> Grid | None:
    """Return the network as a grid with the given sides; None if its links are not the links of this grid."""
    port = np.empty((topology.nodes, 2 * len(sides)), np.int8)
    closed, forward = [], []
    for i, side in enumerate(sides):
        for sign in (1, -1):
            port[:, 2 * i + (sign < 0)] = port_to(topology, neighbour(sides, i, sign))
        digit = np.arange(topology.nodes) // prod(sides[:i]) % side
        onwards, back = port[:, 2 * i] != NO_PORT, port[:, 2 * i + 1] != NO_PORT
        forward.append(bool(topology.directed and side > 2))
        closed.append(bool(onwards.all()))
        inner = (digit < side - 1, digit > 0)
        whole = (closed[i] and (forward[i] or back.all())) or (
            np.array_equal(onwards, inner[0]) and np.array_equal(back, inner[1])
        )
        if not whole:
            return None
    moves = Moves(topology, port, class_names(len(sides)))
    return Grid(moves, sides, tuple(closed), tuple(forward)) if moves.covers_all_links else None


def _not_a_grid(routing: str, topology: Topology) -> BadInput:
    twisted = isinstance(topology.plan.structure, Lattice)
    other = "routing_record, which suits lattices" if twisted else "minimal, which suits every network"
    return BadInput(
        f"routing {routing} on {topology.spelling}: expected a torus, mesh or hypercube with all its links,"
        f" got other links; choose {other}"
    )


def romm(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """Route in dimension order to a random node of the box that source and destination span, then to the destination.

    All routes are shortest paths. Each half is a phase; the rule `phases` gives each phase virtual channels of its own.

    Constraint: a grid as for dimension_order; at most 4,194,304 routes in all.
    Source: Nesson & Johnsson 1995, with one intermediate node.
    """
    grid = grid_of("romm", topology)
    dimensions = len(grid.sides)
    direct = grid.routing(tie, [tuple(range(dimensions))])
    most = _route_count(grid.sides, grid.round, grid.forward)
    if most > MOST_ROUTES:
        raise Refused(
            f"routing romm on {topology.spelling}: expected at most {MOST_ROUTES:,} routes, got about {most:,};"
            " choose valiant, or a smaller network"
        )

    def routes(keys: np.ndarray) -> Routes:
        whole = direct.routes(keys)
        first, before = combinations(whole.hops.astype(np.int64) + 1)  # hops before the intermediate node
        row = np.repeat(np.arange(len(whole.hops)), np.diff(first))
        return Routes(
            first[whole.first],
            whole.weight[row] / np.diff(first)[row],
            np.tile(whole.direction[row], 2),
            np.hstack([before, whole.hops[row] - before]).astype(np.int16),
            np.broadcast_to(np.repeat([0, 1], dimensions), (len(row), 2 * dimensions)).astype(np.int8),
        )

    return replace(direct, routes=routes, phases=2, separable=False)


def _route_count(sides: tuple[int, ...], closed: tuple[bool, ...], forward: tuple[bool, ...]) -> int:
    """Return an upper bound of the routes to all relative addresses: the product over dimensions of Σ (hops + 1)."""
    count = 1
    for side, ring, one_way in zip(sides, closed, forward):
        offsets = np.arange(side) if ring else np.arange(1 - side, side)
        hops = np.abs(offsets) if one_way or not ring else np.minimum(offsets, side - offsets)
        count *= int((hops + 1).sum()) + int(ring and not one_way and side % 2 == 0) * (side // 2 + 1)
    return count


Split = Annotated[
    Literal["next_hops", "paths"],
    Meaning(
        "next_hops: equal shares, at every node, of all permitted hops that lead nearer; paths: of all permitted paths"
    ),
]


def west_first(topology: Topology, split: Split = "next_hops") -> LayeredRouting:
    """Make all hops to the west (−x) first, then all other hops in any order.

    In n dimensions, the hops in the − directions of all dimensions but the last come first.

    Constraint: a mesh or hypercube of two or more dimensions, with all its links.
    Source: Glass & Ni 1992; in n dimensions their all-but-one-negative-first.
    """
    sides = _sides("west_first", topology)
    return _turn_model("west_first", topology, [(i, False) for i in range(len(sides) - 1)], split)


def north_last(topology: Topology, split: Split = "next_hops") -> LayeredRouting:
    """Make the hops to the north (+y) last, after all other hops in any order.

    In n dimensions, the hops in the + directions of all dimensions but the first come last.

    Constraint: a mesh or hypercube of two or more dimensions, with all its links.
    Source: Glass & Ni 1992; in n dimensions their all-but-one-positive-last.
    """
    sides = _sides("north_last", topology)
    first = [(0, True), *((i, False) for i in range(len(sides)))]
    return _turn_model("north_last", topology, first, split)


def negative_first(topology: Topology, split: Split = "next_hops") -> LayeredRouting:
    """Make all hops in − directions first, then all hops in + directions; within each phase, in any order.

    Constraint: a mesh or hypercube of two or more dimensions, with all its links.
    Source: Glass & Ni 1992.
    """
    sides = _sides("negative_first", topology)
    return _turn_model("negative_first", topology, [(i, False) for i in range(len(sides))], split)


def _sides(routing: str, topology: Topology) -> tuple[int, ...]:
    """Return the sides of a mesh or hypercube. Raises BadInput for another network, or for a single dimension."""
    grid = grid_of(routing, topology)
    require(len(grid.sides) >= 2, "dimensions", len(grid.sides), "2 or more", "a turn needs two")
    if topology.directed or any(closed and side > 2 for closed, side in zip(grid.round, grid.sides)):
        raise BadInput(
            f"routing {routing} on {topology.spelling}: expected a mesh or hypercube, got wraparound links, round which"
            " a cycle needs no turn; choose dimension_order"
        )
    return grid.sides


def _turn_model(routing: str, topology: Topology, first: Iterable[tuple[int, bool]], split: str) -> LayeredRouting:
    """Return shortest paths in two phases: all hops in the directions `first`, then all other hops.

    first   directions of the first phase: (dimension, whether +)
    """
    grid = grid_of(routing, topology)
    nodes, width = topology.ports.shape
    every = np.arange(nodes, dtype=np.int32)
    begins = np.zeros((nodes, width), bool)
    for dimension, plus in first:
        digit = every // prod(grid.sides[:dimension]) % grid.sides[dimension]
        port = grid.moves.port[:, 2 * dimension + (not plus)]
        leads = (port != NO_PORT) & (digit < grid.sides[dimension] - 1 if plus else digit > 0)
        begins[every[leads], port[leads]] = True
    others = (topology.ports != NO_PORT) & ~begins
    return in_two_phases(topology, begins, others, others, split)
