"""Prove the bisection width and the symmetry of a network in whole numbers, for certify/check.py.

Bisection: the links that leave one half prove the upper bound; uniform traffic carried by a routing, the lower bound.
Symmetry: automorphisms show which nodes are in one orbit; different distances show which are in different orbits.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import scipy

from torusweep.capacity.certificate import flows_proof
from torusweep.errors import BadInput
from torusweep.networks.certificates import certificate, check_derived, group_of
from torusweep.networks.cuts import best_cut
from torusweep.networks.links import channel_matrix
from torusweep.networks.symmetry import proved_symmetries
from torusweep.networks.topology import Topology

MOST_SEARCHES = 64  # number of nodes whose distances are compared


def bisection_certificate(topology: Topology) -> str:
    """Prove bounds of the bisection width. The bounds are equal if the half that was found is proved the narrowest.

    Raises BadInput for a network that the checker cannot build, Refused if a linear program is too large.
    """
    check_derived(topology)
    if topology.nodes < 2:
        raise BadInput(
            f"certificate of {topology.spelling}: expected two nodes or more, got 1; choose a larger network"
        )
    matrix = channel_matrix(topology)
    undirected = scipy.sparse.csr_array(matrix + matrix.T) if topology.directed else matrix
    _, half, _ = best_cut(topology, matrix, undirected)
    few = topology.nodes // 2
    ways = [side for side in (half, ~half) if side.sum() == few]  # with directed links, the narrower direction counts
    widths = [int((matrix @ (~side).astype(np.int64))[side].sum()) for side in ways]
    side, width = ways[int(np.argmin(widths))], min(widths)
    found = flows_proof(topology, "uniform")
    least = ceil(found.carried * few * (topology.nodes - few) / topology.nodes)
    claim = {"topology": topology.spelling, "at_least": Fraction(least), "at_most": Fraction(width)}
    flows = {name: value for name, value in found.proof.items() if name != "lengths"}
    return certificate("bisection", claim, {"half": np.flatnonzero(side).tolist(), **flows})


def symmetry_certificate(topology: Topology) -> str:
    """Prove bounds of the number of node orbits under all automorphisms. One orbit means vertex-transitive."""
    check_derived(topology)
    group = group_of(topology, proved_symmetries(topology), lambda image: True)
    firsts = np.unique(group.node)
    differ: dict[bytes, int] = {}
    backwards = channel_matrix(topology).T.tocsr()
    for node in firsts[:MOST_SEARCHES].tolist():
        away = scipy.sparse.csgraph.dijkstra(backwards, unweighted=True, indices=node)
        differ.setdefault(np.sort(away).tobytes(), node)
    claim = {"topology": topology.spelling, "at_least": Fraction(len(differ)), "at_most": Fraction(len(firsts))}
    proof = {"generators": group.listed, "orbits": group.node.tolist(), "differ": sorted(differ.values())}
    return certificate("symmetry", claim, proof)


def static_certificates(topology: Topology) -> str:
    """Return a line that proves the symmetry, and a line for the bisection if there are at least two nodes."""
    return symmetry_certificate(topology) + (bisection_certificate(topology) if topology.nodes > 1 else "")
