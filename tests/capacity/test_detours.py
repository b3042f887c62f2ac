"""Capacity over minimal routes and Valiant's together, against a linear program over listed paths, and by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from click.testing import CliRunner
from scipy.optimize import linprog
from torusweep import cli
from torusweep.capacity.detours import with_detours
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build

from tests.capacity.test_guarantee import drawn

BOTH = "minimal+valiant"


def over_listed_paths(graph: nx.Graph, demand: dict[tuple[int, int], float]) -> float:
    """The best division of each pair's flits among all its paths by way of any node, each path a variable."""
    graph = nx.DiGraph(graph)
    owner: list[int] = []
    used: list[list[int]] = []
    channels = {channel: number for number, channel in enumerate(graph.edges)}
    for pair, (s, t) in enumerate(demand):
        for by in graph:
            for one in nx.all_shortest_paths(graph, s, by):
                for two in nx.all_shortest_paths(graph, by, t):
                    owner.append(pair)
                    used.append([channels[hop] for way in (one, two) for hop in pairwise(way)])
    loads = np.zeros((len(channels), len(used) + 1))
    for path, hops in enumerate(used):
        np.add.at(loads[:, path], hops, 1)
    loads[:, -1] = [-graph.edges[channel].get("bandwidth", 1) for channel in channels]
    sums = np.zeros((len(demand), len(used) + 1))
    sums[owner, np.arange(len(owner))] = 1
    cost = np.append(np.zeros(len(used)), 1)
    return float(1 / linprog(cost, loads, np.zeros(len(channels)), sums, [*demand.values()]).fun)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_as_over_listed_paths(seed: int, directed: bool, tmp_path: Path):
    random = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(6, 9, seed=seed, directed=directed)
    nx.add_cycle(graph, range(6))
    to = random.permutation(6)
    demand = {(s, int(t)): 1.0 for s, t in enumerate(to) if s != t}
    path = tmp_path / "pairs.csv"
    path.write_text("source,destination,demand\n" + "".join(f"{s},{t},1\n" for s, t in enumerate(to)))
    traffic = f'demand(path="{path}")'
    network = ts.network(graph)
    found, minimal, best = (network.capacity(traffic, routes=routes) for routes in (BOTH, "minimal", "all"))
    assert found.throughput == pytest.approx(over_listed_paths(graph, demand), rel=1e-6)
    assert found.bound == pytest.approx(found.throughput, rel=1e-6)
    assert minimal.throughput <= found.throughput * (1 + 1e-6) <= best.throughput * (1 + 2e-6)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_uniform_traffic_of_some_nodes_over_links_of_three_bandwidths(seed: int, directed: bool):
    graph = drawn(seed, directed=directed)
    many = nx.get_node_attributes(graph, "terminals")
    total = sum(many.values())
    demand = {(s, t): many[s] * many[t] / total for s in graph for t in graph if s != t and many[s] and many[t]}
    found = ts.network(graph).capacity("uniform", routes=BOTH)
    assert found.throughput == pytest.approx(over_listed_paths(graph, demand), rel=1e-6)


@pytest.mark.parametrize(
    ("network", "traffic", "minimal", "both"),
    [
        # three hops one way, or five the other: 3 x = 5 (1 − x) flits over each channel
        ("ring(k=8)", "tornado", 1 / 3, 8 / 15),
        ("ring(k=8)", "uniform", 1, 1),
        ("torus(k=8, n=2)", "tornado", 1 / 3, 8 / 15),
    ],
)
def test_known_values(network: str, traffic: str, minimal: float, both: float):
    asked = ts.network(network)
    assert asked.capacity(traffic, routes="minimal").throughput == pytest.approx(minimal, rel=1e-6)
    assert asked.capacity(traffic, routes=BOTH).throughput == pytest.approx(both, rel=1e-6)


def test_what_does_not_suit():
    with pytest.raises(Refused, match="expected a linear program of at most 450,000 flows, got 1,030,000"):
        ts.network("torus(k=10, n=2)").capacity(routes=BOTH)
    with pytest.raises(BadInput, match="routes: expected all with traffic worst"):
        ts.network("ring(k=5)").capacity("worst", routes=BOTH)
    for option in (["--gap", "0.1"], ["--certificate", "proof.json"]):
        command = ["capacity", "ring(k=5)", "--routes", BOTH, *option]
        found = CliRunner().invoke(cli.torusweep, command)
        assert "expected all or minimal with a certificate or a gap" in str(found.exception or found.output)


def test_failed_nodes_are_no_detours():
    """A path of five nodes has no detours: six pairs in each direction cross its middle channels, at 5 terminals."""
    found = with_detours(build("faulty(ring(k=6), nodes=1)"), "uniform")
    assert found.throughput == pytest.approx(5 / 6)
    assert found.bound == pytest.approx(5 / 6)


def test_terminals_apart_are_refused_in_one_line():
    with pytest.raises(BadInput, match="expected terminals that all reach each other"):
        with_detours(build("faulty(ring(k=6), links=2)"), "uniform")
