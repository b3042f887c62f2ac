"""Distances against networkx, the papers' exact means, and a plain loop over terminals."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from torusweep.networks.families import build
from torusweep.networks.symmetry import orbits
from torusweep.questions.static.distances import terminal_distances

from tests.questions.static.networks import as_networkx, network, random_network


def measured(topology, *, use_symmetry=True, backend="auto", threads=None):
    return terminal_distances(topology, orbits(topology), use_symmetry=use_symmetry, backend=backend, threads=threads)


@pytest.mark.parametrize(
    ("spelling", "diameter", "mean"),
    [
        ("pruned_torus(k=8, n=3)", 12, Fraction("6.21875")),  # P04 Table 1
        ("pruned_t2(k=8)", 12, Fraction("6.828125")),  # P98 Table 1
        ("directed_torus(k=8, n=3)", 13, Fraction(6) + 1 - Fraction(4, 512)),  # P04 Table 1: 0.75k + 1 − 4/k³
        ("pruned_directed_torus(k=8, n=3)", 15, Fraction("8.8203125")),  # P04 Table 1
        ("rtt(a=4)", 4, Fraction(8, 3) - Fraction(1, 24)),  # C10 Table 1: 2a/3 − 1/(6a)
        ("pdtt(a=4)", 6, Fraction(7, 2) - Fraction(1, 16)),  # C10: 7a/8 − 1/(4a)
        ("mh3dt(m=4, n=4, levels=2, q=0)", 18, Fraction("9.796875")),  # R05's network, shortest paths
        ("hypercube(n=12)", 12, Fraction(6)),  # R05 Table 1
        ("torus(k=5, n=2, directed=true)", 8, Fraction(4)),  # D90: n(k−1)/2
    ],
)
def test_known_means(spelling, diameter, mean):
    topology = build(spelling)
    n = topology.nodes
    found = measured(topology)
    assert (found.diameter, found.mean, found.mean_distinct) == (diameter, float(mean), float(mean * n / (n - 1)))


@pytest.mark.parametrize("use_symmetry", [True, False])
@pytest.mark.parametrize(
    "spelling",
    [
        "mesh(radices=[3, 5])",
        "sequin(k=4, s=1, t=2)",
        "ccc(n=3)",
        "h3dt(m=3, n=2, levels=2, q=0)",
        "pruned_directed_torus(k=4, n=3)",
    ],
)
def test_networkx_agrees(spelling, use_symmetry):
    topology = build(spelling)
    graph = as_networkx(topology)
    found = measured(topology, use_symmetry=use_symmetry)
    assert found.diameter == nx.diameter(graph)
    assert found.mean_distinct == pytest.approx(nx.average_shortest_path_length(graph), rel=1e-14)


def pairs_by_loop(topology):
    """(pairs, sum of distances, largest) over ordered pairs of terminals, repetitions included."""
    hops = dict(nx.all_pairs_shortest_path_length(as_networkx(topology)))
    ends = topology.terminals.tolist()
    found = [hops[s][t] for s in ends for t in ends if t in hops[s]]
    return np.bincount(found, minlength=1).tolist()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("terminals", [None, [0], [1, 3, 5], [0, 0, 2, 2, 2, 7], [4] * 9 + [1] * 5 + [6]])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_with_several_terminals(terminals, directed, seed):
    drawn = random_network(9, 2, seed, directed=directed)
    tail, head, _ = drawn.arcs
    links = [(u, v) for u, v in zip(tail.tolist(), head.tolist()) if directed or u < v]
    topology = network(9, links, directed=directed, terminals=terminals)
    expected = pairs_by_loop(topology)
    pairs, hops = sum(expected), sum(d * count for d, count in enumerate(expected))
    distinct = pairs - len(topology.terminals)
    found = measured(topology)
    assert found.histogram == expected
    assert found.mean == hops / pairs
    assert found.mean_distinct == (hops / distinct if distinct else 0.0)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize(
    ("nodes", "links", "terminals", "histogram"),
    [
        (1, [], None, [1]),
        (3, [], None, [3]),
        (4, [(0, 1), (2, 3)], None, [4, 4]),
        (3, [(0, 1)], [], [0]),  # no terminals
    ],
    ids=["single node", "no links", "two pairs", "no terminals"],
)
def test_means_without_pairs(nodes, links, terminals, histogram, backend):
    found = measured(network(nodes, links, terminals=terminals), backend=backend)
    pairs, hops = sum(histogram), sum(histogram[1:])
    assert found.histogram == histogram
    assert found.mean == (hops / pairs if pairs else 0.0)
    assert found.mean_distinct == (1.0 if hops else 0.0)
