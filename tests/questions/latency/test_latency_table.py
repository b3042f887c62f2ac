"""The table latency: rows against the models, from a sweep and from the command line; refusals."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torusweep as ts
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build, plan
from torusweep.papers.verification import verification_rows
from torusweep.questions.latency.columns import LATENCY
from torusweep.questions.latency.normalisation import Constraint
from torusweep.questions.latency.question import static_of, with_loads
from torusweep.questions.latency.table import arrow_table, dally_columns, network_of
from torusweep.questions.static.record import static_record
from torusweep.sweeps.latency import latency_table
from torusweep.sweeps.requested_points import requested_points
from torusweep.tables.store import open_table

from tests.questions.latency.composed import best_dimension, mean_latency
from tests.questions.latency.latency_sweep import load_sweep, of, run, said
from tests.records import loads_record

P04 = "model: parhami-kwai-2004, message_bits: [96, 384]"
SWEEP = f"""
topologies: ["torus(k=4, n=3)", "pruned_torus(k=4, n=3)", "directed_torus(k=4, n=3)", pruned_xy(k=4), hypercube(n=1)]
loads: [{{traffic: uniform, families: [torus, pruned_torus]}}]
latency:
  - {{{P04}, switch_delay: [3, 7], rates: [0, 0.01], of_saturation: {{from: 0.5, to: 1, count: 3}},
     skip_unsuitable: true}}
  - {{{P04}, rates: 0.01, families: [torus]}}
  - {{model: dally-1990, nodes: [256, 16384, 1048576], message_bits: 150, wire_delay: [constant, linear]}}
