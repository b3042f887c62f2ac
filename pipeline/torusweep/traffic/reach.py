"""Whether a network joins all who send to each other."""

from __future__ import annotations

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.traffic import traffic


def check_reach(topology: Topology, pattern: str) -> None:
    """Refuse a pattern that is not defined on a network, or that sends between parts which are not joined both ways."""
    matrix = traffic(pattern, topology)[1].at_nodes(topology.terminals, topology.nodes)
    tail, head, _ = topology.arcs
    links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(topology.nodes, topology.nodes))
    part = scipy.sparse.csgraph.connected_components(links, connection="strong")[1]
    own = matrix.own.tocoo()
    busy = part[(matrix.common > 0) | ((matrix.weight > 0) & matrix.common.any())]
    if (own.data[part[own.row] != part[own.col]] > 0).any() or (len(busy) and (busy != busy[0]).any()):
        raise BadInput(
            f"traffic {pattern} on {topology.spelling}: expected a network that joins all who send to each other,"
            " got one of several components"
        )
