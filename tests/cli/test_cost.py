"""`torusweep cost`: one network's parts, several at equal cost, and a model to be edited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep.cli import torusweep
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.cost.compared import BALANCED, sized
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
        "racks, without a source that confirms them",
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


def test_links_of_another_speed_than_the_prices_are_named():
    """A model of 40 Gb/s and links of 400; a link of two flits a cycle is two ports: 350.4 · (4 · 2 + 1) − 892.3."""
    fast = command_line.torusweep("cost", 'with_links(torus(k=4, n=2), bandwidths=["400 Gb/s"])')
    assert "a flit a cycle is 400 Gb/s, and 2014-besta prices it as 40 Gb/s; choose another model" in fast.err
    right = command_line.torusweep("cost", 'with_links(torus(k=4, n=2), bandwidths=["40 Gb/s"])')
    assert right.err == ""
    wide = command_line.torusweep("cost", "with_links(torus(k=4, n=2), bandwidths=[2])", "--json")
    assert "a link of n flits a cycle is priced as n ports and n cables, and counted as one" in wide.err
    record = json.loads(wide.out)
    assert (record["radix"], record["electrical_cables"]) == (5, 32)
    assert record["router_cost"] == pytest.approx(16 * (350.4 * 9 - 892.3))


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


def test_bare_families_are_sized():
    """The numbers of terminals are counted in the networks that are built; nothing nearer is among small parameters."""
    rows = json.loads(said("--terminals", "500", "torus", "dragonfly", "slim-fly", "fat_tree", "--json"))
    found = {row["topology"]: row["terminals"] for row in rows}
    assert found == {name: len(build(name).terminals) for name in found}
    families = [name.partition("(")[0] for name in found]
    assert sorted(families) == ["dragonfly", "fat_tree", "slim_fly", "torus"]
    nearest = {
        "torus": min(abs(500 - x * y * z) for x in range(2, 12) for y in (x, x + 1) for z in (y, x + 1)),
        "fat_tree": min(abs(500 - k**n) for k in range(2, 33) for n in range(2, 6)),
        "dragonfly": min(abs(500 - 2 * h * h * g) for h in range(1, 9) for g in range(2, 2 * h * h + 2)),
        # orders 5, 7, 9 have routers of 7, 11, 13 links, half of which are 3 or 4, 5 or 6, 6 or 7 terminals
        "slim_fly": min(abs(500 - 2 * q * q * p) for q, each in ((5, (3, 4)), (7, (5, 6)), (9, (6, 7))) for p in each),
    }
    for name, terminals in found.items():
        family = name.partition("(")[0]
        slack = 12 if family == "dragonfly" else 0  # the smallest routers that are enough, not the nearest of all
        assert abs(terminals - 500) <= nearest[family] + slack
    table = said("--terminals", "500", "torus", "dragonfly")
    assert "  terminals  routers" in table
    assert ts.cost(["torus", "dragonfly"], terminals=500).rows[0]["terminals"] == 512


@pytest.mark.parametrize("family", BALANCED)
@pytest.mark.parametrize("wanted", [2, 10, 100, 1000, 4000])
def test_a_sized_family_has_about_as_many_terminals(family: str, wanted: int):
    terminals = len(build(sized(family, wanted)).terminals)
    assert wanted >= 100 or terminals <= 54
    assert wanted < 100 or 0.65 * wanted <= terminals <= 1.5 * wanted


def test_a_family_without_balanced_networks_is_refused():
    with pytest.raises(BadInput, match="rtt: expected a family whose sizes are known"):
        ts.cost(["rtt", "torus"], terminals=500)
