"""Compute a maximum flow from the supplies of many nodes to one sink, compiled by Numba.

The flow serves to compute the strength of a graph, and the cut with the least ratio of capacity to weight.
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached


@cached
def scratch(nodes):
    """Return the work arrays of `push`: level, queue, following, path."""
    return (
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
    )


@cached
def push(first, to, back, room, supply, sink, level, queue, following, path):
    """Send as much as possible of all nodes' supply to the sink. Return the amount sent.

    first, to, back  as in `Channels`
    room     int64[E]  residual capacity of each channel; updated
    supply   int64[N]  flow that each node has to send; reduced by what is sent

    Each phase finds every node's distance to the sink over channels with room, by a search from the sink. It sends
    supply along channels that lead one step nearer until no such path is left (Dinic 1970). Distances never become
    smaller, so that there are at most N phases.
    """
    nodes = len(first) - 1
    sent = supply[sink]
    supply[sink] = 0
    while True:
        for node in range(nodes):
            level[node] = -1
            following[node] = first[node]
        level[sink] = 0
        queue[0] = sink
        begin, end = 0, 1
        reached = False
        while begin < end:
            node = queue[begin]
            begin += 1
            for leaving in range(first[node], first[node + 1]):
                there = to[leaving]
                if level[there] < 0 and room[back[leaving]] > 0:
                    level[there] = level[node] + 1
                    reached = reached or supply[there] > 0
                    queue[end] = there
                    end += 1
        if not reached:
            return sent
        for place in range(1, end):
            source = queue[place]
            while supply[source] > 0:
                amount = _advance(first, to, room, supply, sink, source, level, following, path)
                if amount == 0:
                    break
                node = source
                for step in range(level[source]):
                    channel = path[step]
                    room[channel] -= amount
                    room[back[channel]] += amount
                supply[node] -= amount
                sent += amount


@cached
def _advance(first, to, room, supply, sink, source, level, following, path):
    """Write the channels of a path to the sink on which each step leads nearer. Return the path's room, 0 if none."""
    node, length = source, 0
    while node != sink:
        while following[node] < first[node + 1]:
            channel = following[node]
            if room[channel] > 0 and level[to[channel]] == level[node] - 1:
                break
            following[node] += 1
        if following[node] < first[node + 1]:
            path[length] = following[node]
            node = to[following[node]]
            length += 1
        elif length == 0:
            return 0
        else:  # a dead end: go back, and do not come here again in this phase
            length -= 1
            before = path[length]
            following[node] = first[node + 1]
            node = source if length == 0 else to[path[length - 1]]
            following[node] = before + 1
    amount = supply[source]
    for step in range(length):
        amount = min(amount, room[path[step]])
    return amount


@cached
def reach(first, to, room, supply, queue, inside):
    """Mark in `inside` the nodes with supply left, and all nodes that their supply can reach."""
    end = 0
    for node in range(len(first) - 1):
        inside[node] = supply[node] > 0
        if inside[node]:
            queue[end] = node
            end += 1
    begin = 0
    while begin < end:
        node = queue[begin]
        begin += 1
        for leaving in range(first[node], first[node + 1]):
            if room[leaving] > 0 and not inside[to[leaving]]:
                inside[to[leaving]] = True
                queue[end] = to[leaving]
                end += 1


@cached
def with_drain(first, to, back):
    """Return (first, to, back) with an additional node N, the drain, to which the last channel of every node leads."""
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
    """Return (y int64[N], part int32[N]). Σ y is the least Σ (links · c(δS) − 2 · trees) over all partitions
    into sets S.

    drained  (first, to, back) of `with_drain`
    Node by node in order, y is made as great as y(S) ≤ links · c(δS) − 2 · trees allows for all sets S. The sets with
    equality form the partition; `part` is each node's set (Dilworth's truncation; Cunningham 1985).
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
    """Return int64[E]: orient the 2 · share units of every link so that `wanted` units enter each node.

    share  int64[E]  equal for a channel and its reverse
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


@cached
def least_ratio_cut(first, to, capacity, back, weight, sinks):
    """Compiled `torusweep_kernels.cuts.least_ratio_cut`; returns (leaving capacity, weight, bool[N] the set, flows)."""
    nodes = len(first) - 1
    level, queue, following, path = scratch(nodes)
    supply = np.empty(nodes, np.int64)
    room = np.empty(len(to), np.int64)
    side = np.zeros(nodes, np.bool_)
    found = np.empty(nodes, np.bool_)
    total = weight.sum()
    through, behind = np.int64(0), np.int64(0)
    flows = 0
    for sink in sinks:
        if total == weight[sink]:
            continue
        entering = np.int64(0)
        for leaving in range(first[sink], first[sink + 1]):
            entering += capacity[back[leaving]]
        others = total - weight[sink]
        if behind == 0 or entering * behind < through * others:
            through, behind = entering, others
            side[:] = True
            side[sink] = False
    for sink in sinks:
        if total == weight[sink]:
            continue
        while through > 0:  # Dinkelbach's steps: each finds a cut of smaller ratio, or that there is none
            for channel in range(len(to)):
                room[channel] = capacity[channel] * behind
            for node in range(nodes):
                supply[node] = weight[node] * through
            push(first, to, back, room, supply, sink, level, queue, following, path)
            flows += 1
            reach(first, to, room, supply, queue, found)
            leaves, inside = np.int64(0), np.int64(0)
            for node in range(nodes):
                if not found[node]:
                    continue
                inside += weight[node]
                for leaving in range(first[node], first[node + 1]):
                    if not found[to[leaving]]:
                        leaves += capacity[leaving]
            if inside == 0:
                break
            through, behind = leaves, inside
            side[:] = found
    return through, behind, side, flows
