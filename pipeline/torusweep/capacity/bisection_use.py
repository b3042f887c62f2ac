"""Effective bisection bandwidth: the share of a cut that is used by traffic that must cross it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.networks.cuts import best_cut, cut_width
from torusweep.networks.links import channel_matrix
from torusweep.networks.topology import Topology
from torusweep.traffic import Traffic


class BisectionUse(NamedTuple):
    """Use of a cut, at one flit injected per terminal and cycle.

    links      of the cut; if links have one direction, of the direction with fewer links
    effective  links that serve traffic between the two sides: links · crossing / carried; 0 if carried is 0
    crossing   flits per cycle that must cross the cut, both directions together
    carried    flits per cycle over the channels of the cut, both directions together
    """

    links: int
    effective: float
    crossing: float
    carried: float


def effective_bisection(topology: Topology, load: np.ndarray, traffic: Traffic, half: np.ndarray) -> BisectionUse:
    """Effective bisection bandwidth of a cut (Cámara et al. 2010, sec. 5.2), in links.

    load     float64[N, P]  load of each port's channel under a routing of this traffic, in flits per cycle, divided
                            by its bandwidth
    traffic  between nodes (`Traffic.at_nodes`), at one flit injected per terminal and cycle
    half     bool[N]        one side of the cut; it need not contain half of the nodes

    A flit whose ends are on different sides must cross once. Every further crossing, two per detour,
    is lost capacity of the cut.
    """
    tail, head, port = topology.arcs
    flits = np.ones(len(tail)) if topology.bandwidth is None else topology.bandwidth[tail, port]
    cut = half[tail] != half[head]
    carried = float((load[tail, port] * flits)[cut].sum())
    width = cut_width(channel_matrix(topology), half)
    crossing = crossing_demand(traffic, half)
    return BisectionUse(width, width * crossing / carried if carried else 0.0, crossing, carried)


def crossing_demand(traffic: Traffic, half: np.ndarray) -> float:
    """Flits per cycle between the nodes of half, bool[N], and the others, both directions together."""
    there = ~half
    dense = (
        traffic.weight[half].sum() * traffic.common[there].sum()
        + traffic.weight[there].sum() * traffic.common[half].sum()
    )
    pairs = traffic.own.tocoo()
    return float(dense + pairs.data[half[pairs.row] != half[pairs.col]].sum())


def best_half(topology: Topology) -> np.ndarray:
    """bool[N]: one side, ⌊N/2⌋ nodes, of the narrowest balanced cut found, an upper bound of the bisection width."""
    matrix = channel_matrix(topology)
    return best_cut(topology, matrix, matrix + matrix.T if topology.directed else matrix)[1]
