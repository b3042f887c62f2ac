"""Compiled version of `torusweep_kernels.forwarding`: order, flows and acyclic layers of routing tables.

A dependency of a channel on the next one is numbered channel · P + port of the next channel, which leaves the node to
which the first one leads. Its state in a layer is 0 if it is not in the layer, 1 if it is, and 2 if it would close
a cycle.
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached, inlined
from torusweep_kernels.sums.cpu import add, two_product


@cached
def order_of(first, rows, next, enters, order, begins):
    """Compiled version of `torusweep_kernels.forwarding.order_of`. Sets order and begins; returns (fault, where)."""
    count = len(rows) - 1
    reached = np.zeros(count, np.bool_)
    leading = np.zeros(count, np.int32)
    queue = np.empty(count, np.int32)
    total = 0
    for destination in range(len(first) - 1):
        low, high = first[destination], first[destination + 1]
        found = done = 0
        for c in range(low, high):
            if enters[c]:
                reached[c] = True
                queue[found] = c
                found += 1
        while done < found:
            c = queue[done]
            done += 1
            for row in range(rows[c], rows[c + 1]):
                other = next[row]
                if other == -2:
                    begins[destination + 1 :] = total
                    return 1, c
                if other >= 0:
                    leading[other] += 1
                    if not reached[other]:
                        reached[other] = True
                        queue[found] = other
                        found += 1
        base = total
        for c in range(low, high):
            if reached[c] and leading[c] == 0:
                order[total] = c
                total += 1
        done = base
        while done < total:
            c = order[done]
            done += 1
            for row in range(rows[c], rows[c + 1]):
                other = next[row]
                if other >= 0:
                    leading[other] -= 1
                    if leading[other] == 0:
                        order[total] = other
                        total += 1
        if total - base < found:
            begins[destination + 1 :] = base
            for c in range(low, high):
                if reached[c] and leading[c] > 0:
                    return 2, c
        begins[destination + 1] = total
    return 0, -1


@inlined
def part_of(high, low, weight, total):
    """Return (high, low) · weight / total, with twice the digits of float64."""
    if weight == total:
        return high, low
    value, error = two_product(high, weight)
    error += low * weight
    quotient = value / total
    back, left = two_product(quotient, total)
    more = ((value - back) - left + error) / total
    rounded = quotient + more
    return rounded, more - (rounded - quotient)


@cached
def table_flows(table, demands, load, rest):
    """Compiled version of `torusweep_kernels.forwarding.table_flows`."""
    most = 0
    for destination in demands.destination:
        most = max(most, table.first[destination + 1] - table.first[destination])
    flow, left = np.zeros(most), np.zeros(most)
    for place in range(len(demands.destination)):
        low, high = table.first[demands.destination[place]], table.first[demands.destination[place] + 1]
        flow[: high - low] = 0.0
        left[: high - low] = 0.0
        for number in range(demands.begins[place], demands.begins[place + 1]):
            c = demands.entry[number] - low
            flow[c], left[c] = add(flow[c], left[c], demands.amount[number], 0.0)
        for c in range(low, high):
            here = flow[c - low]
            if here == 0.0:
                continue
            for row in range(table.rows[c], table.rows[c + 1]):
                part, error = part_of(here, left[c - low], table.weight[row], table.total[c])
                link, then = table.link[row], table.next[row] - low
                if link >= 0:
                    load[link], rest[link] = add(load[link], rest[link], part, error)
                if table.next[row] >= 0:
                    flow[then], left[then] = add(flow[then], left[then], part, error)


@cached
def leads_to_itself(state, rank, channels, start, end, stack, seen, stamp):
    """Return how many channels reachable from `start` have at most the rank of `end`; −1 if `end` is among them."""
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
    """Return how many channels lead to `end` and have at least the rank `least`. `stack` holds these channels."""
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
    """Return whether a dependency of `one` on `other` closes no cycle. If so, the order of the channels is updated."""
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
    """Return the number and the list of dependencies of packets injected in configuration `start`, some twice."""
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
    """Compiled version of `torusweep_kernels.forwarding.assign_layers`."""
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