"""
POINTS = 2 * 2 * 5  # message lengths, delays, rates


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("latency"), SWEEP, "points", "static", "loads", "latency")


def test_a_row_is_what_the_model_says_of_a_network(tables):
    table = open_table(tables / "latency.parquet")
    for name, degree, distance, directed in (
        ("torus(k=4, n=3)", 6, 3, False),
        ("pruned_torus(k=4, n=3)", 4, 3.375, False),
        ("directed_torus(k=4, n=3)", 3, 3.9375, True),
    ):
        rows = of(table, topology=name)
        assert len(rows) == POINTS
        for row in rows:
            flits = row["message_bits"] * degree / 96
            latency = float(mean_latency(row["rate"], degree, flits, distance, row["switch_delay"], directed=directed))
            assert row["mean_latency"] == pytest.approx(latency)
            assert row["flits"] == flits
            assert row["width"] == 96 / degree
            assert row["load"] == row["rate"] * flits
            assert row["saturation_rate"] == pytest.approx(degree / (flits * distance))
            assert row["saturated"] == (row["utilization"] > 0.9999999) == math.isinf(row["mean_latency"])
            assert row["uncontended_latency"] == pytest.approx(flits + row["switch_delay"] * (distance - 1))
        shares = [row["rate"] / row["saturation_rate"] for row in rows[:5]]
        assert shares[2:] == pytest.approx([0.5, 0.75, 1])


def test_corrected_columns_follow_from_loads_and_are_null_without(tables):
    table = open_table(tables / "latency.parquet")
    for row in of(table, topology="torus(k=4, n=3)"):  # edge-transitive: nothing to correct
        assert row["mean_latency_corrected"] == pytest.approx(row["mean_latency"])
        assert row["utilization_max"] == pytest.approx(row["utilization"], abs=1e-15)
        assert row["saturated_corrected"] == row["saturated"]
    for row in of(table, topology="pruned_torus(k=4, n=3)"):
        assert row["saturation_rate_corrected"] == pytest.approx(1 / row["flits"])  # 4/k flits, k = 4
        assert row["saturated_corrected"] == (row["rate"] * row["flits"] > 0.9999999)
        assert row["mean_latency_corrected"] > row["mean_latency"] or row["rate"] == 0 or row["saturated"]
    for row in of(table, topology="directed_torus(k=4, n=3)"):  # whose loads were not asked for
        assert {row[name] for name in row if name.endswith("_corrected") or name == "utilization_max"} == {None}


def test_rows_stand_in_the_order_asked_and_once(tables):
    table = open_table(tables / "latency.parquet")
    names = list(dict.fromkeys(table.column("topology").to_pylist()[: 3 * POINTS]))
    assert names == [
        "torus(k=4, n=3)",
        "pruned_torus(k=4, n=3)",
        "directed_torus(k=4, n=3)",
    ]  # unsuitable ones left out
    assert len(of(table, model="parhami-kwai-2004")) == 3 * POINTS  # the second entry's are among the first's
    assert len(of(table, model="dally-1990")) == 2 * (7 + 13 + 19)


@pytest.mark.parametrize(
    "topology", ["pruned_torus(k=6, n=4)", "faulty(torus(k=4, n=2), links=2, seed=1)", "mesh(k=4, n=2)"]
)
def test_a_network_measured_here_is_the_one_of_the_tables(topology):
    built = build(topology)
    whole, static = static_record(built), static_of(built, Constraint("bisection", 1))
    assert static == {name: whole[name] for name in static} | {
        "bisection_lower": static["bisection_lower"]
    }  # which edge connectivity may raise
    network, reason = with_loads(built, static)
    assert reason == ""
    assert network == network_of(whole, loads_record(built))
    assert sum(network.class_hops or ()) == pytest.approx(network.mean_distance)


def test_whole_radices_are_networks_that_can_be_built():
    rows = arrow_table(dally_columns([720, 2**10], message_bits=[150], whole=True)).to_pylist()
    assert {row["radices"] for row in rows} == {"whole"}
    for row in rows:
        canonical, planned = plan(row["topology"])
        assert canonical == row["topology"]
        assert planned.nodes == row["nodes"]
        assert max(planned.radices) == row["radix"] == 2 * row["width"]
    assert {row["best_dimension"] for row in rows if row["nodes"] == 720} == {best_dimension(720, 150, whole=True)[0]}


def test_real_radices_name_a_network_where_they_are_whole():
    rows = arrow_table(dally_columns([2**8], message_bits=[150])).to_pylist()
    assert [row["topology"] for row in rows if row["topology"]] == [
        f"torus(k={k}, n={n}, directed=true)" for k, n in ((16, 2), (4, 4), (2, 8))
    ]
    assert all(
        row["mean_distance"] == static_record(build(row["topology"]))["mean_distance"]
        for row in rows
        if row["topology"]
    )


def test_the_best_dimensions_of_the_papers_are_compared(tmp_path, tables):
    empty = load_sweep(tmp_path, "papers: [D90]\n")
    table = latency_table(empty, open_table(tables / "static.parquet"))
    compared = {
        row["quantity"]: row
        for row in verification_rows({"latency": table}, ["D90"])
        if row["quantity"].startswith("best_dimension")
    }
    assert {name: (row["our_value"], row["verdict"]) for name, row in compared.items()} == {
        "best_dimension[256, 150, constant]": (2, "agrees"),
        "best_dimension[16384, 150, constant]": (4, "agrees"),
        "best_dimension[1048576, 150, constant]": (5, "agrees"),
    }
    without = [row for row in verification_rows({}, ["D90"]) if row["quantity"].startswith("best_dimension")]
    assert [row["verdict"] for row in without] == ["not run"] * 3


def test_a_sweep_that_no_longer_asks_loses_its_table(tmp_path):
    folder = run(
        tmp_path,
        "topologies: [ring(k=8)]\nlatency: [{model: dally-1990, nodes: 64, message_bits: 150}]\n",
        "points",
        "static",
        "latency",
    )
    assert (folder / "latency.parquet").exists()
    run(tmp_path, "topologies: [ring(k=8)]\n", "points", "static")
    assert not (folder / "latency.parquet").exists()


# --- refusals -----------------------------------------------------------------------------------


def test_an_entry_that_chooses_nothing_or_too_much_is_refused_before_anything_runs(tmp_path):
    networks = "topologies: [ring(k=8)]\nlatency:\n"
    with pytest.raises(BadInput, match=r":4:.* latency\[0\]: expected at least one network, got none"):
        requested_points(load_sweep(tmp_path, f"{networks}  - {{{P04}, rates: 1, nodes: 9}}\n"))
    wires = "constant: wiring_volume, placement:"
    with pytest.raises(BadInput, match=r"latency\[0\]: .*did you mean 'folded'"):
        requested_points(load_sweep(tmp_path, f"{networks}  - {{{P04}, rates: 0, {wires} foldd}}\n"))
    with pytest.raises(BadInput, match=r"latency\[0\]: .*skip_unsuitable: true"):
        requested_points(load_sweep(tmp_path, f"{networks}  - {{{P04}, rates: 0, {wires} trellis}}\n"))
    many = "rates: {from: 0, to: 1, count: 1000000}"
    with pytest.raises(Refused, match=r"8,000,000 rows of latency up to here; the limit is 5,000,000"):
        requested_points(
            load_sweep(tmp_path, f"{networks}  - {{{P04}, {many}}}\n  - {{{P04}, switch_delay: [1, 2, 3], {many}}}\n")
        )


@pytest.mark.parametrize(
    ("network", "rest", "says"),
    [
        ("pruned_xy(k=4)", "", "expected a connected network"),
        ("hypercube(n=1)", "", "expected a hop at least, got 0.5"),
        ("mesh(k=2, n=1)", "", "hop at least"),
        ("torus(k=4, n=3)", ", pins: 5", "raise the budget"),
        ("torus(k=4, n=3)", ", pins: 10000", "lengthen the messages"),
    ],
)
def test_a_network_that_the_model_does_not_fit_is_named_or_left_out(tmp_path, network, rest, says):
    static = pa.Table.from_pylist([static_record(build(name)) for name in (network, "ring(k=8)")])
    entry = f"{P04}, rates: 0.01{rest}"
    sweep = load_sweep(tmp_path, f'topologies: ["{network}"]\nlatency: [{{{entry}}}]\n')
    with pytest.raises(BadInput) as caught:
        latency_table(sweep, static)
    assert network in str(caught.value)
    assert says in str(caught.value)
    assert "skip_unsuitable" in str(caught.value)
    if not rest:
        left = load_sweep(tmp_path, f'topologies: ["{network}"]\nlatency: [{{{entry}, skip_unsuitable: true}}]\n')
        assert set(latency_table(left, static).column("topology").to_pylist()) == {"ring(k=8)"}


def test_rates_at_equal_distances_end_where_they_should(tmp_path):
    spread = (
        load_sweep(
            tmp_path, f"topologies: [ring(k=8)]\nlatency: [{{{P04}, rates: {{from: 0.1, to: 0.7, count: 7}}}}]\n"
        )
        .entries("latency")[0]
        .rates
    )
    assert spread.numbers() == pytest.approx(np.linspace(0.1, 0.7, 7))
    assert spread.numbers()[-1] == 0.7


# --- the command ---------------------------------------------------------------------------------


def test_the_command_gives_the_tables_columns():
    record = json.loads(
        said(
            "pruned_torus(k=16, n=3)",
            "--model",
            "parhami-kwai-2004",
            "--message-bits",
            "96",
            "--rate",
            "0.01",
            "--json",
        )
    )
    assert list(record) == [column.name for column in LATENCY]
    assert record["saturation_rate"] == pytest.approx(0.0825, abs=5e-5)
    assert record["saturation_rate_corrected"] == pytest.approx(0.0625, rel=1e-12)
    assert record["uncontended_latency"] == pytest.approx(4 + 3 * 11.1171875)
    over = json.loads(said("pruned_torus(k=16, n=3)", "--rate", "0.07", "--json"))
    assert (over["saturated"], over["saturated_corrected"], over["mean_latency_corrected"]) == (False, True, None)


def test_python_answers_the_same():
    """A method of one network, a function of several or of cubes, and rows of the table."""
    one = ts.network("pruned_torus(k=8, n=3)").latency(rate=0.13)
    assert one.record == json.loads(said("pruned_torus(k=8, n=3)", "--rate", "0.13", "--json"))
    assert one.saturation_rate_corrected == pytest.approx(4 / 8 / 4)  # 4/k flits, of 96 bits over 24 bits each
    assert repr(one).startswith("pruned_torus(k=8, n=3)\n  model                 parhami-kwai-2004\n")
    names = ["torus(k=4, n=3)", "ring(k=8)"]
    several = ts.latency([ts.network(names[0]), names[1]], constant="bisection", budget=4)
    assert several.json == json.loads(said(*names, "--constant", "bisection", "--budget", "4", "--json"))
    assert several.table.schema.names == [column.name for column in LATENCY]
    assert repr(several).splitlines()[1] == several.verdict
    assert several.verdict in said(*names, "--constant", "bisection", "--budget", "4")
    cubes = ts.latency(model="dally-1990", nodes=2**20, message_bits=150)
    assert (cubes.cube["dimension"], cubes.cube["mean_latency"], len(cubes)) == (5, 56.25, 19)
    assert cubes.json == json.loads(
        said("--model", "dally-1990", "--nodes", "1048576", "--message-bits", "150", "--json")
    )
    assert "dimension 5, best 5, 56.25 cycles" in repr(cubes)


def test_the_command_finds_dallys_best_dimension():
    record = json.loads(
        said(
            "--model", "dally-1990", "--nodes", "1048576", "--message-bits", "150", "--wire-delay", "constant", "--json"
        )
    )
    assert (record["best_dimension"], record["dimension"], record["mean_latency"], record["pins"]) == (5, 5, 56.25, 80)
    other = json.loads(
        said("--model", "dally-1990", "--nodes", "1048576", "--message-bits", "150", "--dimension", "2", "--json")
    )
    assert (other["best_dimension"], other["pins"], other["mean_latency"]) == (5, 2048, 1023 + 150 / 512)


def test_the_command_says_what_folded_wires_change():
    """N = 2^14, two dimensions: k = 128, wires of 1 as printed, of 2 in folded rings; cycles of 1 and 1 + log2 2."""
    asked = ["--model", "dally-1990", "--nodes", "16384", "--message-bits", "150", "--wire-delay", "logarithmic"]
    record = json.loads(said(*asked, "--json"))
    assert (record["best_dimension"], record["dimension"], record["best_dimension_corrected"]) == (2, 2, 3)
    assert (record["longest_wire"], record["longest_wire_corrected"]) == (1, 2)
    assert (record["mean_latency"], record["mean_latency_corrected"]) == (127 + 150 / 64, 2 * (127 + 150 / 64))
    assert "folded rings: best dimension 3; dimension 2: 258.688 cycles" in said(*asked)


def test_a_person_reads_both_variants_and_all_dimensions():
    text = said("pruned_torus(k=8, n=3)", "--rate", "0.13")
    assert "infinite" in text
    assert "0.160804" in text  # 4/(4 · 6.21875)
    assert "0.125" in text  # 4/k flits
    assert "best dimension 4; dimension 4: 47.1439 cycles" in said(
        "--model", "dally-1990", "--nodes", "16384", "--message-bits", "150"
    )


@pytest.mark.parametrize("links", ["bandwidths=[2]", "latencies=[1, 5]"])
def test_unequal_links_are_refused(links):
    with pytest.raises(ValueError, match="one flit a cycle and one cycle, got other ones: in the models the budget"):
        static_of(build(f"with_links(torus(k=4, n=2), {links})"), Constraint("pins", 96))
