"""The optimum of every operation: the issue's known answers, closed forms, and its proofs checked by networkx."""

from __future__ import annotations

from fractions import Fraction as F

import networkx as nx
import numpy as np
import pytest
from torusweep.collectives.operations import OPERATIONS, operation_of
from torusweep.collectives.optimum import Cut, Partition, optimum
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.networks.realisation import realise
from torusweep.networks.topology import Plan, Wiring

from tests.questions.static.networks import as_networkx, network, random_network

# network, operation, cycles per flit of the operation's size
KNOWN = [
    # every node computes, and the edge connectivity is the degree δ: (N − 1) / (N δ)
    ("torus(k=4, n=2)", "all_gather", F(15, 64)),
    ("mesh(k=4, n=2)", "all_gather", F(15, 32)),
    ("torus(radices=[3, 5])", "all_gather", F(7, 30)),
    ("mesh(k=4, n=2)", "reduce_scatter", F(15, 32)),
    ("pdtt(a=2)", "all_gather", F(15, 96)),
    ("directed_torus(k=4, n=2)", "reduce_scatter", F(15, 32)),
    # a ring of both directions together W: V / W, 2 V / W, V / (4 W), V = N m
    ("ring(k=8)", "all_gather", F(7, 16)),
    ("ring(k=8)", "all_reduce", F(7, 8)),
    ("ring(k=8)", "all_to_all", F(8, 4 * 2)),
    ("ring(k=8)", "broadcast", F(1, 2)),
    # a lost link: degree 5 of 6 at both of its ends
    ("faulty(torus(k=4, n=3), links=1, seed=1)", "all_gather", F(63, 64 * 5)),
    ("faulty(torus(k=4, n=3), links=1, seed=1)", "broadcast", F(1, 5)),
    # all-reduce: (N − 1) / |E| where no partition is narrower, a lost link or not
    ("torus(k=4, n=3)", "all_reduce", F(63, 192)),
    ("faulty(torus(k=4, n=3), links=1, seed=1)", "all_reduce", F(63, 191)),
    ("mesh(k=8, n=2)", "all_reduce", F(63, 112)),
    ("mesh(radices=[2, 32])", "all_reduce", F(63, 94)),
    # a failed node of sixteen: its neighbours have three channels left, and there are 28 links
    ("faulty(torus(k=4, n=2), nodes=1, seed=1)", "all_gather", F(14, 15 * 3)),
    ("faulty(torus(k=4, n=2), nodes=1, seed=1)", "all_reduce", F(14, 28)),
    ("torus(k=4, n=2)", "all_to_all", F(1, 2)),
    ("mesh(k=4, n=2)", "all_to_all", F(1)),
]


@pytest.mark.parametrize(("spelling", "operation", "cycles"), KNOWN)
def test_known_answers(spelling, operation, cycles):
    found = optimum(build(spelling), operation)
    assert found.bound == pytest.approx(float(cycles), rel=1e-9)
    assert found.attained == pytest.approx(float(cycles), rel=1e-9)


@pytest.mark.parametrize("use_symmetry", [False, True])
@pytest.mark.parametrize("network", ["pruned_torus(k=4, n=3)", "rtt(a=3)", "ccc(n=3)", "mesh(k=3, n=2)"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_symmetry_changes_nothing(network, operation, use_symmetry):
    topology = build(network)
    found, other = optimum(topology, operation, use_symmetry=use_symmetry), optimum(topology, operation)
    assert found.bound == pytest.approx(other.bound, rel=1e-6)


def crossing(graph, tails, heads):
    return sum(graph[tail][head]["capacity"] for tail in tails for head in heads if graph.has_edge(tail, head))


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name != "all_to_all"])
@pytest.mark.parametrize("seed", range(12))
def test_proofs_are_cuts_of_the_network(seed, operation):
    """The bound follows from the cut or the partition alone, and no cut between two nodes is narrower."""
    topology = random_network(4 + seed % 7, 3, seed, directed=seed % 3 == 0, capacities=seed % 2 == 0)
    graph = as_networkx(topology).to_directed()
    if topology.nodes < 2 or not nx.is_strongly_connected(graph):
        with pytest.raises(BadInput):
            optimum(topology, operation)
        return
    found = optimum(topology, operation)
    nodes = topology.nodes
    if isinstance(found.proof, Partition):
        between = [(tail, head) for tail, head in graph.edges if found.proof.part[tail] != found.proof.part[head]]
        width = sum(graph[tail][head]["capacity"] for tail, head in between)
        assert width == found.proof.capacity
        assert found.bound == pytest.approx(2 * (found.proof.parts - 1) / width)
        return
    assert isinstance(found.proof, Cut)
    members = set(found.proof.nodes.tolist())
    others = set(range(nodes)) - members
    ends = (others, members) if found.proof.enters else (members, others)
    width = crossing(graph, *ends)
    assert width == found.proof.capacity
    data = (
        1
        if OPERATIONS[operation].rooted or operation.startswith("all_reduce")
        else len(ends[operation == "reduce_scatter"]) / nodes
    )
    assert found.bound == pytest.approx(data / width)
    if OPERATIONS[operation].rooted:
        way = graph if operation == "broadcast" else graph.reverse()
        least = min(nx.maximum_flow_value(way, 0, node, capacity="capacity") for node in range(1, nodes))
        assert found.bound == pytest.approx(1 / least)


