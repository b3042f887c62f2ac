"""Vertex- and edge-transitivity: every true and false against isomorphisms from networkx."""

from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from torusweep.networks.families import build
from torusweep.networks.links import channel_matrix, link_orbits
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.questions.static import connectivity
from torusweep.questions.static.connectivity import decide_transitivity, shortest_paths_from, whole_group

from tests.questions.static.networks import as_networkx, network, random_network


def measured(topology, *, declared=True):
    return decide_transitivity(topology, channel_matrix(topology), proved_symmetries(topology) if declared else [])


def are_equivalent(graph, first, second):
    """Whether an automorphism maps the nodes (or the link) `first` to `second`, in either order if bidirectional."""

    def marked(nodes, ordered):
        marks = dict.fromkeys(graph, 0) | {node: place + 1 if ordered else 1 for place, node in enumerate(nodes)}
        copy = graph.copy()
        nx.set_node_attributes(copy, marks, "mark")
        return copy

    ordered = graph.is_directed()
    return nx.vf2pp_is_isomorphic(marked(first, ordered), marked(second, ordered), node_label="mark")


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("spelling", "vertex", "edge"),
    [
        ("torus(k=4, n=2)", True, True),
        ("torus(radices=[5, 3])", True, False),
        ("hypercube(n=4)", True, True),
        ("mesh(k=3, n=2)", False, False),
        ("pruned_t1(k=4)", True, False),  # P98 Theorem 2 says edge-transitive; so does P04 sec. 3.E
        ("pruned_torus(k=4, n=3)", True, False),
        ("pruned_t2(k=4)", True, False),
        ("rtt(a=3)", True, True),
        ("illiac(k=4)", True, False),
        ("ccc(n=3)", True, False),
        ("sequin(k=4, s=1, t=1)", None, None),  # as networkx finds
    ],
)
def test_transitivity_against_networkx(spelling, vertex, edge, declared):
    topology = build(spelling)
    graph = as_networkx(topology)
    links = list(graph.edges)
    found = measured(topology, declared=declared)
    assert found.vertex == all(are_equivalent(graph, [0], [node]) for node in graph)
    assert found.edge == all(are_equivalent(graph, links[0], link) for link in links)
    if vertex is not None:
        assert (found.vertex, found.edge) == (vertex, edge)


@pytest.mark.parametrize(
    ("spelling", "vertex", "edge"),
    [
        *((f"pruned_t1(k={k})", True, False) for k in (6, 8)),
        ("pruned_torus(k=6, n=4)", True, False),
        *((f"pruned_t2(k={k})", True, False) for k in (6, 8, 16)),
        ("pruned_directed_torus(k=4, n=3)", True, False),
        ("directed_torus(k=4, n=3)", True, True),
        ("torus(k=16, n=3)", True, True),
        ("torus(radices=[32, 16, 16])", True, False),
        ("torus(k=4, n=2, directed=true)", True, True),
        ("pdtt(a=4)", True, True),
        ("mh3dt(m=4, n=4, levels=2, q=0)", False, False),
        ("faulty(torus(k=8, n=3), links=1)", False, False),
    ],
)
def test_known(spelling, vertex, edge):
    assert measured(build(spelling))[:2] == (vertex, edge)


@pytest.mark.parametrize(
    "spelling",
    ["pruned_torus(k=4, n=3)", "pruned_torus(k=6, n=3)", "pruned_torus(k=8, n=3)", "pruned_torus(k=6, n=4)"]
    + ["pruned_t2(k=6)"],
)
def test_pruned_tori_have_two_orbits_of_links(spelling):
    """Under the whole group, from BLISS: dimension 0 (z in T2), and all others."""
    topology = build(spelling)
    images = whole_group(topology)
    nodes = orbits_under(topology.nodes, images)
    links = link_orbits(topology, images, nodes)
    assert (len(nodes.representatives), links.number) == (1, 2)


def brute_force_orbits(topology):
    """(orbits of nodes, orbits of links) by enumeration of permutations."""
    arcs = {(u, v): data["capacity"] for u, v, data in as_networkx(topology).to_directed().edges(data=True)}
    images = [
        p for p in permutations(range(topology.nodes)) if {(p[u], p[v]): size for (u, v), size in arcs.items()} == arcs
    ]
    nodes = {frozenset(p[u] for p in images) for u in range(topology.nodes)}
    ends = (lambda u, v: (u, v)) if topology.directed else (lambda u, v: (min(u, v), max(u, v)))
    links = {frozenset(ends(p[u], p[v]) for p in images) for u, v in arcs}
    return len(nodes), len(links)


