"""Routing records on lattice networks: the shortest displacements to each destination."""

from __future__ import annotations

from itertools import count
from typing import Annotated, Literal

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.algebra import Lattice
from torusweep.networks.families.grids import class_names
from torusweep.networks.topology import NO_PORT, Meaning, Topology
from torusweep.routing.axes import MAX_HOPS, address, along_axes
from torusweep.routing.forms import Moves, Routes, SourceRouting

Tie = Annotated[
    Literal["split", "random", "positive"],
    Meaning(
        "which of several shortest records: split or random: all equally;"
        " positive: the largest, compared in x first, then y …"
    ),
]


def routing_record(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """Along x first, then y, then z …, by a shortest of all displacements that are equal modulo the lattice.

    If two directions are the same link (a side of 2), the first is used.

    Constraint: a lattice network with all its links: torus, ring, hypercube, rt, rtt, pt, ptt, pdtt,
    twisted_torus, illiac, lattice, circulant.
    Source: Cámara et al. 2010, sec. 4 and Algorithm 1 (rtt, ptt, pdtt).
    """
    shape = topology.plan.structure
    moves = along_axes(topology, shape, class_names(len(shape.sides))) if isinstance(shape, Lattice) else None
    if not isinstance(shape, Lattice) or moves is None:
        raise BadInput(
            f"routing routing_record on {topology.spelling}: expected a torus, twisted torus or lattice"
            " with all its links, got another network; choose minimal, which suits every network"
        )
    first, records = shortest_records(moves)

    def key(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        return address(shape, source, destination)

    def routes(keys: np.ndarray) -> Routes:
        begin, end = first[keys], first[np.asarray(keys) + 1]
        if tie == "positive":
            end = begin + 1
        ways = end - begin
        starts = np.concatenate([[0], np.cumsum(ways)])
        taken = records[np.arange(starts[-1]) + np.repeat(begin - starts[:-1], ways)]
        direction = (2 * np.arange(records.shape[1]) + (taken < 0)).astype(np.int8)
        return Routes(starts, np.repeat(1 / ways, ways), direction, abs(taken), np.zeros_like(direction))

    return SourceRouting(moves, np.zeros(topology.nodes, np.int32), topology.nodes, key, routes)


def shortest_records(moves: Moves) -> tuple[np.ndarray, np.ndarray]:
    """All shortest displacements from node 0 to every node of a connected lattice network.

    A displacement v ∈ Zⁿ takes |v₁| + … + |vₙ| hops. A shortest displacement without its last step is a
    shortest displacement to another node. The search therefore extends shortest displacements layer by
    layer, each only in its last dimension or later ones, and so finds all of them, each once.

    moves    directions along the axes of the lattice, the same at every node
    returns  (first int64[N + 1], records int16[R, n]): rows first[u] … first[u + 1] − 1 lead to node u,
             the largest first
    Raises Refused if a node is more than 32,767 hops away.
    """
    nodes, directions = moves.port.shape
    steps = [d for d in range(directions) if moves.port[0, d] != NO_PORT and moves.port[0, d] not in moves.port[0, :d]]
    distance = np.full(nodes, -1, np.int32)
    distance[0] = 0
    node, record, last = np.zeros(1, np.int32), np.zeros((1, directions // 2), np.int16), np.full(1, -1, np.int8)
    reached, found = [node], [record]
    for hops in count(1):
        grown = []
        for d in steps:
            onwards = np.flatnonzero((last < d // 2) | ((last == d // 2) & ((record[:, d // 2] < 0) == d % 2)))
            there = moves.next[node[onwards], d]
            onwards, there = onwards[distance[there] < 0], there[distance[there] < 0]
            grown.append((d, onwards, there))
        for _, _, there in grown:
            distance[there] = hops
        parent = np.concatenate([onwards for _, onwards, _ in grown])
        if not len(parent):
            break
        if hops > MAX_HOPS:
            raise Refused(f"expected nodes at most {MAX_HOPS:,} hops apart, got more; choose shorter rings")
        direction = np.repeat([d for d, _, _ in grown], [len(onwards) for _, onwards, _ in grown])
        node, record = np.concatenate([there for _, _, there in grown]), record[parent]
        last = (direction // 2).astype(np.int8)
        record[np.arange(len(record)), last] += (1 - 2 * (direction % 2)).astype(np.int16)
        reached.append(node)
        found.append(record)
    owner, records = np.concatenate(reached), np.concatenate(found)
    records = records[np.lexsort((*(-records.T[::-1]), owner))]
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=nodes))]), records
