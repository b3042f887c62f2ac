"""Every algorithm on several networks: what it computes, played; what it takes, by a plain loop and closed forms."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction as F
from functools import cache
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from torusweep.collectives.algorithms import ALGORITHMS, ALL_REDUCES, algorithm_of, schedule_of
from torusweep.collectives.cost import AlgorithmCost, cost_of
from torusweep.collectives.operations import OPERATIONS
from torusweep.collectives.optimum import optimum
from torusweep.collectives.schedule import Transfers
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.networks.physical import LinkSpeed

from tests.collectives.player import check
from tests.questions.static.networks import as_networkx, network

UNSUITABLE = ("a power of 2", "Hamiltonian cycle", "rings and lines", "links in both directions")
PAIRS = [(name, operation) for name, algorithm in ALGORITHMS.items() for operation in algorithm.operations]
NETWORKS = (
    "hypercube(n=1)",
    "ring(k=5)",
    "torus(radices=[3, 4])",
    "torus(k=4, n=2)",
    "torus(radices=[2, 4, 2])",
    "mesh(radices=[4, 3])",
    "mesh(k=3, n=2)",
    "pdtt(a=2)",
    "twisted_torus(radices=[4, 2], twists={1: {0: 2}})",
    "circulant(n=16, steps=[1, 6])",
    "directed_torus(k=4, n=2)",
    "faulty(torus(k=4, n=2), links=3, seed=1)",
    "faulty(torus(k=4, n=2), nodes=2, seed=3)",
    "ccc(n=3)",
)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(("algorithm", "operation"), PAIRS)
def test_algorithms_compute_their_operation(network, algorithm, operation):
    topology = build(network)
    root = len(topology.terminals) // 2 if OPERATIONS[operation].rooted else 0
    refusal = ""
    try:
        schedule = schedule_of(topology, operation, algorithm, root=root)
    except BadInput as refused:
        refusal = str(refused)
    if refusal:
        assert any(words in refusal for words in UNSUITABLE)
        return
    check(schedule, len(topology.terminals), root)
    cost = cost_of(topology, schedule)
    assert cost.cycles >= bound(network, operation, root) * (1 - 1e-9)
    assert cost.cycles == pytest.approx(cycles_of(network, schedule), rel=1e-9)


@cache
def bound(network, operation, root):
    """The same for every algorithm."""
    return optimum(build(network), operation, root=root).bound


@cache
def graph_of(network):
    return as_networkx(build(network))


@cache
def shares_of(network, source, destination):
    """Of a message, by channel: equal ones on all shortest paths."""
    paths, shares = list(nx.all_shortest_paths(graph_of(network), source, destination)), defaultdict(F)
    for path in paths:
        for channel in pairwise(path):
            shares[channel] += F(1, len(paths))
    return shares


def cycles_of(network, schedule):
    """The busiest channel's flits of each step, a flit of size, message by message over all shortest paths."""
    loads = defaultdict(lambda: defaultdict(F))
    for step, source, destination, chunk in zip(
        schedule.step.tolist(), schedule.source.tolist(), schedule.destination.tolist(), schedule.chunk.tolist()
    ):
        ends = (int(schedule.node[rank]) for rank in (source, destination))
        for channel, share in shares_of(network, *ends).items():
            loads[0 if schedule.pipelined else step][channel] += share * int(schedule.size[chunk])
    return float(sum(max(load.values()) for load in loads.values()) / schedule.units)


# network, operation, algorithm, cycles per flit of the size, steps
CLOSED = [
    # one port: (N − 1)/N; two directions, and two or three disjoint rings, divide it
    ("torus(k=8, n=2)", "all_gather", "one_way_ring", F(63, 64), 63),
    ("torus(k=8, n=2)", "all_gather", "ring", F(63, 128), 63),
    ("torus(k=8, n=2)", "all_gather", "rings", F(63, 256), 63),
    ("torus(k=4, n=3)", "all_reduce", "rings", F(2 * 63, 64 * 6), 126),
    ("torus(k=4, n=3)", "all_reduce", "bucket", F(2 * 63, 64 * 6), 18),
    # along x (k − 1) parts of N, along y k times as many, half each way
    ("torus(k=8, n=2)", "all_gather", "by_dimension", F(7 + 7 * 8, 2 * 64), 14),
    ("mesh(k=8, n=2)", "all_gather", "by_dimension", F(7 + 7 * 8, 64), 14),
    ("torus(k=8, n=2)", "all_gather", "direct", F(1), 1),
    ("hypercube(n=6)", "all_gather", "halving_doubling", F(63, 64), 6),
    ("hypercube(n=6)", "all_reduce", "recursive_doubling", F(6), 6),
    ("torus(k=8, n=2)", "all_to_all", "direct", F(1), 1),
    ("torus(k=8, n=2)", "all_to_all", "bucket", F(1), 2),
    ("torus(k=8, n=2)", "all_to_all", "by_dimension", F(2), 2),
    ("torus(k=8, n=2)", "broadcast", "tree", F(1), 8),
    ("torus(k=8, n=2)", "broadcast", "trees", F(1, 4), None),
]


@pytest.mark.parametrize(("network", "operation", "algorithm", "cycles", "steps"), CLOSED)
def test_closed_forms(network, operation, algorithm, cycles, steps):
    topology = build(network)
    cost = cost_of(topology, schedule_of(topology, operation, algorithm))
    assert cost.cycles == pytest.approx(float(cycles), rel=1e-12)
    assert steps in (None, cost.steps)


