"""What a solver's answer proves, whoever the solver is: a flow that fits the channels, and lengths that no flow can beat."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np

from torusweep.capacity.commodities import Commodities, Usable, distances


def proved_loads(flows: Commodities, usable: Usable, flow: np.ndarray) -> np.ndarray:
    """float64[A]: loads of the channels, none below what some routing of all the demand achieves, from a flow that may be slightly off.

    flow   float64[V] on each usable (commodity, arc); negative ones count as 0
    Where a node sends on more than it has and gets, dropping whole routes mends it and no load grows.
    Where it sends on less, the missing flits can take some route that they may use; whichever it is,
    no channel gets more than all that is missing.
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


def proved_bound(flows: Commodities, usable: Usable, routes: str, length: np.ndarray) -> float:
    """A throughput that no routing exceeds, from lengths ≥ 0 of the channels, float64[A].

    At throughput λ, every flit from s to t occupies channels of length at least dist(s, t), and the
    channels have Σ capacity · length to give: λ ≤ Σ_e c_e l_e / Σ_{s,t} T[s, t] · dist_l(s, t)
    (weak duality; Leighton & Rao 1999, sec. 1). dist_l is over the routes that are allowed.
    """
    nodes = flows.demand.shape[1]
    dist = (
        distances(flows.tail, flows.head, length, flows.roots, nodes)
        if routes == "all"
        else minimal_distances(flows, usable, length)
    )
    drawing = flows.demand > 0
    needed = float((flows.demand * flows.weights[:, None])[drawing] @ dist[drawing])
    return float(flows.capacity @ length) / needed if needed else inf


def minimal_distances(flows: Commodities, usable: Usable, length: np.ndarray) -> np.ndarray:
    """float64[K, N]: length of the shortest of the routes with the fewest hops, from every node that such a route meets; inf elsewhere."""
    dist = np.full(flows.demand.shape, np.inf)
    dist[np.arange(len(flows.roots)), flows.roots] = 0
    for first, last in reversed(list(pairwise(usable.starts))):
        k, a = usable.commodity[first:last], usable.arc[first:last]
        np.minimum.at(dist, (k, flows.tail[a]), dist[k, flows.head[a]] + length[a])
    return dist
