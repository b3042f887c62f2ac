"""Requests of loads that a plan alone shows to suit a network: no network is built to count them, and none differs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.loads import source
from torusweep.questions.loads import stage as loads_stage
from torusweep.questions.loads.stage import LoadsQuestion, LoadsRequest
from torusweep.questions.stage import LazyNetwork
from torusweep.sweeps.configuration import load
from torusweep.sweeps.requested_points import requested_points

from tests.questions.static.networks import as_networkx

JOINED = [
    *("ring(k=2)", "ring(k=5)", "torus(k=4, n=2)", "torus(radices=[2, 3, 5])", "torus(k=3, n=2, directed=true)"),
    *("torus(radices=[2, 3], directed=true)", "hypercube(n=1)", "hypercube(n=4)", "mesh(k=2, n=1)", "mesh(k=4, n=2)"),
    *("mesh(radices=[3, 5])", "rt(a=2)", "pt(a=2)", "rtt(a=2)", "rtt(a=3)", "ptt(a=2)", "pdtt(a=2)"),
    *("lattice(matrix=[[1]])", "lattice(matrix=[[4, 2], [0, 2]])", "lattice(matrix=[[2, 1], [1, 3]])"),
    *(
        "circulant(n=10, steps=[1, 4])",
        "circulant(n=9, steps=[2])",
        "twisted_torus(radices=[4, 2], twists={1: {0: 2}})",
    ),
    *("slim_fly(q=3, terminals=2)", "polarfly(q=2, terminals=3)", "hyperx(radices=[3, 2], terminals=2)"),
    *("dragonfly(a=2, p=2, h=1)", "megafly(leaves=1, spines=2, p=2, h=1)", "xgft(down=[2, 3], up=[1, 2])"),
    *("jellyfish(switches=6, ports=5, degree=3)", "concentrated(torus(k=3, n=2), terminals=2)"),
    *(
        "slice(radices=[2, 3], wrap=[false, true])",
        "with_links(torus(radices=[4, 2]), bandwidths=[2, 1])",
        "boardfly(groups=2)",
    ),
]
OTHERS = [
    *("faulty(ring(k=6), links=2, seed=1)", "faulty(torus(k=4, n=2), nodes=1)", "ccc(n=3)", "pruned_torus(k=4, n=3)"),
    *("concentrated(xgft(down=[2, 3], up=[1, 2]), terminals=3)", "faulty(dragonfly(a=2, p=2, h=1), links=1)"),
    *("illiac(k=3)", "sequin(k=8, s=1, t=2)"),
]
ROUTINGS = ["minimal", "minimal_ecmp", "dimension_order(tie=positive)", "reverse_order", "valiant", "by_group"]
ROUTINGS += ["valiant_by_group", "up_down"]
PATTERNS = [
    *("uniform", "uniform_other", "all_to_all", "nearest_neighbour", "hot_region", "hot_spot", "hot_spot(node=12)"),
    *("random_permutation(seed=3)", "bit_complement", "bit_reversal", "perfect_shuffle", "transpose", "tornado"),
    *("neighbour", "ring_all_reduce", "shift", "shift(by=12)", "group_shift", "group_shift(shift=3)"),
]


@pytest.mark.parametrize("spelling", [*JOINED, *OTHERS])
def test_networks_that_are_joined_by_construction_are(spelling: str):
    topology = build(spelling)
    if topology.plan.joined:
        graph = as_networkx(topology)
        assert nx.is_strongly_connected(graph) if topology.directed else nx.is_connected(graph)
        at_nodes = np.bincount(topology.terminals, minlength=topology.nodes)
        assert len(topology.terminals) == (topology.plan.terminals or topology.nodes)
        assert topology.plan.unequal or np.ptp(at_nodes) == 0
    assert topology.plan.one_each <= (topology.terminals.tolist() == list(range(topology.nodes)))
    assert topology.plan.joined == (spelling in JOINED or spelling.startswith("illiac"))


QUESTION = LoadsQuestion()


def answer(spelling: str, request: LoadsRequest) -> str:
    try:
        QUESTION.check(LazyNetwork(spelling), request)
    except BadInput as refusal:
        return f"{type(refusal).__name__} {refusal}"
    return "suits"


@pytest.mark.parametrize("most", [10**10, 40])
@pytest.mark.parametrize("spelling", [*JOINED, *OTHERS])
def test_a_plan_shows_nothing_that_the_network_denies(spelling: str, most: int, monkeypatch):
    """Every routing with every pattern, where few pairs are allowed and where many are."""
    monkeypatch.setattr(source, "MAX_PAIRS", most)
    requests = [
        LoadsRequest(routing, pattern)
        for routing, pattern in product(ROUTINGS, PATTERNS)
        if "fly" in spelling or "group" not in routing + pattern
    ]
    requests += [LoadsRequest(routing, "hot_spot", packets=1000) for routing in ROUTINGS]
    by_plan = [answer(spelling, request) for request in requests]
    monkeypatch.setattr(loads_stage, "_suits_by_plan", lambda network, request: False)
    assert by_plan == [answer(spelling, request) for request in requests]


def test_counting_a_sweep_of_tori_builds_none(tmp_path, monkeypatch):
    """300 tori up to 90,000 nodes took 29 s."""
    config = tmp_path / "tori.yaml"
    config.write_text(
        "sweep: tori\ntopologies:\n  - {family: torus, k: {from: 4, to: 300}, n: 2}\n"
        "loads:\n  - {traffic: [uniform, hot_spot], routing: [minimal, dimension_order]}\n"
        "  - {traffic: uniform, routing: valiant}\n"
    )
    monkeypatch.setattr(LazyNetwork, "topology", property(lambda network: pytest.fail(f"{network.spelling} was built")))
    assert len(requested_points(load(config))) == 297 * (1 + 4 + 1)


def test_counting_machines_builds_none_but_a_twisted_torus_and_boards(monkeypatch):
    """Of 60 machines, up to 160,000 nodes, whose demand matrices took 3 GiB."""
    built, whole = set(), vars(LazyNetwork)["topology"].func
    monkeypatch.setattr(
        LazyNetwork, "topology", property(lambda network: built.add(network.spelling) or whole(network))
    )
    requested_points(load(Path(__file__).resolve().parents[3] / "config" / "machines.yaml"))
    assert {spelling.partition("(")[0] for spelling in built} <= {"twisted_torus", "hamming_mesh"}


@pytest.mark.parametrize("routing", ["dimension_order", "valiant"])
@pytest.mark.parametrize("pattern", ["uniform", "tornado", "nearest_neighbour"])
def test_more_pairs_than_allowed_are_counted_on_the_network(routing: str, pattern: str, monkeypatch):
    """A mesh has no symmetry of routes: all N² pairs, twice under Valiant."""
    pairs = 2 * 64**2 if routing == "valiant" else 64**2 if pattern == "uniform" else None
    monkeypatch.setattr(source, "MAX_PAIRS", 64**2 - 1)
    said = answer("mesh(k=8, n=2)", LoadsRequest(routing, pattern))
    assert f"got {pairs:,};" in said if pairs else said == "suits"