@pytest.mark.parametrize("operation", ALGORITHMS["trees"].operations)
@pytest.mark.parametrize(
    "network",
    [
        "torus(radices=[4, 4, 8])",
        "pdtt(a=4)",
        "mesh(k=8, n=2)",
        "hypercube(n=6)",
        "faulty(torus(k=8, n=2), links=1, seed=1)",
        "mh3dt(m=3, n=2, levels=2, q=0)",
        "sequin(k=4, s=1, t=2)",
        "faulty(torus(k=4, n=2), links=6, seed=2)",
    ],
)
def test_trees_attain_the_optimum(network, operation):
    topology = build(network)
    cost = cost_of(topology, schedule_of(topology, operation, "trees"))
    assert cost.cycles == pytest.approx(optimum(topology, operation).bound, rel=1e-12)


@pytest.mark.parametrize("operation", ALGORITHMS["trees"].operations)
@pytest.mark.parametrize("seed", range(20))
def test_trees_of_one_way_channels(seed, operation):
    """Trees towards a rank differ in number and size from those away from it: both halves get the same chunks."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(4, 7))
    pairs = {(node, (node + 1) % nodes) for node in range(nodes)}
    pairs |= {tuple(draw.choice(nodes, 2, replace=False).tolist()) for _ in range(2 * nodes)}
    links = [(*pair, int(draw.integers(1, 4)) if seed % 2 else 1) for pair in sorted(pairs)]
    topology = network(nodes, links, directed=True)
    schedule = schedule_of(topology, operation, "trees")
    check(schedule, nodes)
    cost, best = cost_of(topology, schedule), optimum(topology, operation)
    assert cost.cycles >= best.bound * (1 - 1e-12)
    if operation in ALL_REDUCES:  # whose halves run at the same time, piece by piece, on different channels in part
        assert cost.cycles <= best.attained * (1 + 1e-12)
    else:
        assert cost.cycles == pytest.approx(best.bound, rel=1e-12)


def test_trees_of_two_hundred_and_fifty_six_nodes():
    """Where trees of shortest paths do not attain the optimum."""
    topology = build("sequin(k=16, s=1, t=2)")
    cost = cost_of(topology, schedule_of(topology, "all_gather", "trees"))
    assert cost.cycles == pytest.approx(255 / (256 * 4), rel=1e-12)


@pytest.mark.parametrize(
    ("size", "bandwidth", "latency"), [(1, 1.0, 1.0), (1000, 2.0, 3.0), (10**6, 8.0, 0.5), (7, 3.0, 0.0)]
)
def test_the_best_number_of_pieces(size, bandwidth, latency):
    cost = AlgorithmCost(0.25, 9, 9, 9, True, np.zeros(0))
    times = {
        pieces: (pieces + 8) * (latency + 0.25 * size / bandwidth / pieces)
        for pieces in range(1, min(size, 20_000) + 1)
    }
    assert cost.seconds(size, LinkSpeed(bandwidth, latency)) == pytest.approx(min(times.values()))


def test_both_halves_go_round_a_one_way_ring_in_its_direction():
    """No cycle passes all nodes. By number, the hops 0 → 2 → 1, 1 → 2, 2 → 3, 3 → 0 take each channel once."""
    one_way = network(4, [(0, 2), (1, 2), (2, 1), (2, 3), (3, 0), (3, 2)], directed=True)
    for operation, cycles in (("all_gather", F(3, 4)), ("reduce_scatter", F(3, 4)), ("all_reduce", F(3, 2))):
        schedule = schedule_of(one_way, operation, "one_way_ring")
        check(schedule, 4, 0)
        assert cost_of(one_way, schedule).cycles == cycles


@pytest.mark.parametrize(
    ("network", "operation", "algorithm", "words"),
    [
        ("torus(k=4, n=2)", "broadcast", "ring", "algorithm ring computes all_gather"),
        ("torus(k=3, n=2)", "all_gather", "halving_doubling", "expected a power of 2 terminals, got 9"),
        ("ccc(n=3)", "all_gather", "bucket", "expected a lattice, or a product of rings and lines"),
        ("mesh(k=3, n=2)", "all_gather", "rings", "expected a Hamiltonian cycle, found none"),
        ("ring(k=2)", "all_gather", "rings", "expected a Hamiltonian cycle, found none"),
    ],
)
def test_what_does_not_suit_is_refused(network, operation, algorithm, words):
    with pytest.raises(BadInput, match=words):
        schedule_of(build(network), operation, algorithm)


@pytest.mark.parametrize(("side", "operation"), [(96, "all_gather"), (64, "all_reduce")])
def test_too_many_transfers_are_refused_before_any_is_made(monkeypatch, side, operation):
    """Of an all_reduce, the two halves together."""

    def made(*arguments):
        raise AssertionError("transfers were made")

    monkeypatch.setattr(Transfers, "add", made)
    with pytest.raises(Refused, match="choose a smaller network, or optimum"):
        schedule_of(build(f"torus(k={side}, n=2)"), operation, "one_way_ring")


def test_trees_that_take_too_long_are_refused():
    with pytest.raises(Refused, match="choose direct or tree, or optimum"):
        schedule_of(build("torus(k=24, n=3)"), "broadcast", "trees")


def test_names_of_algorithms():
    assert algorithm_of("Halving-Doubling") == "halving_doubling"
    with pytest.raises(BadInput, match=r"unknown algorithm 'buckets' \(did you mean 'bucket'"):
        algorithm_of("buckets")
