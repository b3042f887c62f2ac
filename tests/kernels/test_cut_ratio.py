"""Cuts of least ratio and the strength of graphs, against all sets and all partitions of small networks."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from torusweep_kernels.cuts import least_ratio_cut, strength

from tests.kernels.drawn_graphs import channels_of, drawn_graph


def leaving(graph, members):
    """Capacity of the channels that leave a set."""
    inside = set(members)
    total = 0
    for tail, head, data in graph.edges(data=True):
        total += data["weight"] * (tail in inside and head not in inside)
        if not graph.is_directed():
            total += data["weight"] * (head in inside and tail not in inside)
    return total


def sets_of(nodes):
    return (members for size in range(1, nodes) for members in combinations(range(nodes), size))


def partitions(items):
    """All partitions of a list."""
    if not items:
        yield []
        return
    first, *rest = items
    for partition in partitions(rest):
        yield [[first], *partition]
        for place in range(len(partition)):
            yield [*partition[:place], [first, *partition[place]], *partition[place + 1 :]]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_the_least_ratio_is_that_of_all_sets(seed, directed):
    graph = drawn_graph(seed, directed=directed)
    nodes = graph.number_of_nodes()
    draw = np.random.default_rng(1000 + seed)
    weight = draw.integers(0, 3, nodes)
    weight[draw.integers(nodes)] = 2
    sinks = np.flatnonzero(weight)
    allowed = [
        members
        for members in sets_of(nodes)
        if sum(weight[list(members)]) and any(sink not in members for sink in sinks.tolist())
    ]
    found = least_ratio_cut(channels_of(graph), weight, sinks)
    if not allowed:
        assert found.weight == 0
        return
    least = min(Fraction(leaving(graph, members), int(sum(weight[list(members)]))) for members in allowed)
    assert Fraction(found.capacity, found.weight) == least
    members = np.flatnonzero(found.inside).tolist()
    assert leaving(graph, members) == found.capacity
    assert int(weight[members].sum()) == found.weight
    assert any(sink not in members for sink in sinks.tolist())


@pytest.mark.parametrize("seed", range(40))
def test_strength_is_the_least_of_all_partitions(seed):
    graph = drawn_graph(seed, directed=False)
    nodes = graph.number_of_nodes()
    ratios = {}
    for partition in partitions(list(range(nodes))):
        if len(partition) > 1:
            crossing = sum(leaving(graph, part) for part in partition)  # each link at either end
            ratios[tuple(sorted(map(tuple, map(sorted, partition))))] = Fraction(crossing, 2 * (len(partition) - 1))
    found = strength(channels_of(graph))
    assert Fraction(found.trees, found.links) == min(ratios.values())
    parts = {}
    for node, part in enumerate(found.part.tolist()):
        parts.setdefault(part, []).append(node)
    assert ratios[tuple(sorted(map(tuple, parts.values())))] == min(ratios.values())


@pytest.mark.parametrize("seed", range(20))
def test_the_orientation_of_a_strength_is_entered_often_enough(seed):
    """Every set without node 0 is entered 2 · trees times, so that as many trees out of node 0 fit (Edmonds 1973)."""
    graph = drawn_graph(seed, directed=False)
    nodes, channels = graph.number_of_nodes(), channels_of(graph)
    found = strength(channels)
    tail = np.repeat(np.arange(nodes), np.diff(channels.first))
    assert (found.entering >= 0).all()
    assert np.array_equal(found.entering + found.entering[channels.back], 2 * found.links * channels.capacity)
    for members in sets_of(nodes):
        if 0 not in members:
            entering = np.isin(channels.to, members) & ~np.isin(tail, members)
            assert found.entering[entering].sum() >= 2 * found.trees


def test_a_path_has_strength_one():
    assert strength(channels_of(nx.path_graph(5)))[:2] == (1, 1)