SMALL = [
    *(random_network(6, 1 + seed % 3, seed, directed=seed % 2 == 1, capacities=seed % 4 > 1) for seed in range(12)),
    network(6, [(i, (i + 1) % 6) for i in range(6)], directed=True),
    network(6, [(i, (i + 1) % 6, 1 + i % 2) for i in range(6)]),  # alternating links of 1 and 2: only vertex-transitive
    network(6, [(i, (i + 1) % 6, 1 + i % 2) for i in range(6)], directed=True),
    network(6, [(i, (i + 1) % 6, 3) for i in range(6)]),
    network(6, [(i, (i + 3) % 6) for i in range(3)]),
    network(6, [(0, i) for i in range(1, 6)]),
]


@pytest.mark.parametrize("topology", SMALL)
def test_every_permutation_of_small_networks(topology):
    images = whole_group(topology)
    nodes = orbits_under(topology.nodes, images)
    node_orbits, link_count = brute_force_orbits(topology)
    assert (len(nodes.representatives), link_orbits(topology, images, nodes).number) == (node_orbits, link_count)
    assert measured(topology)[:2] == (node_orbits == 1, link_count <= 1)


@pytest.mark.parametrize(
    "spelling",
    [
        "mesh(radices=[4, 4])",
        "pruned_torus(k=4, n=3)",
        "directed_torus(k=4, n=2)",
        "h3dt(m=3, n=2, levels=2, q=0)",
        "ccc(n=4)",
    ],
)
def test_link_orbits_against_a_plain_search(spelling):
    """The orbits of all channels under the generators."""
    topology = build(spelling)
    images = [image.tolist() for image in proved_symmetries(topology)]
    tail, head, _ = topology.arcs
    arcs = list(zip(tail.tolist(), head.tolist()))
    graph = nx.Graph()
    graph.add_nodes_from(arcs)
    graph.add_edges_from(((u, v), (g[u], g[v])) for u, v in arcs for g in images)
    if not topology.directed:
        graph.add_edges_from(((u, v), (v, u)) for u, v in arcs)
    nodes = orbits_under(topology.nodes, proved_symmetries(topology))
    links = link_orbits(topology, proved_symmetries(topology), nodes)
    port = {(x, y): j for x in range(topology.nodes) for j, y in enumerate(links.frame[x].tolist()) if y >= 0}
    assert sorted(port) == sorted(arcs)
    parts = list(nx.connected_components(graph))
    assert links.number == len(parts)
    assert all(len({int(links.label[nodes.member[u], port[u, v]]) for u, v in part}) == 1 for part in parts)


@pytest.mark.parametrize("directed", [False, True])
def test_shortest_paths_are_counted(directed):
    topology = random_network(20, 3, 5, directed=directed)
    graph = as_networkx(topology)
    hops, paths = shortest_paths_from(topology, 4)
    for node in graph:
        found = list(nx.all_shortest_paths(graph, 4, node)) if nx.has_path(graph, 4, node) else []
        assert (hops[node], paths[node]) == (len(found[0]) - 1 if found else -1, len(found))


def test_nothing_proved_is_null(monkeypatch):
    """A cube without declared symmetry: no invariant differs, and the group is too large to compute."""
    monkeypatch.setattr(connectivity, "GROUP_NODES", 0)
    cube = network(
        8,
        [(i, (i + 1) % 4) for i in range(4)]
        + [(4 + i, 4 + (i + 1) % 4) for i in range(4)]
        + [(i, i + 4) for i in range(4)],
    )
    found = measured(cube)
    assert (found.vertex, found.edge) == (None, None)
    assert found.method.count("not decided") == 2
    assert len(found.nodes.representatives) == 8


def test_terminals_do_not_affect_transitivity():
    ring = [(i, (i + 1) % 6) for i in range(6)]
    assert measured(network(6, ring, terminals=[0, 3, 3]))[:2] == (True, True)


def test_a_single_node():
    found = measured(network(1, []))
    assert (found.vertex, found.edge) == (True, True)
    assert found.links.label.shape == np.empty((1, 0)).shape
