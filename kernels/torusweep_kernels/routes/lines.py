"""The nodes along every direction, in lines: a run of hops is a range of consecutive slots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.compile import cached


class Lines(NamedTuple):
    """The lines of all directions, one after another: rings, chains, and branches where two nodes lead to one.

    place           uint32[N, D, 2]  the slot of a node in a direction, and the hops from there to the slot behind its
                                     line
    node            uint32[S]        the node in each slot. After every line there is one more slot, for the node that
                                     its last node leads to, where a longer run continues; 2³² − 1 if there is none
    shortest_cycle  the fewest hops after which a direction returns to its start; N + 1 if none does
    """

    place: np.ndarray
    node: np.ndarray
    shortest_cycle: int


def lines(next: np.ndarray) -> Lines:
    """The lines of next int32[N, D]; N·D ≤ 2³⁰."""
    place, node, shortest = laid_out(next)
    return Lines(place.view(np.uint32), node.view(np.uint32), shortest)


@cached
def laid_out(next):
    """(place int32[N, D, 2], node int32[S], shortest cycle); see `Lines`.

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
