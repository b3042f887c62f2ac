"""Both bounds of the first-order method against the linear program, and their proofs against plain loops."""

from __future__ import annotations

import json
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
import torusweep.capacity
from torusweep.capacity import capacity
from torusweep.capacity.first_order import Proofs, approach, bracket
from torusweep.errors import Refused
from torusweep.networks.families import build

from tests.capacity.networks import MAKERS, demands, make
from tests.capacity.test_throughput import best_over_routes, commodities
from tests.certify.show import check
from tests.questions.static.networks import as_networkx, network, random_network

LONG = float("inf")


# what enters node 4 gets stuck there; node 5 has a way out only
STUCK = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (2, 4), (5, 0), (5, 4), (0, 2)]


def made(name):
    return network(6, STUCK, directed=True, terminals=[0, 1, 2, 3]) if name == "dead ends" else make(name)


def connected(nodes, seed, *, directed):
    """A random network with parallel links in which all nodes reach each other."""
    for attempt in range(100):
        topology = random_network(nodes, 3, 100 * seed + attempt, directed=directed, capacities=seed % 2 == 0)
        graph = as_networkx(topology)
        if nx.is_strongly_connected(graph) if directed else nx.is_connected(graph):
            return topology
    raise AssertionError("expected a connected network")


@pytest.mark.parametrize("routes", ["all", "minimal"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pattern", ["uniform", "random_permutation(seed=5)", "hot_spot(percent=60)"])
def test_the_program_lies_between_both_bounds(seed, directed, routes, pattern):
    topology = connected(9 + 2 * seed, seed, directed=directed)
    best = capacity(topology, pattern, routes=routes)
    found, _ = bracket(topology, pattern, routes=routes, gap=0.01, minutes=1)
    assert best.gap < 1e-9
    assert found.throughput <= best.bound * (1 + 1e-9)
    assert found.bound >= best.throughput * (1 - 1e-9)
    assert found.bound / found.throughput - 1 == found.gap <= 0.01 * (1 + 1e-9)
    assert found.load.max() == pytest.approx(1 / found.throughput, rel=1e-9)


@pytest.mark.parametrize("routes", ["all", "minimal"])
@pytest.mark.parametrize("name", [*MAKERS, "mesh(radices=[3, 2])", "faulty(torus(k=3, n=2), links=7, seed=2)"])
def test_enumerated_routes_lie_between_both_bounds(name, routes):
    """Terminals at some nodes only, links of one direction, parallel links: as in the path formulation."""
    best = best_over_routes(name, "uniform", routes)
    found, _ = bracket(make(name), "uniform", routes=routes, gap=0.001, minutes=1)
    assert found.throughput * (1 - 1e-9) <= best <= found.bound * (1 + 1e-9)
    assert found.gap <= 0.0011


@pytest.mark.parametrize("routes", ["all", "minimal"])
@pytest.mark.parametrize("until", [-LONG, LONG], ids=["at once", "until the gap"])
@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("kite with parallel links", "uniform"),
        ("one-way kite", "hot_spot(percent=60)"),
        ("kite with terminals", "uniform"),
        ("dead ends", "uniform"),
        ("mesh(k=4, n=2)", "transpose"),
    ],
)
def test_plain_loops_find_both_bounds(name, pattern, until, routes):
    """Also of the first proof, which is far from the optimum: a bound is the value of what proves it."""
    topology = made(name)
    flows = commodities(topology, pattern, use_symmetry=False)
    proof, steps = approach(flows, routes, gap=0.01, until=until)
    assert steps == 0 if until < 0 else proof.upper <= proof.lower * Fraction("1.01001")
    graph = as_networkx(topology).to_directed()
    tail, head, _ = topology.arcs
    backwards = not np.array_equal(flows.tail, tail)
    for u, v, length in zip(tail.tolist(), head.tolist(), proof.length.tolist()):
        graph.edges[u, v].update(length=length, used=0)

    def away(s, t):
        if routes == "all":
            return nx.dijkstra_path_length(graph, s, t, weight="length")
        return min(nx.path_weight(graph, route, "length") for route in nx.all_shortest_paths(graph, s, t))

    wanted = demands(topology, pattern)
    offered = sum(data["capacity"] * data["length"] for *_, data in graph.edges(data=True))
    needed = sum(Fraction(flits) * away(s, t) for (s, t), flits in wanted.items())
    assert float(proof.upper) == pytest.approx(float(offered / needed), rel=1e-14)
    for k, root in enumerate(flows.roots.tolist()):
        left = dict.fromkeys(graph, 0)
        for arc, parts in enumerate(proof.flow[:, k].tolist()):
            u, v = int(tail[arc]), int(head[arc])
            assert parts >= 0
            if routes == "minimal" and parts:
                ends = (root, u, root, v) if backwards else (v, root, u, root)
                assert nx.shortest_path_length(graph, *ends[:2]) != nx.shortest_path_length(graph, *ends[2:])
            graph.edges[u, v]["used"] += parts
            left[v if backwards else u] += parts
            left[u if backwards else v] -= parts
        for node in graph:
            flits = wanted.get((root, node) if backwards else (node, root), 0)
            assert node == root or left[node] >= proof.scale * flits * (1 - 2**-49)
    busiest = max(Fraction(data["used"], data["capacity"]) for *_, data in graph.edges(data=True))
    assert proof.lower == proof.scale / busiest
    assert 0 < proof.lower <= proof.upper


