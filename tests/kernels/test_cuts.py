"""Minimum cuts: networkx pair by pair, SciPy on larger networks; what a flow leaves behind; where the search ends."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from torusweep_kernels.cuts import Channels, both_ways, dominating_set, least_cut, spanning_tree

PLENTY = 10**12


def channels(nodes, links):
    """Channels of a directed network from (tail, head, capacity), and the graph."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((u, v, {"capacity": c}) for u, v, c in links)
    both = sorted({*graph.edges, *((v, u) for u, v in graph.edges)})
    number = {arc: place for place, arc in enumerate(both)}
    first = np.searchsorted([u for u, _ in both], np.arange(nodes + 1)).astype(np.int64)
    capacity = [graph.edges[arc]["capacity"] if graph.has_edge(*arc) else 0 for arc in both]
    made = Channels(
        first,
        np.array([v for _, v in both], np.int32),
        np.array(capacity, np.int64),
        np.array([number[v, u] for u, v in both], np.int64),
    )
    return made, graph


def random_links(nodes, degree, seed, most=1, directed=True):
    random = np.random.default_rng(seed)
    chosen = {
        (int(u), int(v)): int(random.integers(1, most + 1))
        for u, v in random.integers(0, nodes, (nodes * degree, 2))
        if u != v
    }
    back = {} if directed else {(v, u): c for (u, v), c in chosen.items()}
    return [(u, v, c) for (u, v), c in (chosen | back).items()]


@pytest.mark.parametrize("most", [1, 5])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_every_pair_alone_and_the_least_of_all(seed, directed, most):
    made, graph = channels(12, random_links(12, 1 + seed % 4, seed, most, directed))
    pairs = np.array([(u, v) for u in graph for v in graph if u != v])
    cuts = [nx.maximum_flow_value(graph, u, v) for u, v in pairs.tolist()]
    alone = [least_cut(made, pair[:1], pair[1:], enough=PLENTY, looks=PLENTY).links for pair in pairs]
    assert alone == cuts
    assert least_cut(made, *pairs.T, enough=PLENTY, looks=PLENTY)[:2] == (min(cuts), len(pairs))
    assert [least_cut(made, pair[:1], pair[1:], enough=2, looks=PLENTY).links for pair in pairs] == [
        min(2, cut) for cut in cuts
    ]


