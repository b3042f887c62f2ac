"""All-reduce by rings of nodes, each sending to the next: first every node gathers the sum of its share, then all shares go round.

In a ring of L nodes that reduce D flits, reduce-scatter takes L − 1 steps of D/L flits a node; a step
sends over the same pairs as every other, so that one matrix is the traffic of all. All-gather sends as
much over the same pairs.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.sparse import csr_array

from torusweep.errors import BadInput
from torusweep.networks.topology import Meaning, Topology, require
from torusweep.traffic.hamiltonian import hamiltonian_ring
from torusweep.traffic.matrix import Phase, Traffic, combine_phases, from_pairs, permutation
from torusweep.traffic.ring_steps import LATTICES, MESHES, TORI, cosets, orbit, steps

BothWays = Annotated[bool, Meaning("half of every message goes round the other way")]


def ring_all_reduce(topology: Topology, bidirectional: BothWays = False) -> Traffic:
    """To the next node of a Hamiltonian ring: reduce-scatter, then all-gather.

    Source: Patarasuk & Yuan 2009 (ring all-reduce).
    """
    ring = hamiltonian_ring(topology)
    following = np.empty_like(ring)
    following[ring] = np.roll(ring, -1)
    n = topology.nodes
    traffic = _round(following, bidirectional)
    return combine_phases([Phase(name, (n - 1) / n, n - 1, traffic) for name in ("reduce-scatter", "all-gather")])


def all_reduce_by_dimension(topology: Topology, bidirectional: BothWays = False) -> Traffic:
    """To the next node in one dimension, phase by phase: reduce-scatter in x, y, z …, then all-gather in … z, y, x.

    A ring is what one node's steps in a dimension reach; a mesh's lines are closed by the way back. The
    nodes of the rings so far hold a share each, so that messages shrink from phase to phase. A ring of a
    twisted torus that meets those before it in several nodes holds as many shares, and reduces them all;
    one that lies within them has nothing to reduce, and is left out.
    Source: Chan et al. 2007 (bucket algorithms, one dimension after the other); lattices are its rings as cosets.
    """
    require(topology.nodes > 1, "nodes", topology.nodes, "two or more", "a node alone has nothing to reduce")
    known = (*TORI, *MESHES, *LATTICES)
    if topology.family not in known:
        raise BadInput(
            f"expected a network whose dimensions are rings of nodes (or lines), got {topology.family}; they are in {', '.join(known)}"
        )
    scatter, gather = [], []
    reduced = np.zeros(1, np.int32)  # the nodes that hold shares of what node 0 began with
    for name, step in zip(topology.plan.classes, steps(topology)):
        ring, met = len(orbit(step)), cosets(reduced, step)
        if len(met) == 1:
            continue
        reduced = met.ravel()
        volume = (ring - 1) / len(reduced)  # of ring / len(reduced) flits that the ring reduces
        traffic = _round(step, bidirectional)
        scatter.append(Phase(f"reduce-scatter {name}", volume, ring - 1, traffic))
        gather.append(Phase(f"all-gather {name}", volume, ring - 1, traffic))
    return combine_phases([*scatter, *reversed(gather)])


def _round(following: np.ndarray, bidirectional: bool) -> Traffic:
    """Everything to the next node, int[N], or half of it to the one before."""
    onwards = permutation(following)
    return from_pairs(csr_array(onwards.own + onwards.own.T)) if bidirectional else onwards
