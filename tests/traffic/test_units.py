"""Demands and bandwidths with units: what links carry, in percent of their capacity, by a plain loop over paths."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import igraph
import networkx as nx
import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.quantities import common_part, rate, rate_of, time, time_of

from tests.faults import command_line

pytestmark = pytest.mark.usefixtures("in_a_temporary_folder")

BITS = {"Mb/s": 10**6, "Gb/s": 10**9, "GB/s": 8 * 10**9, "Gbps": 10**9, "kB/s": 8000}


@pytest.mark.parametrize("seed", range(6))
def test_percent_of_capacity_on_trees(seed):
    """Between two nodes of a tree there is one path. Ratios of capacities go up to 400."""
    draw = random.Random(seed)
    tree = nx.random_labeled_tree(9, seed=seed)
    capacity, carried = {}, {}
    for u, v in tree.edges():
        number, unit = draw.choice([(100, "Gb/s"), (400, "Gbps"), (12.5, "GB/s"), (1000, "Mb/s")])
        tree.edges[u, v]["bandwidth"] = f"{number} {unit}"
        capacity[u, v] = capacity[v, u] = Fraction(number) * BITS[unit]
        carried[u, v] = carried[v, u] = Fraction(0)
    nx.write_graphml(tree, "tree.graphml")
    lines, total = ["source,destination,demand"], Fraction(0)
    for _ in range(30):
        source, target = draw.sample(range(9), 2)
        number, unit = draw.choice([(5, "Gb/s"), (1.25, "GB/s"), (750, "Mb/s"), (125000, "kB/s")])
        lines.append(f"{source},{target},{number} {unit}")
        path = nx.shortest_path(tree, source, target)
        total += Fraction(number) * BITS[unit]
        for hop in pairwise(path):
            carried[hop] += Fraction(number) * BITS[unit]
    Path("demand.csv").write_text("\n".join([*lines, ""]))
    loads = ts.network("tree.graphml").loads(traffic="demand.csv")
    table = loads.channels.to_pylist()
    assert len(table) == len(carried)
    names = [int(name) for name in loads.found.topology.plan.names or range(9)]
    for row in table:
        hop = names[row["from"]], names[row["to"]]
        assert row["carried"] == pytest.approx(float(carried[hop]), rel=1e-12)
        assert row["capacity"] == float(capacity[hop])
        assert row["percent"] == pytest.approx(float(100 * carried[hop] / capacity[hop]), rel=1e-12)
    over = [(int(one.tail), int(one.head)) for one in loads.over_capacity()]
    assert set(over) == {hop for hop in carried if carried[hop] > capacity[hop]}
    shares = [carried[hop] / capacity[hop] for hop in over]
    assert shares == sorted(shares, reverse=True)
    assert loads.found.rate == pytest.approx(float(total / 9), rel=1e-12)


def test_a_link_that_is_full_is_not_over_it():
    """Each node of a ring of 4 sends 3 · 33.3 Gb/s to its next, over a link of 99.9 Gb/s."""
    demands = "".join(f"{i},{(i + 1) % 4},33.3 Gb/s\n" * 3 for i in range(4))
    Path("d.csv").write_text(f"source,destination,demand\n{demands}")
    network = ts.network('with_links(ring(k=4), bandwidths=["99.9 Gb/s"])')
    loads = network.loads(traffic="d.csv")
    assert loads.over_capacity() == []
    assert dict(loads.rates())["links over capacity"] == "none"


def test_what_a_terminal_sends():
    """Uniform traffic on a ring of 4: each link carries half of what a terminal sends (a quarter goes to itself)."""
    said = command_line.torusweep("loads", 'with_links(ring(k=4), bandwidths=["25 Gb/s"])', "--sends", "100Gb/s")
    assert "a terminal sends       100 Gb/s on average" in said.out
    assert "busiest link           200 % of its capacity: 0 → 1, 50 Gb/s of 25 Gb/s" in said.out
    assert "links over capacity    8: 0 → 1 200 %" in said.out
    said = command_line.torusweep("loads", 'with_links(ring(k=4), bandwidths=["50 Gb/s"])', "--sends", "100Gb/s")
    assert "links over capacity    none" in said.out


def test_without_units_nothing_is_said():
    loads = ts.network("ring(k=4)").loads()
    assert loads.rates() == []
    assert loads.over_capacity() == []
    assert "percent" not in loads.channels.column_names
    Path("d.csv").write_text("source,destination,demand\n0,1,5 Gb/s\n")
    loads = ts.network("ring(k=4)").loads(traffic="d.csv")
    assert loads.rates() == []
    assert "links have no bandwidth with a unit" in loads.remarks[0]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"sends": "40"}, "expected a bandwidth such as 100 Gb/s, got '40', which has no unit"),
        ({"sends": "40Gb/s", "network": "ring(k=4)"}, "expected links whose bandwidths have a unit"),
        ({"demands": "0,1,5 Gb/s\n1,2,5\n"}, "demand: expected a bandwidth such as 100 Gb/s, got '5'"),
        ({"demands": "0,1,5 Gib/s\n"}, "got '5 Gib/s' with the unit 'Gib/s'"),
        ({"network": 'with_links(ring(k=4), bandwidths=["5 Gx"])'}, "expected a bandwidth such as 100 Gb/s"),
    ],
)
def test_what_is_refused(asked, words):
    Path("d.csv").write_text("source,destination,demand\n" + asked.get("demands", "0,1,5 Gb/s\n"))
    network = asked.get("network", 'with_links(ring(k=4), bandwidths=["25 Gb/s"])')
    sends = {"sends": asked["sends"]} if "sends" in asked else {}
    with pytest.raises(BadInput) as refusal:
        ts.network(network).loads(traffic="d.csv", **sends)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_long_latencies_are_no_ground_to_refuse():
    """A path of three links of 1 ns, 30 ms and 1 ns: 30,000,002 cycles; only a simulation refuses it."""
    graph = nx.path_graph(4)
    for (u, v), delay in zip(list(graph.edges), ("1 ns", "30 ms", "1ns")):
        graph.edges[u, v]["latency"] = delay
    nx.write_gml(graph, "far.gml")
    network = ts.network("far.gml")
    assert network.static().latency_diameter == 30_000_002
    with pytest.raises(BadInput, match="links of at most 10,000 cycles, got 30,000,000; choose"):
        network.simulate(0.1)


@pytest.mark.parametrize(
    ("text", "bits"), [("100 Gb/s", 10**11), ("12.5GB/s", 10**11), ("400Gbps", 4 * 10**11), ("1e3 Mb/s", 10**9)]
)
def test_rates(text, bits):
    assert rate_of(text) == bits
    assert rate_of(rate(Fraction(bits))) == bits


def test_times_and_their_common_part():
    assert time_of("0.005ms") == Fraction(5, 10**6)
    assert (time(Fraction(5, 10**6)), time(Fraction(3, 2 * 10**9)), time(Fraction(2))) == ("5 µs", "1.5 ns", "2 s")
    assert common_part(Fraction(3, 4), Fraction(1, 2)) == Fraction(1, 4)


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_graphs_in_memory(library):
    """A path of 100 and 25 Gb/s; 40 Gb/s from one end to the other are 160 % of the second."""
    graph = nx.Graph()
    graph.add_edge("a", "b", bandwidth="100 Gb/s", latency="5 ns")
    graph.add_edge("b", "c", bandwidth="25 Gb/s", latency="20 ns")
    network = ts.network(graph if library == "networkx" else igraph.Graph.from_networkx(graph, "name"))
    Path("d.csv").write_text("source,destination,demand\na,c,40 Gb/s\n")
    loads = network.loads(traffic="d.csv")
    assert [(one.tail, one.head) for one in loads.over_capacity()] == [("b", "c")]
    assert loads.rates()[1] == ("busiest link", "160 % of its capacity: b → c, 40 Gb/s of 25 Gb/s")
    assert network.static().latency_diameter == 1 + 4
    assert {"1 flit a cycle is 25 Gb/s", "a cycle is 5 ns"} <= set(network.plan.notes)


def test_links_of_a_family_with_units():
    network = ts.network(
        'with_links(fat_tree(k=2, n=3), bandwidths=["200 Gb/s", "50 GB/s"], latencies=["5 ns", "0.01 us"])'
    )
    assert (network.plan.bandwidths, network.plan.latencies) == ((1, 2), (1, 2))
    assert network.plan.rate == 200 * 10**9


def test_the_row_says_of_capacity_what_the_text_does():
    """4 × 4 torus, uniform traffic: half a flit a link for each flit that a terminal sends."""
    network = ts.network('with_links(torus(k=4, n=2), bandwidths=["100 Gb/s"])')
    for sends, percent, over in (
        ("60Gb/s", 30.0, 0),
        ("200 Gb/s", 100.0, 0),
        ("25 GB/s", 100.0, 0),
        ("202Gb/s", 101.0, 64),
    ):
        record = network.loads(sends=sends).record
        assert record["busiest_link_percent"] == pytest.approx(percent, rel=1e-12)
        assert record["links_over_capacity"] == over
    record = network.loads().record
    assert (record["busiest_link_percent"], record["links_over_capacity"]) == (None, None)


def test_terminals_inside_routers_are_said_to_have_no_link():
    inside = 'with_links(concentrated(torus(k=3, n=2), terminals=2), bandwidths=["10 Gb/s"])'
    alone = 'with_links(torus(k=3, n=2), bandwidths=["10 Gb/s"])'
    words = "terminals inside routers have no links of their own, and are not counted"
    for spelling, said in ((inside, True), (alone, False)):
        (line,) = (
            value for name, value in ts.network(spelling).loads(sends="1Gb/s").rates() if name.startswith("links over")
        )
        assert (words in line) == said
