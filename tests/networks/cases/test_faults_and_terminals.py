"""Faults that a user names, tables for the pairs of a demand, several terminals at each router.

Letters F, I and J of the small inputs that failed in a trial; right values by plain loops, which share no code.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise, product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep import cli
from torusweep.networks.families import build
from torusweep.routing import routing

CASES = Path(__file__).parent


def command(*words: str):
    return CliRunner().invoke(cli.torusweep, list(words))


def x_then_y(source: int, destination: int, k: int) -> list[int]:
    """The nodes of the way along x, then along y, on a k × k mesh."""
    way = [source]
    while way[-1] % k != destination % k:
        way.append(way[-1] + (1 if destination % k > way[-1] % k else -1))
    while way[-1] // k != destination // k:
        way.append(way[-1] + (k if destination // k > way[-1] // k else -k))
    return way


# --- I: faults that are named


def test_every_link_of_a_mesh_by_name():
    """Without a link there is one link less, and x–y loses the pairs whose way passes it."""
    mesh = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 4))  # 4 y + x
    for one, other in mesh.edges:
        network = ts.network(f"without(mesh(k=4, n=2), links=[[{other}, {one}]])")
        rest = mesh.copy()
        rest.remove_edge(one, other)
        tail, head, _ = network.topology.arcs
        assert {frozenset(link) for link in zip(tail.tolist(), head.tolist())} == {frozenset(e) for e in rest.edges}
        ways = {pair: x_then_y(*pair, 4) for pair in product(range(16), repeat=2)}
        broken = [pair for pair, way in ways.items() if {one, other} in map(set, pairwise(way))]
        loads = Counter(hop for pair, way in ways.items() if pair not in broken for hop in pairwise(way))
        found = network.loads("xy")
        assert found.record["lost_pairs"] == len(broken)
        assert found.record["lost_traffic"] == pytest.approx(len(broken) / 256)
        assert {(t, h): round(16 * load) for t, h, load, _ in found.busiest(99) if load} == loads
        assert found.max_channel_load == pytest.approx(max(loads.values()) / 16)
        verdict = network.deadlock("xy").record
        assert (verdict["deadlock_free"], verdict["lost_pairs"]) == ("yes", len(broken))


def test_names_of_a_file(tmp_path):
    path = tmp_path / "ring.edges"
    path.write_text("a b\nb c\nc d\nd a\n")
    network = ts.network(f'without(graph(path="{path}"), links=[["b", "a"]], nodes=["d"])')
    assert [(one.tail, one.head) for one in network.loads().busiest()] == [("b", "c"), ("c", "b")]
    assert len(network.topology.terminals) == 3
    assert network.topology.links == 1
    record = network.loads().record  # a is left alone
    assert (record["lost_pairs"], record["lost_examples"]) == (4, ["a → b", "a → c", "b → a", "c → a"])
    for wrong, says in (
        ('links=[["a", "c"]]', "got a – c in place 1, of which it has 0 links; a has links to"),
        ('nodes=["x"]', "expected a node as the network's file or graph names it, a, b, c, …, got x"),
        ("links=[[a, b]]", 'names in "quotes"'),
    ):
        with pytest.raises(ts.BadInput, match=r"^without.*") as refusal:
            ts.network(f'without(graph(path="{path}"), {wrong})')
        assert says in str(refusal.value)


def test_parallel_links_fail_one_by_one():
    spelling = "without(hyperx(radices=[2, 2], widths=[2, 1]), links={})"
    whole = build("hyperx(radices=[2, 2], widths=[2, 1])")
    assert build(spelling.format([[0, 1]])).links == whole.links - 1
    assert build(spelling.format([[0, 1], [1, 0]])).links == whole.links - 2
    with pytest.raises(ts.BadInput, match=r"in place 3, of which it has 2 links, which are parallel"):
        build(spelling.format([[0, 1]] * 3))
    one_way = build("without(torus(radices=[4], directed=true), links=[[1, 2]])")
    assert one_way.links == 3
    with pytest.raises(ts.BadInput, match="got 2 – 1"):
        build("without(torus(radices=[4], directed=true), links=[[2, 1]])")


def test_faults_in_commands_and_configurations(tmp_path):
    broken = "without(mesh(k=4, n=2), links=[[1, 2]])"
    for words in (("loads",), ("deadlock",), ("simulate", "--load", "0.1", "--cycles", "3000")):
        shown = command(*words[:1], broken, "--routing", "dimension-order", *words[1:])
        assert shown.exit_code == 0, shown.output
        assert "no route" in shown.output
        assert "32 pairs of terminals (13.33%), as 0 → 2, 0 → 3, 0 → 6" in shown.output
        row = json.loads(command(*words[:1], broken, "--routing", "dimension-order", *words[1:], "--json").output)
        row = row[0] if isinstance(row, list) else row
        assert (row["lost_pairs"], row["lost_examples"][:2]) == (32, ["0 → 2", "0 → 3"])
        whole = json.loads(
            command(*words[:1], "mesh(k=4, n=2)", "--routing", "dimension-order", *words[1:], "--json").output
        )
        whole = whole[0] if isinstance(whole, list) else whole
        assert (whole["lost_pairs"], whole["lost_share"], whole["lost_examples"]) == (0, 0.0, [])
        assert whole.get("lost_traffic", 0.0) == 0.0
        assert "no route" not in command(*words[:1], "mesh(k=4, n=2)", *words[1:]).output
    sweep = {
        "sweep": "faults",
        "topologies": [broken, "faulty(mesh(k=4, n=2), links=2, seed=1)"],
        "loads": [{"routing": ["dimension_order", "west_first"]}],
        "deadlock": [{"routing": ["dimension_order", "west_first"], "vc_rule": "none", "virtual_channels": 1}],
    }
    results = ts.sweep(sweep).run(tmp_path / "results", backend="numpy", workers=0, progress=False)
    for table in ("loads", "deadlock"):
        rows = results[table].pandas().to_dict("records")
        known = {(row["topology"], row["routing"]): row["lost_pairs"] for row in rows}
        assert known[broken, "dimension_order"] == 32
        assert known[broken, "west_first"] == 20
        assert len(known) == 4


# --- F: tables for the pairs of a demand

ROUTES = "at,from,destination,to\n0,,5,4\n4,0,5,5\n"
DEMAND = "source,destination,demand\n0,5,1\n"


@pytest.fixture
def partial(tmp_path):
    (tmp_path / "c4.csv").write_text(ROUTES)
    (tmp_path / "demand.csv").write_text(DEMAND)
    return f'table(path="{tmp_path / "c4.csv"}")', f'demand(path="{tmp_path / "demand.csv"}")'


def test_a_table_of_the_pairs_of_a_demand(partial):
    routes, demand = partial
    network = ts.network("mesh(k=4, n=2)")
    found = network.loads(routes, demand)
    assert [(one.tail, one.head, one.load) for one in found.busiest(3)] == [(0, 4, 16.0), (4, 5, 16.0), (0, 1, 0.0)]
    assert (found.record["lost_pairs"], found.record["lost_traffic"]) == (16 * 15 - 1, 0.0)
    assert network.loads(routes, demand, packets=1000).busiest(2) == found.busiest(2)
    verdict = network.deadlock(routes, traffic=demand, layers=True)
    assert (verdict.deadlock_free, verdict.record["channels"], verdict.record["dependencies"]) == ("yes", 2, 1)
    assert (verdict.record["lost_pairs"], verdict.record["pairs_of"]) == (239, demand)
    assert verdict.layer_table.to_pylist() == [{"source": 0, "destination": 5, "layer": 0}]
    (row,) = network.simulate(0.03, routing=routes, traffic=demand, cycles=6000, packet_flits=1).rows
    assert row["accepted_load"] == pytest.approx(0.03, rel=0.1)
    assert row["network_latency"] == pytest.approx(row["p50_latency"], abs=2)


def test_pairs_that_a_traffic_uses_need_a_row(partial):
    routes, _ = partial
    network = ts.network("mesh(k=4, n=2)")
    for asked in (network.loads, lambda given: network.loads(given, packets=1000)):
        with pytest.raises(ts.BadInput, match=r"that the traffic uses, got none at 0 towards 1, nor for 238 other"):
            asked(routes)
    with pytest.raises(ts.BadInput, match=r"for every pair of terminals, got none at 0 towards 1, nor for 238 other"):
        network.deadlock(routes)
    assert "--traffic has routes" in str(command("deadlock", "mesh(k=4, n=2)", "--routing", routes).exception)
    with pytest.raises(ts.BadInput, match="that the traffic uses"):
        network.simulate(0.1, routing=routes)


def test_a_table_over_a_missing_link_is_refused(partial):
    routes, demand = partial
    with pytest.raises(ts.BadInput, match=r"to: expected a neighbour of 0, got 4 in row 1, towards 5; .* have failed"):
        ts.network("without(mesh(k=4, n=2), links=[[0, 4]])").loads(routes, demand)
    assert ts.network("without(mesh(k=4, n=2), links=[[0, 1]])").loads(routes, demand).max_channel_load == 16


@pytest.mark.parametrize("name", ["dimension_order", "random_order", "minimal", "west_first", "up_down"])
def test_a_verdict_for_the_pairs_of_a_traffic(name):
    """Dependencies of the ways between the demanded pairs only, from the table of the routing, by a plain loop."""
    if name in ("dimension_order", "random_order"):
        network = ts.network("torus(k=4, n=2)")
    else:
        network = ts.network("mesh(k=4, n=2)")
    matrix = np.zeros((16, 16))
    rng = np.random.default_rng(3)
    matrix[rng.integers(16, size=40), rng.integers(16, size=40)] = 1
    rows = network.routes(name).to_pylist()
    onwards = {}
    for row in rows:
        onwards.setdefault((row["at"], row["destination"], row.get("state", 0)), []).append(
            (row["to"], row.get("next_state", 0))
        )
    graph = nx.DiGraph()
    for source, destination in zip(*np.nonzero(matrix)):
        waiting = [(int(source), 0, None)] if source != destination else []
        seen = set()
        while waiting:
            at, state, held = waiting.pop()
            for to, then in onwards.get((at, int(destination), state), []):
                if to == at:
                    continue
                graph.add_node((at, to))
                if held is not None:
                    graph.add_edge(held, (at, to))
                if (to, then, at) not in seen:
                    seen.add((to, then, at))
                    waiting.append((to, then, (at, to)))
    record = network.deadlock(name, traffic=matrix).record
    assert (record["channels"], record["dependencies"]) == (len(graph), graph.number_of_edges())
    assert record["acyclic"] == nx.is_directed_acyclic_graph(graph)
    assert record["lost_pairs"] == 0


# --- J: several terminals at each router


@pytest.mark.parametrize("network", [str(CASES / "cmesh.graphml"), "concentrated(mesh(k=4, n=2), terminals=2)"])
def test_a_concentrated_mesh(network):
    """Two terminals a router: uniform traffic of each to all, counted hop by hop."""
    loads, k = Counter(), 4
    for source, destination in product(range(2 * k * k), repeat=2):
        for hop in pairwise(x_then_y(source // 2, destination // 2, k)):
            loads[hop] += 1 / (2 * k * k)
    found = ts.network(network).loads("dimension_order")
    assert found.max_channel_load == 2
    assert found.saturation_load == 0.5
    assert {(t, h): load for t, h, load, _ in found.busiest(999)} == pytest.approx(dict(loads))
    assert ts.network(network).deadlock("dimension_order").deadlock_free == "yes"
    (row,) = ts.network(network).simulate(0.2, routing="dimension_order", cycles=8000, packet_flits=1).rows
    assert row["accepted_load"] == pytest.approx(0.2, rel=0.03)
    assert row["max_channel_utilization"] == pytest.approx(0.2 * 2, rel=0.1)


@pytest.mark.parametrize(
    ("whole", "names"),
    [
        ("torus(radices=[4, 3])", ["dimension_order", "random_order", "valiant", "minimal", "adaptive"]),
        ("mesh(radices=[3, 4])", ["dimension_order", "west_first", "romm", "up_down"]),
        ("rtt(a=3)", ["routing_record", "minimal_by_address"]),
        ("circulant(n=13, steps=[1, 5])", ["routing_record"]),
    ],
)
def test_loads_of_concentrated_networks_are_those_of_routers_times_terminals(whole, names):
    """Conservation: the loads add up to demand times hops; each is that of the routers, times the terminals."""
    network, routers = ts.network(f"concentrated({whole}, terminals=3)"), ts.network(whole)
    terminals, nodes = 3 * routers.topology.nodes, routers.topology.nodes
    demand = np.random.default_rng(1).random((terminals, terminals))
    between = demand.reshape(nodes, 3, nodes, 3).sum(axis=(1, 3))
    for name in names:
        if name != "adaptive":
            found, plain = network.loads(name, demand), routers.loads(name, between)
            assert found.load == pytest.approx(3 * plain.load)
            assert found.load.sum() == pytest.approx(terminals * found.record["mean_hops"])
            assert found.saturation_load == pytest.approx(plain.saturation_load / 3)
            assert network.loads(name, "tornado").load == pytest.approx(3 * routers.loads(name, "tornado").load)
        rule = "dateline" if "torus" in whole and name in ("dimension_order", "adaptive") else "none"
        channels = 3 if name == "adaptive" else 2
        one, other = (each.deadlock(name, rule, channels).record for each in (network, routers))
        assert [one[key] for key in ("channels", "dependencies", "acyclic", "deadlock_free")] == [
            other[key] for key in ("channels", "dependencies", "acyclic", "deadlock_free")
        ]


def test_faults_of_concentrated_networks_count_terminals():
    network = ts.network("without(concentrated(mesh(k=4, n=2), terminals=3), links=[[1, 2]])")
    record = network.loads("dimension_order").record
    assert (record["lost_pairs"], record["lost_share"]) == (32 * 9, pytest.approx(32 * 9 / (48 * 47)))
    again = ts.network("concentrated(without(mesh(k=4, n=2), links=[[1, 2]]), terminals=3)")
    assert again.loads("dimension_order").record["lost_pairs"] == 32 * 9


def test_grids_of_files_and_graphs(tmp_path):
    """A file's own numbers say its sides: the links decide, and a grid with a link more is none."""
    for sides, graph in (
        ((5, 3), nx.grid_2d_graph(3, 5)),
        ((6, 4), nx.grid_2d_graph(4, 6, periodic=True)),
        ((3, 4, 2), nx.grid_graph([3, 4, 2])),
    ):
        numbered = nx.convert_node_labels_to_integers(graph, ordering="sorted")
        family = "torus" if nx.is_regular(graph) and len(sides) == 2 else "mesh"
        found = ts.network(numbered).loads("dimension_order")
        own = ts.network(f"{family}(radices={list(sides)})").loads("dimension_order")
        assert {one[:3] for one in found.busiest(999)} == {one[:3] for one in own.busiest(999)}
        numbered.add_edge(0, numbered.number_of_nodes() - 1)
        with pytest.raises(ts.BadInput, match="with all its links"):
            ts.network(numbered).loads("dimension_order")
    assert routing("west_first", ts.network(nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3))).topology)


