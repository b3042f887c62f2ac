"""Multicast: a flit on every link of the union of routes, once; against plain loops over the routes of networkx."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep import cli
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.loads.exact import exact_loads
from torusweep.traffic import traffic


def by_dimension(sides, ring):
    """Routes x first, of a mesh, or of a torus that goes + at half a ring."""

    def route(source, goal):
        at, path, stride = source, [source], 1
        for side in sides:
            while at // stride % side != goal // stride % side:
                ahead = (goal // stride - at // stride) % side
                up = 2 * ahead <= side if ring else goal // stride % side > at // stride % side
                digit = at // stride % side
                at += stride * ((digit + (1 if up else -1)) % side - digit)
                path.append(at)
            stride *= side
        return path

    return route


def tree_of(graph):
    """The only routes of a tree."""
    return lambda source, goal: nx.shortest_path(graph, source, goal)


STAR = nx.star_graph(4)
FAT = nx.Graph([(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6)])
# network, routing, routes between the nodes of terminals, traffic, {sender: receivers}
ROWS = [
    ("mesh(radices=[3, 4])", "dimension_order", by_dimension((3, 4), ring=False), "multicast", {0: range(12)}),
    ("mesh(radices=[3, 4])", "dimension_order", by_dimension((3, 4), ring=False), "multicast(root=4, to=[1, 5, 11])",
     {4: [1, 5, 11]}),
    ("torus(radices=[4, 3])", "dimension_order(tie=positive)", by_dimension((4, 3), ring=True), "multicast_all",
     {s: range(12) for s in range(12)}),
    ("torus(radices=[4, 3])", "dimension_order(tie=positive)", by_dimension((4, 3), ring=True), "multicast_all(size=4)",
     {s: range(s // 4 * 4, s // 4 * 4 + 4) for s in range(12)}),
    ("mesh(radices=[3, 2])", "dimension_order", by_dimension((3, 2), ring=False), "multicast_all(size=2)",
     {s: [s ^ 1] for s in range(6)}),
]  # fmt: skip
MULTICAST = {row[3].partition("(")[0] for row in ROWS}


def plain(route, trees):
    """{(node, node): flits}"""
    used = Counter()
    for sender, receivers in trees.items():
        used.update({link for goal in receivers for link in pairwise(route(sender, goal))})
    return used


def found_on(topology, load):
    tail, head, port = topology.arcs
    return {(u, v): flits for u, v, flits in zip(tail.tolist(), head.tolist(), load[tail, port].tolist()) if flits}


@pytest.mark.parametrize(("network", "routing", "route", "pattern", "trees"), ROWS)
def test_a_channel_carries_a_flit_once_for_all_behind_it(network, routing, route, pattern, trees):
    topology = build(network)
    found = exact_loads(topology, routing=routing, traffic=pattern)
    expected = plain(route, trees)
    assert found_on(topology, found.load) == expected
    record = ts.network(network).loads(routing, pattern).record
    assert record["mean_hops"] == pytest.approx(sum(expected.values()) / len(trees))
    received = Counter(goal for sender, goals in trees.items() for goal in goals if goal != sender)
    assert record["ejection_load"] == pytest.approx(1 / max(received.values()))
    assert record["injection_load"] == 1
    assert record["stretch"] is None


@pytest.mark.parametrize("graph", [STAR, FAT], ids=["star", "tree"])
def test_terminals_of_switches_by_name_and_several_at_a_node(graph, tmp_path):
    """Every host's flit crosses each link of its tree once; two terminals at a node each send their own."""
    hosts = [node for node in graph if graph.degree(node) == 1]
    named = nx.relabel_nodes(graph, {node: f"n{node}" for node in graph})
    nx.set_node_attributes(named, {f"n{node}": int(node in hosts) for node in graph}, "terminals")
    network = ts.network(named)
    found = network.loads("up_down", "multicast_all")
    links = {(u, v): flits for u, v, flits, _ in found.busiest(99) if flits}
    expected = plain(tree_of(graph), dict.fromkeys(hosts, hosts))
    assert links == {(f"n{u}", f"n{v}"): flits for (u, v), flits in expected.items()}
    one = network.loads("up_down", f'multicast(root="n{hosts[1]}", to=["n{hosts[0]}"])')
    assert one.record["mean_hops"] == nx.shortest_path_length(graph, hosts[1], hosts[0])
    two = ts.network("concentrated(mesh(radices=[3]), terminals=2)").loads("dimension_order", "multicast_all")
    assert [each.load for each in two.busiest(4)] == [4, 4, 2, 2]


def test_links_of_another_bandwidth_and_faults():
    wide = ts.network("with_links(mesh(radices=[3, 2]), bandwidths=[2, 1])").loads("dimension_order", "multicast")
    assert sorted(each.load for each in wide.busiest(5)) == [0.5, 0.5, 1, 1, 1]
    broken = ts.network("without(mesh(radices=[3, 2]), links=[[1, 2]])").loads("dimension_order", "multicast")
    assert (broken.record["lost_pairs"], broken.record["mean_hops"]) == (8, 3)  # 0, 1 → 2, 5; 2 → 0, 1, 3, 4


@pytest.mark.parametrize(
    ("network", "routing", "pattern", "says"),
    [
        ("torus(k=4, n=2)", "minimal", "multicast", "expected one route for each pair, .* got several from 0 to 2"),
        ("torus(k=4, n=2)", "valiant", "multicast_all", "expected one route for each pair"),
        ("mesh(k=4, n=2)", "dimension_order", "multicast(root=16)", "root=16: expected 0 … 15"),
        ("mesh(k=4, n=2)", "dimension_order", "multicast(to=[0])", "other terminals than the sender"),
        ("mesh(k=4, n=2)", "dimension_order", "multicast(to=[])", "a terminal or more"),
        ("mesh(k=4, n=2)", "dimension_order", "multicast_all(size=5)", "a divisor of 16"),
    ],
)
def test_refused(network, routing, pattern, says):
    with pytest.raises(BadInput, match=says):
        exact_loads(build(network), routing=routing, traffic=pattern)


def test_questions_that_copy_nothing_refuse_multicast():
    network = ts.network("mesh(k=4, n=2)")
    for asked in (
        lambda: network.loads("dimension_order", "multicast", packets=1000),
        lambda: network.loads("dimension_order", "multicast", bounds=True),
        lambda: network.simulate(traffic="multicast", load=0.1),
        lambda: network.deadlock("dimension_order", traffic="multicast_all"),
        lambda: traffic("multicast", build("mesh(k=4, n=2)")),
    ):
        with pytest.raises(BadInput, match=r"one destination, got multicast; exact loads take it"):
            asked()


def test_the_command_says_what_loads_are_of():
    asked = ["loads", "mesh(k=4, n=2)", "--routing", "dimension_order", "--traffic", "multicast(root=5)"]
    text = CliRunner().invoke(cli.torusweep, asked, catch_exceptions=False).output
    assert "once on every link of its tree" in text
    assert np.isclose(ts.network("mesh(k=4, n=2)").loads("dimension_order", "multicast(root=5)").max_channel_load, 1)
