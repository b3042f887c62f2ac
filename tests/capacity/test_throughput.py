"""Capacity against closed forms, enumerated routes and maximum flow; its certificates, orbits and errors."""

from __future__ import annotations

from fractions import Fraction as F
from functools import cache
from itertools import pairwise
from math import inf

import networkx as nx
import numpy as np
import pytest
import torusweep.capacity
from scipy.optimize import linprog
from torusweep.capacity import capacity, distances, gather, proved_bound, proved_loads, solve, usable_arcs
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.networks.links import channel_orbits
from torusweep.networks.realisation import realise
from torusweep.networks.symmetry import proved_symmetries
from torusweep.networks.topology import Plan, Wiring

from tests.capacity.networks import MAKERS, between_nodes, demands, make
from tests.questions.static.networks import as_networkx, random_network


def commodities(topology, spelling, *, use_symmetry=True):
    return gather(topology, spelling, between_nodes(topology, spelling), use_symmetry=use_symmetry)


def balanced(mean, degree):
    """Saturation of a network with equal channel loads on minimal routes; no routing is better."""
    return degree / mean


def rtt_mean(a):
    """Cámara et al. 2010, Corollary 7, for even a."""
    return F(2 * a, 3) - F(1, 6 * a)


def pdtt_mean(a):
    """Cámara et al. 2010, Remark 11, for even a."""
    return F(7 * a, 8) - F(1, 4 * a)


# network, traffic, routes, throughput
CLOSED = [
    # k even: N/4 of the traffic crosses 2k^(n−1) links each way (bisection of a torus, Dally 1990)
    *(
        (f"torus(k={k}, n={n})", "uniform", routes, F(8, k))
        for k, n in ((4, 2), (8, 2), (8, 3))
        for routes in ("all", "minimal")
    ),
    *((f"torus(k={k}, n=2)", "uniform", "all", balanced(F(k * k - 1, 2 * k), 4)) for k in (3, 7)),
    *((f"mesh(k={k}, n=2)", "uniform", routes, F(4, k)) for k in (4, 6) for routes in ("all", "minimal")),
    # Parhami & Kwai 2004, Theorem 4: half as many links cross as in the torus
    ("pruned_torus(k=8, n=3)", "uniform", "all", F(4, 8)),
    ("pruned_torus(k=8, n=3)", "uniform", "minimal", F(4, 8)),
    ("hypercube(n=6)", "uniform", "all", 2),
    ("torus(k=5, n=2, directed=true)", "uniform", "minimal", F(2, 5 - 1)),
    *(
        (f"rtt(a={a})", "uniform", routes, balanced(rtt_mean(a), 4))
        for a in (4, 8, 16)
        for routes in ("all", "minimal")
    ),
    *((f"pdtt(a={a})", "uniform", "minimal", balanced(pdtt_mean(a), 6)) for a in (4, 8)),
    *((f"rt(a={a})", "uniform", "all", F(4, a)) for a in (4, 8)),
    # 3 hops forwards or 5 backwards
    ("ring(k=8)", "tornado", "minimal", F(1, 3)),
    ("ring(k=8)", "tornado", "all", F(1, 3) + F(1, 5)),
    ("ring(k=8)", "neighbour", "all", 1 + F(1, 7)),
    # 16 flits cross the middle, over two links each way
    ("ring(k=16)", "bit_complement", "all", F(2 * 2, 16)),
    ("torus(k=6, n=2)", "nearest_neighbour", "minimal", 4),
]


@pytest.mark.parametrize(
    ("topology", "pattern", "routes", "throughput"), CLOSED, ids=["-".join(map(str, row[:3])) for row in CLOSED]
)
def test_closed_forms(topology, pattern, routes, throughput):
    found = capacity(build(topology), pattern, routes=routes)
    assert found.throughput <= found.bound
    assert found.throughput == pytest.approx(float(throughput), rel=1e-9)
    assert found.bound == pytest.approx(float(throughput), rel=1e-9)
    assert found.load.max() == pytest.approx(1 / found.throughput, rel=1e-12)
    assert "proofs meet" in found.method


