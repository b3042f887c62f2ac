"""Traffic of an all-reduce along rings of nodes: a Hamiltonian ring, or the rings of one dimension after another.

A Hamiltonian ring is a cycle over the links of a network that visits every node once.

If the dimensions of a network are rings, each has a step, which is a permutation of the nodes. The steps of a
network generate an abelian group, whose elements correspond to the images of node 0, so subgroups are represented
by sets of nodes.

An all-reduce is a reduce-scatter, in which every node sums its share, then an all-gather, in which the shares go
round. In a ring of L nodes that reduce D flits, reduce-scatter takes L − 1 steps; in each step, every node sends
D/L flits to the next node. All steps use the same pairs, so one matrix describes them all. All-gather sends the
same amount over the same pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.families.wiring import translation
from torusweep.networks.topology import Meaning, Topology, addresses, node_index, require
from torusweep.traffic.matrix import Phase, Traffic, combine_phases, from_pairs, permutation

TORI = ("ring", "torus", "hypercube", "rt", "pt")
LATTICES = ("rtt", "ptt", "pdtt", "twisted_torus", "illiac", "lattice", "circulant", "hexagonal_torus")
MESHES = ("mesh",)


def steps(topology: Topology) -> list[np.ndarray]:
    """Return the step along each dimension, int32[N]: the node after each node, and the first node after the last.

    In a torus or lattice a step follows a link, or stays at the node if the lattice contains the unit
    vector. In a mesh the step from the end of a line to its beginning is not a link.

    topology   a network of a family in TORI, LATTICES or MESHES
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
    """int32[L]: the orbit of a node under a step, int32[N], in order, starting with the node."""
    nodes = [node]
    while step[nodes[-1]] != node:
        nodes.append(int(step[nodes[-1]]))
    return np.array(nodes, np.int32)


def cosets(nodes: np.ndarray, step: np.ndarray) -> np.ndarray:
    """int32[q, m]: the m nodes of a subgroup, and their images under 1, 2, … q − 1 steps, all of them different."""
    reached = np.zeros(len(step), bool)
    reached[nodes] = True
    rows = [nodes]
    while not reached[step[rows[-1][0]]]:
        rows.append(step[rows[-1]])
    return np.stack(rows)


def hamiltonian_ring(topology: Topology) -> np.ndarray:
    """int32[N]: the nodes in the order of a Hamiltonian ring, verified link by link.

    Tori, hypercubes and lattice graphs of any sides have such a ring; meshes have one if a side is even.
    Raises BadInput if no construction is known here.
    """
    family = topology.family
    require(topology.nodes > 1, "nodes", topology.nodes, "two or more", "a single node has no ring")
    if family in TORI and topology.directed:
        order = _modular_gray_code(topology)
    elif family in TORI or family in LATTICES:
        order = _weave(steps(topology))
    elif family in MESHES:
        order = _weave([steps(topology)[dimension] for dimension in _dimensions_even_second(topology)])
    else:
        known = ", ".join((*TORI, *MESHES, *LATTICES))
        raise BadInput(f"no construction of a Hamiltonian ring is known here for {family}; there is one for {known}")
    once = np.array_equal(np.bincount(order, minlength=topology.nodes), np.ones(topology.nodes, np.int64))
    linked = (topology.ports[order] == np.roll(order, -1)[:, None]).any(axis=1)
    assert once, f"{topology.spelling}: a Hamiltonian ring meets every node once"
    assert linked.all(), f"{topology.spelling}: a Hamiltonian ring follows links"
    return order


def _weave(along: Sequence[np.ndarray]) -> np.ndarray:
    """int32[N]: a Hamiltonian ring, grown from the orbit of the first step by its copies along each further step.

    Given q copies, side by side, of a ring c_0 … c_{m−1}: traverse the first copy from c_1 to c_{m−1}, the
    second backwards, and so on, and return over the copies of c_0. The last copy ends at c_1 or at
    c_{m−1}, both neighbours of c_0. For even q it ends at c_1, so that the first ring may be an open line.
    """
    ring = np.zeros(1, np.int32)
    for step in along:
        copies = cosets(ring, step)
        if len(ring) == 1:
            ring = copies[:, 0]
        elif len(copies) > 1:
            rows = copies[:, 1:].copy()
            rows[1::2] = rows[1::2, ::-1]
            ring = np.concatenate([copies[0, :1], rows.ravel(), copies[:0:-1, 0]])
    return ring


