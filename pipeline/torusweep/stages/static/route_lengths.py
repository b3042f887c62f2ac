"""Path lengths of the routing that a network's own paper defines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.networks.topology import Topology
from torusweep.routing import ROUTINGS, SourceRouting, own_routing

MAX_PAIRS = 1 << 27  # half a minute on a core; with more pairs the columns are null
BLOCK = 1 << 16  # pairs at a time, whose routes fit into cache


class RoutedNumbers(NamedTuple):
    """Path lengths over all N² pairs, in hops, including 0 hops from a node to itself."""

    diameter: int
    mean: float


def routed_distances(topology: Topology, *, use_symmetry: bool) -> RoutedNumbers | None:
    """Longest and mean path of the network's own routing; None if it has none, or for more than MAX_PAIRS pairs.

    For a regular routing (`SourceRouting.regular`, checked), the routes of one source of each cell are followed;
    without use_symmetry, or for other routings, those of every source. The limit counts the pairs of one source
    of each cell in either case. Every node of such a network is a terminal.
    """
    name = own_routing(topology.family)
    if name is None:
        return None
    routing = ROUTINGS[name](
        topology, tie="positive"
    )  # both directions of a tie are equally long; positive needs no signs
    assert isinstance(routing, SourceRouting)
    nodes = topology.nodes
    representatives, sizes = np.unique(routing.cell, return_index=True, return_counts=True)[1:]
    if len(representatives) * nodes > MAX_PAIRS:
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
