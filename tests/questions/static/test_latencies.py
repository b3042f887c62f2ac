"""Distances between routers, and latencies between terminals, against networkx."""

from __future__ import annotations

from itertools import product

import networkx as nx
import pytest
from torusweep.networks.families import build
from torusweep.questions.static import distances
from torusweep.questions.static.record import static_record

NETWORKS = [
    "with_links(torus(radices=[4, 3]), latencies=[1, 5])",
    "with_links(dragonfly(a=4, p=2, h=2), bandwidths=[1, 2], latencies=[1, 10])",
    "with_links(dragonfly(a=2, p=1, h=2, local=[2]), latencies=[30, 1])",
    "with_links(fat_tree(k=2, n=3), latencies=[2, 7])",
    "with_links(hyperx(radices=[3, 2], widths=[1, 2], terminals=3), latencies=[4, 1])",
    "with_links(torus(radices=[4, 3], directed=true), latencies=[3, 1])",
    "with_links(faulty(torus(radices=[4, 3]), links=14, seed=3), latencies=[2, 5])",
    "faulty(with_links(mesh(k=3, n=2), latencies=[2, 5]), nodes=3, seed=1)",
    "with_links(ring(k=6), latencies=[4])",
    "fat_tree(k=2, n=3)",
    "megafly(leaves=3, spines=2, p=4, h=2)",
    "hyperx(radices=[3, 2], terminals=2)",
    "xgft(down=[4, 2], up=[1, 2])",
    "faulty(fat_tree(k=2, n=3), nodes=2, seed=5)",
]


def graph_of(topology):
    graph = nx.DiGraph()
    graph.add_nodes_from(node for node in range(topology.nodes) if topology.works[node])
    for u, v, port in zip(*(column.tolist() for column in topology.arcs)):
        cycles = (topology.plan.latencies or (1,) * 9)[topology.link_class[u, port]]
        graph.add_edge(u, v, cycles=cycles)
    return graph


@pytest.mark.parametrize("spelling", NETWORKS)
def test_routers_and_latencies(spelling):
    topology = build(spelling)
    graph, terminals = graph_of(topology), topology.terminals.tolist()
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    between = [far for node in hops for other, far in hops[node].items() if other != node]
    record = static_record(topology)
    assert static_record(topology, use_symmetry=False) == record
    assert record["router_diameter"] == max(between)
    assert record["router_mean_distance"] == pytest.approx(sum(between) / len(between), rel=1e-15)
    if not topology.plan.latencies:
        numbers = record["latency_diameter"], record["latency_mean"]
        assert numbers == (record["diameter"], record["mean_distance_distinct"]), "a cycle a hop"
        return
    cycles = dict(nx.all_pairs_dijkstra_path_length(graph, weight="cycles"))
    found = [
        cycles[terminals[i]][terminals[j]]
        for i, j in product(range(len(terminals)), repeat=2)
        if i != j and terminals[j] in cycles[terminals[i]]
    ]
    assert record["latency_diameter"] == max(found)
    assert record["latency_mean"] == pytest.approx(sum(found) / len(found), rel=1e-15)


def test_distances_between_terminals_do_not_depend_on_links():
    plain, unequal = (
        static_record(build(name)) for name in ("torus(k=4, n=2)", "with_links(torus(k=4, n=2), latencies=[1, 9])")
    )
    for name in ("diameter", "mean_distance", "distance_histogram", "bisection_lower", "edge_connectivity", "links"):
        assert unequal[name] == plain[name]
    assert plain["edge_transitive"]
    assert not unequal["edge_transitive"]
    assert unequal["vertex_transitive"]
    assert "bandwidths or latencies differ" in unequal["transitivity_method"]


def test_too_many_searches_are_left_out(monkeypatch):
    monkeypatch.setattr(distances, "MOST_VISITS", 10)
    record = static_record(build(NETWORKS[1]))
    assert record["latency_diameter"] is record["latency_mean"] is None
    assert static_record(build("with_links(ring(k=6), latencies=[4])"))["latency_diameter"] == 12


def test_exchangeable_dimensions_are_one_orbit_only_where_links_are_alike():
    for links, alike in (("bandwidths=[1, 2]", False), ("bandwidths=[2]", True), ("latencies=[3, 3]", True)):
        assert static_record(build(f"with_links(torus(k=4, n=2), {links})"))["edge_transitive"] == alike
    wheel = static_record(build("with_links(faulty(torus(k=3, n=2), links=1), bandwidths=[1, 2])"))
    assert wheel["vertex_transitive"] is False
