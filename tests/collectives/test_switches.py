"""Algorithms between terminals of switched networks, beside a plain loop over messages and closed forms.

Networks whose switches have no terminal, or whose routers have several.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction as F
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from torusweep.collectives.algorithms import ALGORITHMS, schedule_of
from torusweep.collectives.cost import cost_of
from torusweep.collectives.operations import OPERATIONS
from torusweep.collectives.optimum import optimum
from torusweep.collectives.rings import order_of_ranks
from torusweep.errors import BadInput
from torusweep.networks.families import build

from tests.collectives.player import check
from tests.questions.static.networks import network

CASES = Path(__file__).parents[1] / "networks" / "cases"
ON_SWITCHES = ("one_way_ring", "ring", "halving_doubling", "recursive_doubling", "direct", "tree", "trees")
PAIRS = [(name, operation) for name in ON_SWITCHES for operation in ALGORITHMS[name].operations]


def star(terminals: int):
    links = [(terminals, node) for node in range(terminals)]
    return ts.network(nx.Graph(links), terminals=list(range(terminals))).topology


def rails(servers: int, gpus: int):
    """Servers with a switch of their own, of wide links; GPU i of every server at rail switch i."""
    graph = nx.Graph()
    number = servers * gpus
    for gpu in range(number):
        graph.add_edge(gpu, number + gpu // gpus, bandwidth=4)
        graph.add_edge(gpu, number + servers + gpu % gpus, bandwidth=1)
    return ts.network(graph, terminals=list(range(number))).topology


def leaves(number: int, hosts: int, spines: int):
    """A tree of two levels whose hosts are nodes: each leaf switch has a link to every spine."""
    graph = nx.Graph((host, f"leaf {host // hosts}") for host in range(number * hosts))
    graph.add_edges_from((f"leaf {leaf}", f"spine {spine}") for leaf in range(number) for spine in range(spines))
    return ts.network(graph, terminals=list(range(number * hosts))).topology


NETWORKS = {
    "star of 5": lambda: star(5),
    "star of 8": lambda: star(8),
    "GPUs on four unequal switches": lambda: ts.network(str(CASES / "c6.graphml")).topology,
    "rails": lambda: rails(2, 4),
    "non-blocking tree": lambda: leaves(2, 4, 4),
    "oversubscribed tree": lambda: leaves(4, 4, 1),
    "xgft(down=[4, 2], up=[1, 3])": lambda: build("xgft(down=[4, 2], up=[1, 3])"),
    "fat_tree(k=2, n=3)": lambda: build("fat_tree(k=2, n=3)"),
    "dragonfly(a=2, p=2, h=1)": lambda: build("dragonfly(a=2, p=2, h=1)"),
    "hyperx": lambda: build("hyperx(radices=[3, 2], terminals=3, widths=[1, 2])"),
    "jellyfish": lambda: build("jellyfish(switches=6, ports=5, degree=3, seed=1)"),
    "faulty": lambda: build("faulty(dragonfly(a=2, p=2, h=1), links=1, seed=1)"),
    "a failed switch": lambda: build("faulty(fat_tree(k=2, n=2), nodes=1, seed=1)"),
    "one way": lambda: network(4, [(0, 3), (3, 1), (3, 2), (1, 0), (2, 0)], directed=True, terminals=[0, 1, 2]),
    "terminals out of order": lambda: network(3, [(0, 1), (1, 2), (2, 0)], terminals=[2, 0, 1]),
}


@cache
def network_of(name: str):
    return NETWORKS[name]()


@cache
def bound(name: str, operation: str, root: int) -> float:
    """The same for every algorithm."""
    return optimum(network_of(name), operation, root=root).bound


@cache
def shares_of(name: str, source: int, destination: int) -> dict[tuple[int, int], F]:
    return shares(network_of(name), source, destination)


def shares(topology, source: int, destination: int) -> dict[tuple[int, int], F]:
    """Of a message: at each node it is divided by the bandwidth of the links that lead nearer."""
    graph = nx.DiGraph()
    for node, row in enumerate(topology.ports.tolist()):
        for port, head in enumerate(row):
            if head >= 0:
                width = 1 if topology.bandwidth is None else F(float(topology.bandwidth[node, port]))
                graph.add_edge(node, head, width=F(width))
    left = nx.single_target_shortest_path_length(graph, destination)
    left = dict(left)
    at, found = {source: F(1)}, defaultdict(F)
    while set(at) != {destination}:
        after = defaultdict(F)
        for node, part in at.items():
            nearer = [head for head in graph[node] if left.get(head, np.inf) == left[node] - 1]
            widths = sum(graph[node][head]["width"] for head in nearer)
            for head in nearer:
                share = part * graph[node][head]["width"] / widths
                found[node, head] += share / graph[node][head]["width"]
                after[head] += share
        at = after
    return found


def cycles_of(name: str, schedule) -> float:
    """The busiest channel's time of each step (of all steps, in a pipeline), a flit of size, message by message."""
    loads = defaultdict(lambda: defaultdict(F))
    for step, source, destination, chunk in zip(
        schedule.step.tolist(), schedule.source.tolist(), schedule.destination.tolist(), schedule.chunk.tolist()
    ):
        ends = (int(schedule.node[rank]) for rank in (source, destination))
        for channel, share in shares_of(name, *ends).items():
            loads[0 if schedule.pipelined else step][channel] += share * int(schedule.size[chunk])
    return float(sum(max(load.values()) for load in loads.values()) / schedule.units)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(("algorithm", "operation"), PAIRS)
