"""Networks under one budget: widths by hand, in a sweep's table and from the command line."""

from __future__ import annotations

import json
import re
from itertools import combinations

import pyarrow as pa
import pytest
from torusweep.questions.latency.columns import LATENCY
from torusweep.sweeps.requested_points import requested_points, requested_stages
from torusweep.tables.store import open_table

from tests.questions.latency.composed import mean_latency
from tests.questions.latency.latency_sweep import command, load_sweep, of, run, said

# bits of width by hand, k = 4, 64 nodes. Pins: 96 over degrees of 6, 4, 2. Bisection: 2k², k² (P04 Table 1) and
# 2 links, twice that over the nodes. Wire: a folded ring of four has wires of 2, 1, 2, 1, one of eight 2 of 1 and 6
# of 2; the torus
# has 48 rings, the pruned one 16 + 8 + 8, both channels of a link count.
WIDTHS = {
    ("pins", 96): {"torus(k=4, n=3)": 16, "pruned_torus(k=4, n=3)": 24, "ring(k=8)": 48},
    ("bisection", 4): {"torus(k=4, n=3)": 4, "pruned_torus(k=4, n=3)": 8, "ring(k=8)": 8},
    ("wiring_volume", 96): {"torus(k=4, n=3)": 96 / 9, "pruned_torus(k=4, n=3)": 96 / 6, "ring(k=8)": 96 / 3.5},
}
EQUAL = """
topologies: ["torus(k=4, n=3)", "pruned_torus(k=4, n=3)", ring(k=8), "faulty(torus(k=4, n=3), links=2, seed=1)"]
loads: [{traffic: uniform, families: [torus, pruned_torus, ring]}]
latency:
  - {model: parhami-kwai-2004, message_bits: 384, rates: [0, 0.001], families: [torus, pruned_torus, ring]}
  - {model: parhami-kwai-2004, message_bits: 384, rates: [0, 0.001], families: [torus, pruned_torus, ring],
     constant: bisection, budget: 4}
  - {model: parhami-kwai-2004, message_bits: 384, rates: [0, 0.001],
     constant: wiring_volume, placement: Folded, skip_unsuitable: true}
"""


