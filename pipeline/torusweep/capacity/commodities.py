"""Commodities of the flow problem: traffic grouped by one of its ends (the root), reduced by symmetry."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.errors import BadInput, Refused
from torusweep.networks.links import channel_orbits
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Topology
from torusweep.traffic import Traffic

ROUTES = ("all", "minimal")
MAX_PAIRS = 1 << 24  # of root and channel


class Commodities(NamedTuple):
    """Flows to roots. If the roots are sources, all arcs are reversed, and the flows run backwards.

    tail, head   int32[A]       ends of the channels, in the order of `Topology.arcs`
    capacity     float64[A]     flits per cycle
    orbit        int32[A]       orbit of each channel under the automorphisms that preserve the traffic
    roots        int32[K]       a representative of each orbit of nodes with demand
    weights      float64[K]     sizes of those orbits
    demand       float64[K, N]  flow from each node to the root; 0 from itself
    hops         float64[K, N]  distance from each node to the root, in hops
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
    """Pairs (commodity[i], arc[i]), int32[V] each, of a flow and an arc that it may use.

    For minimal routes the pairs are ordered by distance from the root, farthest first.

    starts   int64[L + 1]   index of the first pair at each distance, and V; for all routes, [0, V]
    """

    commodity: np.ndarray
    arc: np.ndarray
    starts: np.ndarray


def gather(topology: Topology, spelling: str, traffic: Traffic, *, use_symmetry: bool) -> Commodities:
    """The commodities of traffic between nodes (`Traffic.at_nodes`), grouped by the end that gives fewer roots.

    spelling   of the traffic, for error messages
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
    demanding = demand.any(axis=1)
    roots, weights, demand = roots[demanding], nodes.sizes[has_demand][demanding].astype(np.float64), demand[demanding]
    capacity = np.ones(len(tail)) if topology.bandwidth is None else topology.bandwidth[tail, port]
    orbit = channel_orbits(topology, images)
    if by_source:
        tail, head = head, tail
    hops = distances(tail, head, np.ones(len(tail)), roots, topology.nodes)
    unreachable = float((weights[:, None] * np.where(np.isinf(hops), demand, 0)).sum())
    if unreachable:
        raise BadInput(
            f"capacity of {topology.spelling}: {unreachable / len(topology.terminals):.3g} of traffic {spelling}"
            " has no path to its destination; choose a connected network ('torusweep describe' counts its components)"
        )
    return Commodities(tail, head, capacity, orbit, roots, weights, demand, hops)


def preserves(traffic: Traffic, image: np.ndarray) -> bool:
    """Whether the permutation `image`, int32[N], maps the traffic exactly onto itself."""
    dense_preserved = all(np.array_equal(part[image], part) for part in (traffic.common, traffic.weight))
    return dense_preserved and (traffic.own[image][:, image] != traffic.own).nnz == 0


def distances(tail: np.ndarray, head: np.ndarray, length: np.ndarray, roots: np.ndarray, nodes: int) -> np.ndarray:
    """float64[K, N]: least length of a path from every node to each root; inf = no path.

    tail, head, length   int32[A], int32[A], float64[A] ≥ 0 of the arcs
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
    """The arcs that each flow may use: all that do not leave its root, or those on minimal routes of its demand."""
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
