"""Loads of minimal routing: closed forms, the papers' networks, enumeration of paths, conservation, symmetry."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction as F
from functools import cache
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.how import How
from torusweep.questions.loads import exact
from torusweep.questions.loads.channels import channel_table
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.record import record_of
from torusweep.questions.loads.stage import loads
from torusweep.routing.tables.objects import routing_of
from torusweep.traffic import PATTERNS, Traffic, traffic
from torusweep.traffic.given import traffic_of

from tests.questions.static.networks import as_networkx, network
from tests.records import loads_record
from tests.traffic.test_multicast import MULTICAST

MINIMAL = ("minimal", "minimal_ecmp")

# --- closed forms ---


def ring(k):
    """Mean distance round a ring of k nodes, over the pairs of a node and any node."""
    return F(k * k // 4, k)


def rtt_mean(a):
    """Cámara et al. 2010, Corollary 7, for even a."""
    return F(2 * a, 3) - F(1, 6 * a)


def pdtt_mean(a):
    """Cámara et al. 2010, Remark 11, for even a."""
    return F(7 * a, 8) - F(1, 4 * a)


# network, traffic, maximum load, link utilization; the same for both splits, because in these networks all shortest
# paths between two nodes use each dimension equally often
CLOSED = [
    ("torus(k=8, n=3)", "uniform", ring(8) / 2, 1),
    ("torus(k=7, n=2)", "uniform", ring(7) / 2, 1),
    ("torus(radices=[8, 4])", "uniform", ring(8) / 2, F(3, 4)),
    ("torus(k=5, n=2, directed=true)", "uniform", F(5 - 1, 2), 1),
    ("torus(k=8, n=2)", "uniform_other", ring(8) / 2 * F(64, 63), 1),
    ("torus(k=8, n=2)", "all_to_all", ring(8) / 2 * F(64, 63), 1),
    ("hypercube(n=6)", "uniform", F(1, 2), 1),
    ("mesh(k=8, n=1)", "uniform", F(8, 4), F(sum(i * (8 - i) for i in range(1, 8)), 7 * 16)),
    ("torus(k=6, n=3)", "nearest_neighbour", F(1, 6), 1),
    ("mesh(k=5, n=2)", "nearest_neighbour", F(25, 80), 1),
    ("ring(k=8)", "tornado", 3, F(1, 2)),
    ("torus(k=8, n=2)", "tornado", 3, F(1, 2)),
    ("ring(k=8)", "neighbour", 1, F(1, 2)),
    ("mesh(k=4, n=1)", "bit_complement", 2, F(2, 3)),
    ("ring(k=16)", "bit_complement", F(16, 4), F(1, 2)),  # s → 15 − s: k/4 of either half cross each of its two ends
    *((f"rt(a={a})", "uniform", F(a, 4), F(3, 4)) for a in (4, 8)),
    *((f"pt(a={a})", "uniform", F(a, 4), F(2, 3)) for a in (4, 8)),
    *((f"rtt(a={a})", "uniform", rtt_mean(a) / 4, 1) for a in (4, 8, 16)),
    *((f"ptt(a={a})", "uniform", rtt_mean(a) / 4, (rtt_mean(a) + ring(a)) / 6 / (rtt_mean(a) / 4)) for a in (4, 8)),
    *((f"pdtt(a={a})", "uniform", pdtt_mean(a) / 6, 1) for a in (4, 8, 16)),
]


@pytest.mark.parametrize("routing", MINIMAL)
@pytest.mark.parametrize(
    ("topology", "pattern", "most", "utilization"), CLOSED, ids=[f"{row[0]} {row[1]}" for row in CLOSED]
)
def test_closed_forms(topology, pattern, most, utilization, routing):
    record = loads_record(build(topology), routing=routing, traffic=pattern)
    assert record["max_channel_load"] == pytest.approx(float(most), rel=1e-13)
    assert record["saturation_load"] == pytest.approx(float(1 / F(most)), rel=1e-13)
    assert record["link_utilization"] == pytest.approx(float(utilization), rel=1e-13)
    assert record["method"] == "exact"


# Loads of each class with a split by paths, recomputed from the definitions of Kwai & Parhami 1998 and Parhami & Kwai
# 2004; by their Theorem 2 and sec. 3.E, all classes would carry the same
UNBALANCED = [
    ("pruned_torus(k=8, n=3)", {"x": 1.109375, "y": 2.0, "z": 2.0}, 1e-12),
    ("pruned_torus(k=6, n=4)", {"x": 1.3056, "y": 2.25, "z": 2.25, "w": 2.25}, 5e-5),
    ("pruned_directed_torus(k=8, n=3)", {"x": 3.741, "y": 5.080, "z": 5.080}, 5e-4),
    ("pruned_t2(k=8)", {"z": 1.367, "x": 2.047, "y": 2.047}, 5e-4),
    ("directed_torus(k=8, n=3)", {"x": 2.3307, "y": 2.3307, "z": 2.3307}, 5e-5),
]


@pytest.mark.parametrize(("topology", "classes", "digits"), UNBALANCED)
def test_pruned_tori_are_not_balanced(topology, classes, digits):
    found = loads_record(build(topology))["per_class_load"]
    assert {name: load["max"] for name, load in found.items()} == pytest.approx(classes, abs=digits)
    assert {name: load["mean"] for name, load in found.items()} == pytest.approx(
        classes, abs=digits
    )  # equal within a class


# saturation of C10's networks, computed independently of this project
@pytest.mark.parametrize(
    ("topology", "saturation"),
    [
        ("rtt(a=4)", 1.5238),
        ("ptt(a=4)", 1.5238),
        ("pdtt(a=4)", 1.7455),
        ("rtt(a=8)", 0.752941),
        ("pdtt(a=8)", 0.860987),
        ("rtt(a=16)", 0.3753666),
    ]
    + [("pdtt(a=16)", 0.4290503)],
)
def test_saturation_of_twisted_tori(topology, saturation):
    assert loads_record(build(topology))["saturation_load"] == pytest.approx(saturation, rel=3e-5)


# --- enumeration of shortest paths ---


def over_paths(graph, s, t):
    """The share of each channel when s → t uses all shortest paths equally; capacity c counts as c paths."""
    loads, total = defaultdict(float), 0.0
    for path in nx.all_shortest_paths(graph, s, t):
        channels = list(pairwise(path))
        times = float(np.prod([graph.edges[channel]["capacity"] for channel in channels]))
        total += times
        for channel in channels:
            loads[channel] += times
    return {channel: load / total for channel, load in loads.items()}


def over_next_hops(graph, s, t):
    """The share of each channel when every node splits equally over the links that lead nearer to t."""
    left = nx.single_target_shortest_path_length(graph, t)
    loads = defaultdict(float)

    def send(node, share):
        nearer = {
            head: data["capacity"] for _, head, data in graph.edges(node, data=True) if left.get(head) == left[node] - 1
        }
        for head, capacity in nearer.items():
            loads[node, head] += share * capacity / sum(nearer.values())
            send(head, share * capacity / sum(nearer.values()))

    send(s, 1.0)
    return loads


SPLITS = {"minimal": over_paths, "minimal_ecmp": over_next_hops}


def oracle(topology, matrix, routing):
    """float64[N, P]: loads over capacities, by enumeration of all pairs of terminals."""
    graph = nx.DiGraph(as_networkx(topology)) if topology.directed else as_networkx(topology).to_directed()
    share = cache(lambda s, t: SPLITS[routing](graph, s, t))
    loads = defaultdict(float)
    for (i, j), amount in np.ndenumerate(matrix):
        s, t = topology.terminals[[i, j]].tolist()
        if s != t and amount:
            for channel, part in share(s, t).items():
                loads[channel] += amount * part
    tail, head, port = topology.arcs
    found = np.zeros(topology.ports.shape)
    for u, v, p in zip(tail.tolist(), head.tolist(), port.tolist()):
        found[u, p] = loads[u, v] / graph.edges[u, v]["capacity"]
    return found


# a kite with a tail: from 0 to 6 three paths but two next hops; from 6 to 0 three of both
KITE = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (3, 6), (4, 6), (5, 6), (6, 7)]
NETWORKS = {
    "torus(k=4, n=2)": None,
    "mesh(radices=[4, 2, 2])": None,
    "rtt(a=2)": None,
    "pruned_directed_torus(k=2, n=3)": None,
    "ccc(n=3)": None,
    "faulty(torus(k=4, n=2), links=5, seed=3)": None,
    "kite": lambda: network(8, KITE),
    "kite with parallel links": lambda: network(8, [(*link, 1 + i % 3) for i, link in enumerate(KITE)]),
    "kite with terminals": lambda: network(8, KITE, terminals=[0, 0, 6, 3, 2, 2, 2, 5]),
    "one-way kite": lambda: network(8, [*KITE, (7, 0), (4, 2)], directed=True),
}
SYMMETRIC = ("uniform", "uniform_other", "all_to_all", "nearest_neighbour")


def build_network(name):
    return build(name) if NETWORKS.get(name) is None else NETWORKS[name]()


@pytest.mark.parametrize("routing", MINIMAL)
@pytest.mark.parametrize("pattern", [*SYMMETRIC, "hot_region", "hot_spot(percent=60)", "random_permutation(seed=5)"])
@pytest.mark.parametrize("name", NETWORKS)
def test_loads_against_enumeration(name, pattern, routing):
    topology = build_network(name)
    matrix = traffic(pattern, topology)[1].rows(np.arange(len(topology.terminals)))
    found = exact_loads(topology, routing=routing, traffic=pattern)
    np.testing.assert_allclose(found.load, oracle(topology, matrix, routing), rtol=1e-12, atol=1e-15)
    assert record_of(found)["ejection_load"] == pytest.approx(1 / matrix.sum(axis=0).max())


@pytest.mark.parametrize("routing", MINIMAL)
def test_few_senders_and_few_receivers(tmp_path, routing):
    (tmp_path / "demand.csv").write_text("source,destination,demand\n0,6,3\n2,7,1\n0,4,2\n")
    topology, pattern = build_network("kite"), f'demand(path="{tmp_path / "demand.csv"}")'
    matrix = np.zeros((8, 8))
    matrix[0, 6], matrix[2, 7], matrix[0, 4] = 4, 4 / 3, 8 / 3  # one flit per terminal on average
    found = exact_loads(topology, routing=routing, traffic=pattern)
    np.testing.assert_allclose(found.load, oracle(topology, matrix, routing), rtol=1e-12, atol=1e-15)
    assert record_of(found)["ejection_load"] == pytest.approx(1 / 4)


def test_the_two_minimal_routings_differ():
    topology = build_network("kite")
    paths, next_hops = (channel_table(exact_loads(topology, routing=routing)).to_pylist() for routing in MINIMAL)
    there, back = (
        next(i for i, row in enumerate(paths) if (row["from"], row["to"]) == ends) for ends in ((0, 2), (2, 0))
    )
    assert paths[there]["load"] == pytest.approx(paths[back]["load"])
    assert next_hops[there]["load"] > next_hops[back]["load"] + 0.01


# --- invariants ---

LARGER = [
    *("torus(k=4, n=3)", "mesh(k=8, n=2)", "hypercube(n=6)", "pruned_t2(k=4)", "directed_torus(k=4, n=3)", "ptt(a=4)"),
    *("h3dt(m=4, n=2, levels=2, q=0)", "sequin(k=8, s=1, t=2)", "ccc(n=4)", "torus(radices=[16, 4])"),
]


@pytest.mark.parametrize("routing", MINIMAL)
@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name not in ("demand", "group_shift", *MULTICAST)])
@pytest.mark.parametrize("topology", LARGER)
def test_conservation(topology, pattern, routing):
    if pattern in ("bit_complement", "bit_reversal", "perfect_shuffle", "transpose") and build(topology).nodes not in (
        64,
        256,
    ):
        pattern = "uniform_other"
    if pattern == "tornado" and topology.startswith("hypercube"):
        pattern = "neighbour"
    if pattern in ("ring_all_reduce", "all_reduce_by_dimension") and topology.startswith(
        ("pruned", "directed", "h3dt", "sequin", "ccc")
    ):
        pattern = "nearest_neighbour"
    built = build(topology)
    matrix = traffic(pattern, built)[1].rows(np.arange(built.nodes))
    record, found = (
        loads_record(built, routing=routing, traffic=pattern),
        exact_loads(built, routing=routing, traffic=pattern),
    )
    tail, head, port = built.arcs
    over = found.load[tail, port]
    # at every node, inflow + injected = outflow + ejected
    inflow, outflow = np.bincount(head, over, built.nodes), np.bincount(tail, over, built.nodes)
    np.testing.assert_allclose(inflow + matrix.sum(axis=1), outflow + matrix.sum(axis=0), rtol=1e-12)
    # total load = flits × hops
    distance = np.array(
        [
            [lengths[t] for t in range(built.nodes)]
            for _, lengths in sorted(nx.all_pairs_shortest_path_length(as_networkx(built)))
        ]
    )
    assert over.sum() == pytest.approx((matrix * distance).sum(), rel=1e-12)
    assert record["mean_hops"] == pytest.approx((matrix * distance).sum() / built.nodes, rel=1e-12)
    assert record["mean_channel_load"] == pytest.approx(over.mean(), rel=1e-12)
    assert 0 < record["link_utilization"] <= 1


@pytest.mark.parametrize("routing", MINIMAL)
@pytest.mark.parametrize("pattern", SYMMETRIC)
@pytest.mark.parametrize(
    "topology",
    [*LARGER, "mesh(radices=[5, 3])", "rtt(a=5)", "pruned_torus(k=6, n=4)", "lattice(matrix=[[3, 1], [0, 4]])"],
)
def test_symmetry_changes_nothing(topology, pattern, routing):
    built = build(topology)
    short, long = (exact_loads(built, routing=routing, traffic=pattern, use_symmetry=use) for use in (True, False))
    np.testing.assert_allclose(short.load, long.load, rtol=1e-12, atol=0)
    assert short.mean_hops == pytest.approx(long.mean_hops, rel=1e-12)
    assert short.ejected == long.ejected


def test_blocks_and_backends_change_nothing(monkeypatch):
    built = build("mesh(k=5, n=2)")
    for pattern in ("random_permutation(seed=1)", "hot_region"):
        for routing in MINIMAL:
            whole = exact_loads(built, routing=routing, traffic=pattern)
            plain = exact_loads(built, routing=routing, traffic=pattern, backend="numpy", threads=1)
            with monkeypatch.context() as patch:
                patch.setattr(exact, "LAYERED_BLOCK", 4 * built.nodes)
                blocks = exact_loads(built, routing=routing, traffic=pattern)
            np.testing.assert_allclose(blocks.load, whole.load, rtol=1e-12, atol=0)
            np.testing.assert_allclose(plain.load, whole.load, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("routing", "pattern"),
    [*((name, pattern) for name in MINIMAL for pattern in ("uniform", "uniform_other")), ("up_down", "uniform")],
)
@pytest.mark.parametrize("topology", ["mesh(radices=[5, 3])", "fat_tree(k=3, n=2)", "dragonfly(a=4, p=2, h=1)"])
def test_demands_as_factors_and_their_blocks_change_nothing(topology, routing, pattern, monkeypatch):
    """To the bit: demands without a common factor are given one by one."""
    built = build(topology)

    def load():
        return exact_loads(built, routing=routing, traffic=pattern, use_symmetry=False).load.tolist()

    whole, calls = load(), []
    minimal_loads = exact.minimal_loads
    monkeypatch.setattr(
        exact, "minimal_loads", lambda *a, **k: calls.append(k["demand"].ndim) or minimal_loads(*a, **k)
    )
    monkeypatch.setattr(exact, "shortest_hops", lambda *_, **options: 0.0)
    monkeypatch.setattr(exact, "PAIRS", 4 * built.nodes)
    monkeypatch.setattr(exact, "ROOTS", 2)
    assert load() == whole
    assert set(calls) == {1}
    if routing in MINIMAL:
        assert len(calls) == -(-len(set(built.terminals.tolist())) // 4)
    calls.clear()
    monkeypatch.setattr(Traffic, "scaled_columns", lambda *_: None)
    assert load() == whole
    assert set(calls) == {2}


def test_a_million_nodes_by_symmetry():
    record = loads_record(build("torus(k=100, n=3)"))
    assert record["max_channel_load"] == pytest.approx(100 / 8, rel=1e-12)
    assert record["link_utilization"] == pytest.approx(1, rel=1e-12)


# --- refusals ---


@pytest.mark.parametrize("routing", MINIMAL)
@pytest.mark.parametrize("use_symmetry", [True, False])
def test_traffic_without_a_path_is_refused(routing, use_symmetry):
    topology = build("pruned_xy(k=4)")
    asked = How("auto", use_symmetry), routing_of(topology, routing), traffic_of(topology, "uniform")
    with pytest.raises(
        BadInput, match=r"^routing .* on pruned_xy\(k=4\), traffic uniform: 0\.5 of the traffic has no path"
    ):
        loads(topology, *asked)


def test_traffic_within_components_is_accepted():
    assert loads_record(build("pruned_xy(k=4)"), traffic="nearest_neighbour")["link_utilization"] == pytest.approx(1)


def test_an_unknown_routing_is_refused():
    with pytest.raises(
        BadInput,
        match=r"unknown routing 'minimal_ecpm' \(did you mean 'minimal_ecmp'\?\); there are minimal, minimal_ecmp",
    ):
        loads_record(build("ring(k=4)"), routing="minimal_ecpm")


def test_too_many_shortest_paths_are_refused():
    line = network(1040, [(i, i + 1, 2) for i in range(1039)])  # 2^1039 shortest paths from end to end
    with pytest.raises(BadInput, match="minimal_ecmp does not count them"):
        loads_record(line)
    assert loads_record(line, routing="minimal_ecmp")["max_channel_load"] == pytest.approx(1040 / 4 / 2, rel=1e-12)
