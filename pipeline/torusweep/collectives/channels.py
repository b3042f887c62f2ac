"""A network's channels and terminals, as the kernels of cuts and trees take them."""

from __future__ import annotations

from math import lcm

import numpy as np
from torusweep_kernels.cuts import Channels, both_ways

from torusweep.networks.links import flit_matrix, rows_of, with_reverse_channels
from torusweep.networks.topology import Topology


def cycles_of(topology: Topology) -> int:
    """The cycles in which every channel carries a whole number of flits; 1 where no bandwidth is a fraction."""
    return lcm(*(width.denominator for width in topology.plan.bandwidths))


def alike(topology: Topology) -> bool:
    """Whether all channels have one link each, of the same bandwidth."""
    return topology.capacity is None and len(set(topology.plan.bandwidths)) <= 1


def channels_of(topology: Topology, *, reverse: bool = False) -> Channels:
    """The network's channels with their flits in `cycles_of` cycles; reverse: each in the other direction.

    Raises Refused as `flit_matrix` does.
    """
    matrix, _ = flit_matrix(topology)
    if topology.directed:
        return both_ways(*with_reverse_channels(matrix.T.tocsr() if reverse else matrix))
    return both_ways(*rows_of(matrix), matrix.data)


def weight_of(topology: Topology) -> np.ndarray:
    """int64[N]: terminals at each node."""
    return np.bincount(topology.terminals, minlength=topology.nodes)
