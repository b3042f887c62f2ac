"""Compiled version of `torusweep_kernels.trees`: shortest-path trees and packings of spanning trees."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.cuts.flow import push, scratch

NOBODY, ROOT = -2, -1  # parents: of a node that is not in the tree yet, and of the root


@cached
def distances(first, to, capacity, roots):
    """Return int32[R, N]: hops from each root over channels with capacity; −1 where there is no path."""
    nodes = len(first) - 1
    distance = np.full((len(roots), nodes), -1, np.int32)
    queue = np.empty(nodes, np.int32)
    for row in range(len(roots)):
        distance[row, roots[row]] = 0
        queue[0] = roots[row]
        begin, end = 0, 1
        while begin < end:
            node = queue[begin]
            begin += 1
            for leaving in range(first[node], first[node + 1]):
                there = to[leaving]
                if capacity[leaving] > 0 and distance[row, there] < 0:
                    distance[row, there] = distance[row, node] + 1
                    queue[end] = there
                    end += 1
    return distance


@cached
def share_parents(first, to, capacity, back, roots, units, distance):
    """Return int64[R, N, J], units of each root in which a node's j-th neighbour is its parent, and whether all fit."""
    nodes = len(first) - 1
    width = 0
    for node in range(nodes):
        width = max(width, first[node + 1] - first[node])
    share = np.zeros((len(roots), nodes, width), np.int64)
    group = np.empty(len(roots), np.int64)
    for node in range(nodes):
        ports = first[node + 1] - first[node]
        room = np.empty(ports, np.int64)
        for port in range(ports):
            room[port] = capacity[back[first[node] + port]]
        # roots whose nearer neighbours are the same form a group
        choices = np.empty((len(roots), ports), np.bool_)
        wanted = np.zeros(len(roots), np.int64)
        groups = 0
        for row in range(len(roots)):
            group[row] = -1
            if roots[row] == node:
                continue
            for port in range(ports):
                near = distance[row, to[first[node] + port]] + 1 == distance[row, node]
                choices[groups, port] = near and room[port] > 0
            same = 0
            while same < groups and not np.array_equal(choices[same], choices[groups]):
                same += 1
            group[row] = same
            groups += same == groups
            wanted[same] += units[roots[row]]
        taken = np.zeros((groups, ports), np.int64)
        for number in range(groups):
            while wanted[number] > 0:
                amount = _take(choices, taken, room, number, wanted[number])
                if amount == 0:
                    return share, False
                wanted[number] -= amount
        for row in range(len(roots)):
            number, left = group[row], units[roots[row]]
            for port in range(ports):
                if number >= 0:
                    amount = min(left, taken[number, port])
                    share[row, node, port] = amount
                    taken[number, port] -= amount
                    left -= amount
    return share, True


@cached
def _take(choices, taken, room, number, most):
    """Give a group more of its possible channels by moving other groups to other ones. Return how much it got."""
    groups, ports = taken.shape
    by = np.full(ports, -1, np.int64)  # the group through which a channel was reached
    came = np.full(groups, -1, np.int64)  # the channel through which a group was reached
    seen = np.zeros(groups, np.bool_)
    queue = np.empty(groups, np.int64)
    queue[0], begin, end = number, 0, 1
    seen[number] = True
    while begin < end:
        here = queue[begin]
        begin += 1
        for port in range(ports):
            if by[port] >= 0 or not choices[here, port]:
                continue
            by[port] = here
            if room[port] > 0:
                amount, channel, other = min(most, room[port]), port, here
                while came[other] >= 0:
                    amount = min(amount, taken[other, came[other]])
                    other = by[came[other]]
                other = here
                room[channel] -= amount
                taken[other, channel] += amount
                while came[other] >= 0:
                    channel = came[other]
                    taken[other, channel] -= amount
                    other = by[channel]
                    taken[other, channel] += amount
                return amount
            for another in range(groups):
                if not seen[another] and taken[another, port] > 0:
                    seen[another] = True
                    came[another] = port
                    queue[end] = another
                    end += 1
    return 0


@cached
def grow(first, to, back, capacity, waiting, root):
    """Return (units, parent int32[N]) of a tree that is used as often as possible; 0 units if it cannot grow.

    capacity int64[E] and waiting int64[N], the units of each root that have no tree yet, are updated.
    """
    nodes = len(first) - 1
    level, queue, following, path = scratch(nodes)
    room = np.empty(len(to), np.int64)
    supply = np.empty(nodes, np.int64)
    parent = np.full(nodes, NOBODY, np.int32)
    members = np.empty(nodes, np.int32)
    channels = np.empty(nodes, np.int64)  # by which each member was reached
    refused = np.zeros(len(to), np.bool_)  # channels that can no longer be taken: what others need never becomes less
    units = waiting[root]
    waiting[root] = 0
    parent[root] = ROOT
    members[0] = root
    count, place = 1, 0
    while count < nodes:
        if place == count:
            return 0, parent
        node = members[place]
        chosen = -1
        for leaving in range(first[node], first[node + 1]):
            if parent[to[leaving]] != NOBODY or capacity[leaving] == 0 or refused[leaving]:
                continue
            room[:] = capacity
            supply[:] = waiting
            needed = supply.sum()
            more = min(units, capacity[leaving])
            supply[node] += more
            more = push(first, to, back, room, supply, to[leaving], level, queue, following, path) - needed
            if more > 0:
                chosen = leaving
                break
            refused[leaving] = True
        if chosen < 0:
            place += 1
            continue
        if more < units:  # the other units begin anew, and give back what they have
            for member in range(1, count):
                capacity[channels[member]] += units - more
            waiting[root] += units - more
            units = more
        capacity[chosen] -= units
        parent[to[chosen]] = node
        members[count], channels[count] = to[chosen], chosen
        count += 1
    return units, parent
