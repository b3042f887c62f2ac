"""Compiled version of `torusweep_kernels.cuts`: least cuts, dominating sets and spanning trees."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached


@cached
def least_cut(first, to, capacity, back, tails, heads, enough, limit):
    """Compiled version of `torusweep_kernels.cuts.least_cut`; returns (links, pairs, looks)."""
    nodes, channels = len(first) - 1, len(to)
    flow = np.zeros(channels, np.int64)  # of a channel minus that of its reverse channel
    used = np.empty(channels, np.int64)  # channels whose flow must be reset
    seen = np.zeros(nodes, np.int64)  # the search that reached a node last: 2s from the tail, 2s + 1 from the head
    by = np.empty(nodes, np.int64)  # the channel by which it reached the node
    queues = np.empty((2, nodes), np.int32)
    path = np.empty(nodes, np.int64)
    search = looks = 0
    for pair in range(len(tails)):
        tail, head = tails[pair], heads[pair]
        cut = uses = 0
        while cut < enough:
            search += 1
            met, looked = _meet(first, to, capacity, back, flow, seen, by, queues, tail, head, search)
            looks += looked
            if met < 0:
                break
            length = _joined(to, back, by, tail, head, met, path)
            room = enough - cut
            for place in range(length):
                room = min(room, capacity[path[place]] - flow[path[place]])
            for place in range(length):
                flow[path[place]] += room
                flow[back[path[place]]] -= room
            if uses + length <= channels:
                used[uses : uses + length] = path[:length]
            uses += length
            cut += room
        enough = min(enough, cut)
        if uses <= channels:
            for place in range(uses):
                flow[used[place]] = flow[back[used[place]]] = 0
        else:
            flow[:] = 0
        if looks > limit:
            return enough, pair + 1, looks
    return enough, len(tails), looks


@cached
def _meet(first, to, capacity, back, flow, seen, by, queues, tail, head, search):
    """Return the channel on which the searches from tail and head met (−1: none), and the number of channel visits.

    Only channels with residual capacity are used. Each step expands the smaller of the two frontiers by one level.
    """
    mark = 2 * search
    seen[tail], seen[head] = mark, mark + 1
    queues[0, 0], queues[1, 0] = tail, head
    begin, end = (0, 0), (1, 1)
    looks = 0
    while begin[0] < end[0] and begin[1] < end[1]:
        side = int(end[1] - begin[1] < end[0] - begin[0])
        found = end[side]
        for place in range(begin[side], end[side]):
            node = queues[side, place]
            looks += first[node + 1] - first[node]
            for leaving in range(first[node], first[node + 1]):
                there = to[leaving]
                channel = back[leaving] if side else leaving
                if seen[there] == mark + side or flow[channel] == capacity[channel]:
                    continue
                if seen[there] == mark + 1 - side:
                    return channel, looks
                seen[there], by[there] = mark + side, channel
                queues[side, found] = there
                found += 1
        if side:
            begin, end = (begin[0], end[1]), (end[0], found)
        else:
            begin, end = (end[0], begin[1]), (found, end[1])
    return -1, looks


@cached
def _joined(to, back, by, tail, head, met, path):
    """Write the channels, in any order, of the path through the meeting point of two searches. Return its length."""
    path[0] = met
    length = 1
    node = to[back[met]]
    while node != tail:
        path[length] = by[node]
        length += 1
        node = to[back[by[node]]]
    node = to[met]
    while node != head:
        path[length] = by[node]
        length += 1
        node = to[by[node]]
    return length


@cached
def ways_back(first, to):
    """Return each channel's reverse. Each node's heads are ascending, and so are the tails of the channels into it."""
    back = np.empty(len(to), np.int64)
    following = first[:-1].copy()
    for channel in range(len(to)):
        back[channel] = following[to[channel]]
        following[to[channel]] += 1
    return back


@cached
def dominating_set(first, to, into, origin):
    """Compiled version of `torusweep_kernels.cuts.dominating_set`."""
    nodes = len(first) - 1
    leads, led = (
        np.zeros(nodes, np.bool_),
        np.zeros(nodes, np.bool_),
    )  # whether it has a channel to a member, or is one; and from a member
    cluster = np.full(nodes, -1, np.int32)
    members = np.empty(nodes, np.int32)
    count = 0
    for node in range(nodes):
        if leads[node] and led[node]:
            continue
        leads[node] = led[node] = True
        for channel in range(into[node], into[node + 1]):
            leads[origin[channel]] = True
            if cluster[origin[channel]] < 0:
                cluster[origin[channel]] = count
        for channel in range(first[node], first[node + 1]):
            led[to[channel]] = True
            if cluster[to[channel]] < 0:
                cluster[to[channel]] = count
        cluster[node] = count
        members[count] = node
        count += 1
    return members[:count].copy(), cluster


@cached
def spanning_tree(first, to, cluster, clusters):
    """Compiled version of `torusweep_kernels.cuts.spanning_tree`."""
    nodes = len(first) - 1
    begin = np.zeros(clusters + 1, np.int64)
    for node in range(nodes):
        begin[cluster[node] + 1] += 1
    for number in range(clusters):
        begin[number + 1] += begin[number]
    members = np.empty(nodes, np.int32)  # nodes by cluster
    place = begin[:-1].copy()
    for node in range(nodes):
        members[place[cluster[node]]] = node
        place[cluster[node]] += 1
    parent = np.full(clusters, -1, np.int32)
    reached = np.zeros(clusters, np.bool_)
    queue = np.empty(clusters, np.int32)
    queue[0], found = 0, 1
    reached[0] = True
    for done in range(clusters):
        if done == found:
            break
        number = queue[done]
        for member in range(begin[number], begin[number + 1]):
            node = members[member]
            for channel in range(first[node], first[node + 1]):
                there = cluster[to[channel]]
                if not reached[there]:
                    reached[there] = True
                    parent[there] = number
                    queue[found] = there
                    found += 1
    return parent
