"""torusweep simulate, as people call it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pipeline.cli.simulate import simulate
from pipeline.errors import BadInput
from pipeline.records import SIMULATION
from pipeline.simulation import PRESETS

COLUMNS = [column.name for column in SIMULATION]
FULL = (
    "--switching wormhole --routing dimension-order --virtual-channels 2 --buffer-flits 8 --packet-flits 16"
    " --traffic uniform --load 0.2 --seed 1 --json"
)


def said(*arguments: str) -> str:
    result = CliRunner().invoke(simulate, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_one_load_is_an_object_and_several_are_an_array():
    row = json.loads(said("torus(k=8, n=2)", *FULL.split()))
    assert list(row) == COLUMNS
    assert (row["routing"], row["vc_rule"], row["offered_load"], row["seeds"], row["saturated"]) == ("dimension_order", "dateline", 0.2, [1], False)
    rows = json.loads(said("torus(k=8, n=2)", *FULL.split(), "--load", "0.1"))
    assert [entry["offered_load"] for entry in rows] == [0.2, 0.1]
    assert rows[0] == row


def test_saturation_of_c10s_router():
    row = json.loads(said("pdtt(a=2)", "--router", "bluegene", "--traffic", "uniform", "--find-saturation", "--cycles", "3000", "--json"))
    assert (row["routing"], row["vc_rule"], row["virtual_channels"], row["injection"]) == ("adaptive", "bubble", 3, "poisson")
    assert 0.5 < row["simulated_saturation"] <= 1
    assert row["saturation_precision"] == 0.01


def test_what_a_person_reads():
    text = said("ring(k=8)", "--load", "0.1", "--load", "0.9", "--cycles", "2000")
    assert "total latency by offered load" in text
    assert "saturated" in text
    text = said("ring(k=8)", "--vc-rule", "none", "--virtual-channels", "1", "--load", "1", "--packet-flits", "64", "--allow-deadlock")
    assert "deadlock since cycle" in text
    assert "waits for the next" in text
    assert "delivered after" in said("ring(k=4)", "--packets-each", "2")
    assert "saturates at" in said("ring(k=4)", "--find-saturation", "--precision", "0.1", "--cycles", "1000")


def test_help_names_every_router():
    assert all(name in simulate.help for name in PRESETS)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "expected --load, --find-saturation, --packets-each or --workload"),
        (("--precision", "0.1", "--load", "0.1"), "--precision: expected with --find-saturation only"),
        (("--load", "nan"), "load=nan: expected a number above 0"),
        (("--load", "0.1", "--virtual-channels", "1"), "choose rule dateline with 2 virtual channels or more"),
        (("--load", "0.1", "--warm-up", "10000"), "warm_up=10000"),
        (("--load", "99", "--packet-flits", "1"), "expected at most a packet per terminal and cycle"),
    ],
)
def test_refusals(options, says):
    with pytest.raises(BadInput) as caught:
        CliRunner().invoke(simulate, ["ring(k=4)", *options], catch_exceptions=False)
    assert says in str(caught.value)
