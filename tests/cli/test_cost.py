"""`torusweep cost`: one network's parts, several at equal cost, and a model to be edited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep.cli import torusweep
from torusweep.questions.cost.model import MODELS

from tests.faults import command_line

COMPARED = ("torus(k=4, n=2)", "dragonfly(a=4, p=2, h=2)", "hyperx(radices=[4, 4], terminals=4)", "mesh(k=4, n=2)")


def said(*arguments: str) -> str:
    done = CliRunner().invoke(torusweep, ["cost", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_network_as_text_and_as_json():
    record = json.loads(said("torus(k=4, n=2)", "--json"))
    assert record["router_cost"] == pytest.approx(16 * (350.4 * 5 - 892.3))
    text = said("torus(k=4, n=2)")
    for part in (
        "16 of up to 5 ports, 16 terminals",
        "32 electrical, 0 optical",
        "13,755 USD",
        "Estimates of the model",
    ):
        assert part in text
    circuits = said("cube_pod(x=[0], y=[0], z=[0])", "--model", "2023-circuits")
    assert "96 ports of circuit switches" in circuits  # 48 links from a cube to itself


def test_several_networks_are_compared():
    """The front by every pair; the Dragonfly's routing is by group, under which it carries more."""
    rows = json.loads(said(*COMPARED, "--json"))
    assert {row["topology"] for row in rows} == set(COMPARED)
    assert [row["cost_per_terminal"] for row in rows] == sorted(row["cost_per_terminal"] for row in rows)
    values = [(row["cost_per_terminal"], row["latency"], -row["throughput"]) for row in rows]
    for row, own in zip(rows, values):
        beaten = any(other != own and all(x <= y for x, y in zip(other, own)) for other in values)
        assert row["on_front"] == (not beaten)
        assert row["saturation_per_cost"] == pytest.approx(row["throughput"] / row["cost_per_terminal"])
    carried = {row["topology"]: (row["throughput"], row["routing"]) for row in rows}
    assert carried["torus(k=4, n=2)"] == (1.0, "minimal")
    assert carried["dragonfly(a=4, p=2, h=2)"][1] == "by_group"
    text = said(*COMPARED)
    assert text.count("  front") == sum(row["on_front"] for row in rows)


def test_python_answers_the_same():
    """A function of several networks and a method of one; the columns are those of the tables."""
    found = json.loads(said(*COMPARED, "--routing", "minimal,valiant", "--traffic", "uniform", "--json"))
    given = [ts.network(COMPARED[0]), *COMPARED[1:], COMPARED[0]]
    answer = ts.cost(given, routing=["minimal", "valiant"], traffic="uniform")
    assert answer.json == found
    assert answer.table.to_pylist() == found
    assert repr(answer).startswith("4 networks by 2014-besta, 2014\n")
    alone = ts.network(COMPARED[0]).cost()
    assert alone.record == ts.cost(COMPARED[0]).record == json.loads(said(COMPARED[0], "--json"))


def test_a_model_is_printed_edited_and_used(tmp_path: Path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(said("--model", "2014-besta", "--print-model").replace("per_port: 350.4", "per_port: 1000"))
    record = json.loads(said("torus(k=4, n=2)", "--model", str(mine), "--json"))
    assert record["router_cost"] == pytest.approx(16 * (1000 * 5 - 892.3))
    assert record["cost_model"] == str(mine)


def test_models_are_listed():
    listed = said("--models")
    assert all(name in listed for name in MODELS)
    assert [model["name"] for model in json.loads(said("--models", "--json"))] == list(MODELS)


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ("cost: [{model: small.yaml}]", "cost[0]: ring(k=4) by small.yaml: expected routers of at most 2 ports"),
        ("cost: [{model: []}]", "cost[0].model: expected text or a list, got an empty list"),
        (
            "loads: [{routing: ugal, traffic: uniform}]",
            "loads[0].routing: routing ugal: expected an oblivious routing",
        ),
    ],
)
def test_a_sweep_is_refused_before_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, section: str, says: str):
    monkeypatch.chdir(tmp_path)
    line = "  fixed: -892.3\n  per_port: 350.4\n"
    model = said("--print-model").replace(line, "  products: [{ports: 2, price: 9}]\n")
    (tmp_path / "small.yaml").write_text(model)
    (tmp_path / "sweep.yaml").write_text(f'sweep: mine\ntopologies: ["ring(k=4)"]\n{section}\n')
    refused = command_line.torusweep("plan", "sweep.yaml")
    assert not command_line.settled(refused)
    assert says in refused.err
