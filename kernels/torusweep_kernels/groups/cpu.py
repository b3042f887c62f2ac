"""Compiled version of `torusweep_kernels.groups.busiest_links`, which takes one division at a time."""

from __future__ import annotations

import numpy as np

from torusweep_kernels import groups
from torusweep_kernels.compile import cached, inlined
from torusweep_kernels.threads import in_threads

BLOCK = 16  # divisions that a thread takes at once
RING, NEXT, LINE, BROADCAST, PAIRS = groups.RING, groups.NEXT, groups.LINE, groups.BROADCAST, groups.PAIRS


def busiest_links(divisions, sizes, patterns, ways, threads):
    """Compiled version of `torusweep_kernels.groups.busiest_links`."""
    count = len(divisions)
    found = groups.Busiest(
        np.zeros(count, np.int64),
        np.full(count, -1, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int32),
        np.zeros(count, np.int64),
    )

    def block(first: int) -> None:
        part = slice(first, first + BLOCK)
        own = groups.Busiest(*(array[part] for array in found))
        _divisions(divisions[part], sizes[part], patterns[part], ways, own)

    in_threads(block, range(0, count, BLOCK), threads)
    return found


@cached
def _divisions(divisions, sizes, patterns, ways, found):
    """Find the busiest links of a block of divisions."""
    carried, weight = np.empty(ways.step.size, np.int64), ways.weight.ravel()
    for place in range(len(divisions)):
        carried[:] = 0
        longest, slowest = _messages(divisions[place], sizes[place], patterns[place], ways, carried)
        found.longest[place], found.slowest[place] = longest, slowest
        most, total, link = np.int64(0), np.int64(0), -1
        for at in range(len(carried)):
            total += carried[at]
            if carried[at] * weight[at] > most:
                most, link = carried[at] * weight[at], at
        found.load[place], found.link[place], found.total[place] = most, link, total


@cached
def _messages(nodes, size, pattern, ways, carried):
    """Send the messages of all groups. Return the hops of the longest route, and the latency of the slowest route."""
    longest, slowest = 0, np.int64(0)
    for first in range(0, len(nodes), size):
        if pattern == PAIRS:
            for a in range(first, first + size):
                for b in range(first, first + size):
                    if a != b:
                        hops, latency = _send(nodes[a], nodes[b], ways, carried)
                        longest, slowest = max(longest, hops), max(slowest, latency)
            continue
        for i in range(size):
            here, there = nodes[first + i], nodes[first + (i + 1) % size]
            if here == there:
                continue
            closes = i == size - 1
            if not closes or pattern in (RING, NEXT):
                hops, latency = _send(here, there, ways, carried)
                longest, slowest = max(longest, hops), max(slowest, latency)
            if pattern == RING or (pattern == LINE and not closes) or (pattern == BROADCAST and i > 0):
                hops, latency = _send(there, here, ways, carried)
                longest, slowest = max(longest, hops), max(slowest, latency)
    return longest, slowest


@inlined
def _send(source, destination, ways, carried):
    """Add a message to its routes' links. Return the hops of the longest route, and the latency of the slowest."""
    longest, slowest, directions = 0, np.int64(0), ways.step.shape[1]
    key = ways.key[source, destination]
    for route in range(ways.first[key], ways.first[key + 1]):
        at, length, latency = source, 0, np.int64(0)
        for run in range(ways.hops.shape[1]):
            direction = ways.direction[route, run]
            for _ in range(ways.hops[route, run]):
                carried[at * directions + direction] += ways.units[route]
                latency += ways.latency[at, direction]
                at = ways.step[at, direction]
            length += ways.hops[route, run]
        longest, slowest = max(longest, length), max(slowest, latency)
    return longest, slowest
