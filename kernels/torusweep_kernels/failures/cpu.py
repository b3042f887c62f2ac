"""Compiled version of `torusweep_kernels.failures`: each thread takes some of the draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.distance.cpu import buffers
from torusweep_kernels.distance.level import Limits, graph_of, search
from torusweep_kernels.distance.reference import WORD, same_degree
from torusweep_kernels.failures import STREAM, Failures, Network, Outcomes, Parts
from torusweep_kernels.philox.cpu import below, philox4x32
from torusweep_kernels.threads import in_threads

SHARE = 64  # draws that a thread takes at once
WORDS = 8  # of a row: a cache line, two vector registers or one
HALF = np.uint64(32)


def some(parts: int, draws: int, count: int, seed: int, first: int) -> np.ndarray:
    """Return the failed parts int32[draws · count]; compiled version of `reference.some`."""
    part = np.empty((draws, count), np.int32)
    _some(np.arange(parts, dtype=np.int32), first, seed & 0xFFFFFFFF, seed >> 32, part)
    return part.reshape(-1)


@cached
def _some(order, first, k0, k1, part):
    """Draw sets of parts into part int32[draws, count]. order int32[M] is 0, 1, …; it is changed and then restored."""
    parts, count = len(order), part.shape[1]
    swapped = np.empty(count, np.int64)
    for row in range(part.shape[0]):
        draw = np.uint64(first + row)
        w0, w1, w2, w3 = np.uint32(0), np.uint32(0), np.uint32(0), np.uint32(0)
        for pick in range(count):
            turn = pick % 4
            if turn == 0:
                w0, w1, w2, w3 = philox4x32(draw & np.uint64(0xFFFFFFFF), draw >> HALF, pick // 4, STREAM, k0, k1)
            word = w0 if turn == 0 else w1 if turn == 1 else w2 if turn == 2 else w3
            other = pick + np.int64(below(word, parts - pick))
            swapped[pick] = other
            order[pick], order[other] = order[other], order[pick]
            part[row, pick] = order[pick]
        for pick in range(count - 1, -1, -1):
            other = swapped[pick]
            order[pick], order[other] = order[other], order[pick]


def each(parts: int, draws: int, limit: int, seed: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (start, part) as in `Failures`; compiled version of `reference.each`."""
    start = np.zeros(draws + 1, np.int64)
    key = seed & 0xFFFFFFFF, seed >> 32
    nothing = np.empty(0, np.int32)
    _each(parts, first, np.uint64(limit), *key, start, nothing)
    start = np.cumsum(start)
    part = np.empty(int(start[-1]), np.int32)
    _each(parts, first, np.uint64(limit), *key, start, part)
    return start, part


