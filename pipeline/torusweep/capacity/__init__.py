"""Bound the throughput of all routings: a network's capacity under a traffic pattern, worst-case traffic, use of a cut.

The capacity is the greatest throughput of any routing, with verified lower and upper bounds. A linear program minimises
the largest channel load over the flows of all commodities. A commodity is all traffic with the same source, or the same
destination; that node is its root. Symmetry reduces the number of roots. The solver need not be trusted: the loads of
its flow prove the lower bound, and its prices the upper bound.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.optimize when it is first used

from torusweep.capacity.bounds import BisectionUse, WorstCase, best_half, effective_bisection, worst_permutation
from torusweep.errors import BadInput, Refused, nearest
from torusweep.networks.ends import split
from torusweep.networks.links import channel_orbits
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Topology
from torusweep.traffic import GivenTraffic, Traffic
from torusweep.traffic import traffic as pattern_on

__all__ = [
    "BisectionUse",
    "Throughput",
    "WorstCase",
    "best_half",
    "capacity",
    "effective_bisection",
    "worst_permutation",
]

ROUTES = ("all", "minimal")
MAX_PAIRS = 1 << 24  # of a root and a channel
MAX_FLOWS = 450_000  # variables of a linear program; it takes one to four minutes (300,000: about one)
CLOSED = 1e-6  # relative gap up to which the two bounds count as equal


class Commodities(NamedTuple):
    """Flows from all nodes to roots. If the roots are sources, all arcs are reversed, and the flows run backwards.

    N is the number of nodes after hosts that forward no packets are split in two (`torusweep.networks.ends`).

    tail, head   int32[A]       ends of the channels, in the order of `Topology.arcs`
    capacity     float64[A]     capacity of each channel, in flits per cycle
    orbit        int32[A]       orbit of each channel under the automorphisms that preserve the traffic
    roots        int32[K]       a representative of each orbit of nodes with demand
    weights      float64[K]     number of nodes in each of those orbits
    demand       float64[K, N]  flow from each node to each root; 0 from the root to itself
    hops         float64[K, N]  distance from each node to each root, in hops
    """

    tail: np.ndarray
    head: np.ndarray
    capacity: np.ndarray
    orbit: np.ndarray
    roots: np.ndarray
    weights: np.ndarray
    demand: np.ndarray
    hops: np.ndarray


class UsableArcs(NamedTuple):
    """The pairs (commodity[i], arc[i]) in which the flow of the commodity may use the arc, int32[V] each.

    For minimal routes the pairs are ordered by distance from the root, farthest first.

    starts   int64[L + 1]   index of the first pair at each distance, then V; [0, V] if all routes are allowed
    """

    commodity: np.ndarray
    arc: np.ndarray
    starts: np.ndarray


def gather(topology: Topology, spelling: str, traffic: Traffic, *, use_symmetry: bool) -> Commodities:
    """Group traffic between nodes (`Traffic.at_nodes`) into commodities, by source or destination: whichever are fewer.

    spelling   spelling of the traffic, for error messages
    Raises BadInput if a demand has no path, Refused if there are too many pairs of root and channel.
    """
    images = (
        [image for image in proved_symmetries(topology) if traffic.symmetric or preserves(traffic, image)]
        if use_symmetry
        else []
    )
    nodes = orbits_under(topology.nodes, images)
    received, sent = traffic.received()[nodes.representatives] > 0, traffic.sent()[nodes.representatives] > 0
    by_source = sent.sum() < received.sum()
    has_demand = sent if by_source else received
    roots = nodes.representatives[has_demand]
    tail, head, port = topology.arcs
    if len(roots) * max(len(tail), topology.nodes) > MAX_PAIRS:
        raise Refused(
            f"capacity of {topology.spelling} under {spelling}:"
            f" expected at most {MAX_PAIRS:,} pairs of root and channel,"
            f" got {len(roots):,} × {len(tail):,}; choose a smaller network or traffic that its symmetries keep"
        )
    demand = traffic.rows(roots) if by_source else traffic.columns(roots)
    demand[np.arange(len(roots)), roots] = 0
    parted = split(topology)
    head = parted.arrive[head]
    demand = parted.arriving(demand) if by_source else parted.starting(demand)
    roots = roots if by_source else parted.arrive[roots]
    demanding = demand.any(axis=1)
    roots, weights, demand = roots[demanding], nodes.sizes[has_demand][demanding].astype(np.float64), demand[demanding]
    capacity = np.ones(len(tail)) if topology.bandwidth is None else topology.bandwidth[tail, port]
    orbit = channel_orbits(topology, images)
    if by_source:
        tail, head = head, tail
    hops = distances(tail, head, np.ones(len(tail)), roots, parted.nodes)
    unreachable = float((weights[:, None] * np.where(np.isinf(hops), demand, 0)).sum())
    if unreachable:
        raise BadInput(
            f"capacity of {topology.spelling}: {unreachable / len(topology.terminals):.3g} of traffic {spelling}"
            f" has no path to its destination{', as hosts forward nothing' * (topology.ends is not None)};"
            " choose a connected network ('torusweep describe' counts its components)"
        )
    return Commodities(tail, head, capacity, orbit, roots, weights, demand, hops)


def preserves(traffic: Traffic, image: np.ndarray) -> bool:
    """Return whether the permutation `image`, int32[N], maps the traffic exactly onto itself."""
    dense_preserved = all(np.array_equal(part[image], part) for part in (traffic.common, traffic.weight))
    return dense_preserved and (traffic.own[image][:, image] != traffic.own).nnz == 0


def distances(tail: np.ndarray, head: np.ndarray, length: np.ndarray, roots: np.ndarray, nodes: int) -> np.ndarray:
    """float64[K, N]: least length of a path from every node to each root; inf = no path.

    tail, head, length   int32[A], int32[A], float64[A] ≥ 0: ends and length of each arc
    """
    cheapest = np.lexsort((length, tail, head))
    first = np.ones(len(cheapest), bool)
    first[1:] = (np.diff(tail[cheapest]) != 0) | (np.diff(head[cheapest]) != 0)
    kept = cheapest[first]  # of parallel arcs the shortest, since a sparse matrix would add them
    backwards = scipy.sparse.csr_array(
        scipy.sparse.coo_array((length[kept], (head[kept], tail[kept])), shape=(nodes, nodes))
    )
    return scipy.sparse.csgraph.dijkstra(backwards, indices=roots).reshape(len(roots), nodes)


def usable_arcs(flows: Commodities, routes: str) -> UsableArcs:
    """List the arcs that each flow may use: all arcs that do not leave its root or, if minimal, those on its routes."""
    if routes == "all":
        commodity, arc = np.nonzero(flows.tail != flows.roots[:, None])
        return UsableArcs(commodity.astype(np.int32), arc.astype(np.int32), np.array([0, len(arc)]))
    from_tail, from_head = flows.hops[:, flows.tail], flows.hops[:, flows.head]
    commodity, arc = np.nonzero((from_tail == from_head + 1) & np.isfinite(from_tail))
    level = from_tail[commodity, arc]
    order = np.argsort(-level, kind="stable")
    commodity, arc, level = commodity[order].astype(np.int32), arc[order].astype(np.int32), level[order]
    starts = np.append(np.flatnonzero(np.diff(level, prepend=-1.0)), len(level))
    reached = flows.demand > 0
    met = np.zeros(len(arc), bool)
    for first, last in pairwise(starts):
        k, a = commodity[first:last], arc[first:last]
        met[first:last] = reached[k, flows.tail[a]]
        reached[k[met[first:last]], flows.head[a[met[first:last]]]] = True
    kept = np.concatenate([[0], np.cumsum(met)])
    return UsableArcs(commodity[met], arc[met], kept[starts])


def proved_loads(flows: Commodities, usable: UsableArcs, flow: np.ndarray) -> np.ndarray:
    """Return channel loads, float64[A], that some routing of all demand does not exceed, proved by a given flow.

    flow   float64[V]   flow on each usable (commodity, arc); negative values count as 0

    If a node sends more than its demand and inflow, whole routes can be removed, which raises no load. If a
    node sends less, the missing flits can take any permitted route, which adds to a channel at most the sum
    of all missing flits.
    """
    flow = np.maximum(flow, 0)
    k, tail, head = usable.commodity, flows.tail[usable.arc], flows.head[usable.arc]
    net = np.zeros_like(flows.demand)
    np.add.at(net, (k, tail), flow)
    np.subtract.at(net, (k, head), flow)
    net[np.arange(len(flows.roots)), flows.roots] = 0
    missing = float(flows.weights @ np.maximum(flows.demand - net, 0).sum(axis=1))
    carried = np.bincount(flows.orbit[usable.arc], flow * flows.weights[k], minlength=flows.orbit.max() + 1)
    room = np.bincount(flows.orbit, flows.capacity)
    return ((carried + missing) / room)[flows.orbit]


def proved_bound(flows: Commodities, usable: UsableArcs, routes: str, length: np.ndarray) -> float:
    """Return an upper bound on the throughput of every routing, proved by channel lengths ≥ 0, float64[A].

    At throughput λ, every flit from s to t uses channels of total length at least dist(s, t), and the
    channels offer Σ capacity · length: λ ≤ Σ_e c_e l_e / Σ_{s,t} T[s, t] · dist_l(s, t)
    (weak duality; Leighton & Rao 1999, sec. 1). dist_l is over the allowed routes, `routes`.
    """
    nodes = flows.demand.shape[1]
    dist = (
        distances(flows.tail, flows.head, length, flows.roots, nodes)
        if routes == "all"
        else minimal_distances(flows, usable, length)
    )
    demanding = flows.demand > 0
    needed = float((flows.demand * flows.weights[:, None])[demanding] @ dist[demanding])
    return float(flows.capacity @ length) / needed if needed else inf


def minimal_distances(flows: Commodities, usable: UsableArcs, length: np.ndarray) -> np.ndarray:
    """float64[K, N]: least length of a route with fewest hops to each root; inf if a node is on no such route."""
    dist = np.full(flows.demand.shape, np.inf)
    dist[np.arange(len(flows.roots)), flows.roots] = 0
    for first, last in reversed(list(pairwise(usable.starts))):
        k, a = usable.commodity[first:last], usable.arc[first:last]
        np.minimum.at(dist, (k, flows.tail[a]), dist[k, flows.head[a]] + length[a])
    return dist


class Solution(NamedTuple):
    """Solution of the linear program that `solve` states.

    flow    float64[V]      flow on each usable (commodity, arc)
    price   float64[O] ≥ 0  multiplier of the constraint of each orbit of channels
    odds    float64[Q] ≥ 0  variables that the demand depends on; empty if it is fixed
    """

    flow: np.ndarray
    price: np.ndarray
    odds: np.ndarray


def solve(
    flows: Commodities,
    usable: UsableArcs,
    *,
    algorithm: str = "highs-ipm",
    demand: scipy.sparse.csr_array | None = None,
    sums: scipy.sparse.csr_array | None = None,
    totals: np.ndarray | None = None,
    within: float | None = None,
) -> Solution:
    """Solve the linear program that minimises θ, the largest channel load if each terminal injects a flit per cycle.

        leaving f_k(v) − entering f_k(v) = demand[k, v]     at every node v but root k
        Σ_k weight_k · f_k(channels of an orbit) ≤ θ · capacity of the orbit

    This is maximum concurrent flow (Shahrokhi & Matula, "The maximum concurrent flow problem", 1990),
    with 1/θ flits per cycle per terminal and commodities with a common end merged. The solver is HiGHS
    (Huangfu & Hall 2018); `certificate` verifies its solution.

    demand   float64[K · N, Q]  demands as sums of variables, in place of `flows.demand`
    sums     float64[R, Q]      sums of these variables that are `totals`, float64[R]
    within   limit of θ; the flows are then those of the fewest hops, which go in no circle

    Raises Refused if the solver finds no optimum.
    """
    commodity, arc = usable.commodity.astype(np.int64), usable.arc
    n, variables = flows.demand.shape[1], len(arc)
    column = np.arange(variables)
    leaving, entering = commodity * n + flows.tail[arc], commodity * n + flows.head[arc]
    inner = flows.head[arc] != flows.roots[commodity]
    rows, row = np.unique(np.concatenate([leaving, entering[inner]]), return_inverse=True)
    sign = np.repeat([1.0, -1.0], [variables, int(inner.sum())])
    conservation = scipy.sparse.coo_array(
        (sign, (row, np.concatenate([column, column[inner]]))), shape=(len(rows), variables)
    )
    equal, right = conservation, flows.demand.ravel()[rows]
    if demand is not None and sums is not None and totals is not None:
        equal = scipy.sparse.block_array([[conservation, -demand[rows]], [None, sums]])
        right = np.append(np.zeros(len(rows)), totals)
    many = equal.shape[1]  # and one more, θ
    room = np.bincount(flows.orbit, flows.capacity)
    over = flows.orbit[arc]
    share = scipy.sparse.csr_array(
        scipy.sparse.coo_array((flows.weights[commodity] / room[over], (over, column)), shape=(len(room), many))
    )
    loads = scipy.sparse.hstack([share, scipy.sparse.csr_array(np.full((len(room), 1), -1.0))], format="csr")
    cost = np.append(np.zeros(many), 1.0)
    if within is not None:
        cost = np.append(flows.weights[commodity], np.zeros(many + 1 - variables))
    found = scipy.optimize.linprog(
        cost,
        A_ub=loads,
        b_ub=np.zeros(len(room)),
        A_eq=scipy.sparse.hstack([equal, scipy.sparse.coo_array((len(right), 1))], format="csr"),
        b_eq=right,
        bounds=[(0, None)] * many + [(0, within)],
        method=algorithm,
    )
    if found.status != 0:
        raise Refused(f"HiGHS gave no optimum for {variables:,} flows: {found.message}; choose a smaller network")
    return Solution(found.x[:variables], -found.ineqlin.marginals, np.maximum(found.x[variables:-1], 0))


class Throughput(NamedTuple):
    """Throughput in flits per cycle per terminal, limited by channels only, not by what terminals send or receive.

    throughput  float          throughput that some routing achieves
    bound       float          throughput that no routing exceeds. Both are inf if no flit enters the network
    gap         float          bound / throughput − 1
    load        float64[N, P]  load of each port's channel under a routing that achieves the throughput, in flits per
                               cycle at one flit injected per cycle per terminal, divided by the capacity of the
                               channel; the largest is 1 / throughput
    length      float64[N, P]  channel lengths that prove the bound, Σ capacity · length = 1; positive at bottlenecks
    method      str            the linear program and the gap, in words
    """

    throughput: float
    bound: float
    gap: float
    load: np.ndarray
    length: np.ndarray
    method: str


def capacity(
    topology: Topology,
    traffic: str | GivenTraffic,
    *,
    routes: str = "all",
    use_symmetry: bool = True,
    most: float = inf,
) -> Throughput:
    """Find the greatest multiple of the traffic that fits the channels if every flow may split freely.

    This is maximum concurrent flow.

    traffic        spelling of a pattern (torusweep.traffic), or a given matrix
    routes         "all", or "minimal": routes with the fewest hops only
    use_symmetry   solve for one root per orbit of nodes, with one constraint per orbit of channels, under the verified
                   automorphisms that preserve the traffic. This is exact: the mean of the images of a routing under
                   the group is a routing, under which each channel has the mean load of its orbit, and all roots of
                   an orbit have the same flow up to an automorphism.
    most           limit on the number of the linear program's variables, if it is below MAX_FLOWS

    Neither bound relies on the solver (see `certificate`). The throughput is that of a flow whose conservation is
    verified and whose deficits are added to all loads; the upper bound follows from channel lengths by weak duality.
    Both hold up to rounding in float64. If the gap exceeds 1e-6, `method` says so. Raises BadInput if `routes` or the
    pattern is unknown, if the pattern does not suit the network, or if some traffic has no path; Refused if the linear
    program is too large.
    """
    if routes not in ROUTES:
        raise BadInput(f"unknown routes '{routes}'{nearest(routes, ROUTES)}; there are {', '.join(ROUTES)}")
    canonical, pattern = pattern_on(traffic, topology)
    nothing = np.zeros(topology.ports.shape)
    flows = gather(topology, canonical, pattern.at_nodes(topology.terminals, topology.nodes), use_symmetry=use_symmetry)
    if not len(flows.roots):
        return Throughput(inf, inf, 0.0, nothing, nothing, "nothing is sent over any channel")
    usable = usable_arcs(flows, routes)
    program = _checked_size(topology, canonical, routes, len(flows.roots), len(usable.arc), most)
    solution = solve(flows, usable)
    over = proved_loads(flows, usable, solution.flow)
    price = np.maximum(solution.price, 0)
    along = (price / price.sum() / np.bincount(flows.orbit, flows.capacity))[flows.orbit]
    bound = proved_bound(flows, usable, routes, along)
    throughput = min(float(1 / over.max()), bound)  # rounding may raise it above the bound
    gap = bound / throughput - 1
    tail, _, port = topology.arcs
    load, length = nothing.copy(), nothing.copy()
    load[tail, port], length[tail, port] = over, along
    return Throughput(throughput, bound, gap, load, length, f"linear program (HiGHS): {program}; {meeting(gap)}")


def meeting(gap: float) -> str:
    """Describe the relative gap between a lower and an upper bound in words."""
    if gap <= CLOSED:
        return f"proofs meet to {gap:.0e}"
    return f"proofs leave a gap of {100 * gap:.2g} %: the optimum lies between them"


def check_capacity(topology: Topology, traffic: str | GivenTraffic, *, use_symmetry: bool = True) -> None:
    """Raise the errors that `capacity` over all routes would raise, without solving the linear program."""
    canonical, pattern = pattern_on(traffic, topology)
    flows = gather(topology, canonical, pattern.at_nodes(topology.terminals, topology.nodes), use_symmetry=use_symmetry)
    leaving = np.bincount(flows.tail, minlength=flows.demand.shape[1])[flows.roots].sum()
    _checked_size(topology, canonical, "all", len(flows.roots), len(flows.roots) * len(flows.tail) - int(leaving))


def _checked_size(topology: Topology, traffic: str, routes: str, roots: int, flows: int, most: float = inf) -> str:
    """Return the size of a linear program in words. Raises Refused if the program is too large."""
    program = f"{roots:,} {'root' if roots == 1 else 'roots'}, {flows:,} flows"
    if flows > min(most, MAX_FLOWS):
        raise Refused(
            f"capacity of {topology.spelling} under {traffic} over {routes} routes:"
            f" expected a linear program of at most {MAX_FLOWS:,} flows, got {program};"
            " choose a gap that suffices between two bounds ('torusweep capacity --gap 0.01'),"
            f" a smaller network{', minimal routes' if routes == 'all' else ''}"
            " or traffic that its symmetries keep"
        )
    return program
