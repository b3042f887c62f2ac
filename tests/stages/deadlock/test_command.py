"""The command torusweep deadlock."""

from __future__ import annotations

import json

from click.testing import CliRunner
from torusweep import cli
from torusweep.stages.deadlock.columns import DEADLOCK


def invoke(*arguments):
    done = CliRunner().invoke(cli.torusweep, ["deadlock", *arguments], standalone_mode=False)
    assert done.exception is None
    return done.output


def test_json_is_the_record():
    options = "--routing dimension-order --vc-rule dateline --virtual-channels 2 --json"
    printed = json.loads(invoke("torus(k=8, n=2)", *options.split()))
    assert list(printed) == [column.name for column in DEADLOCK]
    assert (printed["routing"], printed["acyclic"], printed["deadlock_free"]) == ("dimension_order", True, "yes")


def test_text_shows_the_cycle():
    words = invoke("ring(k=5)", "--routing", "dimension-order")
    assert [line.split() for line in words.splitlines()[-5:]] == [
        [str(i + 1), str(i), f"({i})", "x+", "vc0", "packet", str(i), "→", str((i + 2) % 5)] for i in range(5)
    ]
    assert "counterexample" in words
    assert "2 virtual channels, rule dateline" in words
    long = invoke("ring(k=64)", "--routing", "dimension-order")
    assert "… 32 more …" in long