def test_terminals_saturate_where_the_busiest_one_sends_a_flit_a_cycle():
    """One of 16 terminals sends all: 16 times the mean, so that a sixteenth of a flit is its limit."""
    demand = np.zeros((16, 16))
    demand[0, [1, 3, 4, 12]] = 1.0
    record = ts.network("torus(k=4, n=2)").loads(traffic=demand).record
    assert record["saturation_load"] == record["ejection_load"] == pytest.approx(1 / 4)
    assert record["injection_load"] == record["terminal_saturation_load"] == pytest.approx(1 / 16)
    uniform = ts.network("torus(k=4, n=3)").loads().record
    assert (uniform["injection_load"], uniform["terminal_saturation_load"]) == (1.0, 1.0)


def test_a_routing_that_loses_pairs_is_nobodys_best():
    """Dimension order drops 12.5 % of the traffic of this mesh, and would carry the rest without a queue."""
    broken = "without(mesh(k=4, n=2), links=[[1, 2]])"
    lossy = ts.network(broken).loads("dimension_order").record
    whole = ts.network(broken).loads().record
    assert lossy["lost_pairs"] > 0
    assert lossy["terminal_saturation_load"] > whole["terminal_saturation_load"]
    row = next(
        row
        for row in ts.cost([broken, "mesh(k=4, n=2)"], routing=["minimal", "dimension_order"]).rows
        if row["topology"] == broken
    )
    assert row["routing"] == "minimal"
    assert row["throughput"] == pytest.approx(whole["terminal_saturation_load"])
