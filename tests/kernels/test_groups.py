"""Loads of collectives in groups: both backends alike, and beside a plain loop that walks every message."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from torusweep_kernels.groups import PATTERNS, Ways, busiest_links

RING = 9  # nodes; each way round is one way from 1 to 4 hops


def ring_ways(nodes: int = RING) -> Ways:
    """Shorter way round a ring; both ways, half each, where they are equal: 2 units a message."""
    apart = (np.arange(nodes)[None, :] - np.arange(nodes)[:, None]) % nodes
    first, units, direction, hops = [0], [], [], []
    for distance in range(nodes):
        back = nodes - distance
        choices = [(0, distance)] if distance <= back else [(1, back)]
        if distance == back:
            choices.append((1, back))
        for way, length in choices:
            units.append(2 // len(choices))
            direction.append([way])
            hops.append([length])
        first.append(len(units))
    everyone = np.arange(nodes)
    step = np.stack([(everyone + 1) % nodes, (everyone - 1) % nodes], axis=1)
    return Ways(
        step.astype(np.int32),
        apart.astype(np.int32),
        np.array(first, np.int64),
        np.array(units, np.int64),
        np.array(direction, np.int8),
        np.array(hops, np.int16),
    )


def plain_messages(group: list[int], pattern: str) -> list[tuple[int, int]]:
    size = len(group)
    onwards = [(group[i], group[(i + 1) % size]) for i in range(size)] if size > 1 else []
    back = [(b, a) for a, b in onwards]
    return {
        "ring": onwards + back,
        "next": onwards,
        "line": onwards[:-1] + back[:-1],
        "broadcast": onwards[:-1] + back[1:],
        "pairs": [(a, b) for a in group for b in group if a != b],
    }[pattern]


def unequal(ways: Ways) -> Ways:
    """Links of different weights and latencies."""
    number = np.arange(ways.step.size).reshape(ways.step.shape)
    return ways._replace(weight=1 + number % 5, latency=number * 7 % 11)


def plain_loads(row: list[int], size: int, pattern: str, ways_of: Ways) -> tuple[Counter, int, int]:
    load: Counter = Counter()
    nodes, longest, slowest = len(ways_of.step), 0, 0
    latency = np.ones(2 * nodes, int) if ways_of.latency is None else ways_of.latency.ravel()
    for first in range(0, nodes, size):
        for a, b in plain_messages(row[first : first + size], pattern):
            ways = [(1, (b - a) % nodes), (-1, (a - b) % nodes)]
            shortest = min(hops for _, hops in ways)
            ways = [way for way in ways if way[1] == shortest]
            longest = max(longest, shortest)
            for sign, hops in ways:
                links = [(a + sign * hop) % nodes * 2 + (sign < 0) for hop in range(hops)]
                slowest = max(slowest, sum(int(latency[link]) for link in links))
                for link in links:
                    load[link] += 2 // len(ways)
    return load, longest, slowest


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("nodes", [9, 12])
@pytest.mark.parametrize("kind", [lambda ways: ways, unequal], ids=["alike", "unequal"])
def test_loads_as_a_plain_loop(backend, nodes, kind):
    draw, ways = np.random.default_rng(3), kind(ring_ways(nodes))
    sizes = [size for size in range(1, nodes + 1) if nodes % size == 0]
    cases = [(size, pattern) for size in sizes for pattern in PATTERNS]
    rows = np.stack([draw.permutation(nodes) for _ in cases])
    found = busiest_links(
        rows, np.array([size for size, _ in cases]), np.array([PATTERNS[p] for _, p in cases]), ways,
        backend=backend,
    )  # fmt: skip
    for place, (size, pattern) in enumerate(cases):
        units, longest, slowest = plain_loads(rows[place].tolist(), size, pattern, ways)
        weight = np.ones(2 * nodes, int) if ways.weight is None else ways.weight.ravel()
        load = {link: number * int(weight[link]) for link, number in units.items()}
        most = max(load.values(), default=0)
        assert found.load[place] == most
        assert found.total[place] == units.total()
        assert (found.longest[place], found.slowest[place]) == (longest, slowest)
        assert found.link[place] == min((link for link, units in load.items() if units == most), default=-1)


def test_backends_and_numbers_of_threads_give_the_same():
    draw = np.random.default_rng(4)
    nodes = 24
    rows = np.stack([draw.permutation(nodes) for _ in range(200)])
    sizes = draw.choice([2, 3, 4, 6, 8, 12, 24], len(rows))
    patterns = draw.choice(list(PATTERNS.values()), len(rows))
    ways = unequal(ring_ways(nodes))
    first = busiest_links(rows, sizes, patterns, ways, backend="numpy")
    for threads in (1, 3):
        other = busiest_links(rows, sizes, patterns, ways, backend="numba", threads=threads)
        for a, b in zip(first, other):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)


def test_no_divisions():
    found = busiest_links(np.zeros((0, RING), np.int32), np.zeros(0, int), np.zeros(0, int), ring_ways())
    assert [array.tolist() for array in found] == [[], [], [], [], []]


@pytest.mark.parametrize(
    ("rows", "sizes", "patterns", "message"),
    [
        (np.arange(8)[None], [4], [0], r"divisions of shape \[B, 9\]"),
        (np.arange(9)[None], [4], [0], "sizes that divide 9"),
        (np.arange(9)[None], [3], [5], "patterns of 0 … 4"),
        (np.arange(9)[None], [3, 3], [0], "sizes of shape"),
        (np.zeros((1, 9), int), [3], [0], "each node once"),
        (np.arange(1, 10)[None], [3], [0], "divisions of 0 … 8"),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(rows, sizes, patterns, message):
    with pytest.raises(ValueError, match=message):
        busiest_links(rows, np.array(sizes), np.array(patterns), ring_ways())
