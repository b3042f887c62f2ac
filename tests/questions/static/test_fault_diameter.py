"""Fault diameter against a plain loop over sets of faults, and Parhami & Kwai's bound."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.symmetry import orbits
from torusweep.questions.static import fault_diameter as faults
from torusweep.questions.static.fault_diameter import fault_diameter

from tests.questions.static.networks import as_networkx, network, random_network


def measured(topology, count, *, use_symmetry=True, backend="auto"):
    return fault_diameter(topology, orbits(topology, use_symmetry=use_symmetry), count, backend=backend, threads=None)


def by_loop(topology, count):
    """The largest distance between surviving terminals over every set of faults; None if a set disconnects two."""
    graph, ends, worst = as_networkx(topology), set(topology.terminals.tolist()), 0
    for failed in combinations(graph, count):
        rest = graph.copy()
        rest.remove_nodes_from(failed)
        hops = dict(nx.all_pairs_shortest_path_length(rest))
        alive = ends - set(failed)
        if any(t not in hops[s] for s in alive for t in alive):
            return None
        worst = max([worst, *(hops[s][t] for s in alive for t in alive)])
    return worst


@pytest.mark.parametrize("use_symmetry", [True, False])
@pytest.mark.parametrize(
    ("spelling", "count"),
    [
        *(("torus(k=4, n=2)", count) for count in (1, 2, 3, 4)),
        ("torus(radices=[3, 5])", 3),
        ("mesh(k=4, n=2)", 1),
        ("mesh(k=3, n=2)", 2),
        ("pruned_torus(k=2, n=3)", 1),
        ("directed_torus(k=4, n=2)", 1),
        ("rtt(a=3)", 2),
        ("hypercube(n=4)", 3),
        ("sequin(k=4, s=1, t=2)", 2),
        ("ccc(n=3)", 2),
    ],
)
def test_every_set_of_faults(spelling, count, use_symmetry):
    topology = build(spelling)
    assert measured(topology, count, use_symmetry=use_symmetry).diameter == by_loop(topology, count)


@pytest.mark.parametrize("terminals", [None, [0, 1, 2], [5], [0, 0, 7, 3, 9]])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 8, 9])
def test_random_networks(directed, count, terminals):
    drawn = random_network(10, 4, count, directed=directed)
    tail, head, _ = drawn.arcs
    links = [(u, v) for u, v in zip(tail.tolist(), head.tolist()) if directed or u < v]
    topology = network(10, links, directed=directed, terminals=terminals)
    assert measured(topology, count).diameter == by_loop(topology, count)


@pytest.mark.parametrize("exhaustive", [True, False])
def test_a_separating_set_that_is_no_neighbourhood(exhaustive, monkeypatch):
    """Two complete networks of 6 share 2 nodes: every node has at least 5 neighbours, but 2 faults disconnect them."""
    if not exhaustive:
        monkeypatch.setattr(faults, "EXHAUSTIVE_WORK", 0)
    cliques = {(u, v) for part in (range(6), range(4, 10)) for u, v in combinations(part, 2)}
    found = measured(network(10, sorted(cliques)), 2)
    assert found.diameter is None
    assert found.method.endswith("stopped at the first set that disconnects")


@pytest.mark.parametrize(
    ("spelling", "count", "sets", "method"),
    [
        ("torus(k=4, n=2)", 2, 120, "exhaustive"),
        ("mesh(k=4, n=2)", 1, 16, "exhaustive"),
        ("torus(k=4, n=2)", 5, 1, "proof: the 4 neighbours of a node cut it off"),
        ("torus(k=4, n=2, directed=true)", 2, 1, "proof: the 2 neighbours of a node cut it off"),
        ("mesh(radices=[9])", 1, 1, "proof: the 1 neighbour of a node cut it off"),
    ],
)
def test_method_describes_the_sets(spelling, count, sets, method):
    assert measured(build(spelling), count)[1:] == (sets, method)


@pytest.mark.parametrize("block", [1, 7, 100])
def test_every_set_is_tried_once(block, monkeypatch):
    monkeypatch.setattr(faults, "LANES", block)
    blocks = list(faults._batches(faults._all_sets(4, 9, 3, 56)))
    assert all((lanes == 4).all() for lanes, _ in blocks)
    removed = np.concatenate([part for _, part in blocks])
    assert sorted(map(tuple, removed.tolist())) == list(combinations([0, 1, 2, 3, 5, 6, 7, 8], 3))


def test_random_sets_are_uniform():
    ((lanes, removed),) = faults._sample({3: np.empty((0, 2), np.int32)}, 6, 2, 20_000)
    assert (lanes == 3).all()
    sets, times = np.unique(np.sort(removed, axis=1), axis=0, return_counts=True)
    assert list(map(tuple, sets.tolist())) == list(combinations([0, 1, 2, 4, 5], 2))
    assert abs(times - 2000).max() < 200  # expected 2000, standard deviation 42


@pytest.mark.parametrize("spelling", ["torus(k=5, n=2)", "mesh(radices=[4, 5])", "directed_torus(k=4, n=2)"])
def test_a_sample_is_a_lower_bound_and_the_same_every_time(spelling, monkeypatch):
    topology = build(spelling)
    whole = measured(topology, 1).diameter
    monkeypatch.setattr(faults, "EXHAUSTIVE_WORK", 0)
    sample = measured(topology, 1)
    assert sample == measured(topology, 1) == measured(topology, 1, backend="numpy")
    assert sample.method.startswith("sampled: ")
    assert sample.diameter == whole  # thousands of draws from so few sets include the worst


@pytest.mark.parametrize(("k", "count"), [(8, 1), (8, 2), pytest.param(8, 3, marks=pytest.mark.slow), (12, 3)])
def test_theorem_3_of_parhami_and_kwai(k, count):
    """P04 Theorem 3, n = 3, k ≥ 8: at most (n−1)⌊k/2⌋ + k − n + 2 hops with fewer faults than the connectivity 4."""
    found = measured(build(f"pruned_torus(k={k}, n=3)"), count)
    assert found.diameter <= 2 * (k // 2) + k - 3 + 2
    assert found.method.startswith("exhaustive" if k == 8 else "sampled")


@pytest.mark.parametrize("count", [0, -1, 16, True, 1.5])
def test_refusals(count):
    with pytest.raises(BadInput, match=r"fault_nodes=.*: expected 1 … 15"):
        measured(build("torus(k=4, n=2)"), count)
