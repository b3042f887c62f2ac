"""Simulated annealing compiled by Numba: distances from all nodes of the quotient at once, a bit each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from torusweep_kernels.annealing.quotient import (
    BLOCK,
    LOGARITHMS,
    NEGATIVE_LOG,
    UNREACHED,
    Annealed,
    Goal,
    Quotient,
    lifted,
)
from torusweep_kernels.compile import cached, intrinsic
from torusweep_kernels.philox.cpu import below, philox4x32

WORD = 64
U1, U2, U3, U4, U5, U6, U7 = (np.uint64(number) for number in range(1, 8))  # a signed index may be negative
WIDTHS = 1, 4, 8  # words of a group of sources: Numba compiles a search for each
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
LOG_SHIFT = np.uint32(32 - (LOGARITHMS.bit_length() - 1))


class Graph(NamedTuple):
    """A quotient whose ports are numbered a·d + p, and the graph itself.

    head, shift, mate  int32[m·d]
    ports              int32[N, d]  a missing link leads back to its node
    """

    copies: int
    head: np.ndarray
    shift: np.ndarray
    mate: np.ndarray
    ports: np.ndarray


def anneal(quotient: Quotient, temperatures: np.ndarray, goal: Goal, first: int, seed: int, chain: int) -> Annealed:
    """See `torusweep_kernels.annealing.anneal`. The quotient's arrays change."""
    m, d = quotient.head.shape
    ports = lifted(quotient)
    ports = np.where(ports < 0, np.arange(len(ports), dtype=np.int32)[:, None], ports)
    head, shift, mate = (array.reshape(-1) for array in quotient[1:])
    graph = Graph(quotient.copies, head, shift, mate, ports)
    best = tuple(array.copy() for array in graph[1:4])
    width = (0,) * next(words for words in WIDTHS if words >= min(-(-m // WORD), WIDTHS[-1]))
    rows = np.empty((2, -(-m // (WORD * len(width))), len(ports) * len(width)), np.uint64)
    limits = np.array([goal.diameter, goal.penalty, goal.energy], np.int64)
    key = np.array([seed % 2**32, seed >> 32, chain], np.uint64)
    energy, best_energy, best_diameter, moves, accepted = _anneal(
        graph, best, rows, temperatures, limits, first, key, width
    )
    found = Quotient(quotient.copies, *(array.reshape(m, d) for array in best))
    return Annealed(quotient, energy, found, best_energy, best_diameter, moves, accepted)


@intrinsic
def _ones(context, word):
    """Set bits of a word."""

    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), codegen


@cached
def _anneal(graph, best, rows, temperatures, limits, first, key, width):
    """best: copies of the graph's head, shift and mate; width: a tuple of as many elements as a group has words."""
    nodes, d = graph.ports.shape
    m = nodes // graph.copies
    changed = np.empty(4, np.int64)
    before = np.empty((3, 4), np.int32)
    here, diameter = _evaluate(graph.ports, m, rows, limits, np.int64(2**62), width)
    best_energy, best_diameter = here, diameter
    moves = accepted = 0
    for place in range(len(temperatures)):
        for step in range(BLOCK):
            if best_energy <= limits[2] and best_diameter <= limits[0]:
                return here, best_energy, best_diameter, moves, accepted
            move = np.uint64(first + place * BLOCK + step)
            moves += 1
            w0, w1, w2, w3 = philox4x32(move & LOW, move >> HALF, key[2], 0, key[0], key[1])
            e, f, turn = np.int64(below(w0, m * d)), np.int64(below(w1, m * d)), np.int64(below(w2, graph.copies))
            if not _exchange(graph, e, f, turn, changed, before):
                continue
            _connect(graph, changed)
            most = here + np.int64(temperatures[place] * NEGATIVE_LOG[w3 >> LOG_SHIFT])
            there, diameter = _evaluate(graph.ports, m, rows, limits, most, width)
            if there > most:
                _restore(graph, changed, before)
                _connect(graph, changed)
                continue
            here = there
            accepted += 1
            if here < best_energy:
                best_energy, best_diameter = here, diameter
                best[0][:], best[1][:], best[2][:] = graph.head, graph.shift, graph.mate
    return here, best_energy, best_diameter, moves, accepted


@cached
def _exchange(graph, e, f, turn, changed, before):
    """Whether a move changes the graph; if so, it has: ports `changed`, whose heads, shifts and mates were `before`."""
    s, head, shift, mate, ports = graph
    d = ports.shape[1]
    if head[e] < 0 or head[f] < 0 or f == e or f == mate[e]:
        return False
    back, ahead = np.int64(mate[e]), np.int64(mate[f])
    a, b, c, g = e // d, back // d, f // d, ahead // d
    other = (turn + shift[f] - shift[e]) % s
    if (a == c and turn == 0) or (b == g and other == 0):
        return False
    changed[0], changed[1], changed[2], changed[3] = e, f, back, ahead
    for i in range(4):
        port = changed[i]
        before[0, i], before[1, i], before[2, i] = head[port], shift[port], mate[port]
    head[e], shift[e], mate[e] = c, turn, f
    head[f], shift[f], mate[f] = a, (s - turn) % s, e
    head[back], shift[back], mate[back] = g, other, ahead
    head[ahead], shift[ahead], mate[ahead] = b, (s - other) % s, back
    for i in range(4):
        port = changed[i]
        start = port // d * d
        for p in range(start, start + d):
            if p != port and head[p] == head[port] and shift[p] == shift[port]:
                _restore(graph, changed, before)
                return False
    return True


@cached
def _restore(graph, changed, before):
    for i in range(4):
        port = changed[i]
        graph.head[port], graph.shift[port], graph.mate[port] = before[0, i], before[1, i], before[2, i]


@cached
def _connect(graph, changed):
    """The changed ports in all copies."""
    nodes, d = graph.ports.shape
    s = graph.copies
    m = nodes // s
    for i in range(4):
        port = changed[i]
        node, p = port // d, port % d
        for copy in range(s):
            graph.ports[copy * m + node, p] = (copy + graph.shift[port]) % s * m + graph.head[port]


@cached
def _evaluate(ports, sources, rows, limits, most, width):
    """(energy, diameter); (more than `most`, 0) as soon as that is known."""
    nodes = len(ports)
    old, new = rows[0], rows[1]
    old[:] = 0
    for a in range(sources):
        group, word = a // (WORD * len(width)), a // WORD % len(width)
        old[group, a * len(width) + word] = np.uint64(1) << np.uint64(a % WORD)
    pairs = nodes * sources
    left = np.int64(pairs - sources)
    level = np.int64(0)
    total = np.int64(0)
    while left:
        total += left * (limits[1] if level >= limits[0] else 1)
        if total > most:
            return total, np.int64(0)
        level += 1
        count = np.int64(0)
        for group in range(len(old)):
            count += _spread(ports, old[group], new[group], width)
        if pairs - count == left:
            return total + left * UNREACHED * nodes * limits[1], np.int64(nodes)
        left = pairs - count
        old, new = new, old
    return total, level


@cached
def _spread(ports, old, new, width):
    """A level of one group of sources, which fits a core's cache; the set bits of all rows.

    The words of a row are variables of their own, so that they stay in registers.
    """
    if len(width) == 1:
        return _spread_words(ports, old, new)
    if len(width) == 4:
        return _spread_fours(ports, old, new)
    return _spread_eights(ports, old, new)


@cached
def _spread_words(ports, old, new):
    nodes, d = ports.shape
    count = np.int64(0)
    for v in range(nodes):
        word = old[v]
        for p in range(d):
            word |= old[np.uint64(ports[v, p])]
        new[v] = word
        count += np.int64(_ones(word))
    return count


@cached
def _spread_fours(ports, old, new):
    nodes, d = ports.shape
    count = np.int64(0)
    for v in range(nodes):
        i = np.uint64(4 * v)
        a, b, c, e = old[i], old[i + U1], old[i + U2], old[i + U3]
        for p in range(d):
            i = np.uint64(4 * ports[v, p])
            a, b, c, e = a | old[i], b | old[i + U1], c | old[i + U2], e | old[i + U3]
        i = np.uint64(4 * v)
        new[i], new[i + U1], new[i + U2], new[i + U3] = a, b, c, e
        count += np.int64(_ones(a) + _ones(b) + _ones(c) + _ones(e))
    return count


@cached
def _spread_eights(ports, old, new):
    nodes, d = ports.shape
    count = np.int64(0)
    for v in range(nodes):
        i = np.uint64(8 * v)
        a, b, c, e = old[i], old[i + U1], old[i + U2], old[i + U3]
        f, g, h, k = old[i + U4], old[i + U5], old[i + U6], old[i + U7]
        for p in range(d):
            i = np.uint64(8 * ports[v, p])
            a, b, c, e = a | old[i], b | old[i + U1], c | old[i + U2], e | old[i + U3]
            f, g, h, k = f | old[i + U4], g | old[i + U5], h | old[i + U6], k | old[i + U7]
        i = np.uint64(8 * v)
        new[i], new[i + U1], new[i + U2], new[i + U3] = a, b, c, e
        new[i + U4], new[i + U5], new[i + U6], new[i + U7] = f, g, h, k
        count += np.int64(_ones(a) + _ones(b) + _ones(c) + _ones(e) + _ones(f) + _ones(g) + _ones(h) + _ones(k))
    return count
