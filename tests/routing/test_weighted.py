"""Routing by weights and latencies, against Dijkstra's algorithm in plain fractions."""

from __future__ import annotations

import heapq
import json
import sys
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import sampled_loads
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records

OSPF = [(0, 1, 1), (1, 2, 1), (0, 2, 10)]


def read(folder, links, *, directed=False):
    """The network of links (node, node, cost), from a file of node-link JSON."""
    edges = ", ".join(f'{{"source": {u}, "target": {v}, "weight": {cost}}}' for u, v, cost in links)
    named = json.dumps([{"id": node} for node in sorted({node for u, v, _ in links for node in (u, v)})])
    path = folder / "network.json"
    path.write_text(
        f'{{"directed": {str(directed).lower()}, "multigraph": false, "nodes": {named}, "edges": [{edges}]}}'
    )
    return build(f'graph(path="{path}", weights="cost")')


def plain_loads(links, senders, ends=()):
    """Flits over each link, as fractions, where every sender sends one flit to every other.

    links   {(node, node): (cost, parallel links)}
    ends    nodes that forward nothing
    """
    load = dict.fromkeys(links, Fraction(0))
    for goal in senders:
        away, waiting = {}, [(Fraction(0), goal)]
        while waiting:
            spent, node = heapq.heappop(waiting)
            if node in away:
                continue
            away[node] = spent
            if node == goal or node not in ends:
                for (u, v), (cost, _) in links.items():
                    if v == node and u not in away:
                        heapq.heappush(waiting, (spent + cost, u))
        flits = {node: Fraction(node in senders and node != goal) for node in away}
        for node in sorted(away, key=lambda node: -away[node]):
            onwards = {
                v: many
                for (u, v), (cost, many) in links.items()
                if u == node and away.get(v) == away[node] - cost and (v == goal or v not in ends)
            }
            for v, many in onwards.items():
                share = flits[node] * many / sum(onwards.values())
                load[node, v] += share
                flits[v] += share
    return load


def expect_loads(topology, links, ends=(), by="weight"):
    """The loads of all terminals, each of which sends a flit to every other, are those of plain fractions."""
    senders = topology.terminals.tolist()
    load = exact_loads(topology, routing=f"weighted(by={by})", traffic="uniform_other").load
    for (u, v), flits in plain_loads(links, senders, ends).items():
        port = topology.ports[u].tolist().index(v)
        expected = float(flits) / links[u, v][1] / (len(senders) - 1)
        assert load[u, port] == pytest.approx(expected, rel=1e-12), (u, v)


def both_ways(links):
    return links | {(v, u): number for (u, v), number in links.items()}


TIES = ["0.1", "0.2", "0.3", "1.1", "2"]  # sums that tie, as decimals and not as floats: .1 + .2 and .3
LONG = ["0.3333333333333333", "0.6666666666666666", "0.7071067811865476", "123456.7"]  # sums that float64 cannot hold


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("numbers", [TIES, LONG, ["1", "2", "3"]])
@pytest.mark.parametrize("seed", range(5))
def test_loads_are_those_of_fractions(tmp_path, directed, numbers, seed):
    draw = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(9, 28 if directed else 14, seed=seed, directed=directed)
    nx.add_cycle(graph, range(9))
    listed = [(u, v, str(draw.choice(numbers))) for u, v in graph.edges]
    links = {(u, v): (Fraction(number), 1) for u, v, number in listed}
    expect_loads(read(tmp_path, listed, directed=directed), links if directed else both_ways(links))


@pytest.mark.parametrize("seed", range(5))
def test_hosts_that_forward_nothing_are_only_at_ends_of_paths(tmp_path, seed):
    """Three hosts, whose links would be short cuts, between seven switches; 0 and 1 are also joined with each other."""
    draw = np.random.default_rng(seed)
    graph = nx.compose(nx.cycle_graph(range(3, 10)), nx.Graph([(0, 3), (0, 6), (1, 4), (1, 8), (2, 5), (2, 9), (0, 1)]))
    listed = [(u, v, int(draw.integers(1, 3 if u < 3 else 9))) for u, v in graph.edges]
    topology = read(tmp_path, listed)
    hosts = np.arange(3, dtype=np.int32)
    topology = replace(topology, plan=replace(topology.plan, hosts_end=True), terminals=hosts)
    assert topology.ends.nonzero()[0].tolist() == [0, 1, 2]
    expect_loads(topology, both_ways({(u, v): (cost, 1) for u, v, cost in listed}), ends=(0, 1, 2))


