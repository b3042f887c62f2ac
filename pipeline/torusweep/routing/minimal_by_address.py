"""Shortest routes by relative address: one tree of them for every cell of nodes that see the network alike."""

from __future__ import annotations

from itertools import count
from math import prod

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.grids import class_names
from torusweep.networks.families.hermite import Lattice, box, extend
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.axes import FARTHEST, address, along_axes
from torusweep.routing.forms import Moves, Routes, SourceRouting

MOST_STATES = (
    1 << 24
)  # relative addresses of all cells; a tree's arrays take 9 bytes for each, 13 while they are filled
UNSEEN = -1


def minimal_by_address(topology: Topology) -> SourceRouting:
    """One shortest route to each relative address, from all nodes of a cell the same: the first of all in the order of their directions.

    Routes are compared hop by hop, directions in the order x + 1, x − 1, y + 1, …. Two nodes are of one
    cell where the translation from one to the other keeps every link and its direction.

    Constraint: a connected network each of whose links changes one digit of the address by ± 1 (modulo the lattice, on a twisted
    torus): tori, their pruned, directed and twisted kin, lattices, hypercube, ccc, mesh; nodes × cells at most 2²⁴.
    Source: Parhami & Kwai 2004, sec. 3: routing by the networks' groups.
    """
    structure, nodes = topology.plan.structure, topology.nodes
    shape = structure if isinstance(structure, Lattice) else box(topology.plan.radices)
    moves = along_axes(topology, shape, class_names(len(shape.sides)))
    if moves is None:
        raise BadInput(
            f"routing minimal_by_address on {topology.spelling}: expected links that change one digit of the address by ± 1, got others;"
            " choose minimal, which suits every network"
        )
    cells = translation_lattice(moves, shape)
    states = prod(cells.sides) * nodes
    if states > MOST_STATES:
        raise Refused(
            f"routing minimal_by_address on {topology.spelling}: expected at most {MOST_STATES:,} relative addresses, got {states:,}"
            f" ({prod(cells.sides):,} kinds of nodes); choose minimal, which writes none down"
        )
    cell = cells.number(shape.digits(np.arange(nodes))).astype(np.int32)
    origins = np.unique(cell, return_index=True)[1]
    tree = _Tree(moves, origins)
    if not tree.connected:
        raise BadInput(
            f"routing minimal_by_address on {topology.spelling}: expected a network in which every node reaches every other,"
            " got one that is not connected; choose another network"
        )

    def key(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        return cells.number(shape.digits(source)) * nodes + address(shape, source, destination)

    def routes(keys: np.ndarray) -> Routes:
        number, relative = np.divmod(np.asarray(keys, np.int64), nodes)
        there = shape.number([a + b for a, b in zip(shape.digits(origins[number]), shape.digits(relative))])
        return tree.routes(number * nodes + there)

    return SourceRouting(moves, cell, states, key, routes)


def translation_lattice(moves: Moves, shape: Lattice) -> Lattice:
    """The translations that keep every link and its direction: vectors that add to every node's address one with the same directions.

    moves    directions along the axes of `shape`
    returns  a lattice that contains `shape`; its box numbers the cells of nodes that these translations carry into each other
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
        # a node of a rare kind leaves few candidates; those that the group has already are no news
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
    """The first shortest path from the origin of every cell to every node, as runs; state c · N + u is node u as seen from origin c.

    begin      int32[S]   state where the path's last run begins
    direction  int8[S]    that run's direction
    hops       int16[S]   and its length
    runs       int16[S]   of the whole path
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
            # the frontier stands in the order of its paths, so whoever reaches a state first has its first path
            node = frontier % nodes
            there = np.where(
                moves.port[node] == NO_PORT, frontier[:, None], (frontier - node)[:, None] + moves.next[node]
            ).reshape(-1)
            fresh = np.flatnonzero(self.runs[there] == UNSEEN)
            number = np.arange(len(fresh), dtype=np.int32)
            place[there[fresh[::-1]]] = number[
                ::-1
            ]  # of states that are reached more than once the last assignment stays, which is the first
            fresh = fresh[place[there[fresh]] == number]
            if not len(fresh):
                break
            if far > FARTHEST:
                raise Refused(f"expected nodes at most {FARTHEST:,} hops apart, got more; choose shorter rings")
            before, by, state = frontier[fresh // directions], (fresh % directions).astype(np.int8), there[fresh]
            goes_on = self.direction[before] == by
            self.begin[state] = np.where(goes_on, self.begin[before], before)
            self.direction[state] = by
            self.hops[state] = np.where(goes_on, self.hops[before], 0) + 1
            self.runs[state] = self.runs[before] + ~goes_on
            frontier = state
        self.connected = bool((self.runs != UNSEEN).all())

    def routes(self, states: np.ndarray) -> Routes:
        """One route to each state, int64[K]."""
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
