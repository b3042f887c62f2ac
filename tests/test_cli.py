"""The command line: help with examples, one line on bad input, JSON that is JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pipeline.cli import COMMANDS


def torusweep(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-c", "from pipeline.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "step"])
def test_help_has_examples(command):
    run = torusweep(command, "--help")
    assert run.returncode == 0
    assert "Examples:\n    torusweep " in run.stdout
    assert run.stderr == ""


def test_help_imports_nothing_heavy():
    code = "import sys, pipeline.cli; print([m for m in ('numba','scipy','dask','pyarrow','duckdb','altair','rich','numpy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["decribe", "torus(k=8, n=3)"], "did you mean 'describe'"),
        (["describe"], "TOPOLOGY"),
        (["describe", "toruss(k=8, n=3)"], "did you mean 'torus'"),
        (["describe", "torus(k=8, n=3"], "character 15"),
        (["describe", "torus(k=8, m=3)"], "unknown parameter 'm'"),
        (["describe", "torus(k=-8, n=3)"], "k=-8: expected ≥ 2"),
        (["describe", "torus(k=true, n=3)"], "a whole number"),
        (["describe", "torus(k=1e308, n=3)"], "whole number"),
        (["describe", "torus(k=10000, n=3)"], "1,000,000,000,000 nodes"),
        (["describe", "pruned_torus(k=7, n=3)"], "k=7"),
        (["describe", "__import__('os').system('true')"], "expected"),
        (["describe", 'graph(path="no such file")'], "no such file"),
        (["describe", "torus(k=8, n=3)", "--backend", "abacus"], "abacus"),
        (["loads", "ring(k=4)", "--traffic", "uniformm"], "did you mean 'uniform'"),
        (["loads", "ring(k=4)", "--routing", "maximal"], "did you mean 'minimal'"),
        (["loads", "ring(k=12)", "--traffic", "transpose"], "a power of 2"),
        (["topologies", "toruss"], "did you mean 'torus'"),
        (["query"], "--schema"),
        (["query", "SELECT 1", "--results", "/no/such/folder"], "/no/such/folder"),
        (["verify", "--results", "/no/such/folder"], "/no/such/folder"),
        (["report", "--results", "/no/such/folder"], "/no/such/folder"),
        (["pareto"], "minimise"),
        (["run", "/no/such/config.yaml"], "/no/such/config.yaml"),
        (["run", "config/smoke.yaml", "--worker", "1"], "did you mean '--workers'"),
    ],
)
def test_bad_input_is_one_line_and_a_status(arguments, says):
    run = torusweep(*arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert run.stderr.startswith("torusweep: ")
    assert says in run.stderr


def test_cupy_without_a_gpu_is_refused():
    run = torusweep("describe", "ring(k=4)", "--backend", "cupy", CUDA_VISIBLE_DEVICES="")
    assert (run.returncode, run.stdout) == (2, "")
    assert "found none" in run.stderr
    assert run.stderr.count("\n") == 1


def test_describe_as_json_is_one_object():
    record = json.loads(torusweep("describe", "pdtt(a=16)", "--json").stdout)
    assert (record["diameter"], record["mean_distance"]) == (24, 13.984375)  # Cámara et al. 2010, Remark 11, a = 16


def test_describe_for_a_person():
    run = torusweep("describe", "rtt(a=4)")
    assert run.returncode == 0
    assert "\x1b" not in run.stdout, "colour where no terminal is"
    assert "diameter" in run.stdout
    assert "4 hops" in run.stdout  # diameter a, Cámara et al. 2010, Corollary 7


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    run = torusweep("completion", shell)
    assert "_TORUSWEEP_COMPLETE" in run.stdout


def test_completion_offers_topologies():
    run = torusweep(_TORUSWEEP_COMPLETE="bash_complete", COMP_WORDS="torusweep describe pruned_t", COMP_CWORD="2")
    assert "pruned_t1(" in run.stdout