def test_latencies_are_costs_and_parallel_links_count():
    topology = build("with_links(hyperx(radices=[3, 3], widths=[1, 2]), latencies=[2, 3])")
    links = {
        (u, v): ((2, 1) if u // 3 == v // 3 else (3, 2))
        for u in range(9)
        for v in range(9)
        if (u // 3 == v // 3) != (u % 3 == v % 3)
    }
    expect_loads(topology, links, by="latency")
    for network in ("torus(k=4, n=2)", "with_links(hyperx(radices=[3, 3]), latencies=[2, 5])"):  # as by hops
        loads = [exact_loads(build(network), routing=name).load for name in ("minimal_ecmp", "weighted(by=latency)")]
        np.testing.assert_array_equal(*loads)


def used(topology, load):
    return {(u, int(topology.ports[u, port])) for u, port in np.argwhere(load > 0).tolist()}


@pytest.mark.parametrize(("routing", "links"), [("weighted(by=weight)", {(0, 1), (1, 2)}), ("minimal", {(0, 2)})])
def test_ospf_goes_by_cost_and_minimal_by_hops(tmp_path, routing, links):
    topology = read(tmp_path, OSPF)
    (tmp_path / "d.csv").write_text("source,destination,demand\n0,2,1\n")
    how = {"routing": routing, "traffic": f'demand(path="{tmp_path}/d.csv")'}
    assert used(topology, exact_loads(topology, **how).load) == links
    assert used(topology, sampled_loads(topology, **how, packets=1000).load) == links
    found = deadlock_record(topology, routing=routing, vc_rule="none", virtual_channels=1)
    assert (found["acyclic"], found["channels"]) == (True, 4 if len(links) == 2 else 6)
    parameters = Parameters(**how, vc_rule="none", virtual_channels=1, cycles=2_000, warm_up=500)
    (row,) = simulation_records(topology, parameters, loads=[0.1], seeds=[1])
    assert 6 * row["mean_channel_utilization"] / row["max_channel_utilization"] == pytest.approx(len(links), rel=0.02)


def test_faults_are_gone_round_and_pairs_apart_are_lost(tmp_path):
    ring = [(u, (u + 1) % 5, 1 + u) for u in range(5)]
    spelled = read(tmp_path, ring).spelling
    one = build(f"without({spelled}, links=[[0, 1]])")
    expect_loads(one, both_ways({(u, v): (cost, 1) for u, v, cost in ring[1:]}))
    two = build(f"without({spelled}, links=[[0, 1], [2, 3]])")
    assert exact_loads(two, routing="weighted", traffic="uniform_other").lost.lost_pairs == 12
    apart = read(tmp_path, [(0, 1, 1), (2, 3, 1)])
    with pytest.raises(
        BadInput, match="a route for every pair of terminals that the traffic uses, got none at 0 towards 2, nor for 7"
    ):
        exact_loads(apart, routing="weighted")


@pytest.mark.parametrize(
    ("links", "routing", "says"),
    [
        ([(0, 1, 0), (1, 2, 1)], "weighted", "numbers above 0 as weight, got 0"),
        ([(0, 1, 2), (1, 2, -1)], "weighted", "numbers above 0 as weight, got -1"),
        ("torus(k=4, n=2)", "weighted", "weights of links, got a network without"),
        ("torus(k=4, n=2)", "weighted(by=hops)", "expected weight or latency, got hops"),
    ],
)
def test_refusals(tmp_path, links, routing, says):
    with pytest.raises(BadInput, match=says):
        exact_loads(build(links) if isinstance(links, str) else read(tmp_path, links), routing=routing)


def test_a_link_that_costs_nothing_is_refused_wherever_it_comes_from(tmp_path):
    topology = read(tmp_path, OSPF)
    free = replace(topology, weight=np.where(topology.weight == 10, 0, topology.weight))
    with pytest.raises(BadInput, match="weights above 0 of all links, got 0 on 0 → 2; packets could go round"):
        exact_loads(free, routing="weighted")


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["torusweep.routing.weighted"], "MOST_PAIRS", 255)
    with pytest.raises(Refused, match="at most 255 pairs"):
        exact_loads(build("with_links(torus(k=4, n=2), latencies=[1, 2])"), routing="weighted(by=latency)")
