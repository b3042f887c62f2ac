"""Traffic in memory, for the stages: a spelling as it is, a matrix as `GivenTraffic`."""

from __future__ import annotations

import numpy as np
import scipy

from torusweep.errors import BadInput, one_line
from torusweep.networks.topology import Topology
from torusweep.traffic import GivenTraffic
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
