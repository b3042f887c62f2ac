"""Compiled version of `torusweep_kernels.exchanges`: exchanges of tasks, and all placements of a few tasks."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached

ROUNDING = 1e-9  # relative: less is no improvement
WORSE = 0.01  # relative: of the sum of squares, for a lower busiest channel


@cached
def embedded(first, other, near, senders, most):
    """Compiled version of `torusweep_kernels.exchanges.embedded`: int32[T], −1 for tasks without a place."""
    places = len(near)
    order = np.empty(senders, np.int64)
    anchor = np.full(senders, -1, np.int64)  # of each task a partner before it
    weight, partners = np.zeros(senders, np.int64), np.empty(senders, np.int64)
    for task in range(senders):
        partners[task] = first[task + 1] - first[task]
    for turn in range(senders):
        task = 0
        for one in range(senders):
            more = weight[one] > weight[task]
            if more or (weight[one] == weight[task] and partners[one] > partners[task]) or weight[task] < 0:
                task = one
        order[turn], weight[task] = task, -1
        for entry in range(first[task], first[task + 1]):
            partner = other[entry]
            if weight[partner] >= 0:
                weight[partner] += 1
                if anchor[partner] < 0:
                    anchor[partner] = task
    room = np.empty(places, np.int64)  # free places near each
    for spot in range(places):
        room[spot] = near[spot].sum()
    at, best = np.full(places, -1, np.int32), np.full(places, -1, np.int32)
    cursor, free = np.full(senders, -1, np.int64), np.ones(places, np.bool_)
    turn, deepest, visited = 0, 0, 0
    while turn >= 0 and visited < most:
        task = order[turn]
        if at[task] >= 0:
            free[at[task]] = True
            for spot in range(places):
                room[spot] += near[at[task], spot]
            at[task] = -1
        spot = cursor[turn] + 1
        while spot < places:
            fits = free[spot] and (anchor[task] < 0 or near[at[anchor[task]], spot])
            if fits:
                waiting = 0
                for entry in range(first[task], first[task + 1]):
                    there = at[other[entry]]
                    waiting += there < 0
                    fits = fits and (there < 0 or near[there, spot])
                fits = fits and room[spot] >= waiting
            if fits:
                break
            spot += 1
        cursor[turn] = spot
        if spot == places:
            cursor[turn] = -1
            turn -= 1
            continue
        visited += 1
        at[task], free[spot] = spot, False
        for one in range(places):
            room[one] -= near[spot, one]
        if turn + 1 > deepest:
            deepest = turn + 1
            best[:] = at
        if deepest == senders:
            break
        turn += 1
    return best


@cached
def hops_of(first, other, sent, taken, distance, place):
    """Return the hops · demand of a placement."""
    total = 0.0
    for task in range(len(place)):
        for entry in range(first[task], first[task + 1]):
            total += sent[entry] * distance[place[task], place[other[entry]]]
    return total


@cached
def _change(first, other, sent, taken, distance, place, one, two):
    """Return how much hops · demand changes if two tasks are exchanged."""
    here, there = place[one], place[two]
    total = 0.0
    for entry in range(first[one], first[one + 1]):
        partner = other[entry]
        if partner != two:
            at = place[partner]
            total += sent[entry] * (distance[there, at] - distance[here, at])
            total += taken[entry] * (distance[at, there] - distance[at, here])
        else:
            total += (sent[entry] - taken[entry]) * (distance[there, here] - distance[here, there])
    for entry in range(first[two], first[two + 1]):
        partner = other[entry]
        if partner != one:
            at = place[partner]
            total += sent[entry] * (distance[here, at] - distance[there, at])
            total += taken[entry] * (distance[at, here] - distance[at, there])
    return total


@cached
def fewer_hops(first, other, sent, taken, distance, place, senders, temperatures, draw):
    """Compiled `torusweep_kernels.exchanges.fewer_hops`. Changes `place`; returns its hops · demand."""
    tasks = len(place)
    for temperature in temperatures:
        for _ in range(tasks):
            one, two = draw.integers(0, senders), draw.integers(0, tasks)
            if one == two:
                continue
            change = _change(first, other, sent, taken, distance, place, one, two)
            if change <= 0 or draw.random() < np.exp(-change / temperature):
                place[one], place[two] = place[two], place[one]
    least = ROUNDING * (1.0 + hops_of(first, other, sent, taken, distance, place) / tasks)
    order = draw.permutation(tasks)
    better = True
    while better:
        better = False
        for i in range(tasks):
            one = order[i]
            for j in range(i + 1, tasks):
                two = order[j]
                if first[one] == first[one + 1] and first[two] == first[two + 1]:
                    continue
                if _change(first, other, sent, taken, distance, place, one, two) < -least:
                    place[one], place[two] = place[two], place[one]
                    better = True
    return hops_of(first, other, sent, taken, distance, place)


@cached
def count_routes(distance, terminals, arcs):
    """Return int64[T, T]: number of channels that lie on shortest paths between two terminals' nodes."""
    places = len(terminals)
    count = np.zeros((places, places), np.int64)
    for source in range(places):
        begin = terminals[source]
        for destination in range(places):
            end = terminals[destination]
            whole = distance[begin, end]
            for arc in range(arcs.shape[1]):
                if distance[begin, arcs[0, arc]] + 1 + distance[arcs[1, arc], end] == whole:
                    count[source, destination] += 1
    return count


