"""Routing tables: the same verdicts as the routings that they come from, layers without cycles, and simulation."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.deadlock.layers import layers
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.deadlock.routing_case import deadlock_case, routing_table
from torusweep.questions.deadlock.stage import DeadlockRequest
from torusweep.questions.loads.stage import LoadsRequest
from torusweep.questions.simulation.parameters import Parameters, RunRequest
from torusweep.questions.simulation.record import simulation_records
from torusweep.questions.simulation.setup import set_up
from torusweep.questions.simulation.stage import SimulationRequest
from torusweep.routing import GivenRouting, routing
from torusweep.routing.tables.as_table import table_of
from torusweep.routing.tables.objects import routing_of
from torusweep.sweeps.points import Point

from tests.routing.cases import CASES
from tests.routing.plain_routes import walks

RULES = (("none", 1), ("dateline", 2), ("phases", 2), ("r05_wrap(reading=path)", 2), ("r05_wrap(reading=will)", 2))


@pytest.mark.parametrize(("name", "network"), [case for case in CASES if build(case[1]).nodes <= 20])
def test_a_table_read_back_has_the_same_verdict(name: str, network: str, tmp_path: Path):
    topology, path = build(network), tmp_path / "routes.csv"
    for rule, channels in RULES:
        try:
            deadlock_case(topology, routing=name, vc_rule=rule, virtual_channels=channels)
        except BadInput:
            continue  # a rule that the routing does not suit
        own = deadlock_record(topology, routing=name, vc_rule=rule, virtual_channels=channels)
        path.write_bytes(routing_table(topology, routing=name, vc_rule=rule, virtual_channels=channels))
        table = f'table(path="{path}")'
        found = deadlock_record(topology, routing=table, vc_rule="table", virtual_channels=channels)
        for column in ("acyclic", "deadlock_free", "cycle_length"):
            assert found[column] == own[column], (rule, column)
        if "mesh" not in network:  # in which datelines leave some classes unused, and the table does not know of them
            assert (found["channels"], found["dependencies"]) == (own["channels"], own["dependencies"])
        for packet in found["packets"] or []:
            assert " → " in packet


def test_the_cycle_of_a_table_is_named_with_its_packets():
    topology = build("ring(k=4)")
    given = routing_of(topology, lambda at, destination: (at + 1) % 4, "always up")
    found = deadlock_record(topology, routing=given, vc_rule="none", virtual_channels=1)
    assert (found["routing"], found["acyclic"], found["deadlock_free"]) == ("always up", False, "no")
    packets = [tuple(map(int, packet.split(" → "))) for packet in found["packets"]]
    assert [source for source, _ in packets] == [0, 1, 2, 3]
    assert all((destination - source) % 4 >= 2 for source, destination in packets)  # so that it wants the next channel
    assert [channel.partition(" ")[0] for channel in found["cycle"]] == ["0", "1", "2", "3"]


def test_packets_to_their_own_source_prove_no_deadlock(tmp_path: Path):
    """By Valiant's routing they go round a random node; of two nodes, no other packet takes a second channel."""
    topology, path = build("mesh(k=2, n=1)"), tmp_path / "routes.csv"
    path.write_bytes(routing_table(topology, routing="valiant", vc_rule="none", virtual_channels=1))
    found = deadlock_record(topology, routing=f'table(path="{path}")', vc_rule="none", virtual_channels=1)
    assert (found["dependencies"], found["deadlock_free"], found["packets"]) == (2, "unknown", ["0 → 0", "1 → 1"])


def test_packets_with_a_choice_prove_no_deadlock():
    """All of a packet's hops but the last are drawn, so that no packet is sure to wait for a channel of a cycle."""
    topology = build("torus(k=3, n=2)")
    found = deadlock_record(
        topology,
        routing=GivenRouting("mine", table_of(routing("minimal", topology)[1])),
        vc_rule="none",
        virtual_channels=1,
    )
    own = deadlock_record(topology, routing="minimal", vc_rule="none", virtual_channels=1)
    assert found["deadlock_free"] == own["deadlock_free"]