@cached
def _each(parts, first, limit, k0, k1, start, part):
    """Write each draw's number of failed parts to start[draw + 1]; if `part` is not empty, list the parts there."""
    used = 0
    for row in range(len(start) - 1):
        draw = np.uint64(first + row)
        count = 0
        for place in range((parts + 1) // 2):
            w0, w1, w2, w3 = philox4x32(draw & np.uint64(0xFFFFFFFF), draw >> HALF, place, STREAM, k0, k1)
            for side in range(2):
                high, low = (w0, w1) if side == 0 else (w2, w3)
                if 2 * place + side < parts and (np.uint64(high) << HALF | np.uint64(low)) < limit:
                    if len(part):
                        part[used + count] = 2 * place + side
                    count += 1
        if not len(part):
            start[row + 1] = count
        used += count


class Arrays(NamedTuple):
    """The network in the form that the compiled functions read.

    ports int32[N, P], capacity int32[N·P] (0: no link), terminals int64[N]
    start int64[N + 1]     channels start[v] … start[v + 1] − 1, in the order of heads, lead to node v
    tail int32[A]          tail of each of these channels
    place int64[A]         place of each of these channels in ports.ravel()
    arc int64[N·P]         number of the channel, in the order of heads, at each place; −1 = none
    """

    ports: np.ndarray
    capacity: np.ndarray
    terminals: np.ndarray
    start: np.ndarray
    tail: np.ndarray
    place: np.ndarray
    arc: np.ndarray


class Lanes(NamedTuple):
    """The sources of all searches, in blocks of 64·WORDS lanes; a word's sources have equal numbers of terminals.

    origin  int32[L]      source node of each lane, −1 = unused
    weight  int64[L / 64] number of terminals of each source of a word
    kinds   int64[K]      the different numbers of terminals above 0
    """

    origin: np.ndarray
    weight: np.ndarray
    kinds: np.ndarray


def outcomes(network: Network, parts: Parts, failures: Failures, distances: bool, threads: int) -> Outcomes:
    """Compiled version of `after_failures`. network.capacity is an array here, with 0 where a port has no link."""
    draws = len(failures.start) - 1
    arrays = arrays_of(network)
    graph = graph_of(arrays.start, arrays.tail, same_degree(arrays.start))
    lanes = lanes_of(network.terminals)
    found = np.full((len(Outcomes._fields), draws), -1, np.int64)

    def share(first: int) -> None:
        last = min(first + SHARE, draws)
        # the predecessors of a thread's own graph change with each draw
        own = graph._replace(predecessor=graph.predecessor.copy())
        rows = buffers(len(network.terminals) * WORDS)
        survey(arrays, own, parts, failures, first, last, found, network.directed)
        if distances:
            measure(arrays, own, parts, failures, lanes, rows, (first, last), found, (0,) * WORDS)

    in_threads(share, range(0, draws, SHARE), threads)
    return Outcomes(*found)


def arrays_of(network: Network) -> Arrays:
    """Return the network's channels in the order of their heads, and the number of the channel at each port."""
    nodes, ports_each = network.ports.shape
    flat = network.ports.reshape(-1)
    channel = np.flatnonzero(flat >= 0)
    order = np.argsort(flat[channel], kind="stable")
    place = channel[order]
    start = np.concatenate([[0], np.cumsum(np.bincount(flat[channel], minlength=nodes))]).astype(np.int64)
    arc = np.full(flat.shape, -1, np.int64)
    arc[place] = np.arange(len(place))
    assert network.capacity is not None
    tail = (place // max(ports_each, 1)).astype(np.int32)
    return Arrays(network.ports, network.capacity.reshape(-1), network.terminals, start, tail, place, arc)


def lanes_of(terminals: np.ndarray) -> Lanes:
    """Return the sources in the order of their numbers of terminals; each number begins a new word."""
    kinds = np.unique(terminals[terminals > 0])
    sources = [np.flatnonzero(terminals == kind).astype(np.int32) for kind in kinds]
    words = [-(-len(each) // WORD) for each in sources]
    whole = -(-sum(words) // WORDS) * WORDS
    origin, weight = np.full(whole * WORD, -1, np.int32), np.zeros(whole, np.int64)
    first = 0
    for kind, nodes, count in zip(kinds, sources, words):
        origin[first * WORD : first * WORD + len(nodes)] = nodes
        weight[first : first + count] = kind
        first += count
    return Lanes(origin, weight, kinds.astype(np.int64))


@cached
def fail(arrays, predecessor, parts, failures, draw, left, dead):
    """Apply the failures of a draw to `left` (links left at each place), `dead` (nodes) and `predecessor`.

    A dead channel leads from its head to itself, which adds nothing to a search.
    """
    width = arrays.ports.shape[1]
    for f in range(failures.start[draw], failures.start[draw + 1]):
        part = failures.part[f]
        for m in range(parts.start[part], parts.start[part + 1]):
            member = parts.member[m]
            if not parts.of_nodes:
                left[member] -= 1
                if left[member] == 0:
                    predecessor[arrays.arc[member]] = arrays.ports[member // width, member % width]
                continue
            dead[member] = True
            for port in range(width):
                place = member * width + port
                if left[place] > 0:
                    left[place] = 0
                    predecessor[arrays.arc[place]] = arrays.ports[member, port]
            for arc in range(arrays.start[member], arrays.start[member + 1]):
                left[arrays.place[arc]] = 0
                predecessor[arc] = member


@cached
def mend(arrays, predecessor, parts, failures, draw, left, dead):
    """Undo the failures that `fail` applied."""
    width = arrays.ports.shape[1]
    for f in range(failures.start[draw], failures.start[draw + 1]):
        part = failures.part[f]
        for m in range(parts.start[part], parts.start[part + 1]):
            member = parts.member[m]
            if not parts.of_nodes:
                left[member] = arrays.capacity[member]
                predecessor[arrays.arc[member]] = member // width
                continue
            dead[member] = False
            for port in range(width):
                place = member * width + port
                left[place] = arrays.capacity[place]
                if left[place] > 0:
                    predecessor[arrays.arc[place]] = member
            for arc in range(arrays.start[member], arrays.start[member + 1]):
                left[arrays.place[arc]] = arrays.capacity[arrays.place[arc]]
                predecessor[arc] = arrays.tail[arc]


@cached
def survey(arrays, graph, parts, failures, first, last, found, directed):
    """Count the surviving terminals, and those of the largest component, in draws first … last − 1."""
    nodes, width = arrays.ports.shape
    left, dead = arrays.capacity.copy(), np.zeros(nodes, np.bool_)
    ahead, behind = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)  # the last search that met each node
    settled = np.zeros(nodes, np.bool_)
    queue = np.empty(nodes, np.int32)
    mark = 0
    for draw in range(first, last):
        fail(arrays, graph.predecessor, parts, failures, draw, left, dead)
        surviving, largest = 0, 0
        settled[:] = False
        for node in range(nodes):
            if arrays.terminals[node] == 0 or dead[node]:
                continue
            surviving += arrays.terminals[node]
            if settled[node]:
                continue
            mark += 1
            queue[0] = node
            ahead[node] = mark
            begin, end = 0, 1
            while begin < end:
                at = queue[begin]
                begin += 1
                for port in range(width):
                    if left[at * width + port] > 0:
                        other = arrays.ports[at, port]
                        if ahead[other] != mark:
                            ahead[other] = mark
                            queue[end] = other
                            end += 1
            if directed:
                queue[0] = node
                behind[node] = mark
                begin, end = 0, 1
                while begin < end:
                    at = queue[begin]
                    begin += 1
                    for arc in range(arrays.start[at], arrays.start[at + 1]):
                        other = graph.predecessor[arc]
                        if behind[other] != mark:
                            behind[other] = mark
                            queue[end] = other
                            end += 1
            size = 0
            for place in range(end):
                other = queue[place]
                if ahead[other] == mark:
                    settled[other] = True
                    size += arrays.terminals[other]
            largest = max(largest, size)
        found[0, draw], found[1, draw] = surviving, largest
        mend(arrays, graph.predecessor, parts, failures, draw, left, dead)


@cached
def measure(arrays, graph, parts, failures, lanes, rows, some, found, wide):
    """Find the sum and the largest of the distances in draws some[0] … some[1] − 1. `wide` is a tuple of W elements."""
    nodes, words = len(arrays.terminals), len(wide)
    left, dead = arrays.capacity.copy(), np.zeros(nodes, np.bool_)
    counts, totals = np.zeros((16, words), np.int64), np.empty(words, np.int64)
    weight = np.zeros(nodes, np.int64)
    origin = np.empty(WORD * words, np.int32)
    for draw in range(some[0], some[1]):
        fail(arrays, graph.predecessor, parts, failures, draw, left, dead)
        hops, diameter = 0, 0
        for kind in lanes.kinds:
            for node in range(nodes):
                weight[node] = -1 if arrays.terminals[node] == kind else 0
            for block in range(len(lanes.weight) // words):
                for lane in range(WORD * words):
                    node = lanes.origin[block * WORD * words + lane]
                    origin[lane] = -1 if node >= 0 and dead[node] else node
                counts[:] = 0
                levels, counts = search(
                    graph, Limits(None, None), weight, rows[0], rows[1], origin, totals, None, counts, 1 << 31, wide
                )
                for level in range(1, levels):
                    for word in range(words):
                        pairs = counts[level, word]
                        if pairs:
                            hops += level * pairs * kind * lanes.weight[block * words + word]
                            diameter = max(diameter, level)
        found[2, draw], found[3, draw] = hops, diameter
        mend(arrays, graph.predecessor, parts, failures, draw, left, dead)