@cached
def paths(distance, arcs, links):
    """Return float64[N, N]: number of shortest paths from node to node."""
    nodes = len(distance)
    found = np.zeros((nodes, nodes))
    first = np.searchsorted(arcs[0], np.arange(nodes + 1))
    for source in range(nodes):
        found[source, source] = 1.0
        for node in np.argsort(distance[source]):
            for arc in range(first[node], first[node + 1]):
                head = arcs[1, arc]
                if distance[source, node] >= 0 and distance[source, head] == distance[source, node] + 1:
                    found[source, head] += found[source, node] * links[arc]
    return found


@cached
def fill_routes(distance, paths, terminals, arcs, width, first):
    """Return (channel int32[R], share float64[R]) of all pairs, as in `PlaceRoutes`."""
    places = len(terminals)
    channel = np.empty(first[-1], np.int32)
    share = np.empty(first[-1])
    entry = 0
    for source in range(places):
        begin = terminals[source]
        for destination in range(places):
            end = terminals[destination]
            whole = distance[begin, end]
            for arc in range(arcs.shape[1]):
                tail, head = arcs[0, arc], arcs[1, arc]
                if distance[begin, tail] + 1 + distance[head, end] == whole:
                    through = paths[begin, tail] * width[0, arc] * paths[head, end]
                    channel[entry] = arc
                    share[entry] = through / paths[begin, end] / width[1, arc]
                    entry += 1
    return channel, share


@cached
def _add(load, pairs, channel, share, route, amount):
    """Add a message to the loads. Return by how much the sum of the loads' squares grows."""
    squares = 0.0
    if amount != 0.0:
        for entry in range(pairs[route], pairs[route + 1]):
            one, more = channel[entry], amount * share[entry]
            squares += (2.0 * load[one] + more) * more
            load[one] += more
    return squares


@cached
def _add_task(load, first, other, sent, taken, pairs, channel, share, place, task, skipped, sign):
    """Add (sign 1) or remove (−1) a task's messages, except those with the partner `skipped`. Returns as `_add`."""
    places, at, squares = len(place), place[task], 0.0
    for entry in range(first[task], first[task + 1]):
        partner = other[entry]
        if partner != skipped:
            there = place[partner]
            squares += _add(load, pairs, channel, share, at * places + there, sign * sent[entry])
            squares += _add(load, pairs, channel, share, there * places + at, sign * taken[entry])
    return squares