@pytest.mark.parametrize(
    ("name", "network", "lower", "upper"),
    [
        ("dimension_order", "mesh(k=4, n=2)", 1, 1),
        ("west_first", "mesh(k=3, n=2)", 1, 1),
        ("up_down", "faulty(torus(k=4, n=2), links=3, seed=2)", 1, 1),
        ("minimal", "ring(k=3)", 1, 1),
        *(("minimal", f"ring(k={nodes})", 2, 2) for nodes in (4, 5, 6, 9)),
        ("dimension_order", "torus(k=4, n=2)", 2, None),
        ("minimal", "ccc(n=3)", 2, None),
    ],
)
def test_layers_have_no_cycle(name: str, network: str, lower: int, upper: int | None):
    topology = build(network)
    found = layers(topology, name)
    assert found.lower == lower
    assert upper is None or found.upper == upper
    assert found.lower <= found.upper
    assert sum(found.record["paths"]) == len(found.layer) == topology.nodes * (topology.nodes - 1)
    table = table_of(routing(name, topology)[1])
    graphs = [nx.DiGraph() for _ in range(found.upper)]
    together = nx.DiGraph()
    for source, destination, layer in zip(*found.table.to_pydict().values()):
        for hops in walks(table, source, destination):
            graphs[layer].add_edges_from(pairwise(hops))
            together.add_edges_from(pairwise(hops))
    assert all(nx.is_directed_acyclic_graph(graph) for graph in graphs)
    assert nx.is_directed_acyclic_graph(together) == (lower == 1)


def test_a_table_is_simulated_as_its_routing(tmp_path: Path):
    topology, path = build("torus(k=4, n=2)"), tmp_path / "routes.csv"
    path.write_bytes(
        routing_table(topology, routing="dimension_order(tie=positive)", vc_rule="dateline", virtual_channels=2)
    )
    table = f'table(path="{path}")'
    own = Parameters(routing="dimension_order(tie=positive)", vc_rule="dateline", virtual_channels=2, cycles=3000)
    given = Parameters(routing=table, vc_rule="table", virtual_channels=2, cycles=3000)
    one, other = (simulation_records(topology, parameters, loads=(0.2,), seeds=(1,))[0] for parameters in (own, given))
    assert other["routing"] == table
    # without ties the routes are the same; packets that cross no dateline may use both classes in the first only
    assert other["accepted_load"] == pytest.approx(one["accepted_load"], rel=0.02)
    assert other["network_latency"] == pytest.approx(one["network_latency"], rel=0.1)


def test_a_given_routing_chooses_the_rule_of_its_table():
    topology = build("torus(k=4, n=2)")
    case = deadlock_case(topology, routing="dimension_order", vc_rule="dateline", virtual_channels=2)
    given = GivenRouting("mine", table_of(case.form, case.rule.within(2), case.rule.memory))
    setup = set_up(topology, Parameters(routing=given))
    assert (setup.parameters.routing, setup.parameters.vc_rule) == ("mine", "table")
    with pytest.raises(BadInput, match="rule table: expected a routing table"):
        deadlock_case(topology, routing="dimension_order", vc_rule="table", virtual_channels=2)


@pytest.mark.parametrize(
    ("stage", "request_of_stage"),
    [
        ("loads", lambda table: LoadsRequest(table, "uniform")),
        ("deadlock", lambda table: DeadlockRequest(table, "table", 2)),
        (
            "simulation",
            lambda table: SimulationRequest("uniform", RunRequest(Parameters(routing=table), (0.1,)).spelled()),
        ),
    ],
)
def test_the_key_of_a_point_depends_on_the_content_of_the_table(stage, request_of_stage, tmp_path: Path):
    path = tmp_path / "routes.csv"
    path.write_bytes(routing_table(build("ring(k=4)"), routing="dimension_order(tie=positive)"))
    point = Point(stage, "ring(k=4)", request_of_stage(f'table(path="{path}")'))
    before = point.key
    assert point.key == before
    path.write_bytes(routing_table(build("ring(k=4)"), routing="dimension_order(tie=split)"))
    assert point.key != before


def test_a_matrix_has_one_next_node():
    topology = build("ring(k=5)")
    lines = routing_table(topology, routing="minimal", form="matrix").decode().splitlines()
    found = np.array([[int(word) for word in line.split(",")] for line in lines])
    for at in range(5):
        for to in range(5):
            away = (to - at) % 5
            assert found[at, to] == (-1 if not away else (at + 1) % 5 if away <= 2 else (at - 1) % 5)