# Cámara et al. 2010, sec. 6: 32×16, RT → RTT; gains of the optimum over minimal routes, computed by other means
GAINS = [
    pytest.param("bit_complement", 0.066, marks=pytest.mark.slow),
    ("bit_reversal", 0.312),
    pytest.param("perfect_shuffle", 0.0, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("pattern", "gain"), GAINS)
def test_largest_gain_of_a_twist(pattern, gain):
    plain, twisted = (capacity(build(f"{family}(a=16)"), pattern, routes="minimal") for family in ("rt", "rtt"))
    assert max(plain.gap, twisted.gap) < 1e-9
    assert twisted.throughput / plain.throughput - 1 == pytest.approx(gain, abs=1e-3)


def test_gates_limit_a_hierarchy():
    """MH3DT, q = 0: 32 links each way (Rahman et al. 2005) carry a quarter of the flits of 1728 nodes."""
    found = capacity(build("mh3dt(m=3, n=4, levels=2, q=0)"), "uniform")
    assert found.throughput == pytest.approx(32 / (1728 / 4), rel=1e-9)


# --- enumerated routes ------------------------------------------------------------------------------------------


def routes_of(graph, s, t, routes):
    if routes == "minimal":
        return list(nx.all_shortest_paths(graph, s, t))
    return list(nx.all_simple_paths(graph, s, t))


@cache
def best_over_routes(name, spelling, routes):
    """Throughput by the path formulation, with a variable for every route."""
    topology = make(name)
    graph = nx.DiGraph(as_networkx(topology)) if topology.directed else as_networkx(topology).to_directed()
    number = {ends: i for i, ends in enumerate(graph.edges)}
    amounts = list(demands(topology, spelling).items())
    columns = [(pair, route) for pair, ((s, t), _) in enumerate(amounts) for route in routes_of(graph, s, t, routes)]
    over, sent = np.zeros((len(number), len(columns) + 1)), np.zeros((len(amounts), len(columns) + 1))
    for column, (pair, route) in enumerate(columns):
        sent[pair, column] = 1
        for ends in pairwise(route):
            over[number[ends], column] += 1
    sent[:, -1] = [-flits for _, flits in amounts]
    best = np.zeros(len(columns) + 1)
    best[-1] = -1
    found = linprog(
        best, A_ub=over, b_ub=[graph.edges[ends]["capacity"] for ends in number], A_eq=sent, b_eq=np.zeros(len(amounts))
    )
    return -found.fun


SMALL = [
    *MAKERS,
    "rtt(a=2)",
    "mesh(radices=[3, 2])",
    "pruned_directed_torus(k=2, n=3)",
    "faulty(torus(k=3, n=2), links=7, seed=2)",
]
PATTERNS = ("uniform", "hot_spot(percent=60)", "random_permutation(seed=5)", "nearest_neighbour")


@pytest.mark.parametrize("routes", ["all", "minimal"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", SMALL)
def test_path_formulation(name, pattern, routes):
    for use_symmetry in (True, False):
        found = capacity(make(name), pattern, routes=routes, use_symmetry=use_symmetry)
        assert found.throughput == pytest.approx(best_over_routes(name, pattern, routes), rel=1e-8)
        assert 0 <= found.gap < 1e-8


@pytest.mark.parametrize(("seed", "ends"), [(1, (0, 7)), (2, (3, 19)), (3, (11, 5))])
@pytest.mark.parametrize("directed", [False, True])
def test_one_pair_has_the_maximum_flow(tmp_path, seed, ends, directed):
    topology = random_network(20, 4, seed, directed=directed, capacities=True)
    (tmp_path / "demand.csv").write_text(f"source,destination,demand\n{ends[0]},{ends[1]},1\n")
    most = nx.maximum_flow_value(as_networkx(topology), *ends)
    assert most > 0
    found = capacity(topology, f'demand(path="{tmp_path / "demand.csv"}")')
    # one flit per node on average: 20 from the only source
    assert found.throughput == pytest.approx(most / 20, rel=1e-9)
    assert found.gap < 1e-9


@pytest.mark.parametrize("routes", ["all", "minimal"])
@pytest.mark.parametrize(
    "rows",
    ["0,3,2\n0,6,1\n0,5,4\n", "3,0,2\n6,0,1\n5,0,4\n", "0,3,2\n1,3,1\n0,7,1\n1,4,3\n1,6,1\n"],
    ids=["one source", "one destination", "two sources"],
)
@pytest.mark.parametrize("name", ["one-way kite", "kite with parallel links"])
def test_grouping_by_source_and_by_destination(tmp_path, name, rows, routes):
    (tmp_path / "demand.csv").write_text("source,destination,demand\n" + rows)
    pattern = f'demand(path="{tmp_path / "demand.csv"}")'
    topology = make(name)
    ends = [{row.split(",")[end] for row in rows.split()} for end in (0, 1)]
    assert len(commodities(topology, pattern).roots) == min(map(len, ends))
    found = capacity(topology, pattern, routes=routes)
    assert found.throughput == pytest.approx(best_over_routes(name, pattern, routes), rel=1e-9)
    assert found.gap < 1e-9


# --- invariants ------------------------------------------------------------------------------------------------

KEPT = [
    ("torus(k=4, n=2)", "tornado", 1),
    ("rtt(a=4)", "uniform", 1),
    ("rtt(a=4)", "bit_complement", None),
    ("pruned_torus(k=4, n=3)", "uniform_other", None),
    ("mesh(k=4, n=2)", "hot_spot(node=5)", None),
    ("torus(k=4, n=2)", "transpose", None),
    ("ccc(n=3)", "nearest_neighbour", None),
]


@pytest.mark.parametrize("routes", ["all", "minimal"])
@pytest.mark.parametrize(("topology", "pattern", "roots"), KEPT)
def test_symmetry_changes_nothing(topology, pattern, roots, routes):
    built = build(topology)
    short, long = (capacity(built, pattern, routes=routes, use_symmetry=use) for use in (True, False))
    assert short.throughput == pytest.approx(long.throughput, rel=1e-9)
    fewer, all_ = (len(commodities(built, pattern, use_symmetry=use).roots) for use in (True, False))
    assert fewer < all_
    assert roots in (None, fewer)


@pytest.mark.parametrize("routes", ["all", "minimal"])
@pytest.mark.parametrize(
    ("name", "pattern"),
    [("mesh(k=4, n=2)", "uniform"), ("kite with parallel links", "hot_region"), ("torus(k=4, n=2)", "bit_reversal")],
)
def test_the_lengths_prove_the_bound(name, pattern, routes):
    topology = make(name)
    found = capacity(topology, pattern, routes=routes)
    graph = as_networkx(topology).to_directed()
    tail, head, port = topology.arcs
    for u, v, length in zip(tail.tolist(), head.tolist(), found.length[tail, port].tolist()):
        graph.edges[u, v]["length"] = length
    assert found.length.min() >= 0
    assert sum(data["capacity"] * data["length"] for *_, data in graph.edges(data=True)) == pytest.approx(1, rel=1e-12)

    def nearest(s, t):
        if routes == "all":
            return nx.dijkstra_path_length(graph, s, t, weight="length")
        return min(nx.path_weight(graph, route, "length") for route in nx.all_shortest_paths(graph, s, t))

    needed = sum(flits * nearest(s, t) for (s, t), flits in demands(topology, pattern).items())
    assert 1 / needed == pytest.approx(found.bound, rel=1e-10)
    assert found.throughput <= 1 / needed * (1 + 1e-10)


@pytest.mark.parametrize("routes", ["all", "minimal"])
@pytest.mark.parametrize("name", ["kite with parallel links", "one-way kite", "rtt(a=2)"])
def test_certificates_of_arbitrary_solutions(name, routes):
    """Certificates of arbitrary flows and lengths bracket the optimum."""
    random = np.random.default_rng(7)
    best = best_over_routes(name, "hot_spot(percent=60)", routes)
    flows = commodities(make(name), "hot_spot(percent=60)")
    usable = usable_arcs(flows, routes)
    good = solve(flows, usable).flow
    noise = random.uniform(-1, 1, (8, len(good))) * np.logspace(-9, 0, 8)[:, None]
    for flow in (good, 0.9 * good, 0 * good, -good, 3 * good, *(good + noise)):
        assert 1 / proved_loads(flows, usable, flow).max() <= best * (1 + 1e-9)
    assert 1 / proved_loads(flows, usable, good + noise[0]).max() == pytest.approx(best, rel=1e-6)
    for length in random.exponential(size=(8, len(flows.tail))):
        assert proved_bound(flows, usable, routes, length) >= best * (1 - 1e-9)
    assert proved_bound(flows, usable, routes, np.zeros(len(flows.tail))) == inf


def test_a_gap_is_reported(monkeypatch):
    def poor(flows, usable):
        best = solve(flows, usable)
        return best._replace(flow=best.flow * 0.99)

    monkeypatch.setattr(torusweep.capacity, "solve", poor)
    found = capacity(build("mesh(k=3, n=2)"), "uniform")
    assert found.gap > 1e-3
    assert "proofs leave a gap of" in found.method


# two nodes connected by a channel of one link and a channel of two links
TWINS = Wiring(np.array([[1, 1], [0, 0]], np.int32), np.zeros((2, 2), np.int8), np.array([[1, 2], [2, 1]], np.int32))


def test_parallel_channels():
    plan = Plan(2, 2, (2,), lambda: TWINS)
    topology = realise("twins()", "twins", plan, 1 << 20)
    for routes in ("all", "minimal"):
        found = capacity(topology, "uniform", routes=routes, use_symmetry=False)
        # half a flit per node over three links
        assert (found.throughput, found.bound) == pytest.approx((6, 6), rel=1e-12)


def test_the_shorter_of_parallel_channels_counts():
    tail, head = np.array([0, 0, 1, 1, 2]), np.array([1, 1, 2, 2, 0])
    found = distances(tail, head, np.array([3.0, 1.0, 0.0, 2.0, 5.0]), np.array([2, 0]), 4)
    assert found.tolist() == [[1, 0, 0, inf], [0, 5, 5, inf]]


@pytest.mark.parametrize("name", ["torus(k=4, n=2)", "pruned_torus(k=4, n=3)", "ccc(n=3)", "mesh(radices=[4, 3])"])
def test_orbits_of_channels(name):
    """Two channels are in the same orbit if and only if generators map one to the other."""
    topology = build(name)
    images = proved_symmetries(topology)
    tail, head, _ = topology.arcs
    graph = nx.Graph()
    graph.add_nodes_from(zip(tail.tolist(), head.tolist()))
    graph.add_edges_from(((u, v), (image[u].item(), image[v].item())) for image in images for u, v in list(graph))
    found = {}
    for u, v, orbit in zip(tail.tolist(), head.tolist(), channel_orbits(topology, images).tolist()):
        found.setdefault(orbit, set()).add((u, v))
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, nx.connected_components(graph)))


# --- refusals --------------------------------------------------------------------------------------------------


def test_nothing_to_send():
    found = capacity(build("lattice(matrix=[[1]])"), "uniform")
    assert (found.throughput, found.bound, found.gap) == (inf, inf, 0)


@pytest.mark.parametrize(
    ("topology", "pattern", "routes", "says"),
    [
        (
            "ring(k=4)",
            "uniform",
            "minimum",
            r"unknown routes 'minimum' \(did you mean 'minimal'\?\); there are all, minimal",
        ),
        ("ring(k=4)", "unifrom", "all", "unknown traffic 'unifrom'"),
        ("ring(k=6)", "bit_reversal", "all", "expected a power of 2"),
        ("pruned_xy(k=4)", "uniform", "all", r"^capacity of pruned_xy\(k=4\): 0\.5 of traffic uniform has no path"),
        ("pruned_xy(k=4)", "uniform", "minimal", r"0\.5 of traffic uniform has no path"),
    ],
)
def test_unsuitable_input_is_refused(topology, pattern, routes, says):
    with pytest.raises(BadInput, match=says):
        capacity(build(topology), pattern, routes=routes)


@pytest.mark.parametrize(
    ("limit", "says"),
    [("MAX_FLOWS", "at most 100 flows, got 16 roots, 720 flows"), ("MAX_PAIRS", "pairs of root and channel")],
)
def test_too_large_programs_are_refused(monkeypatch, limit, says):
    monkeypatch.setattr(torusweep.capacity, limit, 100)
    with pytest.raises(Refused, match=says):
        capacity(build("mesh(k=4, n=2)"), "uniform", use_symmetry=False)
