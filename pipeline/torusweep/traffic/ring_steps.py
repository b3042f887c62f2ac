"""Steps along the dimensions of networks whose dimensions are rings.

A step is a permutation of the nodes. The steps of a network generate an abelian group, whose elements
correspond to the images of node 0, so that subgroups are represented by sets of nodes.
"""

from __future__ import annotations

import numpy as np

from torusweep.networks.families.grids import translation
from torusweep.networks.topology import Topology

TORI = ("ring", "torus", "hypercube", "rt", "pt")
LATTICES = ("rtt", "ptt", "pdtt", "twisted_torus", "illiac", "lattice", "circulant")
MESHES = ("mesh",)


def steps(topology: Topology) -> list[np.ndarray]:
    """int32[N] for each dimension: the next node, the first again after the last.

    In a torus or lattice a step follows a link, or stays at the node if the lattice contains the unit
    vector. In a mesh the step from the end of a line to its beginning is not a link.

    topology   of one of the families above
    """
    sides = topology.plan.radices
    n = len(sides)
    if topology.family in LATTICES:
        found = list(topology.plan.symmetries())[:n]  # the first symmetries of a lattice are its unit translations
    else:
        found = [translation(sides, [int(i == dimension) for i in range(n)]) for dimension in range(n)]
    assert len(found) == n, f"{topology.spelling}: fewer symmetries than dimensions"
    all_nodes = np.arange(topology.nodes, dtype=np.int32)
    for step in found if topology.family not in MESHES else []:
        linked = (topology.ports == step[:, None]).any(axis=1) | (step == all_nodes)
        assert linked.all(), f"{topology.spelling}: a step is not a link"
    return found


def orbit(step: np.ndarray, node: int = 0) -> np.ndarray:
    """int32[L]: the orbit of a node under a step, int32[N], in order, the node first."""
    nodes = [node]
    while step[nodes[-1]] != node:
        nodes.append(int(step[nodes[-1]]))
    return np.array(nodes, np.int32)


def cosets(nodes: np.ndarray, step: np.ndarray) -> np.ndarray:
    """int32[q, m]: the m nodes of a subgroup, and their images under 1, 2, … q − 1 steps.

    The next image would be the subgroup itself.
    """
    reached = np.zeros(len(step), bool)
    reached[nodes] = True
    rows = [nodes]
    while not reached[step[rows[-1][0]]]:
        rows.append(step[rows[-1]])
    return np.stack(rows)
