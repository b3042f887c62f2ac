"""A slice as placements see it: a box of nodes, the routes between all pairs, what a node can send and receive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lcm, prod

import numpy as np
import scipy
from torusweep_kernels.groups import Ways

from torusweep.counts import counted
from torusweep.errors import BadInput, Refused
from torusweep.networks.families.algebra import Lattice, box
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing import SourceRouting
from torusweep.routing.dimension_order import dimension_order
from torusweep.routing.lattices import routing_record

MOST_NODES = 8192  # the table of all pairs then has 256 MiB; the largest slice of a known pod has 6,144 nodes
ROWS_AT_ONCE = 256  # of that table, while its keys are computed in 64 bits
MOST_DIMENSIONS = 4  # the orders of a group's axes are written out


@dataclass(frozen=True, eq=False)
class Machine:
    """A slice.

    topology  its network
    sides     of the box, x first
    rings     whether the wraparound of each dimension joins its ends; on a twisted slice, whether without a shift
    twisted   whether a wraparound shifts other dimensions
    ways      routes of all pairs: dimension order over a shortest displacement; equal ones carry equal shares
    message   units that a message puts on each link, if all its routes take that link
    """

    topology: Topology
    sides: tuple[int, ...]
    rings: tuple[bool, ...]
    twisted: bool
    ways: Ways
    message: int

    @property
    def nodes(self) -> int:
        return self.topology.nodes

    @property
    def names(self) -> tuple[str, ...]:
        """Of the dimensions."""
        return self.topology.plan.classes

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Difference of the numbers of two nodes that are neighbours in each dimension."""
        return tuple(prod(self.sides[:i]) for i in range(len(self.sides)))

    @cached_property
    def fewest_ports(self) -> int:
        """Links of the node that has the fewest."""
        return int(self.topology.degrees.min())

    @cached_property
    def channels(self) -> int:
        """Directed channels; a link has two."""
        return int(self.topology.degrees.sum())

    @cached_property
    def nearest(self) -> np.ndarray:
        """int64[N]: the sum over all nodes of the distances to the i nearest others, for i = 0 … N − 1.

        All routes are shortest ones.
        """
        ways = self.ways
        hops = ways.hops[ways.first[:-1]].sum(axis=1, dtype=np.int16)
        total = np.zeros(self.nodes, np.int64)
        for first in range(0, self.nodes, ROWS_AT_ONCE):
            total += np.sort(hops[ways.key[first : first + ROWS_AT_ONCE]], axis=1).sum(axis=0, dtype=np.int64)
        return total.cumsum()


def machine(topology: Topology) -> Machine:
    """The slice of a network: a torus, mesh, slice or twisted torus with all its links.

    Raises BadInput for another network, Refused for one that is too large.
    """
    _check(topology)
    shape = topology.plan.structure
    twisted = isinstance(shape, Lattice) and shape.columns != box(shape.sides).columns
    try:
        routing = routing_record(topology) if twisted else dimension_order(topology)
    except Refused:
        raise
    except BadInput:
        raise BadInput(
            f"{topology.spelling}: expected a slice, torus, mesh or twisted torus with all its links, got another"
            " network; choose one, such as slice(radices=[8, 16], wrap=[false, true])"
        ) from None
    sides = topology.plan.radices
    ways, message = _ways(routing)
    return Machine(topology, sides, tuple(_rings(routing, sides)), twisted, ways, message)


def _check(topology: Topology) -> None:
    sides, nodes = topology.plan.radices, topology.nodes
    if nodes > MOST_NODES:
        raise Refused(
            f"{topology.spelling}: expected at most {MOST_NODES:,} nodes, got {nodes:,}; all pairs have a route in a"
            " table: choose a smaller slice"
        )
    if len(sides) > MOST_DIMENSIONS:
        raise Refused(
            f"{topology.spelling}: expected at most {MOST_DIMENSIONS} dimensions, got {len(sides)}; the orders of an"
            " axis on all of them are too many: choose fewer and longer ones"
        )
    tail, head, _ = topology.arcs
    links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(nodes, nodes))
    parts = scipy.sparse.csgraph.connected_components(links, directed=True, connection="strong")[0]
    if parts > 1:
        raise BadInput(
            f"{topology.spelling}: expected a connected network, got {counted(parts, 'part')}; a collective would not"
            " end: choose a network without failed links or nodes"
        )
    if topology.directed:
        raise BadInput(
            f"{topology.spelling}: expected links of two directions, got one; choose a torus, mesh or twisted torus"
        )


def _rings(routing: SourceRouting, sides: tuple[int, ...]) -> list[bool]:
    """Whether the last node of each dimension leads to the first of the same line: a ring of 3 nodes or more."""
    rings, everyone = [], np.arange(prod(sides))
    for i, side in enumerate(sides):
        stride = prod(sides[:i])
        last = everyone // stride % side == side - 1
        there = routing.moves.next[last, 2 * i]
        rings.append(side > 2 and bool((there == everyone[last] - (side - 1) * stride).all()))
    return rings


def _ways(routing: SourceRouting) -> tuple[Ways, int]:
    """The routes of all pairs, and the units of a message, so that each of its equally loaded routes has whole ones."""
    everyone = np.arange(routing.topology.nodes)
    key = np.empty((len(everyone), len(everyone)), np.int32)
    for begin in range(0, len(everyone), ROWS_AT_ONCE):
        rows = slice(begin, begin + ROWS_AT_ONCE)
        key[rows] = routing.key(everyone[rows, None], everyone[None, :])
    routes = routing.routes(np.arange(routing.keys))
    number = np.diff(routes.first)
    message = lcm(*set(number.tolist()))
    step = np.where(routing.moves.port == NO_PORT, np.int32(NO_PORT), routing.moves.next)
    units = np.repeat(message // number, number)
    first = np.asarray(routes.first, np.int64)
    return Ways(step, key, first, units.astype(np.int64), routes.direction, routes.hops), message
