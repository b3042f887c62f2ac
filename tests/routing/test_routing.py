"""Every routing on networks that suit it: reach, length, loads, conservation and samples, against plain walks."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.deadlock.routing_case import resolve_routing
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import sampled_loads
from torusweep.routing import ROUTINGS, SourceRouting, canonical, routing
from torusweep.traffic import traffic

from tests.routing.cases import CASES, HIERARCHIES, MINIMAL, SUITED, TRAFFICS
from tests.routing.plain_routes import plain_loads, routes_between


def test_every_routing_has_a_row():
    elsewhere = {"table", "d_mod_k"}  # test_table.py, test_d_mod_k.py
    assert {canonical(name).partition("(")[0] for name in SUITED} == set(ROUTINGS) - elsewhere


@pytest.mark.parametrize(("name", "network"), CASES)
def test_routes_reach_their_destinations_over_links(name: str, network: str):
    topology = build(network)
    form = routing(name, topology)[1]
    graph = nx.DiGraph([(int(tail), int(head)) for tail, head, _ in zip(*topology.arcs)])
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    pairs = [(s, d) for s in range(0, topology.nodes, 1 + topology.nodes // 40) for d in range(topology.nodes)]
    for source, destination in pairs:
        routes = list(routes_between(form, source, destination))
        assert sum(share for share, _ in routes) == pytest.approx(1, abs=1e-12)
        for share, hops in routes:
            assert share > 0
            node = source
            for tail, port in hops:
                assert node == tail
                node = int(topology.ports[node, port])
            assert node == destination
            assert len(hops) >= distance[source][destination]
            if canonical(name).startswith(MINIMAL):
                assert len(hops) == distance[source][destination]


@pytest.mark.parametrize(("name", "network"), [case for case in CASES if case[1] not in HIERARCHIES])
def test_loads_equal_those_of_walked_routes(name: str, network: str):
    topology = build(network)
    everywhere = np.arange(topology.nodes)
    demands = np.stack([traffic(pattern, topology)[1].rows(everywhere) for pattern in TRAFFICS])
    loads, hops = plain_loads(routing(name, topology)[1], demands)
    for pattern, load, every in zip(TRAFFICS, loads, hops):
        for use_symmetry in (True, False)[: 2 if traffic(pattern, topology)[1].symmetric else 1]:
            found = exact_loads(topology, routing=name, traffic=pattern, use_symmetry=use_symmetry)
            np.testing.assert_allclose(found.load, load, rtol=1e-12, atol=1e-13, err_msg=pattern)
            assert found.mean_hops == pytest.approx(every / topology.nodes, rel=1e-12), pattern


@pytest.mark.parametrize(("name", "network"), [(name, network) for name, network in CASES if network in HIERARCHIES])
def test_loads_of_hierarchies_equal_those_of_walked_routes(name: str, network: str, tmp_path: Path):
    topology = build(network)
    demand = np.zeros((topology.nodes, topology.nodes))
    demand[::5] = traffic("uniform", topology)[1].rows(np.arange(0, topology.nodes, 5))
    form = routing(name, topology)[1]
    (load,), _ = plain_loads(form, demand[None])
    rows = [f"{s},{d},{float(demand[s, d])!r}" for s, d in np.argwhere(demand > 0)]
    file = tmp_path / "demand.csv"
    file.write_text("\n".join(["source,destination,demand", *rows]))
    found = exact_loads(topology, routing=name, traffic=f'demand(path="{file}")')
    np.testing.assert_allclose(found.load, load * topology.nodes / demand.sum(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("pattern", ["uniform", "hot_region", "random_permutation"])
@pytest.mark.parametrize(("name", "network"), CASES)
def test_flow_is_conserved(name: str, network: str, pattern: str):
    topology = build(network)
    form = routing(name, topology)[1]
    matrix = traffic(pattern, topology)[1]
    loads = exact_loads(topology, routing=name, traffic=pattern)
    flits = loads.load if topology.capacity is None else loads.load * topology.capacity
    tail, head, port = topology.arcs
    inflow = np.bincount(head, flits[tail, port], minlength=topology.nodes)
    np.testing.assert_allclose(inflow + matrix.sent(), flits.sum(axis=1) + matrix.received(), rtol=1e-11)
    assert flits.sum() == pytest.approx(loads.mean_hops * topology.nodes, rel=1e-12)
    if isinstance(form, SourceRouting) and form.passes == 1:
        shortest = exact_loads(topology, routing="minimal", traffic=pattern).mean_hops
        assert loads.mean_hops >= shortest * (1 - 1e-12)


# each case with two patterns, each pattern with half of the cases
SAMPLED = ("uniform", "hot_spot(node=1, percent=30)"), ("uniform_other", "transpose")


@pytest.mark.parametrize(
    ("name", "network", "pattern"),
    [(*case, pattern) for number, case in enumerate(CASES) for pattern in SAMPLED[number % 2]],
)
def test_sampled_loads_agree_with_exact_loads(name: str, network: str, pattern: str):
    topology = build(network)
    square = network.startswith(("mesh", "torus")) and network.endswith("(k=3, n=2)")
    if pattern == "transpose" and topology.nodes not in (4, 16, 64, 256) and not square:
        with pytest.raises(BadInput, match="transpose"):
            sampled_loads(topology, routing=name, traffic=pattern, packets=1000)
        return
    exact = exact_loads(topology, routing=name, traffic=pattern)
    packets = 40_000
    sample = sampled_loads(topology, routing=name, traffic=pattern, packets=packets, seed=5)
    most, estimate = exact.load.max(), sample.estimate
    assert estimate is not None
    assert estimate.packets == packets
    assert estimate.low - 4 * estimate.stderr <= most <= sample.load.max() + 4 * estimate.stderr
    # a packet uses a channel once, or twice (Valiant): the variance of the count is at most twice its mean
    spread = np.sqrt(2 * exact.load * topology.nodes / packets) + 1e-9
    assert (np.abs(sample.load - exact.load) <= 6 * spread).all()
    assert ((sample.load > 0) <= (exact.load > 0)).all()


@pytest.mark.parametrize(
    ("spelling", "fitting"),
    [
        ("boardfly()", ["minimal", "minimal_ecmp", "up_down", "by_group"]),
        ("faulty(dragonfly(a=2, p=1, h=1), links=1)", ["minimal", "minimal_ecmp", "up_down"]),
        ("fat_tree(k=2, n=3)", ["minimal", "minimal_ecmp", "up_down", "d_mod_k"]),
    ],
)
def test_an_unknown_routing_is_refused_with_those_that_the_network_takes(spelling, fitting):
    for of_questions in (routing, resolve_routing):
        with pytest.raises(BadInput, match="unknown routing 'dragonfly'") as refusal:
            of_questions("dragonfly", build(spelling))
        taken = str(refusal.value).partition(f"{spelling} takes ")[2].removesuffix(", and a table").split(", ")
        assert set(fitting) <= set(taken)
        assert "dimension_order" not in taken
