"""Certificates of a solution, whatever the solver: channel loads from its flow, and an upper bound from its prices."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np

from torusweep.capacity.commodities import Commodities, UsableArcs, distances


def proved_loads(flows: Commodities, usable: UsableArcs, flow: np.ndarray) -> np.ndarray:
    """float64[A]: channel loads that some routing of all demand does not exceed, from an approximate flow.

    flow   float64[V] on each usable (commodity, arc); negative values count as 0

    If a node sends more than its demand and inflow, removing whole routes corrects this without raising
    any load. If it sends less, the missing flits can take any route that they may use, which adds to a
    channel at most the sum of all missing flits.
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
    """An upper bound of the throughput of all routings, from channel lengths ≥ 0, float64[A].

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
    """float64[K, N]: least length of a minimal route (fewest hops) to each root; inf from nodes on no such route."""
    dist = np.full(flows.demand.shape, np.inf)
    dist[np.arange(len(flows.roots)), flows.roots] = 0
    for first, last in reversed(list(pairwise(usable.starts))):
        k, a = usable.commodity[first:last], usable.arc[first:last]
        np.minimum.at(dist, (k, flows.tail[a]), dist[k, flows.head[a]] + length[a])
    return dist