def test_nodes_without_terminals_compute_nothing():
    """Four terminals round a switch: it receives each part once and sends it to the other three (a star)."""
    ports = np.full((5, 4), -1, np.int32)
    ports[:4, 0] = 4
    ports[4] = range(4)

    def wire():
        return Wiring(ports, np.zeros((5, 4), np.int8), terminals=np.arange(4, dtype=np.int32))

    topology = realise("star", "star", Plan(nodes=5, degree=4, radices=(5,), wire=wire), 1 << 30)
    assert optimum(topology, "all_gather").bound == F(3, 4)
    reduced = optimum(topology, "all_reduce")
    assert (reduced.bound, reduced.attained) == (F(6, 4), F(6, 4))
    assert isinstance(reduced.proof, Partition)
    assert (reduced.proof.part.tolist(), reduced.proof.parts) == ([0, 1, 2, 3, -1], 4)
    assert optimum(topology, "broadcast").attained == 1


def test_the_proof_of_a_damaged_network_has_its_numbers():
    """Node 0 failed; 1 … 3 and 4 … 6 are triangles joined by one link, which all sums cross."""
    pairs = [(1, 2), (2, 3), (3, 1), (4, 5), (5, 6), (6, 4), (3, 4)]
    found = optimum(network(7, pairs, terminals=range(1, 7)), "all_reduce")
    assert found.bound == found.attained == 1
    assert isinstance(found.proof, Partition)
    assert (found.proof.parts, found.proof.capacity) == (2, 2)
    assert found.proof.part.tolist() == [-1, 0, 0, 0, 1, 1, 1]


def test_a_large_all_to_all_has_bounds_without_a_linear_program():
    found = optimum(build("faulty(torus(k=8, n=3), links=8, seed=2)"), "all_to_all")
    assert 1 < found.bound < found.attained < 1.3


@pytest.mark.parametrize(
    ("network", "operation", "root", "words"),
    [
        ("faulty(ring(k=8), links=2, seed=1)", "all_gather", 0, "expected paths between all terminals, got 2 parts"),
        ("torus(k=4, n=2)", "broadcast", 16, "expected a root from 0 to 15, got 16"),
        ("lattice(matrix=[[1]])", "all_reduce", 0, "expected terminals at two nodes or more, got 1"),
    ],
)
def test_what_has_no_meaning_is_refused(network, operation, root, words):
    with pytest.raises(BadInput, match=words):
        optimum(build(network), operation, root=root)


def test_names_of_operations():
    assert [operation_of(name) for name in ("All-Reduce", "ALLGATHER", "all to all")] == [
        "all_reduce",
        "all_gather",
        "all_to_all",
    ]
    with pytest.raises(BadInput, match=r"unknown operation 'al_reduce' \(did you mean 'all_reduce'"):
        operation_of("al_reduce")


@pytest.mark.parametrize("operation", ["all_gather", "all_reduce", "broadcast"])
def test_an_optimum_that_takes_too_long_is_refused(operation):
    with pytest.raises(Refused, match="choose a smaller network"):
        optimum(build("faulty(torus(k=48, n=3), links=1, seed=1)"), operation)
