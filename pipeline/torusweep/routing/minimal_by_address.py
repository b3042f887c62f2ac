"""Shortest routes by relative address: one tree of routes for each cell of equivalent nodes."""

from __future__ import annotations

from itertools import count
from math import prod

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.algebra import Lattice, box, extend
from torusweep.networks.families.grids import class_names
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.axes import MAX_HOPS, address, along_axes
from torusweep.routing.forms import Moves, Routes, SourceRouting

MAX_STATES = 1 << 24  # relative addresses of all cells; the arrays of a tree take 9 bytes each, 13 while it is built
UNSEEN = -1


def minimal_by_address(topology: Topology) -> SourceRouting:
    """One shortest route to each relative address, the same from all nodes of a cell: the lexicographically first.

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
    """The lattice of the translations that preserve every link and its direction.

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
        """The route to each state, int64[K]."""
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
