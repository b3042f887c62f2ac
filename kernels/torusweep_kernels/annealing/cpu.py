"""Compiled version of simulated annealing, which finds distances from all quotient nodes at once, one bit for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from llvmlite import ir

from torusweep_kernels.annealing.reference import (
    BLOCK,
    LOGARITHMS,
    NEGATIVE_LOG,
    UNREACHED,
    Annealed,
    Goal,
    Quotient,
    Wires,
    lifted,
)
from torusweep_kernels.compile import INT64, Vectors, cached, intrinsic, types
from torusweep_kernels.philox.cpu import below, philox4x32

WORD = 64
WIDTHS = 1, 2, 4, 8  # words of a group of sources: Numba compiles a search for each
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
LOG_SHIFT = np.uint32(32 - (LOGARITHMS.bit_length() - 1))


class Graph(NamedTuple):
    """A quotient whose ports are numbered a·d + p, and the ports of the graph itself.

    head, shift, mate  int32[m·d]  as in `Quotient`
    ports              int32[N, d]  the node at the other end of each port; a port without a link leads to its own node
    place, longest     as in `Wires`
    """

    copies: int
    head: np.ndarray
    shift: np.ndarray
    mate: np.ndarray
    ports: np.ndarray
    place: np.ndarray
    longest: int


def anneal(
    quotient: Quotient, temperatures: np.ndarray, goal: Goal, wires: Wires, first: int, seed: int, chain: int
) -> Annealed:
    """Compiled version of `torusweep_kernels.annealing.anneal`. It changes the quotient's arrays."""
    m, d = quotient.head.shape
    ports = lifted(quotient)
    ports = np.where(ports < 0, np.arange(len(ports), dtype=np.int32)[:, None], ports)
    head, shift, mate = (array.reshape(-1) for array in quotient[1:])
    graph = Graph(quotient.copies, head, shift, mate, ports, np.ascontiguousarray(wires.place, np.int32), wires.longest)
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
def _spread(context, ports, old, new, nodes, degree, width):
    """Advance one group of sources by a level: new[v] = old[v] | OR over ports of old[neighbour]. Returns the set bits.

    old, new  uint64[N·W], which fit a core's cache
    width     a tuple of W elements
    """
    words = len(width)

    def codegen(context, builder, signature, arguments):
        v = Vectors("ports old new nodes degree width", words, context, builder, signature, arguments)
        heads, old, new = v.data("ports"), v.data("old", v.words), v.data("new", v.words)
        row, total = (v.variable(ir.Constant(v.words, None)) for _ in range(2))
        degree = v.value("degree")

        def rows(unrolled):
            with v.loop(ir.Constant(INT64, 0), v.value("nodes")) as (node, _):
                builder.store(v.load(builder.gep(old, [node])), row)

                def take(port):
                    other = v.load(builder.gep(old, [v.index(heads, port)]))
                    builder.store(builder.or_(builder.load(row), other), row)

                first = builder.mul(node, degree)
                if unrolled:
                    for place in range(unrolled):
                        take(builder.add(first, ir.Constant(INT64, place)))
                else:
                    with v.loop(first, builder.add(first, degree)) as (port, _):
                        take(port)
                after = builder.load(row)
                v.store(after, builder.gep(new, [node]))
                count = v.call(f"ctpop.v{words}i64", v.words, after)
                builder.store(builder.add(builder.load(total), count), total)

        v.by_degree(degree, rows)
        return v.call(f"vector.reduce.add.v{words}i64", INT64, builder.load(total))

    return types.int64(ports, old, new, types.int64, types.int64, width), codegen


@cached
def _anneal(graph, best, rows, temperatures, limits, first, key, width):
    """Anneal a graph, and keep the best in `best`, copies of head, shift and mate. A group has len(width) words."""
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
    """Make a move if it is allowed; return whether it was. `before` holds the old values of the ports `changed`."""
    s, head, shift, mate = graph.copies, graph.head, graph.shift, graph.mate
    nodes, d = graph.ports.shape
    if head[e] < 0 or head[f] < 0 or f == e or f == mate[e]:
        return False
    back, ahead = np.int64(mate[e]), np.int64(mate[f])
    a, b, c, g = e // d, back // d, f // d, ahead // d
    other = (turn + shift[f] - shift[e]) % s
    if (a == c and turn == 0) or (b == g and other == 0):
        return False
    m = nodes // s
    if _length(graph.place, a, turn * m + c) > graph.longest or _length(graph.place, b, other * m + g) > graph.longest:
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
def _length(place, u, v):
    return abs(place[u, 0] - place[v, 0]) + abs(place[u, 1] - place[v, 1])


@cached
def _restore(graph, changed, before):
    for i in range(4):
        port = changed[i]
        graph.head[port], graph.shift[port], graph.mate[port] = before[0, i], before[1, i], before[2, i]


@cached
def _connect(graph, changed):
    """Update the changed ports in all copies of their nodes."""
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
    """Return (energy, diameter), or (a number above `most`, 0) as soon as the energy is known to exceed `most`."""
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
            count += _spread(ports, old[group], new[group], nodes, ports.shape[1], width)
        if pairs - count == left:
            return total + left * UNREACHED * nodes * limits[1], np.int64(nodes)
        left = pairs - count
        old, new = new, old
    return total, level
