"""Specification of `route_flows`: all packets of a block take one hop at a time, with NumPy or CuPy.

It also lays the nodes along every direction out in lines, so that a run of hops is a range of consecutive slots.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.routes.task import Task

BLOCK = 2**20  # packets of a block; sums of this many 32-bit halves of amounts are exact in float64
HALF = 2**32


class Lines(NamedTuple):
    """The lines of all directions, one after another: rings, chains, and branches where two nodes lead to the same one.

    place           uint32[N, D, 2]  slot of a node in a direction, and hops from there to the slot after the end of its
                                     line
    node            uint32[S]        node in each slot. After every line there is one more slot, for the node to
                                     which its last node leads, where a longer run continues; 2³² − 1 if none
    shortest_cycle  the fewest hops after which a direction returns to its start; N + 1 if none does
    """

    place: np.ndarray
    node: np.ndarray
    shortest_cycle: int


def lines(next: np.ndarray) -> Lines:
    """Return the lines of next int32[N, D]; N·D ≤ 2³⁰."""
    place, node, shortest = laid_out(next)
    return Lines(place.view(np.uint32), node.view(np.uint32), shortest)


@cached
def laid_out(next):
    """Return (place int32[N, D, 2], node int32[S], shortest cycle) as in `Lines`.

    Lines start at nodes without a predecessor, so that they are as long as possible. All other nodes are on cycles.
    """
    nodes, directions = next.shape
    place = np.zeros((nodes, directions, 2), np.int32)
    node = np.empty(2 * next.size, np.int32)
    entered = np.empty(nodes, np.bool_)
    slot = 0
    shortest = nodes + 1
    for d in range(directions):
        entered[:] = False
        for u in range(nodes):
            if next[u, d] >= 0:
                entered[next[u, d]] = True
        for cycles in (False, True):
            for first in range(nodes):
                if place[first, d, 1] != 0 or entered[first] != cycles:
                    continue
                begin = slot
                u = first
                while u >= 0 and place[u, d, 1] == 0:
                    place[u, d, 0] = slot
                    place[u, d, 1] = 1  # already in a line
                    node[slot] = u
                    slot += 1
                    u = next[u, d]
                if u >= 0 and place[u, d, 0] >= begin:
                    shortest = min(shortest, slot - place[u, d, 0])
                for at in range(begin, slot):
                    place[node[at], d, 1] = slot - at
                node[slot] = u
                slot += 1
    return place, node[:slot].copy(), shortest


def flows(task: Task, lines: Lines | None = None, threads: int | None = None) -> tuple[np.ndarray, int | None]:
    """Specification of `route_flows`: (flow int64[G, N, D], the first packet that cannot go on, or None)."""
    flow, _, stranded = followed(task)
    return flow, stranded


def followed(task: Task) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Return (flow int64[G, N, D], last node of each packet int32[B], first packet that cannot go on, or None)."""
    directions = task.next.shape[1]
    leads_to, direction, hops = (task.next.ravel(), task.direction, task.hops)
    flow, ends = np.zeros(task.groups * task.next.size, np.int64), []
    for first in range(0, task.packets, BLOCK):
        block = slice(first, first + BLOCK)
        at, route = task.start[block].copy(), task.row[block]
        group = (task.first + first + np.arange(len(at))) % task.groups
        amount = task.amount[block] if task.stride else np.repeat(task.amount, len(at))
        for run in range(hops.shape[1]):
            left, heading = hops[route, run], direction[route, run]
            going = np.flatnonzero((left > 0) & (at >= 0))
            while len(going):
                channel = at[going].astype(np.int64) * directions + heading[going]
                place = group[going] * task.next.size + channel
                low, high = (
                    np.bincount(place, weights=half[going].astype(np.float64), minlength=len(flow))
                    for half in (amount % HALF, amount // HALF)
                )
                flow += high.astype(np.int64) * HALF + low.astype(np.int64)
                at[going] = leads_to[channel]
                left[going] -= 1
                going = np.flatnonzero((left > 0) & (at >= 0))
        stranded = np.flatnonzero(at < 0)
        if len(stranded):
            return flow, at, first + int(stranded[0])
        ends.append(at)
    return flow.reshape(task.groups, *task.next.shape), np.concatenate([task.start[:0], *ends]), None