def test_flow_that_gets_stuck_does_not_count():
    topology = made("dead ends")
    flows = commodities(topology, "uniform", use_symmetry=False)
    best = capacity(topology, "uniform")
    for amount in (0.0, 0.3, 3.0):
        proofs = Proofs(flows, "all")
        proofs.raise_to(np.full((len(flows.tail), len(flows.roots)), amount))
        assert proofs.proof.lower <= best.bound * (1 + 1e-9)
        stuck = np.isinf(flows.hops[:, flows.head]).T
        assert stuck.any()
        assert not proofs.proof.flow[stuck].any()


def test_symmetry_and_bandwidths():
    """A quarter of the flits of 64 nodes cross eight links each way, of half a flit a cycle (Dally 1990)."""
    for use_symmetry in (True, False):
        topology = build("torus(k=8, n=2)")
        found, proof = bracket(topology, "uniform", use_symmetry=use_symmetry, gap=0.005, minutes=1)
        assert found.throughput <= 1 <= found.bound
        assert found.gap <= 0.0051
        assert len(proof.flow[0]) == (1 if use_symmetry else 64)
    halved = build("with_links(torus(k=8, n=2), bandwidths=[0.5, 0.5])")
    found, _ = bracket(halved, "uniform", gap=0.005, minutes=1)
    assert found.throughput <= 0.5 <= found.bound


def test_a_cut_torus_reaches_its_narrowest_cut():
    """Three links cut: 64 − 2 channels each way between two halves, which a quarter of 256 flits cross."""
    found, _ = bracket(build("faulty(torus(k=16, n=2), links=3)"), "uniform", gap=0.01, minutes=5)
    assert found.throughput <= 0.484375 <= found.bound  # the linear program's optimum, 29 s
    assert found.gap <= 0.01


@pytest.mark.parametrize(
    ("name", "pattern", "routes"),
    [
        ("mesh(k=4, n=2)", "transpose", "all"),
        ("torus(k=5, n=2, directed=true)", "uniform", "all"),
        ("pruned_torus(k=4, n=3)", "uniform", "minimal"),
        ("mesh(radices=[5, 3])", "uniform", "minimal"),
    ],
)
def test_a_gap_is_told_and_certified(monkeypatch, name, pattern, routes):
    asked = ts.network(name)
    monkeypatch.setattr(torusweep.capacity, "MAX_FLOWS", 1)
    with pytest.raises(Refused, match=r"choose a gap that suffices .*--gap 0\.01.*, a smaller network"):
        asked.capacity(pattern, routes=routes)
    found = asked.capacity(pattern, routes=routes, gap=0.02)
    assert "first-order method" in found.method
    if found.gap > 1e-6:
        assert "optimum lies between both" in [line[2] for line in found.lines()][2]
    claim = json.loads(found.certificate)["claim"]
    least, most = Fraction(claim["at_least"]), Fraction(claim["at_most"])
    assert check.check(found.certificate) == {"kind": "capacity", **claim}
    assert float(least) == pytest.approx(found.throughput, rel=1e-12)
    assert float(most) == pytest.approx(found.bound, rel=1e-12)
    monkeypatch.setattr(torusweep.capacity.certificate, "MOST_NUMBERS", 3)
    assert json.loads(found.certificate)["claim"] | {"at_least": None} == claim | {"at_least": None}
    assert json.loads(found.certificate)["proof"]["flows"] is None
    assert check.check(found.certificate)["at_least"] is None


def test_where_the_program_is_small_a_gap_changes_nothing():
    asked = ts.network("torus(k=4, n=2)")
    assert asked.capacity(gap=0.1).record == asked.capacity().record


@pytest.mark.parametrize(("gap", "method"), [(0.01, "first-order"), (0.0005, "linear program"), (None, "linear")])
def test_of_a_slow_program_a_wide_gap_takes_the_faster_method(monkeypatch, gap, method):
    monkeypatch.setattr("torusweep.questions.loads.capacity.SLOW_FLOWS", 100)
    found = ts.network("mesh(k=4, n=2)").capacity("transpose", gap=gap)
    assert method in found.method
    assert found.gap <= (gap or 1e-6)
    exact = ts.network("mesh(k=4, n=2)").capacity("transpose")
    assert found.throughput <= exact.bound
    assert found.bound >= exact.throughput
