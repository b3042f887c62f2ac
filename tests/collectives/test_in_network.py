"""All-reduce with sums in switches: closed forms, all trees of small networks, and every transfer played."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction as F
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy
import torusweep as ts
from torusweep.collectives.algorithms import schedule_of
from torusweep.collectives.best_known import best_known
from torusweep.collectives.certificate import collective_certificate
from torusweep.collectives.cost import cost_of
from torusweep.collectives.operations import IN_NETWORK
from torusweep.collectives.optimum import optimum
from torusweep.errors import BadInput
from torusweep.networks.families import build

from tests.collectives.player import play

TREES = "trees_in_network"


def with_terminals(graph, hosts):
    nx.set_node_attributes(graph, {node: int(node in hosts) for node in graph}, "terminals")
    return graph


def built(graph):
    return ts.network(graph).topology


def star(leaves):
    return with_terminals(nx.star_graph(leaves), range(1, leaves + 1))


# network, cycles a flit with sums in switches, and without
KNOWN = [
    # one switch: each host's link once in each direction; without, 2 (n − 1) / n
    *((star(n), F(1), F(2 * (n - 1), n)) for n in (2, 3, 4, 8)),
    # leaves with k links up, k terminals each; hosts with a link of their own
    ("fat_tree(k=2, n=2)", F(1, 2), F(1, 2)),
    ("fat_tree(k=4, n=2)", F(1, 4), F(6, 16)),
    ("fat_tree(k=4, n=3)", F(1, 4), F(30, 64)),
    ("xgft(down=[1, 4, 4], up=[1, 1, 4])", F(1), F(30, 16)),
    ("with_links(xgft(down=[1, 4, 4], up=[1, 1, 2]), bandwidths=[4, 1])", F(1, 2), None),
    # three groups, a link between any two: 4 messages a flit over 6 channels
    ("megafly(leaves=2, spines=2, p=2, h=1)", F(2, 3), None),
    # a terminal at every node: as without
    ("torus(k=3, n=2)", F(8, 18), F(8, 18)),
    ("hyperx(radices=[3, 2], terminals=2)", F(10, 18), F(10, 18)),
]


@pytest.mark.parametrize(("network", "cycles", "without"), KNOWN)
def test_known_answers(network, cycles, without):
    network = ts.network(network)
    answer = network.collective("all_reduce", [TREES], in_network=True)
    assert answer.rows[0]["operation"] == IN_NETWORK
    assert answer.optimum == pytest.approx(float(cycles), rel=1e-9)
    assert answer.rows[1]["cycles"] == pytest.approx(float(cycles), rel=1e-6)
    assert answer.attained_by == [TREES]
    if without is not None:
        assert network.collective("all_reduce", "optimum").optimum == pytest.approx(float(without), rel=1e-9)


def small(seed):
    """A connected network of five or six nodes, of which two or more have a terminal."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(5, 7))
    graph = nx.gnm_random_graph(nodes, int(draw.integers(nodes, nodes + 4)), seed=seed)
    nx.add_path(graph, draw.permutation(nodes).tolist())
    hosts = draw.choice(nodes, int(draw.integers(2, nodes)), replace=False).tolist()
    for _, _, data in graph.edges(data=True):
        data["bandwidth"] = int(draw.integers(1, 4))
    return with_terminals(graph, hosts), hosts


def most_flits(graph, hosts):
    """What all trees together carry: every set of links that is a tree and spans the hosts, in a linear program."""
    edges = list(graph.edges)
    trees = []
    for number in range(1, len(graph)):
        for some in combinations(range(len(edges)), number):
            part = graph.edge_subgraph([edges[place] for place in some])
            if set(hosts) <= set(part) and nx.is_tree(part):
                trees.append(some)
    takes = np.array([[place in tree for tree in trees] for place in range(len(edges))], float)
    room = [graph.edges[edge]["bandwidth"] for edge in edges]
    return -scipy.optimize.linprog(-np.ones(len(trees)), A_ub=takes, b_ub=room, method="highs").fun


@pytest.mark.parametrize("seed", range(12))
def test_all_trees_together_carry_no_more(seed):
    graph, hosts = small(seed)
    topology = built(graph)
    found = optimum(topology, IN_NETWORK)
    assert found.attained == pytest.approx(1 / most_flits(graph, hosts), rel=1e-6)
    narrowest = min(nx.minimum_cut_value(graph, one, other, "bandwidth") for one, other in combinations(hosts, 2))
    assert 1 / narrowest * (1 - 1e-9) <= found.bound <= found.attained * (1 + 1e-6)


PLAYED = [star(3), "fat_tree(k=2, n=3)", "megafly(leaves=2, spines=2, p=2, h=1)", "faulty(fat_tree(k=3, n=2), links=2)"]


@pytest.mark.parametrize("network", PLAYED)
def test_every_terminal_ends_with_the_sum_and_links_carry_what_cost_says(network):
    topology = built(network) if isinstance(network, nx.Graph) else build(network)
    schedule = schedule_of(topology, IN_NETWORK, TREES)
    members = np.flatnonzero(np.isin(schedule.node, topology.terminals)).tolist()
    held = play(schedule, len(schedule.node))
    for chunk in range(len(schedule.size)):
        assert len({held[rank][chunk] for rank in members}) == 1
        assert held[members[0]][chunk] >= set(members)
    carried = Counter()
    for source, destination, chunk in zip(schedule.source, schedule.destination, schedule.chunk.tolist()):
        carried[int(schedule.node[source]), int(schedule.node[destination])] += int(schedule.size[chunk])
    tail, head, port = topology.arcs
    room = {(u, v): 1 if topology.capacity is None else topology.capacity[u, p] for u, v, p in zip(tail, head, port)}
    busiest = max(flits / room[link] for link, flits in carried.items())
    assert schedule.size.sum() == schedule.units
    assert cost_of(topology, schedule).cycles == pytest.approx(busiest / schedule.units, rel=1e-12)
    assert best_known(topology, IN_NETWORK).attained == pytest.approx(busiest / schedule.units, rel=1e-6)


def test_messages_between_terminals_stay_as_they_are_and_have_their_share():
    network = ts.network("fat_tree(k=4, n=2)")
    alone, within = network.collective("all_reduce"), network.collective("all-reduce-in-network", simulate=2)
    cycles = {row["algorithm"]: row["cycles"] for row in alone.rows[1:]}
    assert TREES not in cycles
    assert {row["algorithm"]: row["cycles"] for row in within.rows[1:] if row["algorithm"] != TREES} == cycles
    ring = next(row for row in within.rows if row["algorithm"] == "ring")
    assert ring["optimum_share"] == pytest.approx(0.25 / ring["cycles"])
    assert "sums in switches; leave the simulation out" in within.left_out[TREES]


@pytest.mark.parametrize(
    ("network", "asked", "says"),
    [
        ("directed_torus(k=4, n=2)", ("all_reduce", [TREES]), "expected links in both directions"),
        ("fat_tree(k=2, n=2)", ("broadcast", None), "in_network: expected with all_reduce only, got broadcast"),
    ],
)
def test_refused(network, asked, says):
    with pytest.raises(BadInput, match=says):
        ts.network(network).collective(*asked, in_network=True)


def test_no_certificate_claims_it():
    topology = build("torus(k=3, n=2)")
    with pytest.raises(BadInput, match="expected an operation without sums in switches"):
        collective_certificate(topology, IN_NETWORK, 0, optimum(topology, IN_NETWORK))
