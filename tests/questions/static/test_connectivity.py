"""Edge connectivity: the papers' values, networkx on random graphs, and cases outside the theorem."""

import networkx as nx
import numpy as np
import pytest
from torusweep.networks.families import build
from torusweep.networks.links import channel_matrix, link_orbits
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.questions.static import connectivity
from torusweep.questions.static.connectivity import THEOREM, components, edge_connectivity

from tests.questions.static.networks import as_networkx, network, random_network


def measured(topology, *, use_symmetry=True):
    matrix = channel_matrix(topology)
    images = proved_symmetries(topology) if use_symmetry else []
    nodes = orbits_under(topology.nodes, images)
    links = link_orbits(topology, images, nodes)
    return edge_connectivity(topology, matrix, nodes, links, connected=components(topology, matrix) == 1)


@pytest.mark.parametrize(
    ("spelling", "links"),
    [
        ("mh3dt(m=4, n=4, levels=2, q=0)", 6),  # R05 Table 1
        ("h3dt(m=4, n=4, levels=2, q=0)", 3),
        ("hypercube(n=12)", 12),
        ("mesh(k=64, n=2)", 2),
        ("ccc(n=9)", 3),
        (
            "tesh(m=2, levels=3, q=0)",
            3,
        ),  # R05 prints 2, for a graph of 6688 links; with gates at every corner no node has fewer than 3
        ("tesh(m=2, levels=2, q=0)", 2),
        ("torus(k=8, n=3)", 6),  # P04: d of each class
        ("pruned_torus(k=8, n=3)", 4),
        ("directed_torus(k=8, n=3)", 3),
        ("pruned_directed_torus(k=8, n=3)", 2),
        ("pruned_xy(k=4)", 0),  # P98: not connected
    ],
)
def test_the_papers_values(spelling, links):
    assert measured(build(spelling))[0] == links


@pytest.mark.parametrize(
    "spelling",
    [
        "mesh(radices=[3, 4])",
        "h3dt(m=3, n=3, levels=2, q=0)",
        "torus(k=6, n=2)",
        "pruned_t2(k=4)",
        "directed_torus(k=4, n=2)",
        "ccc(n=4)",
    ],
)
def test_symmetry_and_theorem_change_nothing(spelling):
    """Against one maximum flow for each channel of a spanning tree of the whole network."""
    topology = build(spelling)
    found, long_way = measured(topology), measured(topology, use_symmetry=False)
    assert found[0] == long_way[0] == nx.edge_connectivity(as_networkx(topology))
    assert long_way[1].startswith("min-cut")


@pytest.mark.parametrize("capacities", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_random_networks(seed, directed, capacities):
    topology = random_network(14, 3 + seed % 4, seed, directed=directed, capacities=capacities)
    graph = as_networkx(topology)
    expected = min(nx.maximum_flow_value(graph, u, v) for u in graph for v in graph if u != v)
    assert measured(topology, use_symmetry=False)[0] == expected


@pytest.mark.parametrize("bridge", [1, 2, 4])
def test_a_narrow_cut_far_from_both_ends(bridge):
    """Two dense halves of 60 nodes joined by few links: balls must grow to the whole network to find the cut."""
    halves = [(u + side, (u + step) % 60 + side) for side in (0, 60) for u in range(60) for step in (1, 2, 7)]
    topology = network(120, halves + [(11 * i, 60 + 13 * i) for i in range(bridge)])
    assert measured(topology, use_symmetry=False)[0] == bridge == nx.edge_connectivity(as_networkx(topology))


def test_paths_around_a_long_ladder():
    """λ = 3 needs the path around: balls have two nodes per shell and grow to the whole network."""
    n = 200
    ladder = [(side + u, side + (u + 1) % n) for side in (0, n) for u in range(n)] + [(u, n + u) for u in range(n)]
    assert measured(network(2 * n, ladder), use_symmetry=False)[0] == 3


def test_the_theorem_does_not_hold_with_parallel_links():
    """A ring of 4 with alternating links of 10 and 1 is vertex-transitive of degree 11, but 2 links cut it."""
    ring = network(4, [(0, 1, 10), (1, 2, 1), (2, 3, 10), (3, 0, 1)])
    matrix = channel_matrix(ring)
    images = [np.array([1, 0, 3, 2], np.int32), np.array([2, 3, 0, 1], np.int32)]
    nodes = orbits_under(4, images)
    assert len(nodes.representatives) == 1
    assert edge_connectivity(ring, matrix, nodes, link_orbits(ring, images, nodes), connected=True) == (
        2,
        "min-cut",
    )
    simple = build("ring(k=4)")
    assert edge_connectivity(
        simple, channel_matrix(simple), nodes, link_orbits(simple, images, nodes), connected=True
    ) == (2, THEOREM)


@pytest.mark.parametrize(
    ("nodes", "links", "expected"),
    [
        (1, [], (0, "a single node")),
        (3, [(0, 1)], (0, "not connected")),
        (2, [(0, 1)], (1, "a node with a single link")),
        (
            4,
            [(0, i) for i in range(1, 4)] + [(1, 2), (2, 3), (3, 1)],
            (3, "theorem (one node next to all others: the least degree)"),
        ),
        (2, [(0, 1, 3)], (3, "min-cut")),
    ],
)
def test_tiny(nodes, links, expected):
    assert measured(network(nodes, links), use_symmetry=False) == expected


def test_reason_for_too_much_work(monkeypatch):
    monkeypatch.setattr(connectivity, "FLOW_LOOKS", 100)
    links, method = measured(build("faulty(torus(k=8, n=2), links=1)"))
    assert links is None
    assert method.startswith("not computed: stopped after")


@pytest.mark.parametrize(
    ("spelling", "expected"), [("pruned_xy(k=4)", 2), ("torus(k=4, n=2)", 1), ("faulty(ring(k=5), nodes=1, seed=2)", 2)]
)
def test_components(spelling, expected):
    topology = build(spelling)
    assert (
        components(topology, channel_matrix(topology))
        == expected
        == nx.number_connected_components(as_networkx(topology))
    )


def test_components_of_a_directed_network_are_strong():
    one_way = network(3, [(0, 1), (1, 2), (1, 0)], directed=True)
    assert components(one_way, channel_matrix(one_way)) == 2
