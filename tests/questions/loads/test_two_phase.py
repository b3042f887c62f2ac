"""The best two-phase routing as a table: what it guarantees, by a walk of its rows, and that commands take it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from click.testing import CliRunner
from scipy.optimize import linear_sum_assignment
from torusweep import cli
from torusweep.errors import BadInput, Refused
from torusweep.questions.loads import two_phase

from tests.capacity.test_guarantee import drawn


def walked(rows: list[dict[str, Any]], source: int, target: int) -> dict[tuple[int, int], float]:
    """Share of the packets from source to target that cross each channel, followed row by row."""
    ways: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["destination"] == target:
            ways[row["at"], row["state"]].append(row)
    found: dict[tuple[int, int], float] = defaultdict(float)
    moving = {(source, 0): 1.0}
    while moving:
        onwards: dict[tuple[int, int], float] = defaultdict(float)
        for (at, state), flits in moving.items():
            own = ways[at, state]
            if not own:
                assert at == target
            total = sum(row.get("share", 1) for row in own)
            for row in own:
                part = flits * row.get("share", 1) / total
                found[at, row["to"]] += part
                onwards[row["to"], row["next_state"]] += part
        moving = {place: flits for place, flits in onwards.items() if flits > 1e-12}
    return found


def worst_of(graph: nx.DiGraph, rows: list[dict[str, Any]]) -> float:
    """What the rows carry of every permutation: the heaviest matching of terminals for each channel."""
    at = [node for node in graph for _ in range(graph.nodes[node]["terminals"])]
    shares = {(s, t): walked(rows, s, t) for s in set(at) for t in set(at) if s != t}
    loads = []
    for channel in graph.edges:
        weight = np.array([[shares[s, t].get(channel, 0) if s != t else 0 for t in at] for s in at])
        matched = linear_sum_assignment(weight, maximize=True)
        loads.append(weight[matched].sum() / graph.edges[channel]["bandwidth"])
    return float(1 / max(loads))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_rows_carry_what_is_guaranteed(seed: int, directed: bool):
    graph = drawn(seed, directed=directed)
    network = ts.network(graph)
    found = network.capacity("worst")
    rows = found.two_phase_routing.to_pylist()
    least = found.json["guarantee_lower"]
    worst = worst_of(nx.DiGraph(graph), rows)
    assert worst >= least * (1 - 2e-6)
    bounds = network.loads(routing=found.two_phase_routing, traffic="uniform", bounds=True)
    assert bounds.record["worst_case_saturation_load"] == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("network", ["dragonfly(a=4, p=2, h=1)", "mesh(k=3, n=2)"])
def test_commands_take_the_file(network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    routing = ["--routing", 'table(path="best.parquet")']

    def said(*words: str) -> str:
        return CliRunner().invoke(cli.torusweep, [words[0], network, *words[1:]], catch_exceptions=False).output

    assert "guaranteed" in said("capacity", "--traffic", "worst", "--two-phase-routing", "best.parquet")
    least = ts.network(network).capacity("worst").json["guarantee_lower"]
    loads = ts.network(network).loads(routing='table(path="best.parquet")', traffic="uniform", bounds=True)
    assert loads.record["worst_case_saturation_load"] >= least * (1 - 2e-6)
    assert "deadlock-free     yes" in said("deadlock", *routing, "--vc-rule", "hops", "--virtual-channels", "12")
    simulated = ["--vc-rule", "hops", "--virtual-channels", "12", "--load", "0.1", "--cycles", "400"]
    assert "0.1" in said("simulate", *routing, *simulated)


@pytest.mark.parametrize("file", ["two-phase-routing", "worst-permutation"])
def test_other_traffic_has_no_such_file(file: str, tmp_path: Path):
    command = ["capacity", "ring(k=5)", "--traffic", "tornado", f"--{file}", str(tmp_path / "file.csv")]
    found = CliRunner().invoke(cli.torusweep, command)
    assert found.exit_code
    assert f"--{file}: expected with --traffic worst only, got tornado" in str(found.exception or found.output)


def test_what_has_no_such_table(monkeypatch: pytest.MonkeyPatch):
    network = ts.network("ring(k=5)")
    found = network.capacity("worst")
    monkeypatch.setattr(two_phase, "MAX_ROWS", 100)
    with pytest.raises(Refused, match="expected at most 100 rows of a table and 450,000 flows, got about 125 and 50"):
        _ = found.two_phase_routing
    with pytest.raises(BadInput, match="this file: expected with --traffic worst only, got uniform"):
        _ = network.capacity("uniform").two_phase_routing
