"""The slice on which a job is placed: its box of nodes, the routes between all pairs, and the bandwidths of its links.

The module also computes the time of a job's operation from the loads of links, and a lower bound for all placements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import Literal, NamedTuple

import numpy as np
import scipy
from torusweep_kernels.groups import Ways

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.algebra import Lattice, box
from torusweep.networks.families.wiring import class_names
from torusweep.networks.physical import LinkSpeed
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.quantities import counted
from torusweep.routing import SourceRouting
from torusweep.routing.dimension_order import grid_of
from torusweep.routing.lattices import routing_record

MOST_NODES = 8192  # the table of all pairs then has 256 MiB; the largest slice of a known pod has 6,144 nodes
MOST_SCALE = 10**6  # greatest scale of the links' weights
ROWS_AT_ONCE = 256  # rows of the table of all pairs whose keys are computed in 64 bits at a time
MOST_DIMENSIONS = 4  # all orders of a group's dimensions are listed
# operation → pattern of messages of the kernel `groups` from whose loads the time follows
PATTERN = {
    "all_gather": "ring",
    "reduce_scatter": "ring",
    "all_reduce": "ring",
    "all_to_all": "pairs",
    "broadcast": "broadcast",
    "permute": "next",
    "exchange": "line",
}
MEANING = {
    "all_gather": "bytes of the gathered result",
    "reduce_scatter": "bytes of the vector that each rank has",
    "all_reduce": "bytes of the vector that each rank has",
    "all_to_all": "bytes that each rank sends to all ranks, its own part included",
    "broadcast": "bytes of the message",
    "permute": "bytes that each rank sends to the next, the last to the first",
    "exchange": "bytes that each rank sends to the next and to the previous; the ends have one neighbour",
}


@dataclass(frozen=True, eq=False)
class Machine:
    """A slice with the routes between its nodes.

    topology  network of the slice
    sides     sides of the box, x first
    rings     for each dimension, whether its wraparound connects the ends of a line without a shift
    twisted   whether a wraparound shifts other dimensions
    ways      routes of all pairs: dimension order along shortest displacements, which share a message equally
    message   load that a message adds to a link of one flit per cycle if all routes of the message use this link
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
        """Names of the slice's dimensions."""
        return class_names(len(self.sides))

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Difference between the numbers of two neighbouring nodes, for each dimension."""
        return tuple(prod(self.sides[:i]) for i in range(len(self.sides)))

    @cached_property
    def fewest_ports(self) -> int:
        """Least number of links of a node."""
        return int(self.topology.degrees.min())

    @cached_property
    def bandwidths(self) -> np.ndarray:
        """float64[N]: total bandwidth of each node's links in each direction, in flits per cycle."""
        topology = self.topology
        return (topology.degrees if topology.bandwidth is None else topology.bandwidth.sum(axis=1)).astype(np.float64)

    def width_of(self, link: int) -> float:
        """Return the bandwidth of a link in flits per cycle. link: node · D + direction."""
        if self.topology.bandwidth is None:
            return 1.0
        node, direction = divmod(link, self.ways.step.shape[1])
        port = np.flatnonzero(self.topology.ports[node] == self.ways.step[node, direction])[0]
        return float(self.topology.bandwidth[node, port])

    @cached_property
    def nearest(self) -> np.ndarray:
        """Sum over all nodes of the distances to their i nearest other nodes, for i = 0 … N − 1, int64[N].

        All routes are shortest paths.
        """
        ways = self.ways
        hops = ways.hops[ways.first[:-1]].sum(axis=1, dtype=np.int16)
        total = np.zeros(self.nodes, np.int64)
        for first in range(0, self.nodes, ROWS_AT_ONCE):
            total += np.sort(hops[ways.key[first : first + ROWS_AT_ONCE]], axis=1).sum(axis=0, dtype=np.int64)
        return total.cumsum()


def machine(topology: Topology) -> Machine:
    """Return a network as a slice, with the routes between all pairs of its nodes.

    Raises BadInput unless it is a torus, mesh, slice or twisted torus with all links, and Refused if it is too large.
    """
    _check(topology)
    shape, sides = topology.plan.structure, topology.plan.radices
    twisted = isinstance(shape, Lattice) and shape.columns != box(shape.sides).columns
    try:
        if not twisted:
            grid = grid_of("dimension_order", topology)  # no HyperX, but also graphs that are numbered as grids
            sides = grid.sides
        if len(sides) > MOST_DIMENSIONS:
            raise Refused(
                f"{topology.spelling}: expected at most {MOST_DIMENSIONS} dimensions, got {len(sides)}; the orders of"
                " an axis on all of them are too many: choose fewer and longer ones"
            )
        routing = routing_record(topology) if twisted else grid.routing("split", [tuple(range(len(sides)))])
    except Refused:
        raise
    except BadInput:
        raise BadInput(
            f"{topology.spelling}: expected a slice, torus, mesh or twisted torus with all its links, got another"
            " network; choose one, such as slice(radices=[8, 16], wrap=[false, true])"
        ) from None
    ways, message = _ways(routing)
    return Machine(topology, sides, tuple(_rings(routing, sides)), twisted, ways, message)


