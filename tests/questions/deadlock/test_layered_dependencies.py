"""Dependency graphs of shortest legal paths, against all of those paths by networkx."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import pytest
from torusweep.networks.families import build
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.routing import routing

from tests.questions.deadlock.plain_dependencies import shortest_cycle_length
from tests.questions.deadlock.plain_layered import LAYERED, layered_graph


@pytest.mark.parametrize("fewer_terminals", [False, True])
@pytest.mark.parametrize(("name", "network", "legal"), LAYERED)
def test_layered_graph_equals_that_of_all_shortest_paths(name, network, legal, fewer_terminals):
    topology = build(network)
    if fewer_terminals:  # the other nodes only forward packets
        topology = replace(topology, terminals=topology.terminals[::3])
    form = routing(name, topology)[1]
    plain = layered_graph(form, legal)
    record = deadlock_record(topology, routing=name, vc_rule="none", virtual_channels=1)
    assert (record["channels"], record["dependencies"]) == (len(plain), plain.number_of_edges())
    assert record["acyclic"] == nx.is_directed_acyclic_graph(plain)
    assert record["deadlock_free"] in (("yes",) if record["acyclic"] else ("no", "unknown"))
    if not record["acyclic"]:
        cycle = [
            tuple(map(int, re.fullmatch(r"(\d+) \([\d,]+\) to (\d+) vc0", words).groups())) for words in record["cycle"]
        ]
        assert all(plain.has_edge(u, v) for u, v in pairwise([*cycle, cycle[0]]))
        assert len(cycle) == shortest_cycle_length(plain)


def test_up_down_too_large_to_search_is_judged_by_all_turns(monkeypatch):
    monkeypatch.setattr("torusweep.questions.deadlock.dependencies.MAX_STEPS", 0)
    record = deadlock_record(build("torus(k=4, n=2)"), routing="up_down", vc_rule="none", virtual_channels=1)
    assert (record["acyclic"], record["deadlock_free"], record["channels"], record["dependencies"]) == (
        True,
        "yes",
        None,
        None,
    )
    assert "every turn" in record["argument"]