def test_algorithms_compute_their_operation(name: str, algorithm: str, operation: str):
    topology = network_of(name)
    ranks = len(topology.terminals)
    if (algorithm in ("halving_doubling", "recursive_doubling") and ranks & (ranks - 1)) or (
        algorithm == "ring" and topology.directed
    ):
        with pytest.raises(BadInput, match=r"choose .*, or optimum$"):
            schedule_of(topology, operation, algorithm)
        return
    root = ranks // 2 if OPERATIONS[operation].rooted else 0
    schedule = schedule_of(topology, operation, algorithm, root=root)
    check(schedule, ranks, root)
    cost = cost_of(topology, schedule)
    assert cost.cycles == pytest.approx(cycles_of(name, schedule), rel=1e-9)
    assert cost.cycles >= bound(name, operation, root) * (1 - 1e-9)


def half(ranks: int) -> F:
    return F(ranks - 1, ranks)


STAR = [
    # each terminal's link carries N − 1 of N parts each way in both halves; hops: two of each step
    *((n, "all_reduce", name, 2 * half(n), 2 * (n - 1)) for n in (3, 5, 8, 16) for name in ("one_way_ring", "ring")),
    *((n, "all_reduce", "direct", 2 * half(n), 2) for n in (3, 5, 8, 16)),
    (8, "all_reduce", "halving_doubling", 2 * half(8), 6),
    (16, "all_reduce", "halving_doubling", 2 * half(16), 8),
    (16, "all_reduce", "recursive_doubling", F(4), 4),
    *((n, "all_gather", "trees", half(n), None) for n in (3, 5, 8, 16, 21)),
    *((n, "reduce_scatter", "direct", half(n), 1) for n in (3, 8)),
    *((n, "all_to_all", "direct", half(n), 1) for n in (3, 8)),
    # two trees: no terminal but the root passes on data in both
    *((n, "broadcast", "trees", F(1), None) for n in (3, 4, 5, 6, 7, 8, 9, 16, 21)),
    *((n, "reduce", "trees", F(1), None) for n in (4, 7)),
    *((n, "all_reduce", "trees", F(2), None) for n in (4, 7, 16)),
    (8, "broadcast", "tree", F(2), 3),
    (8, "broadcast", "direct", F(7), 1),
]


