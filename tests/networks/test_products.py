"""Distances of products from those of their factors, beside breadth-first search by networkx and closed forms."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import networkx
import numpy as np
import pytest
import torusweep as ts
from torusweep.networks.families import build
from torusweep.networks.products import eccentricities, factors_of, pairs_at_each_distance
from torusweep.networks.topology import NO_PORT
from torusweep.questions.how import How
from torusweep.questions.static import distances
from torusweep.questions.static.record import static_record

PRODUCTS = [
    "mesh(radices=[5, 4, 3])",
    "torus(radices=[2, 3, 4])",
    "hypercube(n=4)",
    "hyperx(radices=[4, 3], terminals=2)",
    "slice(radices=[3, 6], wrap=[false, true])",
    "concentrated(mesh(k=4, n=2), terminals=3)",
    "hyperx(radices=[3, 4], terminals=1, widths=[2, 1])",
]
OTHERS = [
    "ring(k=8)",  # one factor
    "rtt(a=4)",
    "pruned_torus(k=4, n=3)",
    "without(mesh(k=4, n=2), links=[[5, 6]])",
    "without(torus(k=4, n=2), nodes=[3])",
    "twisted_torus(radices=[4, 4], twists={0: {1: 2}})",
    "fat_tree(k=4, n=2)",
]


def counts(topology) -> Counter:
    """Ordered pairs of nodes at each distance, by networkx."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(topology.nodes))
    graph.add_edges_from((u, v) for u, row in enumerate(topology.ports.tolist()) for v in row if v != NO_PORT)
    return Counter(d for _, found in networkx.all_pairs_shortest_path_length(graph) for d in found.values())


@pytest.mark.parametrize("spelling", PRODUCTS)
def test_a_product_has_the_distances_of_its_factors(spelling, monkeypatch):
    topology = build(spelling)
    factors = factors_of(topology)
    assert factors is not None
    expected = counts(topology)
    assert dict(enumerate(pairs_at_each_distance(factors))) == expected
    by_search = distances.distances(topology, How(use_symmetry=False, backend="numpy"))
    monkeypatch.setattr(distances, "LONG_SEARCH", 0)
    answer = distances.distances(topology, How(backend="numpy"))
    assert answer.record == by_search.record
    assert answer.eccentricities.tolist() == by_search.eccentricities.tolist()
    assert static_record(topology) == static_record(topology, use_symmetry=False)


@pytest.mark.parametrize("spelling", OTHERS)
def test_what_is_no_product_is_none(spelling):
    assert factors_of(build(spelling)) is None


@pytest.mark.parametrize("seed", range(20))
def test_a_product_of_any_graphs_is_found_and_one_link_less_is_none(seed, tmp_path):
    """Random factors, of one direction and in parts, too; node numbers as addresses, x fastest."""
    draw = np.random.default_rng(seed)
    sides = draw.integers(2, 5, size=2).tolist()
    directed = bool(seed % 2)
    kind = networkx.DiGraph if directed else networkx.Graph
    first, second = (kind(networkx.gnp_random_graph(k, 0.6, seed=seed, directed=directed)) for k in sides)
    graph = networkx.convert_node_labels_to_integers(networkx.cartesian_product(second, first), ordering="sorted")
    topology = _with_radices(graph, sides)
    factors = factors_of(topology)
    assert factors is not None
    assert Counter({d: n for d, n in enumerate(pairs_at_each_distance(factors)) if n}) == counts(topology)
    farthest = [max(networkx.single_source_shortest_path_length(graph, node).values()) for node in range(len(graph))]
    assert eccentricities(factors).tolist() == farthest
    if graph.edges and min(first.number_of_edges(), second.number_of_edges()):
        graph.remove_edge(*sorted(graph.edges)[draw.integers(len(graph.edges))])
        assert factors_of(_with_radices(graph, sides)) is None


def _with_radices(graph, sides):
    topology = ts.network(graph).topology
    return replace(topology, plan=replace(topology.plan, radices=tuple(sides)))


@pytest.mark.parametrize(("k", "n"), [(1000, 2), (100, 3)])
def test_a_mesh_of_a_million_nodes_by_its_closed_form(k, n):
    """Dally 1990: the mean over all pairs is n (k − 1/k) / 3; a corner has n others at one hop."""
    answer = distances.distances(build(f"mesh(k={k}, n={n})"), How())
    assert answer.diameter == n * (k - 1)
    assert answer.mean == float(Fraction(n, 3) * (k - Fraction(1, k)))
    assert answer.histogram[1] == 2 * n * k ** (n - 1) * (k - 1)
    assert answer.histogram[-1] == 2**n
