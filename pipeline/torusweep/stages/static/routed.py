"""How far packets travel by the routing that a network's own paper defines, where it defines one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.networks.topology import Topology
from torusweep.routing import ROUTINGS, SourceRouting, own_routing

MOST_PAIRS = 1 << 27  # beyond that, half a minute on a core, the columns are null
BLOCK = 1 << 16  # pairs at a time: their routes fit a processor's cache


class RoutedNumbers(NamedTuple):
    """Lengths of the routing's paths over all N² pairs, in hops, a node to itself (0 hops) included."""

    diameter: int
    mean: float


def routed_distances(topology: Topology, *, use_symmetry: bool) -> RoutedNumbers | None:
    """Longest and mean path of the network's own routing; None where it has none, or for more than MOST_PAIRS pairs.

    Of a regular routing (`SourceRouting.regular`, checked) one source of each cell is followed, to
    every node; without use_symmetry, or of one that is not regular, every source. Whether it is None
    is settled by the former in either case. Every node of such a network is a terminal.
    """
    name = own_routing(topology.family)
    if name is None:
        return None
    routing = ROUTINGS[name](topology, tie="positive")  # a tie's ways are equally long, and this one needs no signs
    assert isinstance(routing, SourceRouting)
    nodes = topology.nodes
    representatives, sizes = np.unique(routing.cell, return_index=True, return_counts=True)[1:]
    if len(representatives) * nodes > MOST_PAIRS:
        return None
    if not (use_symmetry and routing.regular):
        representatives, sizes = np.arange(nodes), np.ones(nodes, np.int64)
    longest, total = 0, 0
    for start in range(0, len(representatives) * nodes, BLOCK):
        source, destination = np.divmod(np.arange(start, min(start + BLOCK, len(representatives) * nodes)), nodes)
        hops = routing.routes(routing.key(representatives[source], destination)).hops.sum(axis=1, dtype=np.int64)
        longest = max(longest, int(hops.max()))
        total += int((hops * sizes[source]).sum())
    return RoutedNumbers(longest, total / nodes**2)
