"""Specification of simulated annealing by plain loops.

It also has the types of a graph's quotient by a rotation, of the goal, and of a search's state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.philox import below, philox

NO_PORT = -1
BLOCK = 256  # moves of one temperature
UNREACHED = 2  # times the number of nodes: what a pair without a path costs
LOGARITHMS = 4096
# how far an uphill move may go, in temperatures: −ln u for equally likely u
NEGATIVE_LOG = -np.log((np.arange(LOGARITHMS) + 0.5) / LOGARITHMS)
HALF = 2**32


class Quotient(NamedTuple):
    """A graph without parallel links or links from a node to itself, given as its quotient by a rotation.

    copies  s, the number of copies of each quotient node
    head    int32[m, d]  quotient node at the other end of each port; −1: no link
    shift   int32[m, d]  rotation from this end to the other, 0 … s − 1
    mate    int32[m, d]  port at the other end, numbered a·d + p
    """

    copies: int
    head: np.ndarray
    shift: np.ndarray
    mate: np.ndarray


class Wires(NamedTuple):
    """The places of nodes on a floor, and a limit on the length of links.

    place    int32[N, 2]  rotating the nodes must also rotate the places, so that all copies of a link have one length
    longest  upper limit on |x − x'| + |y − y'| for the two ends of a link
    """

    place: np.ndarray
    longest: int


class Goal(NamedTuple):
    """The energy to minimise: the sum over pairs of distance + (penalty − 1) · (hops beyond `diameter`).

    diameter  hops
    penalty   ≥ 1; with 1, the energy is the sum of distances
    energy    the search ends with a graph of at most this energy and at most this diameter
    """

    diameter: int
    penalty: int
    energy: int


class Annealed(NamedTuple):
    """State of a search.

    graph, energy  the current graph
    best, best_energy, best_diameter  the first graph with the least energy so far
    moves          number of moves that were tried
    accepted       number of moves that changed the graph
    """

    graph: Quotient
    energy: int
    best: Quotient
    best_energy: int
    best_diameter: int
    moves: int
    accepted: int


def lifted(quotient: Quotient) -> np.ndarray:
    """Return int32[N, d]: the ports of the graph that a quotient describes; −1 where there is no link."""
    s, m = quotient.copies, len(quotient.head)
    copy = np.arange(s)[:, None, None]
    heads = (copy + quotient.shift) % s * m + quotient.head
    return np.where(quotient.head < 0, NO_PORT, heads).reshape(s * m, -1).astype(np.int32)


def anneal(
    quotient: Quotient, temperatures: np.ndarray, goal: Goal, wires: Wires, first: int, seed: int, chain: int
) -> Annealed:
    """Specification of `torusweep_kernels.annealing.anneal`. It changes the quotient's arrays."""
    here, diameter = evaluate(lifted(quotient), len(quotient.head), goal, None)
    best, best_energy, best_diameter = _copy(quotient), here, diameter
    moves = accepted = 0
    for place, temperature in enumerate(temperatures):
        for move in range(first + place * BLOCK, first + (place + 1) * BLOCK):
            if best_energy <= goal.energy and best_diameter <= goal.diameter:
                return Annealed(quotient, here, best, best_energy, best_diameter, moves, accepted)
            moves += 1
            words = philox((move % HALF, move // HALF, chain, 0), (seed % HALF, seed // HALF))
            changed = _exchanged(quotient, wires, words)
            if changed is None:
                continue
            most = here + int(temperature * NEGATIVE_LOG[int(words[3]) * LOGARITHMS // HALF])
            there, diameter = evaluate(lifted(changed), len(changed.head), goal, most)
            if there > most:
                continue
            quotient, here, accepted = changed, there, accepted + 1
            if here < best_energy:
                best, best_energy, best_diameter = _copy(quotient), here, diameter
    return Annealed(quotient, here, best, best_energy, best_diameter, moves, accepted)


def evaluate(ports: np.ndarray, sources: int, goal: Goal, most: int | None) -> tuple[int, int]:
    """Return (energy, diameter) over all pairs from nodes 0 … sources − 1; (above `most`, 0) once it exceeds `most`."""
    nodes = len(ports)
    to = np.where(ports < 0, np.arange(nodes)[:, None], ports)
    reached = np.eye(nodes, sources, dtype=bool)
    level, total = 0, 0
    left = nodes * sources - sources
    while left:
        total += left * (goal.penalty if level >= goal.diameter else 1)
        if most is not None and total > most:
            return total, 0
        level += 1
        reached = reached | reached[to].any(axis=1)
        before, left = left, nodes * sources - int(reached.sum())
        if left == before:
            return total + left * UNREACHED * nodes * goal.penalty, nodes
    return total, level


def _exchanged(quotient: Quotient, wires: Wires, words: tuple[np.ndarray, ...]) -> Quotient | None:
    """Return the graph after a move; None if the move changes nothing."""
    s, head, shift, mate = quotient
    m, d = head.shape
    e, f, turn = int(below(words[0], m * d)), int(below(words[1], m * d)), int(below(words[2], s))
    heads, shifts, mates = head.ravel(), shift.ravel(), mate.ravel()
    if heads[e] < 0 or heads[f] < 0 or f in (e, mates[e]):
        return None
    back, ahead = int(mates[e]), int(mates[f])  # the other ends of the two links
    a, b, c, g = e // d, back // d, f // d, ahead // d
    other = int(turn + shifts[f] - shifts[e]) % s
    if (a == c and turn == 0) or (b == g and other == 0):
        return None
    for node, end in ((a, turn * m + c), (b, other * m + g)):
        if np.abs(wires.place[node] - wires.place[end]).sum() > wires.longest:
            return None
    changed = _copy(quotient)
    heads, shifts, mates = (array.reshape(-1) for array in changed[1:])
    for port, node, way, end in (
        (e, c, turn, f),
        (f, a, -turn % s, e),
        (back, g, other, ahead),
        (ahead, b, -other % s, back),
    ):
        heads[port], shifts[port], mates[port] = node, way, end
    for port in (e, f, back, ahead):
        own = range(port // d * d, port // d * d + d)
        if any(heads[p] == heads[port] and shifts[p] == shifts[port] for p in own if p != port):
            return None
    return changed


def _copy(quotient: Quotient) -> Quotient:
    return Quotient(quotient.copies, *(array.copy() for array in quotient[1:]))
