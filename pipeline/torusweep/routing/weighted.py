"""Routing by the cost of links: weights from the network's file, as in OSPF and IS-IS, or latencies."""

from __future__ import annotations

import heapq
from fractions import Fraction
from math import gcd, lcm
from typing import Annotated, Literal

import numpy as np
import scipy

from torusweep.errors import BadInput, Refused
from torusweep.networks.ends import split
from torusweep.networks.names import name_of
from torusweep.networks.topology import NO_PORT, Meaning, Topology
from torusweep.routing.forms import TableRouting
from torusweep.routing.tables.as_table import joined
from torusweep.routing.tables.rows import TableRows, table_routing

MOST_PAIRS = 1 << 24  # of a node and a destination, as on 4,096 nodes: about a minute
BLOCK = 1 << 22  # pairs of a node and a destination at a time
EXACT = 1 << 53  # whole numbers up to here are exact in float64
By = Annotated[
    Literal["weight", "latency"],
    Meaning("what a path costs: the sum of its links' weights, as the network's file has them, or of their latencies"),
]


def weighted(topology: Topology, by: By = "weight") -> TableRouting:
    """At every node, divide packets equally among all links on paths of least cost, as OSPF and IS-IS do.

    Weights are compared exactly, as the file's decimals: .1 + .2 equals .3. Each parallel link counts. Nodes that
    forward nothing are only at the ends of paths.

    Constraint: with by=weight, a network whose links all have a weight above 0.
    Source: RFC 2328, sec. 16.1 (shortest paths, equal-cost next hops); RFC 2991 (equal-cost multipath, per packet).
    """
    pairs = topology.nodes * len(np.unique(topology.terminals))
    if pairs > MOST_PAIRS:
        raise Refused(
            f"routing weighted on {topology.spelling}: expected at most {MOST_PAIRS:,} pairs of a node and a"
            f" destination, got {pairs:,}; choose a smaller network, or minimal"
        )
    cost = _costs(topology, by)
    goals = np.unique(topology.terminals).astype(np.int64)
    step = max(1, BLOCK // topology.nodes)
    parts, apart = [], [np.zeros(0, np.int64)]
    for first in range(0, len(goals), step):
        some = goals[first : first + step]
        away = _least_costs(topology, cost, some)
        parts.append(_rows(topology, cost, some, away))
        goal, source = np.nonzero(away[:, goals] < 0)
        apart.append(goals[source] * topology.nodes + some[goal])
    lost = np.sort(np.concatenate(apart))
    divided = topology.plan.whole is not None or topology.ends is not None
    broken = lost if len(lost) and divided else None
    return table_routing(topology, joined(parts), lost=broken, partial=True)


def _costs(topology: Topology, by: str) -> np.ndarray:
    """Return each link's cost, [N, P], as a whole number of a common unit; 0 = no link.

    The dtype is int64 if float64 holds the cost of every path exactly, otherwise object, with Python's integers.
    """
    given, present = topology.weight if by == "weight" else topology.latency, topology.ports != NO_PORT
    if given is None and by == "weight":
        raise BadInput(
            'expected weights of links, got a network without; read its file with weights="cost", or choose minimal'
        )
    if given is None:
        given = present.astype(np.int32)  # links take a cycle each
    valid = np.isfinite(given) & (given > 0)
    if not valid[present].all():
        node, port = (int(place) for place in np.argwhere(present & ~valid)[0])
        ends = f"{name_of(topology, node)} → {name_of(topology, int(topology.ports[node, port]))}"
        raise BadInput(
            f"expected weights above 0 of all links, got {given[node, port]:g} on {ends}; packets could go round links"
            " that cost nothing: give it a weight, or choose minimal"
        )
    values, which = np.unique(np.where(present, given, 0), return_inverse=True)
    exact = [Fraction(repr(value)) for value in values.tolist()]
    unit = lcm(*(value.denominator for value in exact))
    whole = [int(value * unit) for value in exact]
    common = gcd(*whole) or 1
    small = max(whole) // common * topology.nodes < EXACT
    scaled = np.array([number // common for number in whole], np.int64 if small else object)
    return scaled[which.reshape(given.shape)]


def _least_costs(topology: Topology, cost: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """Return the least cost of a path from every node to each goal, [B, N] in `cost`'s dtype; −1 without a path."""
    (tail, _, port), parted = topology.arcs, split(topology)
    into, of_arc = parted.ports[tail, port], cost[tail, port]
    order = np.lexsort((of_arc, tail, into))  # the cheapest of several links between two nodes first
    tail, into, of_arc = tail[order], into[order], of_arc[order]
    first = np.flatnonzero((np.diff(tail, prepend=-1) != 0) | (np.diff(into, prepend=-1) != 0))
    tail, into, of_arc = tail[first], into[first], of_arc[first]
    starts = parted.arrive[goals]
    if cost.dtype != object:
        links = scipy.sparse.csr_array((of_arc.astype(np.float64), (into, tail)), shape=(parted.nodes,) * 2)
        floats = scipy.sparse.csgraph.dijkstra(links, indices=starts)[:, : topology.nodes]
        away = np.where(np.isinf(floats), -1, floats).astype(np.int64)
    else:
        before: list[list[tuple[int, int]]] = [[] for _ in range(parted.nodes)]
        for one, other, amount in zip(tail.tolist(), into.tolist(), of_arc.tolist()):
            before[other].append((one, amount))
        away = np.array([_from(before, start)[: topology.nodes] for start in starts.tolist()], object)
    away[np.arange(len(goals)), goals] = 0
    return away


def _from(before: list[list[tuple[int, int]]], start: int) -> list[int]:
    """Return the least cost of a path from each node to `start`, in Python integers; −1 without one (Dijkstra 1959)."""
    found, waiting = [-1] * len(before), [(0, start)]
    while waiting:
        spent, node = heapq.heappop(waiting)
        if found[node] < 0:
            found[node] = spent
            for other, amount in before[node]:
                if found[other] < 0:
                    heapq.heappush(waiting, (spent + amount, other))
    return found


def _rows(topology: Topology, cost: np.ndarray, goals: np.ndarray, away: np.ndarray) -> TableRows:
    """Return table rows for the links on paths of least cost from every node to each goal.

    away   [B, N]   least cost from every node to each goal. The weight of a row is its number of parallel links
    """
    found = []
    goal, here = np.nonzero(away > 0)
    for port in range(topology.ports.shape[1]):
        there = topology.ports[here, port]
        leads = there != NO_PORT
        if topology.ends is not None:
            leads &= ~topology.ends[there] | (there == goals[goal])
        left = away[goal, there]
        leads &= (left >= 0) & (away[goal, here] == cost[here, port] + left)
        at, to = here[leads], goals[goal[leads]]
        links = np.ones(len(at)) if topology.capacity is None else topology.capacity[at, port].astype(np.float64)
        found.append(TableRows(at, to, np.full(len(at), port), weight=links))
    return joined(found)
