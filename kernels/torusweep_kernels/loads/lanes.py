"""Several roots searched at once, a vector lane each, along lists of the nodes that a level reaches.

A node is visited at every level at which it is as far from some of the roots; a bit per lane says
from which. Roots near one another have most levels in common, so that sixteen of them cost about five
visits a node on a torus, and a visit's work on a channel is a vector instruction or two. With one lane this
is the textbook's queue. All widths give the same loads to the bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.loads.level import add, carry, count_paths, meet, turn


class Side(NamedTuple):
    """`Arcs` on one side, unsigned, since Numba checks signed indices.

    start int64[N+1], node uint32[A], capacity float64[A] | None, degree: arcs of every node, 0 where they differ
    """

    start: np.ndarray
    node: np.ndarray
    capacity: np.ndarray | None
    degree: int


class Rows(NamedTuple):
    """Scratch: masks uint16[2, N] of W bits, count and unit float64[N·W], distance int32[N·W]."""

    masks: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count
    unit: np.ndarray
    distance: np.ndarray


@cached
def accumulate(toward, away, roots, weights, demand, inward, rows, wanted, width):
    """Loads and totals of some roots.

    toward, away: `Side`; roots uint32[R], weights float64[R], demand float64[R or 1, N]; inward: next hops instead of
    paths; rows: `Rows`; wanted: uint16[N] of W bits where a root's demand is of few nodes, and the search ends with the
    farthest of them, for nothing flows beyond it; or None; width: a tuple of W elements.
    Returns (float64[A] of the arcs `away`, float64[4, R]: see `Totals`).
    """
    lanes = len(width)
    nodes = len(away.start) - 1
    masks, count, unit, distance = rows
    load = np.zeros(len(away.node))
    of_root = np.empty((4, len(roots)))
    totals = np.empty(4 * lanes)
    ones = np.ones(lanes)
    near, part, stride = (ones, count, 0) if inward else (count, ones, 1)  # either stands for 1
    each = 1 if len(demand) > 1 else 0
    visits = np.empty(nodes * lanes + 1, np.uint32)
    visit_masks = np.empty(nodes * lanes, masks.dtype)
    levels = np.empty(nodes + 2, np.int64)  # where each level's visits begin
    seen = np.empty(nodes, masks.dtype)
    for first in range(0, len(roots), lanes):
        used = min(lanes, len(roots) - first)
        distance[:] = -2  # so that one more is no distance either
        seen[:] = 0
        left = -1  # demands still to be reached; negative: not counted
        for node in range(nodes):
            for lane in range(used):
                unit[node * lanes + lane] = weights[first + lane] * demand[(first + lane) * each, node]
        if wanted is not None:
            left = 0
            wanted[:] = 0
            for lane in range(used):
                for node in range(nodes):
                    if demand[first + lane, node] > 0.0 and node != roots[first + lane]:
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
        turn(nodes, rows, inward, totals, width)
        of_root[:, first : first + used] = totals.reshape(4, lanes)[:, :used]
        for step in range(level - 1, -1, -1):
            begin, end = levels[step], levels[step + 1]
            carry(visits, visit_masks, begin, end, away, now, part, 1 - stride, rows, width)
            for i in range(begin, end):  # marks of levels beyond may stay: no channel leads two hops farther
                now[visits[i]] = visit_masks[i]
        add(nodes, away, near, stride, rows, load, seen, wanted, width)
    return load, of_root
