"""`torusweep place`: the answer first, the same in JSON, the devices' order in files, bad input in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torusweep as ts
from click.testing import CliRunner
from ruamel.yaml import YAML
from torusweep.cli import torusweep
from torusweep.errors import BadInput

JOB = """\
axes: {dp: 4, tp: 4}
operations:
  - {axis: tp, operation: all_gather, bytes: 64MiB, times: 4}
  - {axis: dp, operation: all_reduce, bytes: 1MiB}
"""
MODEL = """\
axes: {dp: 4, tp: 4}
transformer: {layers: 2, hidden: 64, heads: 4, sequence: 128, batch: 8}
"""


@pytest.fixture
def job(tmp_path: Path) -> str:
    path = tmp_path / "job.yaml"
    path.write_text(JOB)
    return str(path)


def said(*arguments: str) -> str:
    done = CliRunner().invoke(torusweep, ["place", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: str) -> str:
    with pytest.raises(BadInput) as refusal:
        CliRunner().invoke(torusweep, ["place", *arguments], catch_exceptions=False, standalone_mode=False)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_the_answer_comes_first(job):
    lines = said("mesh(k=4, n=2)", "--job", job).splitlines()
    assert lines[0].endswith("a step: dp on 2 x by 2 × 2 y by 2, cycle x, y; tp on 2 x × 2 y, cycle x, y")
    assert lines[1].startswith("the row-major order takes ")
    assert "placements compared in " in lines[2]
    assert lines[3].startswith("no deadlock")
    assert any(line.startswith("row-major") for line in lines)
    assert "the first group of tp: 0, 1, 5, 4" in lines


def test_json_has_the_same_and_the_devices(job):
    found = json.loads(said("mesh(k=4, n=2)", "--job", job, "--json", "--top", "2"))
    assert len(found["ranking"]) == 2
    assert found["compared"] > len(found["ranking"])
    assert found["axis_names"] == ["dp", "tp"]
    assert np.array(found["devices"]).shape == (4, 4)
    assert sorted(np.array(found["devices"]).ravel().tolist()) == list(range(16))
    best = found["ranking"][0]
    assert best["seconds"] == pytest.approx(sum(operation["seconds"] for operation in best["operations"]))
    # 3/4 of 64 MiB, half each way round, over 50 GB/s, and two steps: along x, along y
    assert best["operations"][0]["busiest_link_bytes"] == 24 * 2**20
    assert best["operations"][0]["seconds"] == pytest.approx(4 * (24 * 2**20 / 50e9 + 2e-6))
    assert found["row_major"]["seconds"] > best["seconds"]


def test_python_answers_the_same(job):
    """From the file, and from what it says; the rows are those of the ranking."""
    found = json.loads(said("mesh(k=4, n=2)", "--job", job, "--json", "--top", "2"))
    for given in (job, Path(job), YAML(typ="safe").load(JOB)):
        answer = ts.network("mesh(k=4, n=2)").place(given, top=2)
        assert answer.json | {"took": 0} == found | {"took": 0}
        assert answer.devices.tolist() == found["devices"]
        assert answer.table["seconds"].to_pylist() == [
            *(placement["seconds"] for placement in found["ranking"]),
            found["row_major"]["seconds"],
        ]
        shown = repr(answer)
        assert shown.startswith(
            "mesh(k=4, n=2), 2.057 ms a step: dp on 2 x by 2 × 2 y by 2, cycle x, y; tp on 2 x × 2 y"
        )
        assert "row-major" in shown
        assert "<table" in answer._repr_html_()


def test_bandwidth_and_latency(job):
    arguments = ("mesh(k=4, n=2)", "--job", job, "--json", "--bandwidth", "800Gbit/s", "--latency", "0")
    assert json.loads(said(*arguments))["ranking"][0]["operations"][0]["seconds"] == pytest.approx(96 * 2**20 / 100e9)


def test_the_order_is_one_that_jax_takes(job, tmp_path):
    array, text = tmp_path / "devices.npy", tmp_path / "devices.json"
    said("mesh(k=4, n=2)", "--job", job, "-o", str(array))
    said("mesh(k=4, n=2)", "--job", job, "-o", str(text))
    order, written = np.load(array), json.loads(text.read_text())
    devices = np.array([f"device {number}" for number in range(16)])
    assert devices[order].shape == (4, 4)  # jax.sharding.Mesh(devices[order], axis_names)
    assert devices[order][0].tolist() == ["device 0", "device 1", "device 5", "device 4"]
    assert written == {"axis_names": ["dp", "tp"], "shape": [4, 4], "devices": order.tolist()}


def test_a_transformer(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(MODEL)
    text = said("torus(k=4, n=2)", "--job", str(path))
    assert "activations, layers" in text
    assert "gradients of a layer" in text


def test_an_odd_block_is_said_to_have_no_cycle(tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text("axes: {tp: 15}\noperations: [{axis: tp, operation: all_gather, bytes: 1MiB}]\n")
    text = said("mesh(radices=[5, 3])", "--job", str(path))
    assert "has no Hamiltonian cycle" in text
    assert "one step of two hops" in text
    assert "no Hamiltonian cycle" not in said("torus(radices=[5, 3])", "--job", str(path))  # rings of odd length


def test_a_twisted_slice_names_the_command_that_checks_deadlock(job):
    Path(job).write_text("axes: {ep: 16}\noperations: [{axis: ep, operation: all_to_all, bytes: 1MiB}]\n")
    text = said("pod_slice(shape=[2, 2, 4], twisted=true)", "--job", job)
    assert "torusweep deadlock 'pod_slice(shape=[2, 2, 4], twisted=true)' --routing routing_record" in text
    checked = CliRunner().invoke(
        torusweep,
        [
            *("deadlock", "pod_slice(shape=[2, 2, 4], twisted=true)", "--routing", "routing_record"),
            *("--vc-rule", "dateline", "--virtual-channels", "2"),
        ],
    )
    assert re.search(r"deadlock-free +yes", checked.output)


def test_a_slice_is_free_of_deadlock_as_said(job):
    """Dimension order with a dateline and two virtual channels; with one, rings have cycles and lines have none."""
    Path(job).write_text("axes: {ep: 16}\noperations: [{axis: ep, operation: all_to_all, bytes: 1MiB}]\n")
    for network, channels in (("slice(radices=[4, 4], wrap=[true, false])", 2), ("mesh(k=4, n=2)", 1)):
        text = said(network, "--job", job)
        assert f"no deadlock{' with two virtual channels' if channels == 2 else ': dimension order on lines'}" in text
        rule = ("--vc-rule", "dateline") if channels == 2 else ()
        arguments = ("deadlock", network, "--routing", "dimension_order", *rule, "--virtual-channels", str(channels))
        checked = CliRunner().invoke(torusweep, arguments)
        assert re.search(r"deadlock-free +yes", checked.output)
    one = ("deadlock", "slice(radices=[4, 4], wrap=[true, false])", "--routing", "dimension_order")
    checked = CliRunner().invoke(torusweep, [*one, "--virtual-channels", "1"])
    assert re.search(r"deadlock-free +no", checked.output)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1:1: expected a mapping with 'axes'"),
        ("[1, 2]", ":1:1: expected a mapping with 'axes' and 'operations' or 'transformer', got a list"),
        ("axes: {tp: 16}\n", "expected operations of an axis of two ranks or more"),
        ("axis: {tp: 16}\n", ":1:1: unknown key 'axis' (did you mean 'axes'?); keys here are axes, operations"),
        ("operations: []\n", "missing key 'axes'"),
        ("axes: {tp: 0}\n", ":1:12: axes.tp: expected a number ≥ 1 (name: size"),
        ("axes: {tp: many}\n", "axes.tp: expected a whole number"),
        ("axes: {}\n", "axes: expected 1 or more (name"),
        ("axes: {2: 16}\n", "axes[2]: expected text"),
        ("axes: {a b: 16}\noperations: []\n", "expected a name of letters, digits and _, got 'a b'"),
        ("axes: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 16}\n", "axes: expected at most 6 (name"),
        (JOB.replace("axis: tp", "axis: tpp"), ":3:12: operations[0].axis: expected an axis of dp, tp, got 'tpp' (did"),
        (JOB.replace("axis: tp", "axes: tp"), "operations[0]: unknown key 'axes' (did you mean 'axis'?)"),
        (JOB.replace("all_gather", "allgather"), "operations[0].operation: expected 'all_gather', 'reduce_scatter'"),
        (JOB.replace("64MiB", "64"), ""),
        (JOB.replace("64MiB", "64MB/s"), "operations[0].bytes: expected a size such as 64MiB, got '64MB/s'"),
        (JOB.replace("64MiB", "-1"), "operations[0].bytes: expected a size"),
        (JOB.replace("64MiB", "[1]"), "operations[0].bytes: expected"),
        (JOB.replace("times: 4", "times: 0"), "operations[0].times: expected a number ≥ 1"),
        (JOB.replace(", bytes: 1MiB", ""), "operations[1]: missing key 'bytes': a size such as 64MiB"),
        (MODEL.replace("hidden", "hiden"), "transformer: unknown key 'hiden' (did you mean 'hidden'?)"),
        (MODEL.replace("heads: 4, ", ""), "transformer: missing key 'heads': attention heads"),
        (MODEL.replace("layers: 2", "layers: two"), "transformer.layers: expected a whole number (transformer layers)"),
        (MODEL.replace("dp: 4", "data: 4"), "axes: expected dp, fsdp, tp, ep, pp with a transformer, got 'data'"),
        (MODEL.replace("batch: 8", "batch: 7"), "transformer.batch: expected a multiple of 4"),
        ("transformer: 3\naxes: {tp: 16}\n", "transformer: expected a mapping"),
        ("axes: &a {tp: 16}\n", "write the value out"),
    ],
)
def test_a_job_that_is_none_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "job.yaml"
    path.write_text(text)
    if not message:
        said("mesh(k=4, n=2)", "--job", str(path))
        return
    line = refused("mesh(k=4, n=2)", "--job", str(path))
    assert line.startswith(f"{path}:")
    assert message in line


def test_no_file_of_that_name(tmp_path):
    assert "none.yaml: no such file; paths are relative to" in refused(
        "mesh(k=4, n=2)", "--job", str(tmp_path / "none.yaml")
    )
