"""The command torusweep simulate."""

from __future__ import annotations

import inspect
import io
import json
from dataclasses import fields

import pytest
import torusweep as ts
from click.testing import CliRunner
from rich.console import Console
from torusweep.cli.questions import command_of
from torusweep.errors import BadInput, Refused
from torusweep.questions.simulation.columns import SIMULATION
from torusweep.questions.simulation.parameters import Parameters, loads_of
from torusweep.questions.simulation.printed import print_simulation
from torusweep.questions.simulation.stage import QUESTION

simulate = command_of(QUESTION)
COLUMNS = [column.name for column in SIMULATION]
FULL = (
    "--switching wormhole --routing dimension-order --virtual-channels 2 --buffer-flits 8 --packet-flits 16"
    " --traffic uniform --load 0.2 --seed 1 --json"
)


def run_command(*arguments: str) -> str:
    result = CliRunner().invoke(simulate, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize(
    ("network", "given", "other"),
    [
        ("dragonfly(a=2, p=1, h=1)", (), "by_group"),
        ("random_regular(nodes=8, degree=3, seed=1)", (), "minimal"),
        ("random_regular(nodes=8, degree=3, seed=1)", ("--routing", "up_down"), None),  # asked for
        ("fat_tree(k=2, n=2)", (), None),  # its shortest paths
        ("torus(k=4, n=2)", (), None),
    ],
)
def test_a_routing_that_nobody_asked_for_is_named_where_others_carry_more(network, given, other):
    command = [network, "--load", "0.1", "--cycles", "1000", *given]
    said = CliRunner().invoke(simulate, command, catch_exceptions=False)
    note = f"note: no routing is given, so up_down is taken, and much passes its root; compare {other}\n"
    assert (note in said.stderr) == (other is not None)
    assert ("up_down is taken" in said.stderr) == (other is not None)
    if other is not None:  # as it says
        assert CliRunner().invoke(simulate, [*command, "--routing", other], catch_exceptions=False).exit_code == 0


def test_json_is_always_a_list():
    [row] = json.loads(run_command("torus(k=8, n=2)", *FULL.split()))
    assert list(row) == COLUMNS
    assert (row["routing"], row["vc_rule"], row["offered_load"], row["seeds"], row["saturated"]) == (
        "dimension_order",
        "dateline",
        0.2,
        [1],
        False,
    )
    rows = json.loads(run_command("torus(k=8, n=2)", *FULL.split(), "--load", "0.1"))
    assert [entry["offered_load"] for entry in rows] == [0.2, 0.1]
    assert rows[0] == row


def test_saturation_of_the_bluegene_router():
    [row] = json.loads(
        run_command(
            "pdtt(a=2)",
            "--router",
            "bluegene",
            "--traffic",
            "uniform",
            "--find-saturation",
            "--cycles",
            "3000",
            "--json",
        )
    )
    assert (row["routing"], row["vc_rule"], row["virtual_channels"], row["injection"]) == (
        "adaptive",
        "bubble",
        3,
        "poisson",
    )
    assert 0.5 < row["simulated_saturation"] <= 1
    assert row["saturation_precision"] == 0.01


def test_printed_text():
    text = run_command("ring(k=8)", "--load", "0.1", "--load", "0.9", "--cycles", "2000")
    assert "total latency by offered load" in text
    assert "saturated" in text
    one = run_command(
        "ring(k=4)",
        "--load",
        "0.1",
        "--cycles",
        "500",
        "--packet-flits",
        "1",
        "--buffer-flits",
        "1",
        "--source-queue",
        "1",
    )
    assert "1 flit, bernoulli, source queues of 1 packet\n" in one
    assert "2 of 1 flit, rule" in one
    text = run_command(
        "ring(k=8)",
        "--vc-rule",
        "none",
        "--virtual-channels",
        "1",
        "--load",
        "1",
        "--packet-flits",
        "64",
        "--allow-deadlock",
    )
    assert "deadlock since cycle" in text
    assert "waits for the next" in text
    assert run_command("ring(k=4)", "--packets-each", "2").splitlines()[1].startswith("delivered after")
    assert "saturates at" in run_command("ring(k=4)", "--find-saturation", "--precision", "0.1", "--cycles", "1000")


def test_numbers_are_complete_in_a_narrow_terminal():
    rows = json.loads(run_command("torus(k=4, n=2)", "--load", "0.1", "--load", "5", "--json"))
    text = io.StringIO()
    print_simulation(Console(file=text, width=40), rows)
    for row in rows:
        (line,) = (
            line
            for line in text.getvalue().splitlines()
            if line.split()[:1] == [f"{row['offered_load']:g}"] and "±" in line
        )
        assert len(line) <= 80
        accepted, latency, total, p50, p99 = line.split()[1:6]
        for shown, name in ((accepted, "accepted_load"), (latency, "network_latency"), (total, "total_latency")):
            value, error = (float(number.replace(",", "")) for number in shown.split("±"))
            assert abs(value - row[name]) <= row[f"{name}_error"] / 10
            assert error == pytest.approx(row[f"{name}_error"], rel=0.05)
        assert [p50, p99] == [f"{row['p50_latency']:,}", f"{row['p99_latency']:,}"]


def test_a_verdict_fits_the_figures_beside_it():
    """saturated? only where less than offered is accepted; what was generated stands beside what is not clear."""
    verdicts = set()
    for seed in range(6):
        text = run_command("torus(k=4, n=2)", *("--load", "0.1,0.5,1"), "--cycles", "400", "--seed", str(seed))
        lines = [line.split() for line in text.splitlines() if "±" in line and "%" in line and "loads" not in line]
        heading = next(line.split() for line in text.splitlines() if line.startswith("offered"))
        for offered, *cells in lines:
            verdict = cells[-1] if cells[-1] != "%" else ""
            verdicts.add(verdict)
            if verdict in ("saturated?", "undecided"):
                assert heading[1] == "generated"
                accepted = float(cells[1].partition("±")[0])
                assert accepted < 0.98 * float(cells[0]) + 1e-3  # rounded as printed
                assert (
                    (accepted < 0.98 * float(offered) + 1e-3)
                    if verdict == "saturated?"
                    else (accepted >= 0.98 * float(offered) - 1e-3)
                )
                assert f"\n{verdict}: " in text
    assert {"saturated?", "undecided", "saturated"} <= verdicts


def test_every_parameter_of_the_router_is_in_all_doors():
    names = {field.name for field in fields(Parameters)}
    assert names <= {parameter.name for parameter in simulate.params}
    assert names <= set(inspect.signature(ts.Network.simulate).parameters)
    assert names <= set(QUESTION.Entry.model_fields)


@pytest.mark.parametrize(
    ("given", "loads"),
    [
        (["0.2"], [0.2]),
        (["0.1,0.2"], [0.1, 0.2]),
        (["0.1:0.5:0.1"], [0.1, 0.2, 0.3, 0.4, 0.5]),
        (["0.1:0.5:0.15", "0.9"], [0.1, 0.25, 0.4, 0.9]),
        (["0.05,0.1:0.3:0.1"], [0.05, 0.1, 0.2, 0.3]),
        (["0.1:0.9:0.1"], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
    ],
)
def test_lists_and_ranges_of_loads(given, loads):
    assert loads_of(given) == tuple(loads)


@pytest.mark.parametrize("given", ["x", "0.1,", "nan", "0.1:0.5", "0.5:0.1:0.1", "0.1:0.5:0", "0:1:1e-9", "1:2:3:4"])
def test_wrong_loads_are_refused_in_one_line(given):
    with pytest.raises(BadInput, match=r"expected .*0\.1:0\.9:0\.1") as refusal:
        loads_of([given])
    assert "\n" not in str(refusal.value)


def test_long_runs_are_announced_before_they_begin(monkeypatch):
    """2 loads and 3 seeds are 6 runs."""
    monkeypatch.setattr("torusweep.questions.simulation.stage.ANNOUNCED_SECONDS", 0.0)
    arguments = ["torus(k=4, n=2)", "--load", "0.1,0.2", "--seed", "1", "--seed", "2", "--seed", "3", "--cycles", "500"]
    result = CliRunner().invoke(simulate, arguments, catch_exceptions=False)
    assert result.stderr.startswith("6 runs, 500 cycles on 16 nodes: about ")


def test_what_memory_cannot_hold_is_refused_before_it_is_announced():
    result = CliRunner().invoke(simulate, ["torus(k=16, n=2)", "--load", "0.1,0.5", "--cycles", "1000000000"])
    assert isinstance(result.exception, Refused)
    assert result.stderr == ""


def test_a_search_is_announced_without_loads(monkeypatch):
    monkeypatch.setattr("torusweep.questions.simulation.stage.ANNOUNCED_SECONDS", 0.0)
    arguments = ["ring(k=4)", "--find-saturation", "--precision", "0.2", "--cycles", "500"]
    result = CliRunner().invoke(simulate, arguments, catch_exceptions=False)
    assert result.stderr.startswith("the runs that find the saturation, 500 cycles on 4 nodes: about ")


def test_a_workload_is_announced_by_its_busiest_task(monkeypatch, tmp_path):
    """Task 1 sends 30 + 12 flits, task 0 receives 30 + 5."""
    monkeypatch.setattr("torusweep.questions.simulation.stage.ANNOUNCED_SECONDS", 0.0)
    path = tmp_path / "messages.csv"
    path.write_text("message,source,destination,flits\na,1,0,30\nb,1,2,12\nc,3,0,5\n")
    result = CliRunner().invoke(simulate, ["ring(k=4)", "--workload", str(path)], catch_exceptions=False)
    assert ", at least 42 cycles on 4 nodes: at least about " in result.stderr.splitlines()[0]
    assert result.exit_code == 0
