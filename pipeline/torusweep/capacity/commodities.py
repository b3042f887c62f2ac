"""Traffic gathered by one of its ends: what each root draws from the nodes, over which arcs it may come, how symmetry thins it out."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra

from torusweep.errors import BadInput, Refused
from torusweep.networks.links import channel_orbits
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Topology
from torusweep.traffic import Traffic

ROUTES = ("all", "minimal")
CELLS = 1 << 24  # pairs of root and channel that are looked at


class Commodities(NamedTuple):
    """Flows towards roots. Where the roots are sources, every arc is turned round: the same flows, run backwards.

    tail, head   int32[A]       ends of the channels, in the order of `Topology.arcs`
    capacity     float64[A]     flits a cycle
    orbit        int32[A]       orbit of each channel under the automorphisms that keep the traffic
    roots        int32[K]       a node of each orbit of nodes that draws anything
    weights      float64[K]     sizes of those orbits
    demand       float64[K, N]  what each root draws from each node; nothing from itself
    hops         float64[K, N]  least number of channels from each node to the root
    """

    tail: np.ndarray
    head: np.ndarray
    capacity: np.ndarray
    orbit: np.ndarray
    roots: np.ndarray
    weights: np.ndarray
    demand: np.ndarray
    hops: np.ndarray


class Usable(NamedTuple):
    """Which arcs may carry which root's flow: (commodity[i], arc[i]), int32[V] each; for minimal routes the furthest from the root first.

    starts   int64[L + 1]   minimal routes: where each distance begins; all routes: one stretch
    """

    commodity: np.ndarray
    arc: np.ndarray
    starts: np.ndarray


def gather(topology: Topology, spelled: str, traffic: Traffic, *, use_symmetry: bool) -> Commodities:
    """The commodities of traffic between nodes (`Traffic.at_nodes`), gathered by the end that gives fewer roots.

    spelled   the traffic's name, for messages
    Raises BadInput where a demand has no path, Refused where there would be too many to look at.
    """
    images = (
        [image for image in proved_symmetries(topology) if traffic.symmetric or keeps(traffic, image)]
        if use_symmetry
        else []
    )
    nodes = orbits_under(topology.nodes, images)
    received, sent = traffic.received()[nodes.representatives] > 0, traffic.sent()[nodes.representatives] > 0
    by_source = sent.sum() < received.sum()
    busy = sent if by_source else received
    roots = nodes.representatives[busy]
    tail, head, port = topology.arcs
    if len(roots) * max(len(tail), topology.nodes) > CELLS:
        raise Refused(
            f"capacity of {topology.spelling} under {spelled}: expected at most {CELLS:,} pairs of root and channel,"
            f" got {len(roots):,} × {len(tail):,}; choose a smaller network or traffic that its symmetries keep"
        )
    demand = traffic.rows(roots) if by_source else traffic.columns(roots)
    demand[np.arange(len(roots)), roots] = 0
    drawing = demand.any(axis=1)
    roots, weights, demand = roots[drawing], nodes.sizes[busy][drawing].astype(np.float64), demand[drawing]
    capacity = np.ones(len(tail)) if topology.capacity is None else topology.capacity[tail, port].astype(np.float64)
    orbit = channel_orbits(topology, images)
    if by_source:
        tail, head = head, tail
    hops = distances(tail, head, np.ones(len(tail)), roots, topology.nodes)
    lost = float((weights[:, None] * np.where(np.isinf(hops), demand, 0)).sum())
    if lost:
        raise BadInput(
            f"capacity of {topology.spelling}: {lost / len(topology.terminals):.3g} of traffic {spelled} has no path to its destination;"
            " choose a connected network ('torusweep describe' counts its components)"
        )
    return Commodities(tail, head, capacity, orbit, roots, weights, demand, hops)


def keeps(traffic: Traffic, image: np.ndarray) -> bool:
    """True where the permutation image, int32[N], carries the traffic onto itself, to the bit."""
    if not np.array_equal(traffic.common[image], traffic.common) or not np.array_equal(
        traffic.weight[image], traffic.weight
    ):
        return False
    moved = traffic.own[image][:, image]
    return (moved != traffic.own).nnz == 0


def distances(tail: np.ndarray, head: np.ndarray, length: np.ndarray, roots: np.ndarray, nodes: int) -> np.ndarray:
    """float64[K, N]: least length ≥ 0 of a way from every node to each root, over arcs of lengths float64[A]; inf = none."""
    cheapest = np.lexsort((length, tail, head))
    first = np.ones(len(cheapest), bool)
    first[1:] = (np.diff(tail[cheapest]) != 0) | (np.diff(head[cheapest]) != 0)
    kept = cheapest[first]  # of parallel arcs, the shortest: a sparse matrix would add them
    backwards = csr_array(coo_array((length[kept], (head[kept], tail[kept])), shape=(nodes, nodes)))
    return dijkstra(backwards, indices=roots).reshape(len(roots), nodes)


def usable_arcs(flows: Commodities, routes: str) -> Usable:
    """The arcs that each root's flow may take: all but those that leave the root, or those on a minimal route from a node with demand."""
    if routes == "all":
        commodity, arc = np.nonzero(flows.tail != flows.roots[:, None])
        return Usable(commodity.astype(np.int32), arc.astype(np.int32), np.array([0, len(arc)]))
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
    return Usable(commodity[met], arc[met], kept[starts])
