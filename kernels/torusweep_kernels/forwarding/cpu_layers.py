"""Layers of a routing table without cycles, on the CPU, compiled by Numba.

A dependency is numbered channel · P + port of the next channel, which leaves the node that the first one leads to. Its
state in a layer is 0 where it is not there, 1 where it is, and 2 where it would close a cycle.
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached


@cached
def leads_to_itself(state, rank, channels, start, end, stack, seen, stamp):
    """Number of channels that `start` leads to and whose rank is at most that of `end`; −1 if `end` is one of them."""
    width = channels.ports.shape[1]
    flat = channels.ports.ravel()
    stack[0], found, done = start, 1, 0
    seen[start] = stamp
    while done < found:
        channel = stack[done]
        done += 1
        node = flat[channel]
        for port in range(width):
            if state[channel * width + port] == 1:
                after = node * width + port
                if after == end:
                    return -1
                if seen[after] != stamp and rank[after] < rank[end]:
                    seen[after] = stamp
                    stack[found] = after
                    found += 1
    return found


@cached
def leading_to(state, rank, channels, end, least, stack, seen, stamp):
    """Number of channels that lead to `end` and whose rank is at least `least`; they are in `stack`."""
    width = channels.ports.shape[1]
    stack[0], found, done = end, 1, 0
    seen[end] = stamp
    while done < found:
        channel = stack[done]
        done += 1
        node, port = channel // width, channel % width
        for place in range(channels.begins[node], channels.begins[node + 1]):
            before = channels.incoming[place]
            if state[before * width + port] == 1 and seen[before] != stamp and rank[before] >= least:
                seen[before] = stamp
                stack[found] = before
                found += 1
    return found


@cached
def holds(state, rank, channels, one, other, ahead, behind, seen, stamps):
    """Whether the dependency of `one` on `other` can be added without a cycle; keeps the order up to date if so."""
    if one == other:
        return False
    if rank[one] < rank[other]:
        return True
    stamps[0] += 1
    after = leads_to_itself(state, rank, channels, other, one, ahead, seen, stamps[0])
    if after < 0:
        return False
    stamps[0] += 1
    before = leading_to(state, rank, channels, one, rank[other], behind, seen, stamps[0])
    # those that lead to `one` come before those that `other` leads to, at the ranks that both have now
    moved = np.empty(before + after, np.int32)
    by_rank = np.argsort(rank[behind[:before]])
    for place in range(before):
        moved[place] = behind[by_rank[place]]
    by_rank = np.argsort(rank[ahead[:after]])
    for place in range(after):
        moved[before + place] = ahead[by_rank[place]]
    ranks = np.sort(rank[moved])
    for place in range(before + after):
        rank[moved[place]] = ranks[place]
    return True


@cached
def dependencies_from(table, width, start, found, queue, seen, stamp):
    """Number of dependencies (some perhaps twice) of packets that are injected in a configuration; fills `found`."""
    queue[0], reached, done, many = start, 1, 0, 0
    seen[start] = stamp
    while done < reached:
        c = queue[done]
        done += 1
        for row in range(table.rows[c], table.rows[c + 1]):
            after = table.next[row]
            if after < 0:
                continue
            for then in range(table.rows[after], table.rows[after + 1]):
                if table.link[then] >= 0:
                    if many == len(found):
                        more = np.empty(2 * many, np.int64)
                        more[:many] = found
                        found = more
                    found[many] = np.int64(table.link[row]) * width + table.link[then] % width
                    many += 1
            if seen[after] != stamp:
                seen[after] = stamp
                queue[reached] = after
                reached += 1
    return many, found


@cached
def assign_layers(table, channels, entry, most):
    """See the package."""
    nodes, width = channels.ports.shape
    flat, count = channels.ports.ravel(), nodes * width
    state = np.zeros((0, count * width), np.uint8)
    rank = np.zeros((0, count), np.int32)
    ahead, behind, seen = np.empty(count, np.int32), np.empty(count, np.int32), np.zeros(count, np.int64)
    stamps = np.zeros(1, np.int64)
    found, queue = np.empty(1024, np.int64), np.empty(len(table.at), np.int32)
    reached = np.full(len(table.at), -1, np.int64)
    added = np.empty(count * width, np.int64)
    placed = np.full(len(entry), -1, np.int16)
    for number in range(len(entry)):
        many, found = dependencies_from(table, width, entry[number], found, queue, reached, number)
        for layer in range(most):
            if layer == len(state):
                wider = np.zeros((layer + 1, count * width), np.uint8)
                wider[:layer] = state
                state = wider
                ranks = np.empty((layer + 1, count), np.int32)
                ranks[:layer] = rank
                ranks[layer] = np.arange(count)
                rank = ranks
            fits = True
            for place in range(many):
                if state[layer, found[place]] == 2:
                    fits = False
                    break
            if not fits:
                continue
            new = 0
            for place in range(many):
                dependency = found[place]
                if state[layer, dependency] == 1:
                    continue
                one = dependency // width
                other = flat[one] * width + dependency % width
                if not holds(state[layer], rank[layer], channels, one, other, ahead, behind, seen, stamps):
                    if new == 0:
                        state[layer, dependency] = 2
                    fits = False
                    break
                state[layer, dependency] = 1
                added[new] = dependency
                new += 1
            if fits:
                placed[number] = layer
                break
            for place in range(new):
                state[layer, added[place]] = 0
    return placed
