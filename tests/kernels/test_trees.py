"""Packed spanning trees: that they are trees, and that their channels are used as often as allowed."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from torusweep_kernels.cuts import least_ratio_cut, strength
from torusweep_kernels.trees import hops_from, pack_trees, shortest_path_trees

from tests.kernels.drawn_graphs import channels_of, drawn_graph


def check_packing(channels, trees, units):
    """Each root has its units of trees; every node leads to the root; no channel is used too often."""
    nodes = len(units)
    capacity = {
        (tail, int(channels.to[channel])): int(channels.capacity[channel])
        for tail in range(nodes)
        for channel in range(channels.first[tail], channels.first[tail + 1])
    }
    used, rooted = Counter(), Counter()
    for root, number, parent in zip(trees.root.tolist(), trees.units.tolist(), trees.parent.tolist()):
        rooted[root] += number
        assert number > 0
        assert parent[root] == -1
        for node in range(nodes):
            steps = 0
            while node != root:
                node, steps = parent[node], steps + 1
                assert steps < nodes
        for node, above in enumerate(parent):
            if node != root:
                used[above, node] += number
    assert all(number <= capacity[channel] for channel, number in used.items())
    assert [rooted[root] for root in range(nodes)] == list(units)


def at_the_optimum(graph):
    """(channels used as often as the all-gather's optimum allows, trees for each root)."""
    channels, nodes = channels_of(graph), graph.number_of_nodes()
    best = least_ratio_cut(channels, np.ones(nodes, np.int64), np.arange(nodes))
    units = np.full(nodes, best.capacity)
    return channels._replace(capacity=channels.capacity * best.weight), units


GRAPHS = {
    "torus": nx.convert_node_labels_to_integers(nx.grid_graph([4, 4], periodic=True)),
    "mesh": nx.convert_node_labels_to_integers(nx.grid_graph([4, 3])),
    "3-regular": nx.random_regular_graph(3, 20, seed=1),
    "4-regular": nx.random_regular_graph(4, 15, seed=2),
    "bridge": nx.barbell_graph(4, 0),
    "star": nx.star_graph(5),
    "directed ring": nx.cycle_graph(6, create_using=nx.DiGraph),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_trees_attain_the_optimum(name):
    channels, units = at_the_optimum(GRAPHS[name])
    check_packing(channels, pack_trees(channels, units), units)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_trees_of_random_networks_attain_the_optimum(seed, directed):
    channels, units = at_the_optimum(drawn_graph(seed, directed=directed))
    check_packing(channels, pack_trees(channels, units), units)


@pytest.mark.parametrize("name", ["torus", "mesh", "star", "directed ring"])
def test_trees_of_shortest_paths(name):
    graph = GRAPHS[name]
    channels, units = at_the_optimum(graph)
    trees = shortest_path_trees(channels, units)
    check_packing(channels, trees, units)
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    for root, parent in zip(trees.root.tolist(), trees.parent.tolist()):
        assert all(hops[root][node] == hops[root][above] + 1 for node, above in enumerate(parent) if node != root)


def test_no_trees_of_shortest_paths_fit_where_one_channel_is_everybodys_way():
    """In a triangle with a double link all nodes reach node 2 directly: one channel of two is left idle."""
    graph = nx.Graph([(0, 1, {"weight": 3}), (1, 2, {"weight": 1}), (0, 2, {"weight": 1})])
    channels = channels_of(graph)
    units = np.array([2, 0, 0])
    assert shortest_path_trees(channels, units) is None
    check_packing(channels, pack_trees(channels, units), units)


def test_too_many_trees_are_refused():
    channels = channels_of(nx.cycle_graph(5))
    with pytest.raises(ValueError, match="expected cuts as wide as their trees"):
        pack_trees(channels, np.array([3, 0, 0, 0, 0]))


def test_a_network_in_parts_has_no_trees_of_shortest_paths():
    graph = nx.Graph([(0, 1)])
    graph.add_node(2)
    with pytest.raises(ValueError, match="a network in parts"):
        shortest_path_trees(channels_of(graph), np.ones(3, np.int64))


@pytest.mark.parametrize("seed", range(20))
def test_undirected_trees_as_many_as_the_strength(seed):
    channels = channels_of(drawn_graph(seed, directed=False))
    found = strength(channels)
    units = np.zeros(len(channels.first) - 1, np.int64)
    units[0] = 2 * found.trees
    oriented = channels._replace(capacity=found.entering)
    check_packing(oriented, pack_trees(oriented, units), units)


def test_hops():
    graph = GRAPHS["3-regular"]
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    found = hops_from(channels_of(graph), np.arange(20))
    assert found.tolist() == [[hops[root][node] for node in range(20)] for root in range(20)]
