"""The strength of a graph: its widest partition for each part, compiled by Numba."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.cuts.flow import push, reach, scratch


@cached
def with_drain(first, to, back):
    """(first, to, back) with a node N more, the drain: the last channel of every node leads there."""
    nodes, channels = len(first) - 1, len(to)
    first_ = np.empty(nodes + 2, np.int64)
    to_ = np.empty(channels + 2 * nodes, np.int32)
    back_ = np.empty(channels + 2 * nodes, np.int64)
    for node in range(nodes + 1):
        first_[node] = first[node] + node
    first_[nodes + 1] = channels + 2 * nodes
    for node in range(nodes):
        for leaving in range(first[node], first[node + 1]):
            to_[leaving + node] = to[leaving]
            back_[leaving + node] = back[leaving] + to[leaving]
        drain = first_[node + 1] - 1
        to_[drain] = nodes
        back_[drain] = first_[nodes] + node
        to_[first_[nodes] + node] = node
        back_[first_[nodes] + node] = drain
    return first_, to_, back_


@cached
def truncate(first, to, back, capacity, drained, trees, links):
    """(int64[N] y, int32[N] part of each node): Σ y is the least sum of links · c(δS) − 2 · trees over the sets S of
    any partition.

    drained  (first, to, back) of `with_drain`
    y is the greatest vector with y(S) ≤ links · c(δS) − 2 · trees for all sets S, node by node in their order; the
    sets for which equality holds form the partition (Dilworth's truncation; Cunningham 1985).
    """
    nodes = len(first) - 1
    first_, to_, back_ = drained
    level, queue, following, path = scratch(nodes + 1)
    room = np.empty(len(to_), np.int64)
    supply = np.empty(nodes + 1, np.int64)
    inside = np.empty(nodes + 1, np.bool_)
    y = np.zeros(nodes, np.int64)
    part = np.arange(nodes).astype(np.int32)
    most = 2 * links * capacity.sum() + 1
    for node in range(nodes):
        given = np.int64(0)
        for other in range(nodes):
            for leaving in range(first[other], first[other + 1]):
                room[leaving + other] = links * capacity[leaving]
            drain = first_[other + 1] - 1
            room[drain] = most if other > node else (0 if other == node else max(-y[other], 0))
            room[back_[drain]] = 0
            supply[other] = max(y[other], 0) if other < node else 0
            given += supply[other]
        supply[node], supply[nodes] = most, 0
        cut = push(first_, to_, back_, room, supply, nodes, level, queue, following, path)
        y[node] = cut - given - 2 * trees
        reach(first_, to_, room, supply, queue, inside)
        inside[node] = True
        joined = np.zeros(nodes, np.bool_)
        for other in range(node + 1):
            if inside[other]:
                joined[part[other]] = True
        for other in range(node + 1):
            if joined[part[other]]:
                part[other] = part[node]
    return y, part


@cached
def orient(first, to, back, drained, share, wanted):
    """int64[E]: an orientation of every link's 2 · share units in which `wanted` units enter each node.

    share  int64[E]  of a channel and its reverse alike
    """
    nodes = len(first) - 1
    first_, to_, back_ = drained
    level, queue, following, path = scratch(nodes + 1)
    room = np.zeros(len(to_), np.int64)
    supply = np.zeros(nodes + 1, np.int64)
    for node in range(nodes):
        entering = np.int64(0)
        for leaving in range(first[node], first[node + 1]):
            room[leaving + node] = share[leaving]  # a unit that enters the node can be turned, to enter the neighbour
            entering += share[leaving]
        supply[node] = max(entering - wanted[node], 0)
        room[first_[node + 1] - 1] = max(wanted[node] - entering, 0)
    push(first_, to_, back_, room, supply, nodes, level, queue, following, path)
    units = np.empty(len(to), np.int64)
    for node in range(nodes):
        for leaving in range(first[node], first[node + 1]):
            # what may still be turned from node to neighbour enters the node: it is the reverse channel's
            units[back[leaving]] = room[leaving + node]
    return units
