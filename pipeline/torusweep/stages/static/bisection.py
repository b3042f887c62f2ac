"""Lower and upper bounds of the bisection width.

The bisection width is the least number of channels from one half of the network (⌊N/2⌋ nodes) to the
other. A bidirectional link counts once; in a directed network, the direction with fewer channels counts.
Channels count with their capacities.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.networks.cuts import best_cut
from torusweep.networks.links import strengths
from torusweep.networks.topology import Topology
from torusweep.stages.static.spectrum import second_eigenvalue

ROUNDING = 1e-9  # relative reduction of a bound before it is rounded up to an integer


class Bisection(NamedTuple):
    """Bounds of the bisection width in links (lower: None if none was found), and their methods."""

    lower: int | None
    upper: int
    method: str


def bisection_bounds(
    topology: Topology, matrix: scipy.sparse.csr_array, images: Sequence[np.ndarray], *, edge_connectivity: int | None
) -> Bisection:
    """Bounds of the bisection width; both are exact where the plan has a theorem.

    matrix   channels, int64[N, N] (links.channel_matrix)
    images   proved automorphisms (symmetry.proved_symmetries)
    edge_connectivity   a lower bound of every cut, or None
    """
    if topology.plan.bisection is not None:
        exact = topology.plan.bisection
        return Bisection(exact, exact, f"exact: {topology.plan.bisection_source}")
    if topology.nodes < 2:
        return Bisection(0, 0, "exact: a single node")
    undirected = scipy.sparse.csr_array(matrix + matrix.T) if topology.directed else matrix
    upper, _, upper_method = best_cut(topology, matrix, undirected)
    if upper == 0:
        return Bisection(0, 0, f"exact: no link crosses ({upper_method})")
    lower, lower_method = lower_bound(topology, matrix, undirected, images)
    if lower is not None and lower > upper:  # the cut is exact, the eigenvalue is a float
        lower, lower_method = None, f"no spectral bound: {lower:,} contradicts the cut"
    if edge_connectivity is not None and (lower is None or edge_connectivity > lower):
        lower, lower_method = edge_connectivity, "edge connectivity"
    return Bisection(lower, upper, f"lower: {lower_method}; upper: {upper_method}")


def lower_bound(
    topology: Topology, matrix: scipy.sparse.csr_array, undirected: scipy.sparse.csr_array, images: Sequence[np.ndarray]
) -> tuple[int | None, str]:
    """(spectral lower bound, or None if the eigenvalue was not computed; method).

    A cut of S and N − S nodes has at least λ₂·S(N−S)/N links, where λ₂ is the second eigenvalue of the Laplacian
    (Fiedler 1973; Mohar 1989). In a directed network this bounds the sum of both directions, which differ by at
    most the nodes' surplus of leaving over entering channels.
    """
    half, n = topology.nodes // 2, topology.nodes
    second, method = second_eigenvalue(topology, undirected, images)
    if second is None:
        return None, method
    width = second * half * (n - half) / n
    if topology.directed:
        leaving, entering = strengths(matrix)
        surplus = int(np.maximum(leaving - entering, 0).sum())
        width = (width - surplus) / 2
    return max(0, ceil(width - ROUNDING * max(1.0, width))), method