def _dimensions_even_second(topology: Topology) -> list[int]:
    """Order a mesh's dimensions with an even side second. Raises BadInput if no side is even, or for a line."""
    sides = topology.plan.radices
    even = [dimension for dimension, side in enumerate(sides) if side % 2 == 0]
    if not even:
        raise BadInput(
            f"a mesh of odd sides {list(sides)} has no Hamiltonian ring:"
            " its links connect even nodes with odd nodes, of which there is one fewer; make a side even"
        )
    if topology.nodes > 2 and len(sides) == 1:
        raise BadInput("a line of nodes has no Hamiltonian ring, because its ends are not connected; choose a ring")
    others = [dimension for dimension in range(len(sides)) if dimension != even[0]]
    return [*others[:1], even[0], *others[1:]]


def _modular_gray_code(topology: Topology) -> np.ndarray:
    """int32[N]: the modular Gray code, in which each digit of consecutive numbers has the next digit subtracted.

    At every count one digit grows by one. If digit i carries into digit i + 1, both grow by one modulo
    their radices, and the difference stays the same provided that the radix of digit i divides that of
    digit i + 1 (Guan 1998, Theorem 1, for equal radices).
    """
    sides = topology.plan.radices
    dimensions = sorted(range(len(sides)), key=lambda dimension: sides[dimension])
    radices = [sides[dimension] for dimension in dimensions]
    if any(larger % smaller for smaller, larger in pairwise(radices)):
        reason = f"a directed torus of sides {list(sides)}; there is one where each divides the next"
        raise BadInput(f"no construction of a Hamiltonian ring is known here for {reason}")
    digits = addresses(radices)
    digits[:, :-1] -= digits[:, 1:]
    arranged = np.empty_like(digits)
    arranged[:, dimensions] = digits
    return node_index(arranged, sides)


BothWays = Annotated[bool, Meaning("half of every message goes round the other way")]


def ring_all_reduce(topology: Topology, bidirectional: BothWays = False) -> Traffic:
    """Send to the next node of a Hamiltonian ring: reduce-scatter, then all-gather.

    Source: Patarasuk & Yuan 2009 (ring all-reduce).
    """
    _expect_one_each(topology)
    ring = hamiltonian_ring(topology)
    following = np.empty_like(ring)
    following[ring] = np.roll(ring, -1)
    n = topology.nodes
    traffic = _round(following, bidirectional)
    return combine_phases([Phase(name, (n - 1) / n, n - 1, traffic) for name in ("reduce-scatter", "all-gather")])


def all_reduce_by_dimension(topology: Topology, bidirectional: BothWays = False) -> Traffic:
    """Send to the next node in one dimension per phase: reduce-scatter in x, y, z …, then all-gather in … z, y, x.

    A ring consists of the nodes that steps in one dimension reach; on a mesh, the way back along a line closes
    the ring. After each phase every node of the rings so far holds a share, so messages shrink from phase to
    phase. On a twisted torus, a ring that meets earlier rings in several nodes reduces one share per such
    node; a ring within earlier rings has nothing to reduce and is left out.
    Source: Chan et al. 2007 (bucket algorithms, one dimension after the other); on lattices the rings are cosets.
    """
    require(topology.nodes > 1, "nodes", topology.nodes, "two or more", "a single node has nothing to reduce")
    _expect_one_each(topology)
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


def _expect_one_each(topology: Topology) -> None:
    one_each = np.array_equal(topology.terminals, np.arange(topology.nodes))
    why = "a step of the ring is between nodes"
    require(one_each, "terminals", len(topology.terminals), f"one at each of the {topology.nodes} nodes", why)


def _round(following: np.ndarray, bidirectional: bool) -> Traffic:
    """Return traffic to the next node, `following` int[N]; if bidirectional, half of it goes to the previous node."""
    onwards = permutation(following)
    return from_pairs(scipy.sparse.csr_array(onwards.own + onwards.own.T)) if bidirectional else onwards