@pytest.mark.parametrize("seed", range(3))
def test_larger_networks(seed):
    """Sparse ones, in which flows are pushed back; SciPy's flows pair by pair."""
    nodes = 300
    links = random_links(nodes, 2, seed, 3)
    made, _ = channels(nodes, links)
    matrix = csr_array(
        ([c for *_, c in links], ([u for u, *_ in links], [v for _, v, _ in links])),
        shape=(nodes, nodes),
        dtype=np.int32,
    )
    pairs = np.random.default_rng(seed).integers(0, nodes, (60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    expected = [int(maximum_flow(matrix, u, v).flow_value) for u, v in pairs]
    assert [least_cut(made, pair[:1], pair[1:], enough=PLENTY, looks=PLENTY).links for pair in pairs] == expected
    assert len(set(expected)) > 2


def test_a_path_may_have_to_be_taken_back():
    """The shortest path, straight across, blocks both others; only pushing it back finds two."""
    made, graph = channels(6, [(0, 1, 1), (1, 2, 1), (2, 5, 1), (0, 3, 1), (3, 2, 1), (1, 4, 1), (4, 5, 1)])
    assert nx.maximum_flow_value(graph, 0, 5) == 2
    assert least_cut(made, np.array([0]), np.array([5]), enough=PLENTY, looks=PLENTY).links == 2


def test_paths_longer_than_the_network():
    """Ten paths along one chain of 50 pass more channels than there are; what they leave must not be there for the next
    pair."""
    chain = [(u, u + 1, 10) for u in range(50)]
    fan = [(50, 51 + i, 1) for i in range(10)] + [(51 + i, 61, 1) for i in range(10)]
    made, graph = channels(62, chain + fan)
    assert len(made.to) < 10 * 50
    assert nx.maximum_flow_value(graph, 0, 61) == 10
    again = np.array([0, 0, 0, 50]), np.array([61, 61, 50, 61])
    assert least_cut(made, *again, enough=PLENTY, looks=PLENTY)[:2] == (10, 4)


def test_it_ends_after_so_many_looks():
    made, _ = channels(40, random_links(40, 4, 1))
    tails, heads = np.arange(39), np.arange(1, 40)
    whole = least_cut(made, tails, heads, enough=2, looks=PLENTY)
    assert whole.pairs == 39
    cut_short = least_cut(made, tails, heads, enough=2, looks=whole.looks // 2)
    assert 0 < cut_short.pairs < 39
    assert whole.looks // 2 < cut_short.looks < whole.looks


def test_near_nodes_are_joined_by_what_lies_near():
    """Six paths between neighbours of a torus of 8000 nodes look at a few hundred channels, not at 48,000."""
    grid = nx.grid_graph([20, 20, 20], periodic=True)
    number = {node: place for place, node in enumerate(grid)}
    made, _ = channels(8000, [(number[u], number[v], 1) for u, v in nx.DiGraph(grid).edges])
    pair = np.array([number[4, 4, 4]]), np.array([number[4, 4, 5]])
    cut = least_cut(made, *pair, enough=PLENTY, looks=PLENTY)
    assert cut.links == 6  # of a torus, every two nodes are joined by as many
    assert least_cut(made, *pair, enough=6, looks=PLENTY).looks < 1000


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_dominating(seed, directed):
    nodes = 60
    links = random_links(nodes, 2, seed, 1, directed)
    matrix = csr_array((np.ones(len(links)), ([u for u, *_ in links], [v for _, v, _ in links])), shape=(nodes, nodes))
    dense, transposed = matrix.toarray() > 0, csr_array(matrix.T)
    members, cluster = dominating_set(matrix.indptr, matrix.indices, transposed.indptr, transposed.indices)
    chosen = np.zeros(nodes, bool)
    chosen[members] = True
    assert (chosen | dense[:, members].any(axis=1)).all()  # every node leads to a member
    assert (chosen | dense[members].any(axis=0)).all()  # one leads to every node
    of = members[cluster]
    assert ((of == np.arange(nodes)) | dense[of, np.arange(nodes)] | dense[np.arange(nodes), of]).all()
    assert (of[members] == members).all()
    assert len(members) < nodes


@pytest.mark.parametrize("seed", range(4))
def test_ways_back(seed):
    made, _ = channels(50, random_links(50, 3, seed, 4))
    assert np.array_equal(both_ways(made.first, made.to, made.capacity).back, made.back)


@pytest.mark.parametrize("clusters", [1, 2, 7, 40])
@pytest.mark.parametrize("seed", range(4))
def test_spanning(seed, clusters):
    """Depths of networkx's search in the graph of clusters, by parents that lead there; of nodes alone, 40, what is not
    reached, too."""
    links = random_links(40, 1, seed)
    matrix = csr_array((np.ones(len(links)), ([u for u, *_ in links], [v for _, v, _ in links])), shape=(40, 40))
    cluster = np.random.default_rng(seed).permutation(np.arange(40, dtype=np.int32) % clusters)
    parent = spanning_tree(matrix.indptr.astype(np.int64), matrix.indices, cluster, clusters).tolist()
    graph = nx.DiGraph((int(cluster[u]), int(cluster[v])) for u, v, _ in links)
    graph.add_nodes_from(range(clusters))
    depth = nx.single_source_shortest_path_length(graph, 0)
    assert {number for number in range(clusters) if parent[number] >= 0} == set(depth) - {0}
    assert all(
        graph.has_edge(parent[number], number) and depth[parent[number]] + 1 == far
        for number, far in depth.items()
        if number
    )
