"""Halo exchange: traffic between neighbours."""

from __future__ import annotations

import numpy as np
import scipy

from torusweep.networks.links import channel_matrix
from torusweep.networks.topology import Topology, require
from torusweep.traffic.matrix import Traffic, from_pairs


def nearest_neighbour(topology: Topology) -> Traffic:
    """To the nodes at the other end of each link, the same amount for every link: a halo exchange.

    A node with more links sends more; the mean over terminals is 1. Links to a node without terminals
    are not counted.
    Source: Cámara et al. 2010, sec. 7.4.
    """
    terminals, nodes = topology.terminals, topology.nodes
    share = 1 / np.bincount(terminals, minlength=nodes)[terminals]
    place = scipy.sparse.csr_array(
        scipy.sparse.coo_array((share, (np.arange(len(terminals)), terminals)), shape=(len(terminals), nodes))
    )
    pairs = scipy.sparse.csr_array(place @ channel_matrix(topology) @ place.T)
    require(pairs.nnz > 0, "links", 0, "a link between two terminals", "otherwise no terminal has a neighbour")
    return from_pairs(pairs, symmetric=True)