@pytest.fixture(scope="module")
def equal(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    folder = run(
        tmp_path_factory.mktemp("equal"),
        EQUAL.replace("Folded", "folded()"),
        "points",
        "static",
        "loads",
        "layout",
        "latency",
    )
    return open_table(folder / "latency.parquet")


def test_widths_are_what_a_budget_buys(equal):
    for (norm, budget), widths in WIDTHS.items():
        for name, width in widths.items():
            rows = of(equal, topology=name, constant=norm)
            assert len(rows) == 2
            for row in rows:
                assert row["budget"] == budget
                assert row["placement"] == ("folded" if norm == "wiring_volume" else None)
                assert row["width"] == pytest.approx(width, rel=1e-14)
                assert row["pins"] == pytest.approx(width * row["degree"], rel=1e-14)
                assert row["flits"] == pytest.approx(384 / width, rel=1e-14)


def test_saturation_in_bits_is_load_times_width(equal):
    """Flits per node and cycle: torus 2 (d/Δ = 6/3), pruned 4/k = 1 (as printed 4/3.375), ring 8/8."""
    flits = {"torus(k=4, n=3)": 2, "pruned_torus(k=4, n=3)": 1, "ring(k=8)": 1}
    for (norm, _), widths in WIDTHS.items():
        for name, width in widths.items():
            for row in of(equal, topology=name, constant=norm):
                assert row["saturation_bits_corrected"] == pytest.approx(flits[name] * width)
                assert row["saturation_bits"] == pytest.approx(
                    (4 / 3.375 if name.startswith("pruned") else flits[name]) * width
                )
                assert row["saturation_bits"] == pytest.approx(row["saturation_rate"] * row["message_bits"])
                assert row["saturation_bits_corrected"] == pytest.approx(
                    row["saturation_rate_corrected"] * row["message_bits"]
                )


def test_a_network_of_equal_cost_is_one_of_as_many_pins(equal):
    """Width is all that cost decides: the pruned torus at 4 wires across the middle a node is the one of 32 pins."""
    for row in of(equal, topology="pruned_torus(k=4, n=3)", constant="bisection"):
        expected = float(mean_latency(row["rate"], 4, 384 / 8, 3.375, 3.0, directed=False))
        assert row["mean_latency"] == pytest.approx(expected, rel=1e-12)


def test_wires_that_latency_holds_constant_are_laid_out(tmp_path):
    sweep = load_sweep(tmp_path, EQUAL.replace("Folded", "folded"))
    asked = [(point.topology, point.request.placement) for point in requested_points(sweep) if point.stage == "layout"]
    names = ["torus(k=4, n=3)", "pruned_torus(k=4, n=3)", "ring(k=8)", "faulty(torus(k=4, n=3), links=2, seed=1)"]
    assert asked == [(name, "folded") for name in names]
    assert "layout" in requested_stages(sweep)
    without = load_sweep(tmp_path, EQUAL.replace("constant: wiring_volume, placement: Folded, ", ""))
    assert "layout" not in requested_stages(without)


def test_the_command_compares_networks_under_one_budget():
    names = ["torus(k=4, n=3)", "pruned_torus(k=4, n=3)", "ring(k=8)"]
    for (norm, budget), widths in WIDTHS.items():
        found = json.loads(
            said(
                *names,
                "--constant",
                norm,
                "--budget",
                str(budget),
                "--message-bits",
                "384",
                "--rate",
                "0.001",
                "--json",
            )
        )
        assert [record["topology"] for record in found] == names
        assert [record["width"] for record in found] == pytest.approx([widths[name] for name in names])
        assert all(list(record) == [column.name for column in LATENCY] for record in found)
    alone = json.loads(said("torus(k=4, n=3)", "--constant", "bisection", "--json"))
    assert (alone["budget"], alone["width"], alone["rate"]) == (1, 1, 0)  # as many wires as nodes, an empty network
    assert alone["mean_latency"] == pytest.approx(alone["uncontended_latency"])
    assert alone["uncontended_latency"] == 96 + 3 * 2
    assert json.loads(said("torus(k=4, n=3)", "--pins", "48", "--json"))["width"] == 8


def test_a_mesh_is_not_folded_unless_its_placement_says_so():
    """An 8 × 8 mesh has 2·8·7 = 112 wires of length 1: 3.5 pitches a node in both directions."""
    for given, pitches in (([], 3.5), (["--placement", "straight"], 3.5), (["--placement", "folded"], 6.5)):
        record = json.loads(said("mesh(k=8, n=2)", "--constant", "wiring_volume", *given, "--json"))
        assert record["width"] == pytest.approx(96 / pitches)
        assert record["placement"] == (given[1] if given else "straight")


def test_a_person_compares_networks_and_reads_what_is_a_bound():
    text = said(
        "torus(k=4, n=3)",
        "pruned_torus(k=4, n=3)",
        "faulty(torus(k=8, n=2), links=5, seed=1)",
        "--constant",
        "bisection",
        "--budget",
        "4",
    )
    assert "at equal cost: wires across the middle, 4 a node, 256 together" in text
    assert [line.split()[2:4] for line in text.splitlines() if line.startswith("pruned_torus")] == [["8", "32"]]
    assert re.search(
        r"faulty.*: the best cut known has 1[1-6] links, the narrowest has at least \d+;", text
    )  # 16 in the torus, five failed


def test_long_work_tells_how_far_it_is(monkeypatch, capfd):
    monkeypatch.setattr("torusweep.cli.progress.LINE_SECONDS", 0.0)
    command.main(["faulty(torus(k=16, n=2), links=2, seed=1)", "--rate", "0.01"], standalone_mode=False)
    told = capfd.readouterr().err
    assert "faulty(torus(k=16, n=2), links=2, seed=1): routes followed: 100 %" in told
    assert "faulty(torus(k=16, n=2), links=2, seed=1): distances" in told


def test_a_one_way_network_whose_nodes_have_other_numbers_in_and_out_pays_for_all_wires_across(tmp_path):
    """The direction with fewer channels has 1 of the 5 at least that cross any half, and 3 of the 7."""
    fan = [(i, (i + 1) % 8) for i in range(8)] + [(0, i) for i in range(2, 8)]
    (tmp_path / "fan.csv").write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in fan))
    torus = [(u, v) for u in range(9) for v in (u // 3 * 3 + (u + 1) % 3, (u + 3) % 9)]
    networks = {
        f'graph(path="{tmp_path}/fan.csv", directed=true)': (fan, 8),
        "without(torus(k=3, n=2, directed=true), links=[[0, 1]])": ([arc for arc in torus if arc != (0, 1)], 9),
    }
    entry = "{model: parhami-kwai-2004, message_bits: 384, rates: 0, constant: bisection}"
    swept = f"topologies: {json.dumps(list(networks))}\nlatency: [{entry}]\n"
    table = open_table(run(tmp_path, swept, "points", "static", "latency") / "latency.parquet")
    for name, (arcs, nodes) in networks.items():
        halves = map(set, combinations(range(nodes), nodes // 2))
        wires = min(sum((u in half) != (v in half) for u, v in arcs) for half in halves)
        assert wires == {8: 5, 9: 7}[nodes]
        text = said(name, "--constant", "bisection")
        assert f"the best cut known has {wires} links of both directions" in text
        found = json.loads(said(name, "--constant", "bisection", "--json"))
        for row in (found, *of(table, topology=found["topology"])):
            assert row["width"] == pytest.approx(nodes / wires, rel=1e-14)
    assert len(table) == 2
