"""Traffic in memory, for the stages: a spelling as it is, a matrix as `GivenTraffic`.

Whether a network joins all who send to each other.
"""

from __future__ import annotations

import numpy as np
import scipy

from torusweep.errors import BadInput, one_line
from torusweep.networks.topology import Topology
from torusweep.traffic import GivenTraffic, traffic
from torusweep.traffic.demands import traffic_of_matrix

MATRIX = "matrix"  # its name in tables


def traffic_of(topology: Topology, traffic: object) -> str | GivenTraffic:
    """A pattern's spelling, or a matrix [T, T] (NumPy, SciPy, or lists of numbers): row s, column t has what s sends t.

    Raises BadInput for anything else, and for a matrix that does not fit the network.
    """
    if isinstance(traffic, str | GivenTraffic):
        return traffic
    if scipy.sparse.issparse(traffic):
        return GivenTraffic(MATRIX, traffic_of_matrix(topology, scipy.sparse.csr_array(traffic)))
    if not isinstance(traffic, np.ndarray | list | tuple):
        kind = one_line(type(traffic).__qualname__, 60)
        raise BadInput(f"traffic: expected a spelling such as 'uniform', or a matrix [T, T], got {kind}")
    try:
        matrix = np.asarray(traffic)
    except ValueError as error:
        raise BadInput(f"traffic: expected a matrix of numbers, got: {one_line(error)}") from None
    return GivenTraffic(MATRIX, traffic_of_matrix(topology, matrix))


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
