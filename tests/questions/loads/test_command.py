"""The command torusweep loads."""

from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner
from torusweep import cli
from torusweep.networks.families import build
from torusweep.questions.loads.channels import channel_table
from torusweep.questions.loads.exact import exact_loads
from torusweep.routing import ROUTINGS
from torusweep.traffic import PATTERNS

from tests.records import loads_record


def torusweep(*arguments):
    """Standard output of a call that succeeds."""
    run = CliRunner().invoke(cli.torusweep, arguments, catch_exceptions=False)
    assert run.exit_code == 0, run.output
    return run.stdout


def test_the_command_prints_the_record():
    arguments = ["loads", "rtt(a=16)", "--routing", "minimal", "--traffic", "uniform", "--method", "exact", "--json"]
    assert json.loads(torusweep(*arguments)) == loads_record(build("rtt(a=16)"))
    assert json.loads(torusweep(*arguments, "--symmetry", "off"))["saturation_load"] == pytest.approx(
        0.3753666, abs=5e-8
    )


def test_the_command_prints_the_channels():
    arguments = [
        "loads",
        "mesh(k=3, n=2)",
        "--traffic",
        "hot_spot( node=4 )",
        "--routing",
        "minimal_ecmp",
        "--channels",
    ]
    expected = channel_table(
        exact_loads(build("mesh(k=3, n=2)"), routing="minimal_ecmp", traffic="hot_spot(node=4)")
    ).to_pylist()
    assert json.loads(torusweep(*arguments, "--json")) == expected
    read = list(csv.DictReader(torusweep(*arguments).splitlines()))
    assert [(row["from"], row["to"], row["class"], float(row["load"])) for row in read] == [
        (str(row["from"]), str(row["to"]), row["class"], row["load"]) for row in expected
    ]


def test_the_command_prints_text():
    text = torusweep("loads", "pt(a=4)", "--traffic", "uniform")
    assert "\x1b" not in text
    assert "1 flit/cycle/terminal" in text  # 4/a, Cámara et al. 2010, sec. 5.4
    assert "66.67%" in text
    assert "x ████████████████████████████████████████ mean 1, max 1\n  y ████████████████████ " in text
    assert "no channel is used" in torusweep("loads", "lattice(matrix=[[1]])")


def test_help_lists_every_pattern_and_routing():
    text = torusweep("loads", "--help").replace("(", " ").split()
    assert set(PATTERNS) <= set(text)
    assert set(ROUTINGS) <= {word.strip(":;.,") for word in text}


def test_the_text_of_a_sample_has_both_bounds():
    result = CliRunner().invoke(
        cli.torusweep,
        ["loads", "ring(k=4)", "--method", "monte-carlo", "--packets", "1000", "--relative-error", "0.000001"],
    )
    assert result.exit_code == 0, result.output
    for words in ("biased upwards", "biased downwards", "the relative error is still"):
        assert words in result.output
