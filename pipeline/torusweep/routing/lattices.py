"""Routing on lattices, whose links are steps ± e_i of the address.

Routing records are the shortest displacements to each destination. Shortest routes by relative address have one tree
for each cell of equivalent nodes. Minimal adaptive routing has escape channels, for deadlock analysis and simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from math import prod
from typing import Annotated, Literal

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.algebra import Lattice, box, extend
from torusweep.networks.families.wiring import class_names, digit
from torusweep.networks.topology import NO_PORT, Meaning, Topology
from torusweep.routing.dimension_order import dimension_order
from torusweep.routing.forms import AdaptiveRouting, Moves, Routes, SourceRouting, port_to

MAX_HOPS = int(np.iinfo(np.int16).max)  # of a run
MAX_STATES = 1 << 24  # relative addresses of all cells; each takes 9 bytes of a tree's arrays, 13 while it is built
UNSEEN = -1


def along_axes(topology: Topology, shape: Lattice, names: Sequence[str]) -> Moves | None:
    """Return moves whose direction 2i adds e_i to the address modulo the lattice; direction 2i + 1 subtracts e_i.

    topology   the network
    shape      lattice of the addresses; prod(shape.sides) = N
    names      names of the axes
    returns    None if a link of the network is not such a step
    """
    axes = range(len(shape.sides))
    if not 0 < topology.ports.shape[1] <= 2 * len(axes) or prod(shape.sides) != topology.nodes:
        return None
    port = np.empty((topology.nodes, 2 * len(axes)), np.int8)
    box = [digit(shape.sides, i).astype(np.int64) for i in axes]
    for axis in axes:
        for back, step in enumerate((1, -1)):
            there = shape.index([place + step * int(i == axis) for i, place in enumerate(box)])
            port[:, 2 * axis + back] = port_to(topology, there)
    moves = Moves(topology, port, tuple(names))
    return moves if moves.covers_all_links else None


def address(shape: Lattice, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
    """Return the address destination − source modulo the lattice, as a number, int64[…]. Arrays are broadcast."""
    return shape.number([b - a for a, b in zip(shape.digits(source), shape.digits(destination))])


Tie = Annotated[
    Literal["split", "random", "positive"],
    Meaning(
        "which of several shortest records: split or random: all equally;"
        " positive: the largest, compared in x first, then y …"
    ),
]


def routing_record(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """Route along x first, then y, then z …, by a shortest displacement modulo the lattice.

    If two directions are the same link, as on a side of 2, the first direction is used.

    Constraint: a lattice network with all its links: torus, ring, hypercube, rt, rtt, pt, ptt, pdtt,
    twisted_torus, illiac, lattice, circulant, hexagonal_torus.
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
    """Find all shortest displacements from node 0 to every node of a connected lattice network.

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


def minimal_by_address(topology: Topology) -> SourceRouting:
    """Take one shortest route to each relative address, the lexicographically first, from all nodes of a cell.

    Routes are compared hop by hop, with directions in the order x + 1, x − 1, y + 1, …. Two nodes are in
    the same cell if the translation from one to the other preserves every link and its direction.

    Constraint: a connected network whose links each change one digit of the address by ± 1 (modulo the
    lattice, on a twisted torus): tori, pruned, directed and twisted tori, lattices, hypercube, ccc, mesh;
    nodes × cells at most 2²⁴.
    Source: Parhami & Kwai 2004, sec. 3: routing by the groups of the networks.
    """
    structure, nodes = topology.plan.structure, topology.nodes
    shape = structure if isinstance(structure, Lattice) else box(topology.plan.radices)
    moves = along_axes(topology, shape, class_names(len(shape.sides)))
    if moves is None:
        raise BadInput(
            f"routing minimal_by_address on {topology.spelling}: expected links that change one digit of the address"
            " by ± 1, got others; choose minimal, which suits every network"
        )
    cells = translation_lattice(moves, shape)
    states = prod(cells.sides) * nodes
    if states > MAX_STATES:
        raise Refused(
            f"routing minimal_by_address on {topology.spelling}: expected at most {MAX_STATES:,} relative addresses,"
            f" got {states:,} ({prod(cells.sides):,} kinds of nodes); choose minimal, which writes none down"
        )
    cell = cells.number(shape.digits(np.arange(nodes))).astype(np.int32)
    origins = np.unique(cell, return_index=True)[1]
    tree = _Tree(moves, origins)
    if not tree.connected:
        raise BadInput(
            f"routing minimal_by_address on {topology.spelling}: expected a network in which every node reaches"
            " every other, got one that is not connected; choose another network"
        )

    def key(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        return cells.number(shape.digits(source)) * nodes + address(shape, source, destination)

    def routes(keys: np.ndarray) -> Routes:
        number, relative = np.divmod(np.asarray(keys, np.int64), nodes)
        there = shape.number([a + b for a, b in zip(shape.digits(origins[number]), shape.digits(relative))])
        return tree.routes(number * nodes + there)

    return SourceRouting(moves, cell, states, key, routes)


def translation_lattice(moves: Moves, shape: Lattice) -> Lattice:
    """Return the lattice of all translations that preserve every link and its direction.

    moves    directions along the axes of `shape`
    returns  a lattice that contains `shape`; its box numbers the cells of equivalent nodes
    """
    pattern = (moves.port != NO_PORT) @ (1 << np.arange(moves.port.shape[1], dtype=np.int64))
    _, kind, size = np.unique(pattern, return_inverse=True, return_counts=True)
    rarity = size[kind]
    digits = shape.digits(np.arange(len(pattern)))

    def moved(node: np.ndarray, by: np.ndarray) -> np.ndarray:
        return shape.number([a + b for a, b in zip(shape.digits(node), shape.digits(by))])

    kept, candidates = shape, np.arange(len(pattern))
    witness = int(np.argmin(rarity))
    while True:
        # a node of a rare kind leaves few candidates
        candidates = candidates[kind[moved(np.array(witness), candidates)] == kind[witness]]
        while True:
            candidates = candidates[kept.number([digit[candidates] for digit in digits]) > 0]
            if not len(candidates):
                return kept
            first = candidates[0]
            wrong = np.flatnonzero(kind[moved(np.arange(len(pattern)), first)] != kind)
            if len(wrong):
                witness = int(wrong[np.argmin(rarity[wrong])])
                break
            kept = extend(kept, [int(digit[first]) for digit in digits])


class _Tree:
    """The first shortest path from the origin of every cell to every node, as runs.

    State c · N + u is the path from origin c to node u.

    begin      int32[S]   state where the last run of the path begins
    direction  int8[S]    direction of the last run
    hops       int16[S]   length of the last run
    runs       int16[S]   number of runs of the path
    """

    def __init__(self, moves: Moves, origins: np.ndarray) -> None:
        nodes, directions = moves.port.shape
        states = len(origins) * nodes
        self.begin = np.zeros(states, np.int32)
        self.direction = np.full(states, UNSEEN, np.int8)
        self.hops = np.zeros(states, np.int16)
        self.runs = np.full(states, UNSEEN, np.int16)
        frontier = np.arange(len(origins)) * nodes + origins
        self.runs[frontier] = 0
        place = np.empty(states, np.int32)
        for far in count(1):
            # the frontier is in the order of its paths: the first path that reaches a state is the smallest
            node = frontier % nodes
            there = np.where(
                moves.port[node] == NO_PORT, frontier[:, None], (frontier - node)[:, None] + moves.next[node]
            ).reshape(-1)
            fresh = np.flatnonzero(self.runs[there] == UNSEEN)
            number = np.arange(len(fresh), dtype=np.int32)
            # if a state is reached several times, the last assignment counts: in reverse order, that is the first
            place[there[fresh[::-1]]] = number[::-1]
            fresh = fresh[place[there[fresh]] == number]
            if not len(fresh):
                break
            if far > MAX_HOPS:
                raise Refused(f"expected nodes at most {MAX_HOPS:,} hops apart, got more; choose shorter rings")
            before, by, state = frontier[fresh // directions], (fresh % directions).astype(np.int8), there[fresh]
            extends = self.direction[before] == by
            self.begin[state] = np.where(extends, self.begin[before], before)
            self.direction[state] = by
            self.hops[state] = np.where(extends, self.hops[before], 0) + 1
            self.runs[state] = self.runs[before] + ~extends
            frontier = state
        self.connected = bool((self.runs != UNSEEN).all())

    def routes(self, states: np.ndarray) -> Routes:
        """Return the route to each of the given states, int64[K]."""
        runs = self.runs[states]
        shape = (len(states), max(1, int(runs.max(initial=0))))
        direction, hops = np.zeros(shape, np.int8), np.zeros(shape, np.int16)
        row = np.flatnonzero(runs)
        state, place = states[row], runs[row] - 1
        while len(row):
            direction[row, place], hops[row, place] = self.direction[state], self.hops[state]
            earlier = place > 0
            row, state, place = row[earlier], self.begin[state[earlier]], place[earlier] - 1
        first = np.arange(len(states) + 1)
        return Routes(first, np.ones(len(states)), direction, hops, np.zeros_like(direction))


Escape = Annotated[
    Literal["dimension_order", "routing_record"] | None,
    Meaning(
        "routing of the escape channels, with tie=positive;"
        " if absent, dimension_order where it suits the network, else routing_record"
    ),
]
ESCAPES: dict[str, Callable[..., SourceRouting]] = {
    escape.__name__: escape for escape in (dimension_order, routing_record)
}


def adaptive(topology: Topology, escape: Escape = None) -> AdaptiveRouting:
    """Take any link that leads nearer on adaptive channels, or the next hop of the escape routing on escape channels.

    Constraint: a network that the escape routing suits.
    Source: Duato 1993.
    """
    if topology.plan.whole is not None:
        raise BadInput(
            f"routing adaptive on {topology.spelling}: expected a network with all its links, as packets choose hop by"
            " hop along those of an escape routing, got one with faults; choose minimal, which suits every network"
        )
    if escape is not None:
        return AdaptiveRouting(ESCAPES[escape](topology, tie="positive"))
    try:
        return AdaptiveRouting(dimension_order(topology, tie="positive"))
    except BadInput:
        return AdaptiveRouting(routing_record(topology, tie="positive"))
