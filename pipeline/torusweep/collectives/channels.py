"""A network's channels and terminals, as the kernels of cuts and trees take them."""

from __future__ import annotations

import numpy as np
from torusweep_kernels.cuts import Channels, both_ways

from torusweep.networks.links import channel_matrix, rows_of, with_reverse_channels
from torusweep.networks.topology import Topology


def channels_of(topology: Topology, *, reverse: bool = False) -> Channels:
    """The network's channels; reverse: each in the other direction."""
    matrix = channel_matrix(topology)
    if topology.directed:
        return both_ways(*with_reverse_channels(matrix.T.tocsr() if reverse else matrix))
    return both_ways(*rows_of(matrix), matrix.data)


def weight_of(topology: Topology) -> np.ndarray:
    """int64[N]: terminals at each node."""
    return np.bincount(topology.terminals, minlength=topology.nodes)
