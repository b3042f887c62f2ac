"""One step on in each dimension, for the networks whose dimensions are closed rings of steps.

A step is a permutation of the nodes. The steps of a network generate an abelian group that has one
element for each node that its first node is moved to, so that subgroups are counted as sets of nodes.
"""

from __future__ import annotations

import numpy as np

from torusweep.networks.families.grids import translation
from torusweep.networks.topology import Topology

TORI = ("ring", "torus", "hypercube", "rt", "pt")
LATTICES = ("rtt", "ptt", "pdtt", "twisted_torus", "illiac", "lattice")
MESHES = ("mesh",)


def steps(topology: Topology) -> list[np.ndarray]:
    """int32[N] for each dimension: the node one step on, the first again after the last.

    A torus's or lattice's steps are links (or stay where they are, in a lattice that holds the unit
    vector); in a mesh the step from the end of a line to its beginning is none.
    The network is of one of the families above.
    """
    sides = topology.plan.radices
    n = len(sides)
    if topology.family in LATTICES:
        found = list(topology.plan.symmetries())[:n]  # a lattice's first symmetries are its unit translations
    else:
        found = [translation(sides, [int(i == dimension) for i in range(n)]) for dimension in range(n)]
    assert len(found) == n, f"{topology.spelling}: fewer symmetries than dimensions"
    everyone = np.arange(topology.nodes, dtype=np.int32)
    for step in found if topology.family not in MESHES else []:
        linked = (topology.ports == step[:, None]).any(axis=1) | (step == everyone)
        assert linked.all(), f"{topology.spelling}: a step is no link"
    return found


def orbit(step: np.ndarray, node: int = 0) -> np.ndarray:
    """int32[L]: the nodes that a step, int32[N], leads to from one, in order, that one first."""
    nodes = [node]
    while step[nodes[-1]] != node:
        nodes.append(int(step[nodes[-1]]))
    return np.array(nodes, np.int32)


def cosets(nodes: np.ndarray, step: np.ndarray) -> np.ndarray:
    """int32[q, m]: the m nodes that earlier steps lead to, and those after 1, 2, … q − 1 of this step, until it leads back to the first."""
    reached = np.zeros(len(step), bool)
    reached[nodes] = True
    rows = [nodes]
    while not reached[step[rows[-1][0]]]:
        rows.append(step[rows[-1]])
    return np.stack(rows)
