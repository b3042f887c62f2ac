"""Dimension-order routing on grids: tori, meshes and hypercubes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import Annotated, Literal

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.grids import class_names, neighbour
from torusweep.networks.families.low_diameter import Hamming
from torusweep.networks.topology import NO_PORT, Meaning, Topology, require
from torusweep.routing.forms import Moves, Routes, SourceRouting, combinations, port_to
from torusweep.routing.hamming_order import hamming_order

Tie = Annotated[
    Literal["split", "positive", "sign", "random"],
    Meaning(
        "which way round at half a ring: split or random: both equally; positive: +;"
        " sign: + where the destination's digit is the larger"
    ),
]
MAX_SIDE = 1 << 15  # of a grid
MAX_DIMENSIONS = 5  # of random_order: the number of one of 5! = 120 orders is a phase, which is an int8


def dimension_order(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """Along x first, then y, then z …, in each dimension the shorter way round; on a HyperX in one hop.

    Constraint: a grid: torus, mesh, hypercube, rt or pt, with all its links; or a HyperX.
    Source: Dally & Seitz 1987, sec. 4 (e-cube); Dally 1990; Ahn et al. 2009 (HyperX).
    """
    if isinstance(topology.plan.structure, Hamming):
        return hamming_order(topology)
    grid = grid_of("dimension_order", topology)
    return grid.routing(tie, [tuple(range(len(grid.sides)))])


def reverse_order(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """As dimension_order, with the last dimension first: along y, then x (y–x order), along z, then y, then x.

    Constraint: a grid as for dimension_order.
    Source: Dally & Towles 2004, sec. 8.4.2.
    """
    if isinstance(topology.plan.structure, Hamming):
        return hamming_order(topology, reverse=True)
    grid = grid_of("reverse_order", topology)
    return grid.routing(tie, [tuple(reversed(range(len(grid.sides))))])


def random_order(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """As dimension_order, with the order of the dimensions drawn for every packet; in two dimensions, O1TURN.

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
    """A grid. sides: of the box; round: whether each dimension is a ring; forward: whether it has + links only."""

    moves: Moves
    sides: tuple[int, ...]
    round: tuple[bool, ...]
    forward: tuple[bool, ...]

    def routing(self, tie: str, orders: Sequence[tuple[int, ...]]) -> SourceRouting:
        """Routing with equal shares of all `orders` of the dimensions; the phase of a route is its order's number."""
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
    """The network as a grid. Raises BadInput if a link of the grid is missing or a link is not of the grid."""
    sides = topology.plan.radices
    if not topology.links:
        raise _not_a_grid(routing, topology)
    if max(sides) > MAX_SIDE:
        raise Refused(
            f"expected sides of at most {MAX_SIDE:,}, got {max(sides):,}: the hops of a run are 16-bit; choose minimal"
        )
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
            raise _not_a_grid(routing, topology)
    moves = Moves(topology, port, class_names(len(sides)))
    if not moves.covers_all_links:
        raise _not_a_grid(routing, topology)
    return Grid(moves, sides, tuple(closed), tuple(forward))


def _not_a_grid(routing: str, topology: Topology) -> BadInput:
    return BadInput(
        f"routing {routing} on {topology.spelling}: expected a torus, mesh or hypercube with all its links,"
        " got other links; choose minimal, which suits every network"
    )
