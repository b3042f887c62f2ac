"""Compiled version of `minimal_loads`: each thread takes shares of the roots.

A search starts from several roots at once, each in a vector lane, along lists of the nodes that each level reaches.

A node is visited once for each distance that it has from the roots; a mask has a bit for each lane at this distance.
Roots near each other share most visits: on a torus, sixteen roots need about five visits of a node. A visit takes one
or two vector instructions for each channel. With one lane this is the usual queue. All widths give the same loads to
the bit.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.distance.level import filled_up
from torusweep_kernels.distance.reference import same_degree
from torusweep_kernels.loads.level import add as add_vectors
from torusweep_kernels.loads.level import carry, count_paths, meet, turn
from torusweep_kernels.loads.network import BLOCK, Arcs, Task, Totals, arcs
from torusweep_kernels.loads.reference import SINGLE, share
from torusweep_kernels.sums.cpu import add
from torusweep_kernels.threads import thread_count

AHEAD = 8  # visits: rows of a large network wait for memory, several at once
CACHED = 2**15  # nodes up to which rows are in the cache, and asking for them costs a tenth
FEW = 4  # if less than one node in so many has demand from a root, its search ends with the farthest of these
SCRATCH = 2**30  # the most bytes of a thread's rows; above it roots are searched from one by one


class Side(NamedTuple):
    """`Arcs` on one side, as unsigned integers, because Numba checks signed indices.

    start int64[N+1], node uint32[A], capacity float64[A] | None, degree: number of arcs at every node, 0 if it varies,
    ahead: how many visits ahead rows are prefetched; 0: not at all
    """

    start: np.ndarray
    node: np.ndarray
    capacity: np.ndarray | None
    degree: int
    ahead: int


class Rows(NamedTuple):
    """Scratch memory: masks uint16[2, N] of W bits, count and unit float64[N·W], distance int32[N·W]."""

    masks: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count
    unit: np.ndarray
    distance: np.ndarray


class Starts(NamedTuple):
    """The roots of a share: roots uint32[R], weights float64[R], demand float64[R or 1, N]."""

    roots: np.ndarray
    weights: np.ndarray
    demand: np.ndarray


@cached
def accumulate(toward, away, starts, by_hops, rows, rest, wanted, width):
    """Compute the loads and totals of some roots.

    toward, away     `Side`: the arcs towards the root, and those away from it
    starts           `Starts`
    by_hops          whether traffic splits equally over next hops instead of over paths
    rows             scratch: `Rows`
    rest             scratch float64[N·W] for what rounding left of `unit`, if numbers have twice the digits; or None
    wanted           scratch uint16[N] of W bits if few nodes have demand from a root: a search then ends with the
                     farthest of these nodes, since nothing flows beyond; or None
    width            a tuple of W elements

    Returns (loads float64[A] of the arcs `away`, what rounding left of them, `Totals` as float64[4, R]).
    """
    lanes = len(width)
    nodes = len(away.start) - 1
    masks, count, unit, distance = rows
    roots, weights, demand = starts
    load, low = np.zeros(len(away.node)), np.zeros(len(away.node))
    of_root = np.empty((4, len(roots)))
    totals = np.empty(4 * lanes)
    ones = np.ones(lanes)
    near, part, stride = (ones, count, 0) if by_hops else (count, ones, 1)
    each = 1 if len(demand) > 1 else 0
    visits = np.empty(nodes * lanes + 1, np.uint32)
    visit_masks = np.empty(nodes * lanes, masks.dtype)
    levels = np.empty(nodes + 2, np.int64)  # the first visit of each level
    seen = np.empty(nodes, masks.dtype)
    for first in range(0, len(roots), lanes):
        used = min(lanes, len(roots) - first)
        distance[:] = -2  # −2 + 1 is not a distance either
        seen[:] = 0
        left = -1  # nodes with demand not yet reached; negative: not counted
        for node in range(nodes):
            for lane in range(used):
                unit[node * lanes + lane] = weights[first + lane] * demand[(first + lane) * each, node]
        if wanted is not None:
            left = 0
            wanted[:] = 0
            for lane in range(used):
                for node in range(nodes):
                    if demand[(first + lane) * each, node] > 0.0 and node != roots[first + lane]:
                        wanted[node] |= 1 << lane
                        left += 1
        masks[:] = 0
        now, following = masks[0], masks[1]
        end = 0
        for lane in range(used):
            root = roots[first + lane]
            distance[root * lanes + lane] = 0
            count[root * lanes + lane] = 1.0
            if now[root] == 0:
                visits[end] = root
                end += 1
            now[root] |= 1 << lane
            seen[root] |= 1 << lane
        for i in range(end):
            visit_masks[i] = now[visits[i]]
        levels[0], levels[1] = 0, end
        level = 0
        while left != 0 and levels[level] < levels[level + 1]:
            begin, middle = levels[level], levels[level + 1]
            end = meet(visits, visit_masks, begin, middle, away, seen, following)
            for i in range(middle, end):
                own = following[visits[i]]
                visit_masks[i] = own
                seen[visits[i]] |= own
            if wanted is not None:
                for i in range(middle, end):
                    met = np.int64(wanted[visits[i]] & visit_masks[i])
                    while met:
                        met &= met - 1
                        left -= 1
            level += 1
            count_paths(visits, visit_masks, middle, end, level, toward, now, near, stride, rows, width)
            for i in range(begin, middle):
                now[visits[i]] = 0
            now, following = following, now
            levels[level + 1] = end
        turn(nodes, rows, rest, by_hops, totals, width)
        of_root[:, first : first + used] = totals.reshape(4, lanes)[:, :used]
        for step in range(level - 1, -1, -1):
            begin, end = levels[step], levels[step + 1]
            carry(visits, visit_masks, begin, end, away, now, part, 1 - stride, rows, rest, width)
            for i in range(begin, end):  # marks of later levels may stay: no channel leads two hops farther
                now[visits[i]] = visit_masks[i]
        add_vectors(nodes, away, near, stride, rows, rest, load, low, seen, wanted, width)
    return load, low, of_root


def loads(task: Task, threads: int | None) -> tuple[np.ndarray, np.ndarray | None, Totals]:
    """Compiled version of `minimal_loads`: (load float64[N·P], what rounding left if exact, else None, `Totals`)."""
    threads = thread_count(threads)
    number, exact = len(task.roots), task.how.exact
    toward, away = arcs(task)
    (before, _), (after, own) = compiled(toward), compiled(away)
    width = 1 if number <= SINGLE or (33 if exact else 25) * BLOCK * task.nodes > SCRATCH else BLOCK
    size = share(number)
    scratch: list[tuple[Rows, np.ndarray | None]] = []  # append and pop are atomic

    def of_share(first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        roots, weights, demand = task.block(first, size)
        rows, rest = scratch.pop() if scratch else buffers(task.nodes, width, exact)
        sparse = FEW * np.count_nonzero(demand) < demand.size
        wanted = np.empty(task.nodes, np.uint16) if sparse else None
        starts = Starts(roots.astype(np.uint32), weights, demand)
        result = accumulate(before, after, starts, task.how.by_hops, rows, rest, wanted, (0,) * width)
        scratch.append((rows, rest))
        return result

    (load, left), of_root = np.zeros((2, len(after.node))), np.empty((len(Totals._fields), number))
    with ThreadPoolExecutor(threads) as pool:
        firsts = range(0, number, size)
        of_all = (
            map if threads == 1 or len(firsts) == 1 else pool.map
        )  # giving a share to a thread takes as long as the work of a small one
        for first, (partial, low, totals) in zip(firsts, of_all(of_share, firsts)):
            if exact:
                add_to(load, left, partial, low)
            else:
                load += partial
            of_root[:, first : first + size] = totals
    by_port, rest = np.zeros((2, task.ports.size))
    by_port[away.channel], rest[away.channel] = load[own], left[own]
    return by_port, rest if exact else None, Totals(*of_root)


@cached
def add_to(load, left, more, rest):
    """Add more + rest to load + left, number by number, with twice the digits of float64."""
    for place in range(len(load)):
        load[place], left[place] = add(load[place], left[place], more[place], rest[place])


def compiled(side: Arcs) -> tuple[Side, np.ndarray | slice]:
    """Return the arcs as `accumulate` takes them, perhaps with added arcs that carry 0, and the own arcs' places."""
    start, node, own = filled_up(side.start, side.node)
    capacity = side.capacity
    if capacity is not None:
        capacity = np.ones(len(node))
        capacity[own] = side.capacity
    return Side(start, node.astype(np.uint32), capacity, same_degree(start), AHEAD if len(start) > CACHED else 0), own


def buffers(nodes: int, width: int, exact: bool) -> tuple[Rows, np.ndarray | None]:
    """Return scratch memory for W lanes, aligned to cache lines, and, if exact, the memory for the rest of `unit`."""
    line, doubles = 64, 3 if exact else 2
    raw = np.empty((8 * doubles + 4) * nodes * width + (doubles + 1) * line, np.uint8)
    first = -raw.ctypes.data % line
    size = -(-8 * nodes * width // line) * line
    count, unit, *rest = (raw[first + i * size :][: 8 * nodes * width].view(np.float64) for i in range(doubles))
    distance = raw[first + doubles * size :][: 4 * nodes * width].view(np.int32)
    return Rows(np.empty((2, nodes), np.uint16), count, unit, distance), rest[0] if exact else None
