"""Benchmarks time what they say: turns, ratios, the guard, networks that differ. No test checks their figures."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import networkx
import numpy as np
import pytest
from torusweep.cli.run import run_step
from torusweep.networks.families import build
from torusweep_kernels.philox import philox

from benchmarks import estimates, native
from benchmarks.growth import exponent
from benchmarks.native import call, distances, library
from benchmarks.overhead import networks
from benchmarks.race import Race, rows
from benchmarks.regression import fallen
from benchmarks.table import lines_of

ROOT = Path(__file__).resolve().parents[2]


def test_contenders_take_turns_and_ratios_are_of_a_turn(monkeypatch: pytest.MonkeyPatch):
    clock, turns = [0.0], []

    def contender(name: str, seconds: list[float]):
        def run() -> float:
            turns.append(name)
            clock[0] += seconds[turns.count(name) - 1]
            return 7.0

        return run

    monkeypatch.setattr("benchmarks.race.time.perf_counter", lambda: clock[0])
    # the first call is not timed; the machine is ten times as slow in the second turn
    race = Race(
        "any",
        "case",
        5,
        {"ours": contender("ours", [9, 1, 10, 1]), "theirs": contender("theirs", [9, 2, 30, 4])},
        12.0,
        "pairs",
    )
    ours, theirs = rows([race], 3)
    assert turns == ["ours", "theirs"] * 4
    assert (ours["seconds"], ours["rate"], ours["ratio"]) == (1.0, 12.0, 1.0)
    assert (theirs["seconds"], theirs["ratio"], theirs["ratio_low"], theirs["ratio_high"]) == (4.0, 3.0, 2.0, 4.0)


def test_other_answers_are_not_timed():
    with pytest.raises(AssertionError):
        list(rows([Race("any", "case", 5, {"ours": lambda: 1.0, "theirs": lambda: 1.1}, 1.0, "pairs")], 1))


@pytest.mark.parametrize("name", ["blocks", "collectives", "cuts", "lattices"])
def test_answers_of_a_benchmark_are_compared(name: str):
    """Of its smallest case, by peers that the tests have; nothing is timed."""
    race = next(import_module(f"benchmarks.{name}").races(large=False, threads=2))
    ours, *theirs = race.contenders
    answers = {contender: answer() for contender, answer in race.contenders.items()}
    assert theirs
    for contender in theirs:
        race.agree(contender, answers[ours], answers[contender])


@pytest.mark.parametrize(
    ("contender", "ratio", "falls"),
    [
        ("igraph", 3.5, False),
        ("igraph", 2.9, True),
        ("igraph", 50.0, False),
        ("torusweep", 6.4, False),
        ("torusweep", 6.6, True),
        ("new", 0.1, False),
    ],
)
def test_the_guard_tells_a_fall_from_noise(contender: str, ratio: float, falls: bool):
    common = {"benchmark": "loads", "case": "torus 16³", "nodes": 4096}
    recorded = [{**common, "contender": name, "ratio": 5.0} for name in ("igraph", "torusweep")]
    assert bool(fallen([{**common, "contender": contender, "ratio": ratio}], recorded)) is falls


def test_small_networks_of_the_sweep_differ_and_can_be_built():
    names = networks(10_000)
    assert len(set(names)) == len(names) == 10_000
    assert build(names[0]).nodes == 9
    assert build(names[-1]).nodes < 2000


def test_the_least_makes_the_same_tables(tmp_path: Path):
    """What sweeps are set beside saves no work."""
    config, least, whole = tmp_path / "rings.yaml", tmp_path / "least", tmp_path / "whole"
    config.write_text("sweep: rings\ntopologies:\n  - {family: ring, k: {from: 3, to: 22}}\n")
    subprocess.run([sys.executable, "-m", "benchmarks.lower_bound", str(config), str(least)], cwd=ROOT, check=True)
    whole.mkdir()
    for step in ("points", "static", "distances"):
        assert run_step(step, config, whole, {"workers": 0}) == 0
    for table in ("points", "static", "distances"):
        assert (least / f"{table}.parquet").read_bytes() == (whole / f"{table}.parquet").read_bytes()
    assert (least / "report.html").stat().st_size > 100_000


def test_a_line_of_the_plot_is_ours_at_several_sizes():
    sizes = {100: "torusweep", 1_000: "torusweep", 10_000: "the least there could be"}
    rows = [
        {"benchmark": "sweep", "case": "2 workers", "nodes": nodes, "contender": who} for nodes, who in sizes.items()
    ]
    rows += [{"benchmark": "loads", "case": "torus 8³", "nodes": 512, "contender": "torusweep"}]
    rows += [{"benchmark": "loads, growth", "case": "torus 8³", "nodes": 512, "contender": "torusweep"}]
    assert {line: [row["nodes"] for row in part] for line, part in lines_of(rows).items()} == {
        ("sweep", "2 workers"): [100, 1_000],
        ("loads", "torusweep"): [512],
    }


def test_a_power_law_has_its_exponent():
    assert exponent([10, 100, 1000], [3e-2, 3.0, 3e2]) == pytest.approx(2)


NEEDS_CC = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@NEEDS_CC
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("degree", "nodes"), [(3, 70), (4, 1100), (6, 520)])
def test_distances_in_c_are_those_of_networkx(degree: int, nodes: int, threads: int):
    graph = networkx.random_regular_graph(degree, nodes, seed=1)
    ports = np.array([sorted(graph.neighbors(node)) for node in range(nodes)], np.int32)
    lengths = [hops for _, away in networkx.all_pairs_shortest_path_length(graph) for hops in away.values()]
    assert distances(ports, threads)[0].tolist() == np.bincount(lengths).tolist()


@NEEDS_CC
def test_tiles_of_a_ring_rest_in_c():
    nodes = 4096
    histogram, rows = distances((np.arange(nodes)[:, None] + [-1, 1]) % nodes, 2)
    assert histogram.tolist() == [nodes, *[2 * nodes] * (nodes // 2 - 1), nodes]
    assert (
        0 < rows < nodes // 512 * nodes * (nodes // 2) // 3
    )  # a front of each side, and not every level of every node


@NEEDS_CC
def test_philox_in_c_is_philox():
    words = np.zeros((4, 32), np.uint32)
    call(library("limits").philox, words, 32, 8)
    assert words.tolist() == np.array(philox((np.arange(32), 0, 0, 0), (7, 0))).tolist()


def test_without_a_compiler_c_is_left_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):

    monkeypatch.setattr(native.shutil, "which", lambda name: None)
    native.library.cache_clear()
    assert native.library("peak") is None
    native.library.cache_clear()
    assert capsys.readouterr().err == "peak.c: no C compiler `cc` found, left out\n"


def test_sleeping_workers_take_turns_with_the_real_driver(tmp_path):
    """Two workers, a nap of 0.05 s each: the driver and the workers are the real ones, in a process of their own."""
    program = (
        "from benchmarks import overhead\n"
        "overhead.SLEEPERS, overhead.NAPS, overhead.NAP = (2,), 1, 2.0\n"
        "(row,) = overhead.scaling()\n"
        "assert row['case'] == '2 sleeping' and 1.9 < row['seconds'] < 60, row\n"
    )
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), *sys.path])
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path})


def test_estimates_stand_beside_what_stages_take(tmp_path: Path):
    config = tmp_path / "sweep.yaml"
    config.write_text("sweep: three\ntopologies: [ring(k=4), ring(k=5), mesh(k=3, n=2)]\nloads: [{traffic: uniform}]\n")
    rows = list(estimates.stages(config))
    assert [(row.sweep, row.name, row.points) for row in rows] == [("three", "static", 3), ("three", "loads", 3)]
    assert all(row.estimated > 0 < row.taken for row in rows)
    columns = estimates.HEAD.partition("\n")[0].count("|")
    assert {str(row).count("|") for row in rows} == {columns}
    assert str(estimates.Stage("a", "static", 1_200, 3.0, 1.5)) == "| `a` | static | 1,200 | 3 s | 1.5 s | 2 |"
