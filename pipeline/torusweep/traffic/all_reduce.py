"""All-reduce on rings of nodes: reduce-scatter (every node sums its share), then all-gather (the shares go round).

In a ring of L nodes that reduce D flits, reduce-scatter takes L − 1 steps, each of D/L flits per node to
the next node. All steps use the same pairs, so that one matrix describes them all. All-gather sends the
same amount over the same pairs.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import scipy

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

    A ring consists of the nodes that steps in one dimension reach; the lines of a mesh are closed by the
    way back. After each phase every node of the rings so far holds a share, so that messages shrink from
    phase to phase. On a twisted torus, a ring that meets earlier rings in several nodes holds as many
    shares and reduces them all; a ring within earlier rings has nothing to reduce and is left out.
    Source: Chan et al. 2007 (bucket algorithms, one dimension after the other); on lattices the rings are cosets.
    """
    require(topology.nodes > 1, "nodes", topology.nodes, "two or more", "a single node has nothing to reduce")
    known = (*TORI, *MESHES, *LATTICES)
    if topology.family not in known:
        raise BadInput(
            f"expected a network whose dimensions are rings of nodes (or lines), got {topology.family};"
            f" they are in {', '.join(known)}"
        )
    scatter, gather = [], []
    reduced = np.zeros(1, np.int32)  # nodes that hold shares of the data of node 0
    for name, step in zip(topology.plan.classes, steps(topology)):
        ring, met = len(orbit(step)), cosets(reduced, step)
        if len(met) == 1:
            continue
        reduced = met.ravel()
        volume = (ring - 1) / len(reduced)  # the ring reduces ring / len(reduced) flits
        traffic = _round(step, bidirectional)
        scatter.append(Phase(f"reduce-scatter {name}", volume, ring - 1, traffic))
        gather.append(Phase(f"all-gather {name}", volume, ring - 1, traffic))
    return combine_phases([*scatter, *reversed(gather)])


def _round(following: np.ndarray, bidirectional: bool) -> Traffic:
    """Traffic to the next node, `following` int[N]; if bidirectional, half of it to the previous node."""
    onwards = permutation(following)
    return from_pairs(scipy.sparse.csr_array(onwards.own + onwards.own.T)) if bidirectional else onwards
