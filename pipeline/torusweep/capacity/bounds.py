"""Find worst-case traffic of an oblivious routing and its busiest channel, and effective bisection bandwidth.

The effective bisection bandwidth is the part of a cut that carries traffic which must cross the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.optimize when it is first used

from torusweep.networks.cuts import best_cut, cut_width
from torusweep.networks.links import channel_matrix
from torusweep.networks.topology import Topology
from torusweep.traffic import Traffic


class BisectionUse(NamedTuple):
    """Use of a cut, at one flit injected per cycle per terminal.

    links      number of links of the cut; for one-way links, the number in the direction that has fewer
    effective  number of links that serve traffic between the two sides: links · crossing / carried; 0 if carried is 0
    crossing   flits per cycle that must cross the cut, both directions together
    carried    flits per cycle over the channels of the cut, both directions together
    """

    links: int
    effective: float
    crossing: float
    carried: float


def effective_bisection(topology: Topology, load: np.ndarray, traffic: Traffic, half: np.ndarray) -> BisectionUse:
    """Return the effective bisection bandwidth of a cut, in links (Cámara et al. 2010, sec. 5.2).

    load     float64[N, P]  load of each port's channel under a routing of this traffic, in flits per cycle, divided
                            by the channel's bandwidth
    traffic  traffic between nodes (`Traffic.at_nodes`), at one flit injected per cycle per terminal
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
    """Return the flits per cycle between `half`, bool[N], and all other nodes, in both directions together."""
    there = ~half
    dense = (
        traffic.weight[half].sum() * traffic.common[there].sum()
        + traffic.weight[there].sum() * traffic.common[half].sum()
    )
    pairs = traffic.own.tocoo()
    return float(dense + pairs.data[half[pairs.row] != half[pairs.col]].sum())


def best_half(topology: Topology) -> np.ndarray:
    """Return one side, bool[N] with ⌊N/2⌋ nodes, of the narrowest balanced cut found (not always the narrowest)."""
    matrix = channel_matrix(topology)
    return best_cut(topology, matrix, matrix + matrix.T if topology.directed else matrix)[1]


class WorstCase(NamedTuple):
    """The permutation of terminals that puts the greatest load on any one channel.

    load         flits per cycle over the channel, divided by its bandwidth, at one flit injected per cycle per terminal
    channel      the first channel with this load
    permutation  int32[T]  terminal s sends everything to terminal permutation[s]
    """

    load: float
    channel: int
    permutation: np.ndarray


def worst_permutation(
    shares: np.ndarray | Callable[[int], np.ndarray],
    channels: Iterable[int] | None = None,
    capacity: np.ndarray | None = None,
    at: np.ndarray | None = None,
) -> WorstCase:
    """Find the permutation of terminals that puts the greatest load on any one channel.

    shares    float64[A, T, T]  share ≥ 0 of the flits from s to t that use channel c, all its parallel links together
              (above 1 if a route uses it twice); or a function from c to float64[T, T], called once per channel
    channels  numbers of the channels to examine; by default all rows of an array; required if `shares` is a function
    capacity  float64[A]  flits per cycle of each channel, with its parallel links together; by default 1
    at        int64[T]  the row and the column of a share that belong to each terminal, such as its router; by default,
                        row and column t belong to terminal t

    No traffic whose row and column sums are at most 1 loads a channel more, since such a traffic is dominated by a
    convex combination of permutations (Birkhoff & von Neumann) and the load is linear. So the throughput 1/load is
    guaranteed (Towles & Dally, "Worst-case traffic for oblivious routing functions", 2002). The worst permutation of a
    channel is a matching of maximum weight. One channel per orbit suffices if the automorphisms also preserve the
    routing; they may not preserve a tie broken by sign, or an order of the dimensions.

    A channel is skipped if the sum of the largest shares of all sources, or of all destinations, does not exceed the
    largest load so far. Differences of 1e-12 (relative) do not decide between channels.

    Raises ValueError if the shares have another shape or are negative, or if there is no channel.
    """
    if isinstance(shares, np.ndarray):
        if shares.ndim != 3:
            raise ValueError(
                f"shares: expected an array [channels, terminals, terminals], got shape {shares.shape};"
                " pass one matrix a channel"
            )
        share_of: Callable[[int], np.ndarray] = shares.__getitem__
        channels = range(len(shares)) if channels is None else channels
    else:
        share_of = shares
    if channels is None:
        raise ValueError("channels: expected the channels to examine with a function of shares, got None; list them")
    worst: WorstCase | None = None
    for channel in channels:
        weight = np.asarray(share_of(channel), np.float64)
        if weight.ndim != 2 or weight.shape[0] != weight.shape[1] or not (weight >= 0).all():
            raise ValueError(
                f"shares of channel {channel}: expected a square matrix of shares ≥ 0, got {_describe(weight)};"
                " check the routing"
            )
        own = weight if at is None else weight[np.ix_(at, at)]
        bandwidth = 1.0 if capacity is None else float(capacity[channel])
        most = min(own.max(axis=0, initial=0).sum(), own.max(axis=1, initial=0).sum()) / bandwidth
        if worst is not None and most <= worst.load * (1 + 1e-12):
            continue
        destination = heaviest(weight, np.arange(len(weight)) if at is None else at)
        load = float(own[np.arange(len(own)), destination].sum()) / bandwidth
        if worst is None or load > worst.load * (1 + 1e-12):
            worst = WorstCase(load, int(channel), destination)
    if worst is None:
        raise ValueError("channels: expected one or more, got none; a network without channels has no worst case")
    return worst


def heaviest(weight: np.ndarray, at: np.ndarray) -> np.ndarray:
    """int32[T]: the permutation with the greatest sum of weights; entry s is the partner of terminal s.

    weight   float64[N, N]  weight of each pair of nodes
    at       int64[T]       node of each terminal

    If all nodes with terminals have equally many, nodes are matched instead of terminals, which gives the same sum:
    both have the same convex combinations of permutations.
    """
    place, many = np.unique(at, return_inverse=True, return_counts=True)[1:]
    terminals = np.argsort(place, kind="stable").astype(np.int32)
    terminals = terminals.reshape(-1, 1 if np.ptp(many) else many[0])  # a row for whatever is matched
    found = np.empty(len(at), np.int32)
    nodes = at[terminals[:, 0]]
    found[terminals] = terminals[scipy.optimize.linear_sum_assignment(weight[np.ix_(nodes, nodes)], maximize=True)[1]]
    return found


def _describe(weight: np.ndarray) -> str:
    return f"shape {weight.shape}" if weight.ndim != 2 or weight.shape[0] != weight.shape[1] else f"{weight.min()}"