@cached
def _exchange(load, first, other, sent, taken, pairs, channel, share, place, one, two):
    """Exchange two tasks. Return the change of the sum of the loads' squares."""
    squares = 0.0
    for sign in (-1.0, 1.0):
        squares += _add_task(load, first, other, sent, taken, pairs, channel, share, place, one, -1, sign)
        squares += _add_task(load, first, other, sent, taken, pairs, channel, share, place, two, one, sign)
        if sign < 0:
            place[one], place[two] = place[two], place[one]
    return squares


@cached
def loads_of(first, other, sent, taken, pairs, channel, share, channels, place):
    """Return float64[A]: the load of every channel."""
    load = np.zeros(channels)
    places = len(place)
    for task in range(places):
        for entry in range(first[task], first[task + 1]):
            _add(load, pairs, channel, share, place[task] * places + place[other[entry]], sent[entry])
    return load


@cached
def lower_load(first, other, sent, taken, pairs, channel, share, channels, place, rounds, draw):
    """Compiled `torusweep_kernels.exchanges.lower_load`. Changes `place`; returns the busiest channel's load."""
    tasks = len(place)
    order = draw.permutation(tasks)
    for _ in range(rounds):
        load = loads_of(first, other, sent, taken, pairs, channel, share, channels, place)  # without rounding's drift
        most, squares = load.max(), (load * load).sum()
        better = False
        for i in range(tasks):
            one = order[i]
            for j in range(i + 1, tasks):
                two = order[j]
                if first[one] == first[one + 1] and first[two] == first[two + 1]:
                    continue
                change = _exchange(load, first, other, sent, taken, pairs, channel, share, place, one, two)
                if change <= squares * WORSE:
                    busiest = load.max()
                    lower = busiest < most * (1 - ROUNDING)
                    if lower or (busiest <= most * (1 + ROUNDING * 0.01) and change < -squares * ROUNDING):
                        most, squares, better = busiest, squares + change, True
                        continue
                _exchange(load, first, other, sent, taken, pairs, channel, share, place, one, two)
        if not better:
            break
    return loads_of(first, other, sent, taken, pairs, channel, share, channels, place).max()


@cached
def all_placements(matrix, distance, begin, found, value, most, by_load, pairs, channel, share, channels):
    """Search partial placements depth first; `found` becomes the best. Returns (its value, number visited)."""
    tasks, places = len(matrix), len(distance)
    nearest = np.inf
    for one in range(places):
        for two in range(places):
            if one != two:
                nearest = min(nearest, distance[one, two])
    rest = np.zeros(tasks + 1)  # demand of the pairs with a task from this one on
    for task in range(tasks - 1, -1, -1):
        rest[task] = rest[task + 1]
        for earlier in range(task):
            rest[task] += matrix[task, earlier] + matrix[earlier, task]
    free = np.ones(places, np.bool_)
    at = np.full(tasks, -1, np.int64)
    hops = np.zeros(tasks + 1)
    load = np.zeros((tasks + 1, channels))
    visited, task = 0, 0
    while task >= 0:
        if at[task] >= 0:
            free[at[task]] = True
        spot = at[task] + 1
        placed = False
        while spot < places and visited < most:
            if free[spot] and (task > 0 or begin[spot]):
                visited += 1
                added = 0.0
                for earlier in range(task):
                    there = at[earlier]
                    added += matrix[task, earlier] * distance[spot, there]
                    added += matrix[earlier, task] * distance[there, spot]
                hops[task + 1] = hops[task] + added
                bound = hops[task + 1] + nearest * rest[task + 1]
                if by_load:
                    load[task + 1] = load[task]
                    for earlier in range(task):
                        there = at[earlier]
                        _add(load[task + 1], pairs, channel, share, spot * places + there, matrix[task, earlier])
                        _add(load[task + 1], pairs, channel, share, there * places + spot, matrix[earlier, task])
                    bound = load[task + 1].max()
                if bound < value * (1 - ROUNDING):
                    placed = True
                    break
            spot += 1
        if not placed:
            at[task] = -1
            task -= 1
            continue
        at[task] = spot
        if task == tasks - 1:
            value = bound
            for one in range(tasks):
                found[one] = at[one]
            continue
        free[spot] = False
        task += 1
        at[task] = -1
    return value, visited
