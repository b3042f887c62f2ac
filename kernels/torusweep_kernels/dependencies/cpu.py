"""Compiled version of `torusweep_kernels.dependencies`: packets are walked hop by hop."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached


@cached
def follow(channels, moves, packets, runs, classes, memory, width):
    """Compiled version of `mark_routes`. Returns the number of the first packet that does not arrive, or −1."""
    used, depends, ending, starting = channels
    to, port, wrap = moves
    source, destination, route, first = packets
    direction, hops, phase = runs
    for packet in range(len(source)):
        for row in range(first[route[packet]], first[route[packet] + 1]):
            node, held, passed = source[packet], -1, 0
            holder = node
            crossed, stage, path = 0, -1, False  # bits of the axes on which this phase has crossed a dateline
            for run in range(direction.shape[1]):
                length = hops[row, run]
                if length == 0:
                    continue
                d, kind = direction[row, run], phase[row, run]
                axis = 1 << (d >> 1)
                if memory == 0 or kind != stage:
                    crossed = 0
                stage = kind
                if memory == 3:
                    crossed, at = 0, node
                    for _ in range(length):
                        if at >= 0:
                            crossed |= axis * wrap[at, d]
                            at = to[at, d]
                for _ in range(length):
                    if to[node, d] < 0:
                        return packet
                    if wrap[node, d]:
                        crossed |= axis
                        path = True
                    past = path if memory == 2 else (crossed & axis) != 0
                    channel = port[node, d] * width + classes[kind, int(past)]
                    used[node, channel] = True
                    if held < 0:
                        starting[node, channel] = True
                    else:
                        depends[holder, held, channel] |= 3 if passed == 1 else 1
                    holder, held, passed = node, channel, passed + 1
                    node = to[node, d]
            if node != destination[packet]:
                return packet
            if held >= 0:
                ending[holder, held] = True
    return -1


@cached
def mark_layers(used, depends, states, port, node, starts, finishes, sources, destinations, begins, before):
    """Compiled `torusweep_kernels.dependencies.mark_layers`; before[begins[s] : begins[s + 1]] lead to state s."""
    count, arcs = states.shape
    away = np.full(count, -1, np.int32)
    reached = np.zeros(count, np.bool_)
    queue = np.empty(count, np.int32)
    for destination in destinations:
        queue[0], found, done = finishes[destination], 1, 0
        away[queue[0]] = 0
        while done < found:
            state = queue[done]
            done += 1
            for i in range(begins[state], begins[state + 1]):
                if away[before[i]] < 0:
                    away[before[i]] = away[state] + 1
                    queue[found] = before[i]
                    found += 1
        for source in sources:
            if away[starts[source]] >= 0 and source != destination:
                reached[starts[source]] = True
        for place in range(found - 1, -1, -1):
            state = queue[place]
            if reached[state]:
                for arc in range(arcs):
                    then = states[state, arc]
                    if then < 0 or away[then] < 0 or away[then] != away[state] - 1:
                        continue
                    reached[then] = True
                    held = port[state, arc]
                    if held < 0:
                        continue
                    used[node[state], held] = True
                    for onwards in range(arcs):
                        last = states[then, onwards]
                        if last >= 0 and away[last] >= 0 and away[last] == away[then] - 1 and port[then, onwards] >= 0:
                            depends[node[state], held, port[then, onwards]] = 1
        for place in range(found):
            away[queue[place]] = -1
            reached[queue[place]] = False


@cached
def shortest_cycle(first, to):
    """Compiled version of `torusweep_kernels.dependencies.shortest_cycle`."""
    count = len(first) - 1
    seen = np.full(count, -1, np.int32)  # the root of the search that reached a node last
    parent = np.empty(count, np.int32)
    queue = np.empty(count, np.int32)
    best = np.empty(0, np.int32)
    for root in range(count):
        queue[0], found, done, depth = root, 1, 0, 1
        closed = -1
        while (
            done < found and closed < 0 and (len(best) == 0 or depth < len(best))
        ):  # an arc from this level to the root closes a cycle of `depth` arcs
            level = found
            while done < level and closed < 0:
                node = queue[done]
                done += 1
                for i in range(first[node], first[node + 1]):
                    other = to[i]
                    if other == root:
                        closed = node
                        break
                    if other > root and seen[other] != root:
                        seen[other] = root
                        parent[other] = node
                        queue[found] = other
                        found += 1
            if closed < 0:
                depth += 1
        if closed >= 0:
            best = np.empty(depth, np.int32)
            for place in range(depth - 1, -1, -1):
                best[place] = closed
                if place:
                    closed = parent[closed]
    return best


@cached
def nearest_first(begins, before, destinations, away, order):
    """Compiled version of `torusweep_kernels.dependencies.nearest_first`; sets `away` and `order`.

    The links into node v come from the nodes before[begins[v]] … before[begins[v + 1] − 1].
    """
    nodes = away.shape[1]
    for t in range(len(destinations)):
        away[t, :] = -1
        away[t, destinations[t]] = 0
        order[t, 0] = destinations[t]
        found = 1
        for done in range(nodes):
            if done == found:
                return False
            node = order[t, done]
            hops = away[t, node] + 1
            for i in range(begins[node], begins[node + 1]):
                other = before[i]
                if away[t, other] < 0:
                    if hops >= 32768:
                        return False
                    away[t, other] = hops
                    order[t, found] = other
                    found += 1
    return True


@cached
def dependents_of(requested, held, channel, away, order, ports, ends):
    """Compiled version of `torusweep_kernels.dependencies.dependents_of`; marks the channels in `held`."""
    nodes, degree = ports.shape
    ahead = np.empty(nodes, np.bool_)  # the node, or one on a shortest path from it, requests a channel of `requested`
    for t in range(len(channel)):
        for node in order[t]:
            own = channel[t, node]
            if own < 0:
                ahead[node] = False
                continue
            if ahead[ends[own]]:
                held[own] = True
            found = requested[own]
            nearer = away[t, node] - 1
            for port in range(degree):
                if found:
                    break
                there = ports[node, port]
                found = there >= 0 and away[t, there] == nearer and ahead[there]
            ahead[node] = found


@cached
def dependencies_of(held, requested, channel, away, order, ports, ends):
    """Compiled version of `torusweep_kernels.dependencies.dependencies_of`; marks the channels in `requested`."""
    nodes, degree = ports.shape
    reached = np.empty(nodes, np.bool_)  # a packet that holds a channel of `held` may come to the node
    for t in range(len(channel)):
        reached[:] = False
        for place in range(nodes - 1, -1, -1):
            node = order[t, place]
            own = channel[t, node]
            if own < 0:
                continue
            if held[own]:
                reached[ends[own]] = True
            if reached[node]:
                requested[own] = True
                nearer = away[t, node] - 1
                for port in range(degree):
                    there = ports[node, port]
                    if there >= 0 and away[t, there] == nearer:
                        reached[there] = True


@cached
def raise_heights(height, channel, away, order, ports, ends):
    """Compiled version of `torusweep_kernels.dependencies.raise_heights`; raises `height` in place."""
    nodes, degree = ports.shape
    ahead = np.empty(nodes, np.int32)  # the greatest height on shortest paths from here, this node's own included
    for t in range(len(channel)):
        for node in order[t]:
            own = channel[t, node]
            if own < 0:
                ahead[node] = -1
                continue
            height[own] = max(height[own], ahead[ends[own]] + 1)
            greatest = height[own]
            nearer = away[t, node] - 1
            for port in range(degree):
                there = ports[node, port]
                if there >= 0 and away[t, there] == nearer:
                    greatest = max(greatest, ahead[there])
            ahead[node] = greatest