def _check(topology: Topology) -> None:
    nodes = topology.nodes
    if nodes > MOST_NODES:
        raise Refused(
            f"{topology.spelling}: expected at most {MOST_NODES:,} nodes, got {nodes:,}; all pairs have a route in a"
            " table: choose a smaller slice"
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
    """Return for each dimension whether its lines are rings: at least 3 nodes, the last connected to the first."""
    rings, everyone = [], np.arange(prod(sides))
    for i, side in enumerate(sides):
        stride = prod(sides[:i])
        last = everyone // stride % side == side - 1
        there = routing.moves.next[last, 2 * i]
        rings.append(side > 2 and bool((there == everyone[last] - (side - 1) * stride).all()))
    return rings


def _ways(routing: SourceRouting) -> tuple[Ways, int]:
    """Return (routes of all pairs, units of a message); units are divisible by the number of routes of each pair."""
    everyone = np.arange(routing.topology.nodes)
    key = np.empty((len(everyone), len(everyone)), np.int32)
    for begin in range(0, len(everyone), ROWS_AT_ONCE):
        rows = slice(begin, begin + ROWS_AT_ONCE)
        key[rows] = routing.key(everyone[rows, None], everyone[None, :])
    routes = routing.routes(np.arange(routing.keys))
    number = np.diff(routes.first)
    message = lcm(*set(number.tolist()))
    port = routing.moves.port.astype(np.int64)
    step = np.where(port == NO_PORT, np.int32(NO_PORT), routing.moves.next)
    units = np.repeat(message // number, number)
    first = np.asarray(routes.first, np.int64)
    weight, scale = _weights(routing.topology, port)
    latency = routing.topology.latency
    if latency is not None:
        latency = np.where(port == NO_PORT, 0, np.take_along_axis(latency, np.maximum(port, 0), axis=1))
        latency = latency.astype(np.int64)
    ways = Ways(step, key, first, units.astype(np.int64), routes.direction, routes.hops, weight, latency)
    return ways, message * scale


def _weights(topology: Topology, port: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Return each link's weight, `scale` / bandwidth, as a whole number, int64[N, D] (None if all are 1), and `scale`.

    Raises Refused if the scale is too large.
    """
    if topology.bandwidth is None:
        return None, 1
    parallel = np.ones(1, np.int64) if topology.capacity is None else np.unique(topology.capacity)
    links = topology.plan.bandwidths or (Fraction(1),)
    widths = {float(width * int(many)): width * int(many) for width in links for many in parallel.tolist() if many}
    scale = lcm(*(width.numerator for width in widths.values()))
    if scale > MOST_SCALE:
        raise Refused(
            f"{topology.spelling}: expected bandwidths that are small whole multiples of another, got common multiples"
            f" above {MOST_SCALE:,}; round the bandwidths"
        )
    known, place = np.unique(topology.bandwidth, return_inverse=True)
    whole = np.array([int(scale / widths[width]) if width else 0 for width in known.tolist()], np.int64)
    of_port = whole[place].reshape(topology.ports.shape)
    return np.where(port == NO_PORT, 0, np.take_along_axis(of_port, np.maximum(port, 0), axis=1)), scale


Kind = Literal["all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast", "permute", "exchange"]


class JobOperation(NamedTuple):
    """A collective operation, which all groups of an axis do at the same time.

    axis   axis of the job
    kind   kind of operation
    bytes  size of the operation as defined by nccl-tests (MEANING)
    times  number of repetitions in a step
    why    part of the model that needs the operation; "" for an operation that the user gave
    """

    axis: str
    kind: str
    bytes: int
    times: int = 1
    why: str = ""


class OperationCost(NamedTuple):
    """The numbers from which the time of an operation follows.

    bytes      bytes on the busiest link, divided by the link's bandwidth in flits per cycle
    steps      number of successive steps that software starts
    algorithm  "ring", "bucket", "direct", "pipeline", or "none" for a group of one member
    latency    sum over the steps of the link latencies on the step's slowest route
    """

    bytes: float
    steps: int
    algorithm: str
    latency: int = 0

    def seconds(self, links: LinkSpeed) -> float:
        return self.bytes / links.bandwidth + links.wait(self.steps, self.steps, self.latency)


def cost(operation: JobOperation, size: int, loads: Mapping[str, float], slowest: int = 1) -> OperationCost:
    """Return the cost of an operation by a ring algorithm, or by direct messages if no step waits for another.

    size     number of members of a group, A
    loads    pattern → messages on the busiest link, divided by the link's bandwidth in flits per cycle
    slowest  latency of the slowest route of the pattern

    all_gather, reduce_scatter: half of the data goes round the ring each way, (A − 1)/A · bytes/2 over each edge of the
    ring, in A − 1 steps. all_reduce: reduce_scatter, then all_gather (Thakur, Rabenseifner & Gropp 2005; Patarasuk
    & Yuan 2009). all_to_all: bytes/A to each member. broadcast: half the data along the ring each way, in small pieces.
    """
    kind, number = operation.kind, operation.bytes
    if size == 1:
        return OperationCost(0.0, 0, "none")
    load = loads[PATTERN[kind]]
    if kind == "all_to_all":
        return OperationCost(number / size * load, size - 1, "direct", slowest)  # no message waits for another
    if kind in ("permute", "exchange"):
        return OperationCost(number * load, 1, "direct", slowest)
    if kind == "broadcast":
        return OperationCost(number / 2 * load, size - 1, "pipeline", (size - 1) * slowest)
    passes = 2 if kind == "all_reduce" else 1
    steps = passes * (size - 1)
    return OperationCost(passes * number * (size - 1) / size / 2 * load, steps, "ring", steps * slowest)


def bucket_cost(
    operation: JobOperation, factors: list[int], loads: list[float], slowest: list[int]
) -> OperationCost | None:
    """Return the cost of an all-gather, reduce-scatter or all-reduce on all sides of a block, or None.

    factors  sides of the block; the result is None if there is only one, or for another operation
    loads    for each side, messages on the busiest link divided by its bandwidth, if all rings are used at once
    slowest  for each side, latency of the slowest route of the rings

    The data are divided into a part for each side. Part j is gathered along side j, then along the next side, and so
    on, so that all sides are in use in every phase. A phase waits for the previous one. A side has a members, each
    with P shares: (a − 1) · P shares go over its ring, half of them each way.
    Source: Sack & Gropp 2015, for equal sides; here the sides may differ.
    """
    if operation.kind not in ("all_gather", "reduce_scatter", "all_reduce") or len(factors) < 2:
        return None
    count, size = len(factors), 1
    for factor in factors:
        size *= factor
    share = operation.bytes / size / count
    shares, total = [1] * count, 0.0
    for phase in range(count):
        most = 0.0
        for part in range(count):
            side = (part + phase) % count
            most = max(most, (factors[side] - 1) * shares[part] * share / 2 * loads[side])
            shares[part] *= factors[side]
        total += most
    passes = 2 if operation.kind == "all_reduce" else 1
    steps = passes * count * (max(factors) - 1)  # all sides are in use in each phase
    latency = passes * count * max((factor - 1) * of_one for factor, of_one in zip(factors, slowest))
    return OperationCost(passes * total, steps, "bucket", latency)


def least_bytes(operation: JobOperation, size: int, machine: Machine) -> float:
    """Return a lower bound, for any placement and routing, of the busiest link's bytes divided by its bandwidth.

    all_gather: every node, even the one with the least bandwidth, receives all but its own part, (A − 1)/A · bytes.
    reduce_scatter: every node sends as much. broadcast: every node receives everything, or is the first and sends it.
    all_reduce: members of a group send 2 (A − 1)/A · bytes each on average (Patarasuk & Yuan 2009, if only members
    combine), and these bytes take at least one hop each over all channels. permute, exchange: likewise.
    all_to_all: bytes/A to A − 1 other members, which are at least as far as the nearest A − 1 nodes, over all channels.
    """
    if size == 1:
        return 0.0
    kind, number = operation.kind, operation.bytes
    nodes, channels, least = machine.nodes, float(machine.bandwidths.sum()), float(machine.bandwidths.min())
    if kind in ("all_gather", "reduce_scatter"):
        return number * (size - 1) / size / least
    if kind == "broadcast":
        return number / least
    if kind == "all_to_all":
        return number / size * int(machine.nearest[size - 1]) / channels
    each = {"all_reduce": 2 * (size - 1) / size, "permute": 1.0, "exchange": 2 * (size - 1) / size}[kind]
    return number * each * nodes / channels


def bound_name(kind: str) -> str:
    """Return the proof of the lower bound of an operation's time, in words."""
    return {
        "all_gather": "bytes that a node receives, over its links",
        "reduce_scatter": "bytes that a node sends, over its links",
        "broadcast": "bytes that a node receives, over its links",
        "all_to_all": "bytes times the distance to the nearest others, over all channels",
    }.get(kind, "bytes that all nodes send, over all channels")
