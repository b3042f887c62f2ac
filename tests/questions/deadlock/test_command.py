"""The command torusweep deadlock."""

from __future__ import annotations

import json

import torusweep as ts
from click.testing import CliRunner
from torusweep import cli
from torusweep.questions.deadlock.columns import DEADLOCK


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


def test_layers_come_with_the_verdict_and_as_a_file(tmp_path):
    file = tmp_path / "layers.csv"
    options = ["ring(k=6)", "--routing", "dimension-order", "--layers"]
    printed = json.loads(invoke(*options, "--layer-table", str(file), "--json"))
    paths = printed["layered"]["paths"]
    head, *rows = file.read_text().splitlines()
    assert head == "source,destination,layer"
    assert [sum(row.endswith(f",{layer}") for row in rows) for layer in range(len(paths))] == paths
    assert sum(paths) == 6 * 5
    assert f"layers, paths in each  {len(paths)}: {', '.join(map(str, paths))}" in invoke(*options)
    found = ts.network("ring(k=6)").deadlock("dimension_order", layers=True)
    assert found.layer_table.num_rows == 30
    assert "layers, at least" in repr(found)
