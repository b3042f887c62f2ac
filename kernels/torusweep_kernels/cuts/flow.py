"""Maximum flow from supplies of many nodes to one sink, compiled by Numba."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached


@cached
def scratch(nodes):
    """Arrays that `push` works in: level, queue, following, path."""
    return (
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
    )


@cached
def push(first, to, back, room, supply, sink, level, queue, following, path):
    """Send as much of all nodes' supply as possible to the sink; return how much.

    first, to, back  as of `Channels`
    room     int64[E]  residual capacity of each channel, changed
    supply   int64[N]  what each node has to send, changed: what is left of it

    Each phase finds the distance of every node to the sink over channels with room, by a search from the sink. It sends
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
    """Write the channels of a path from the source to the sink that leads nearer with each step; return its room."""
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
    """Mark in `inside` the nodes that have supply left, and those that it could be sent to."""
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