@pytest.mark.parametrize(("terminals", "operation", "algorithm", "cycles", "steps"), STAR)
def test_a_star(terminals: int, operation: str, algorithm: str, cycles: F, steps: int | None):
    topology = star(terminals)
    cost = cost_of(topology, schedule_of(topology, operation, algorithm))
    assert cost.cycles == pytest.approx(float(cycles), rel=1e-12)
    assert steps in (None, cost.steps)
    assert cost.hops == 2 * cost.steps


@pytest.mark.parametrize(
    ("shape", "operation", "algorithm", "cycles"),
    [
        # non-blocking: as on one switch, the links of the terminals decide
        ((2, 4, 4), "all_reduce", "one_way_ring", 2 * half(8)),
        ((2, 4, 4), "all_reduce", "halving_doubling", 2 * half(8)),
        ((2, 4, 4), "all_gather", "direct", half(8)),
        # oversubscribed: a ring crosses each uplink once; each of 4 sends a 16th to 12 others, all over the uplinks
        ((4, 4, 1), "all_reduce", "one_way_ring", 2 * half(16)),
        ((4, 4, 1), "all_gather", "direct", F(4 * 12, 16)),
        ((4, 4, 1), "all_to_all", "direct", F(4 * 12, 16)),
        ((4, 4, 1), "all_gather", "halving_doubling", F(1 + 2 + 4 * 4 + 4 * 8, 16)),
        ((4, 4, 2), "all_gather", "direct", F(2 * 12, 16)),
    ],
)
def test_trees_of_switches(shape: tuple[int, int, int], operation: str, algorithm: str, cycles: F):
    topology = leaves(*shape)
    assert cost_of(topology, schedule_of(topology, operation, algorithm)).cycles == pytest.approx(float(cycles))


@pytest.mark.parametrize("algorithm", ["one_way_ring", "ring", "direct", "halving_doubling"])
def test_four_switches_between_eight_gpus(algorithm: str):
    """2 · 7/8 of the vector over the 18 links of a GPU, as 2 · 7/8 over one link of 18 flits a cycle."""
    topology = ts.network(str(CASES / "c6.graphml")).topology
    assert cost_of(topology, schedule_of(topology, "all_reduce", algorithm)).cycles == pytest.approx(2 * 7 / 8 / 18)


def test_terminals_under_a_switch_follow_each_other():
    """Numbered across the leaves of a tree with one uplink each: in the order of numbers every message would cross."""
    graph = nx.Graph([("top", f"leaf {leaf}") for leaf in range(3)])
    graph.add_edges_from((f"leaf {number % 3}", number) for number in range(9))
    topology = ts.network(graph, terminals=list(range(9))).topology
    leaves = order_of_ranks(topology) % 3
    assert sum(one != other for one, other in zip(leaves, np.roll(leaves, -1))) == 3
    cost = cost_of(topology, schedule_of(topology, "all_reduce", "one_way_ring"))
    assert cost.cycles == pytest.approx(2 * 8 / 9)
    assert np.array_equal(order_of_ranks(star(5)), range(5))


def test_what_is_left_out_has_a_remedy():
    said = ts.network("dragonfly(a=2, p=2, h=1)").collective("all_reduce")
    assert said.reason == ""
    assert set(said.left_out) == {"rings", "by_dimension", "bucket", "halving_doubling", "recursive_doubling"}
    assert all("; choose " in words for words in said.left_out.values())
    with pytest.raises(BadInput, match=r"expected one terminal at each node; choose .*, or optimum$"):
        ts.network("dragonfly(a=2, p=2, h=1)").collective("all_reduce", "rings")
    one = ts.network("dragonfly(a=2, p=2, h=1)").collective("all_gather", "one_way_ring")
    assert sorted(one.rows[1]["ring_order"]) == list(range(12))
    assert one.rows[0]["ring_order"] is None
    assert one.order.startswith(("as in 0, ", "in the order"))
