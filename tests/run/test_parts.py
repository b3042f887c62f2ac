"""Stages in parts: every point in one, the same bytes from any number, what is missing is said, what a job asks for."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from torusweep.cli.run import run_step
from torusweep.errors import BadInput
from torusweep.networks.seed_runs import SeedRun
from torusweep.questions.static.stage import StaticRequest
from torusweep.run.compute_table import merge, outcome_of
from torusweep.run.parts import StagePart, jobs, read_parts, slices
from torusweep.run.workflow import SNAKEFILE, of_configuration
from torusweep.sweeps.configuration import load
from torusweep.sweeps.configuration.schema import Cluster
from torusweep.sweeps.points import Point
from torusweep.tables import provenance, shards

from tests.faults.command_line import settled, torusweep
from tests.run.faulty_worker import made_up_rows
from tests.run.rings import Run

ROOT = Path(__file__).parents[2]
CLUSTER = ("--cores", "2", "--jobs", "9")  # a number of jobs besides cores: as with an executor of a cluster


def rings_of(costs: list[float]) -> dict[Point, float]:
    return {Point("static", f"ring(k={k})", StaticRequest()): cost for k, cost in enumerate(costs, start=3)}


def run_of(seeds: int, seconds: float) -> dict[Point, float]:
    return {Point("static", SeedRun("faulty(torus(k=4, n=2), links=2", 0, seeds - 1), StaticRequest()): seconds}


# --- how a stage is cut ---------------------------------------------------------------------------------


def cut(estimates: dict[Point, float], parts: int) -> list[dict[Point, float]]:
    points = list(estimates.items())
    counts = np.array([point.count for point in estimates], np.int64)
    found = slices(np.array([*estimates.values()], float), counts, parts)
    return [part.of(points[part.first : part.last]) for part in found]


@pytest.mark.parametrize(
    ("costs", "parts", "expected"),
    [
        ([1] * 12, 4, [[1] * 3] * 4),
        ([1, 1, 1, 9], 2, [[1, 1, 1], [9]]),
        ([9, 1, 1, 1], 2, [[9], [1, 1, 1]]),
        ([9, 1, 1, 1], 3, [[9], [1, 1], [1]]),  # what is left after the long one is shared anew
        ([1, 1, 10], 3, [[1, 1], [10], []]),
        ([5], 3, [[5], [], []]),
        ([], 2, [[], []]),
    ],
)
def test_parts_take_about_equal_time(costs: list[float], parts: int, expected: list[list[float]]):
    found = cut(rings_of(costs), parts)
    assert [list(part.values()) for part in found] == expected
    assert [point for part in found for point in part] == list(rings_of(costs)), "each once, in their order"


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 100, 1001])
def test_a_run_of_seeds_is_cut_anywhere_and_no_network_is_in_two_parts(parts: int):
    estimates = rings_of([2.5] * 3) | run_of(1000, 500.0) | {Point("static", "ring(k=99)", StaticRequest()): 10.0}
    found = cut(estimates, parts)
    networks = Counter(network.topology for part in found for point in part for network in point.networks)
    assert len(found) == parts
    assert set(networks.values()) == {1}
    assert networks.keys() == {network.topology for point in estimates for network in point.networks}
    assert sum(sum(part.values()) for part in found) == pytest.approx(517.5)
    # the longest network takes 10 s: a part is at most its share and that
    assert max(sum(part.values()) for part in found) <= 517.5 / parts + 10.0


def test_a_run_in_two_parts_is_halved():
    first, second = cut(run_of(1000, 500.0), 2)
    assert [point.seeds for point in (*first, *second)] == [(0, 499), (500, 999)]
    assert [*first.values(), *second.values()] == [250.0, 250.0]


# --- how many parts, and what each asks for -------------------------------------------------------------

HUNDRED = rings_of([60.0] * 100)  # 6,000 s


@pytest.mark.parametrize(
    ("cluster", "parts", "cores", "minutes"),
    [
        ({}, 1, 4, 110),  # 25 min on four cores: 10 min + 4 × 25 min
        ({"part_minutes": 10}, 2, 5, 50),
        ({"part_minutes": 10, "cores": 2}, 5, 2, 50),
        ({"part_minutes": 10, "workers": 1}, 10, 1, 50),
        ({"part_minutes": 1e-3}, 100, 8, 14),  # a part has a point of 60 s at least
        ({"parts": 3}, 3, 2, None),
        ({"parts": 300, "part_minutes": 1}, 100, 1, 14),
        ({"slurm": {"jobs": 9}}, 1, 1, None),  # the job only hands batches out
    ],
)
def test_as_few_parts_as_take_part_minutes(cluster, parts, cores, minutes):
    found = jobs(HUNDRED, Cluster(**cluster))
    assert [str(part) for part in found] == [f"{number}-of-{parts}" for number in range(1, parts + 1)]
    assert {job.cores for job in found.values()} == {cores}
    if minutes is not None:
        assert {job.minutes for job in found.values()} == {minutes}


def test_a_job_asks_for_its_workers_memory_and_a_stage_without_points_for_no_job():
    large = {Point("static", "torus(k=64, n=3)", StaticRequest()): 1.0}
    (small,), (big,) = (jobs(points, Cluster()).values() for points in (rings_of([1.0]), large))
    (point,) = large
    assert big.mem_mb - small.mem_mb == pytest.approx((point.memory - next(iter(small.points)).memory) / 1e6, abs=1)
    assert small.mem_mb > 1000
    assert jobs({}, Cluster()) == {}
    many, alone = rings_of([1.0] * 3000), {Point("static", "ring(k=3002)", StaticRequest()): 1.0}
    (all_of_them,), (last,) = (jobs(points, Cluster(parts=1, workers=1)).values() for points in (many, alone))
    assert all_of_them.mem_mb - last.mem_mb == pytest.approx(2999 * 4096 / 1e6, abs=1), "and for its list of points"


# --- computing and merging ------------------------------------------------------------------------------


@pytest.fixture
def whole(rings: Run) -> bytes:
    """The stage's table from one step."""
    return rings.alone()


def compute(rings: Run, part: str) -> None:
    assert run_step("static", rings.config, rings.folder, {"workers": 0}, part) == 0


@pytest.mark.parametrize("parts", [1, 3, 50])
def test_any_number_of_parts_gives_the_same_bytes(rings: Run, whole: bytes, parts: int):
    names = [StagePart(number, parts) for number in range(parts, 0, -1)]
    for name in names:
        compute(rings, str(name))
    assert not (rings.folder / "static.parquet").exists(), "parts make no table"
    assert merge("static", rings.folder, names, load(rings.config).digest) == 0
    assert rings.static() == whole
    assert not list(rings.folder.glob(".lock-*"))
    manifest = json.loads((rings.folder / "manifest.json").read_bytes())
    assert sum(shard["rows"] for shard in manifest["shards"]) == 40


def test_a_part_computes_its_points_alone_and_again_nothing(rings: Run, whole: bytes, monkeypatch: pytest.MonkeyPatch):
    notes = rings.home / "notes"
    monkeypatch.setenv("FAULT", f"note {notes}")
    monkeypatch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)
    compute(rings, "2/3")
    second = notes.read_text().split()
    outcome_of(rings.folder, "static", StagePart(2, 3)).unlink()  # as Snakemake does before it tries again
    compute(rings, "2/3")
    assert notes.read_text().split() == second
    assert 0 < len(second) < 40
    for part in ("1/3", "3/3"):
        compute(rings, part)
    assert Counter(notes.read_text().split()) == Counter(f"ring(k={k})" for k in range(3, 43))


def test_a_part_reads_its_own_points_and_shards_alone(rings: Run, whole: bytes, monkeypatch: pytest.MonkeyPatch):
    for part in ("1/4", "2/4", "3/4", "4/4"):
        compute(rings, part)
    own = [point.topology for point in cut(rings_of([1.0] * 40), 4)[1]]
    with_own = {path.stem for path in rings.shards() if {*own} & {*pq.read_table(path)["topology"].to_pylist()}}
    read, hashed = list[str](), set[str]()

    def of_record(cls: type[Point], row: dict[str, Any], made: Any = Point.of_record.__func__) -> Point:
        read.append(row["topology"])
        return made(cls, row)

    monkeypatch.setattr(Point, "of_record", classmethod(of_record))
    digest = shards.file_digest
    monkeypatch.setattr(shards, "file_digest", lambda path: (hashed.add(path.stem), digest(path))[1])
    compute(rings, "2/4")
    assert (read, hashed) == (own, with_own)
    assert 0 < len(own) < 40
    assert len(with_own) < len(rings.shards())
    # Snakemake, which a job starts again, learns what this job may take, and reads no point
    here, there = (
        of_configuration(load(rings.config), str(rings.home / "results"), {"parts": 4}, (True, spawned)).jobs["static"]
        for spawned in (False, True)
    )
    assert {name: job.cores for name, job in here.items()} == {name: job.cores for name, job in there.items()}
    assert len(there) == 4
    assert read == own


@pytest.mark.parametrize("clustered", [False, True])
def test_a_stage_without_points_has_no_job_and_a_table_without_rows(rings: Run, clustered: bool):
    asked = "static: none\n" + rings.config.read_text() + "loads: [{traffic: uniform, nodes: {to: 8}}]\n"
    rings.config.write_text(asked)
    sweep = of_configuration(load(rings.config), str(rings.home / "results"), {}, (clustered, False))
    assert sweep.stages == ["loads"], "the rule `stage` starts a process, or a job, for each"
    assert sweep.derived == ["static", "verification"]
    for step in ("points", "loads", "derived"):
        assert rings.here(step) == 0
    assert pq.read_metadata(rings.folder / "static.parquet").num_rows == 0
    assert json.loads((rings.folder / "manifest.json").read_bytes())["stage"].keys() == {"static", "loads"}


def test_a_missing_part_or_shard_is_told_and_the_next_run_has_all_parts_again(rings: Run, whole: bytes):
    parts = [StagePart(number, 3) for number in (1, 2, 3)]
    compute(rings, "1/3")
    compute(rings, "3/3")
    with pytest.raises(BadInput, match=r"1 part of 3 of static missing or damaged, as .*2-of-3\.json; run the sweep"):
        merge("static", rings.folder, parts, load(rings.config).digest)
    outcome_of(rings.folder, "static", parts[1]).write_text("{")
    with pytest.raises(BadInput, match=r"2-of-3\.json"):
        merge("static", rings.folder, parts, load(rings.config).digest)
    compute(rings, "2/3")
    rings.shards()[0].unlink()
    with pytest.raises(BadInput, match="shards disappeared"):
        merge("static", rings.folder, parts, load(rings.config).digest)
    assert not list(rings.folder.glob("parts/static/*.json"))
    assert not (rings.folder / "static.parquet").exists()
    for part in ("1/3", "2/3", "3/3"):
        compute(rings, part)
    merge("static", rings.folder, parts, load(rings.config).digest)
    assert rings.static() == whole


def test_a_failed_point_of_a_part_stands_in_the_manifest(rings: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FAULT", "raise ring(k=9); raise ring(k=41)")
    monkeypatch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)
    rings.here("points")
    for part in ("1/2", "2/2"):
        compute(rings, part)
    merge("static", rings.folder, [StagePart(1, 2), StagePart(2, 2)], load(rings.config).digest)
    assert rings.failed() == dict.fromkeys(("ring(k=9)", "ring(k=41)"), "ZeroDivisionError: a made-up defect")


def test_two_processes_do_not_compute_the_same_part_and_others_go_on(rings: Run, whole: bytes):
    with provenance.hold(rings.folder / ".lock-static-2-of-3"):
        (half_written := rings.folder / "shards" / ".writing-of-the-other").touch()
        with pytest.raises(BadInput, match="is in use by process"):
            compute(rings, "2/3")
        compute(rings, "1/3")
        assert half_written.exists(), "what others write is left alone"
        status, said = rings.forked("run", "rings.yaml")
        assert status == 2
        assert "is in use by process" in said


# --- under Snakemake ------------------------------------------------------------------------------------


@pytest.mark.faults
def test_a_sweep_in_parts_has_the_same_tables_and_every_rule_a_log_and_a_benchmark(rings: Run, whole: bytes):
    (rings.folder / "points.parquet").unlink()
    status, said = rings.forked("run", "rings.yaml", "--workers", "0", "--parts", "3")
    assert status == 0, said
    assert rings.static() == whole
    jobs_of = {"points", "derived", "page", "check", "static/1-of-3", "static/2-of-3", "static/3-of-3", "static/merge"}
    for folder, suffix in (("logs", ".log"), ("benchmarks", ".tsv")):
        found = {
            str(path.relative_to(rings.folder / folder).with_suffix(""))
            for path in rings.folder.glob(f"{folder}/**/*{suffix}")
        }
        assert found == jobs_of
    log = (rings.folder / "logs/static/2-of-3.log").read_text().splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}Z static 2-of-3, process \d+ on \S+", log[0])
    assert any("points, " in line for line in log), "its progress"
    assert log[-1].endswith(" ended")
    head, row = (rings.folder / "benchmarks/static/merge.tsv").read_text().splitlines()
    assert float(row.split("\t")[head.split("\t").index("s")]) > 0
    assert not list(rings.folder.glob("parts/*/*"))
    status, said = rings.forked("run", "rings.yaml", "--parts", "3")
    assert (status, "Nothing to be done" in said) == (0, True), said


def test_the_log_says_why_a_step_ended(rings: Run):
    log = rings.home / "deep" / "one.log"
    with pytest.raises(BadInput):
        run_step("static", rings.config, rings.folder, {}, None, log)
    assert re.search(r"Z refused: .*rings: expected a folder of results, got nothing of this name", log.read_text())


def test_a_job_on_a_cluster_asks_for_what_its_points_need(rings: Run):
    rings.with_settings("gpus: 2, part_minutes: 1.0e-5, cores: 1")
    status, said = rings.snakemake("--configfile", "rings.yaml", "--dry-run", "--printshellcmds", *CLUSTER)
    assert status == 0, said
    asked = [dict(re.findall(r"(\w+)=(\d+)", line)) for line in said.splitlines() if "gpu=2" in line]
    steps = re.findall(r"torusweep step static (--part \d+/\d+ --cores 1) ", said.replace("-of-", "/"))
    assert len(steps) == len(set(steps)) == len(asked) > 1
    assert all(1000 < int(job["mem_mb"]) < 3000 and job["runtime"] == "11" for job in asked)
    status, said = rings.snakemake("--configfile", "rings.yaml", "--dry-run", "--cores", "2")
    assert status == 0, said
    assert "rule merge" not in said, "one machine: one step a stage"


@pytest.mark.parametrize(
    ("settings", "backend", "asked"),
    [
        ("gpus: 2", "auto", {"gpu": 2, "nodes": 1}),  # without nodes, two nodes with one each would do
        ("gpus: 'gpu:a100:2'", "auto", {"gres": "gpu:a100:2"}),
        ("gpus: 'gpu:2'", "cupy", {"gres": "gpu:2"}),
        ("gpus: 0", "cupy", {}),
        ("gpus: null", "cupy", {"gpu": 1, "nodes": 1}),
        ("gpus: null", "auto", {}),
        ("gpus: 2, slurm: {jobs: 1}", "cupy", {}),  # Dask's jobs have them
    ],
)
def test_gpus_are_one_key(rings: Run, settings: str, backend: str, asked: dict[str, object]):
    rings.with_settings(settings)
    requested = of_configuration(load(rings.config), "results", {"backend": backend}, (True, True))
    assert requested.resources == asked


def test_a_part_without_the_gpu_that_it_should_have_is_computed_by_numba(
    rings: Run, whole: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("torusweep.run.compute_table.gpu_count", lambda: 0)
    log = rings.home / "part.log"
    assert run_step("static", rings.config, rings.folder, {"workers": 0, "backend": "cupy"}, "1/1", log) == 0
    assert "expected a GPU that CuPy can use, found none; Numba computes this part" in log.read_text()
    assert merge("static", rings.folder, [StagePart(1, 1)], load(rings.config).digest) == 0
    assert rings.static() == whole
    manifest = json.loads((rings.folder / "manifest.json").read_bytes())
    assert {shard["backend"] for shard in manifest["shards"]} == {"numba"}


@pytest.mark.parametrize("options", [(), ("--config", "parts=3")])
def test_each_of_lints_complaints_is_answered(rings: Run, options: tuple[str, ...]):
    said = rings.snakemake("--configfile", "rings.yaml", "--lint", *options)[1]
    found = re.findall(r"^Lints for (.*) \(line|^    \* (.*):$", said, re.MULTILINE)
    assert {rule or complaint for rule, complaint in found} == {
        "rule stage",
        "Specify a conda environment or container for each rule.",
    }, said
    head = SNAKEFILE.read_text().partition("from torusweep")[0]
    assert "conda environment or container" in head


# --- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", ["4/3", "0/3", "1", "a/b", "1/20000", "-1/3", "1/3/5", ""])
def test_a_part_that_is_none_is_refused_in_one_line(rings: Run, written: str):
    said = torusweep("step", "static", str(rings.config), str(rings.folder), f"--part={written}")
    assert not settled(said)
    assert "--part: expected one of at most 10,000 parts, as in 3/7" in said.err
    assert not rings.folder.exists()


def test_only_a_stage_has_parts(rings: Run):
    said = torusweep("step", "points", str(rings.config), str(rings.folder), "--part", "1/3")
    assert "--part: expected a stage" in said.err
    assert not settled(said)


@pytest.mark.parametrize("written", ["0", "-1", "x", "1.5", "10001", ""])
def test_a_number_of_parts_that_is_none_is_refused_in_one_line(
    rings: Run, monkeypatch: pytest.MonkeyPatch, written: str
):
    monkeypatch.chdir(rings.home)
    said = torusweep("run", "rings.yaml", f"--parts={written}")
    assert not settled(said)
    assert "--parts: expected auto or a whole number from 1 to 10,000" in said.err
    assert not rings.folder.exists()
    assert (read_parts("auto"), read_parts("10000")) == ("auto", 10_000)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("parts: 0", "cluster.parts: expected auto or a whole number 1 … 10,000, got 0"),
        ("part_minutes: -1", "cluster.part_minutes: expected a number > 0 and ≤ 43,200, got -1"),
        ("gpus: -1", "cluster.gpus: expected"),
        ("gpus: 'a100:2'", "cluster.gpus: expected"),
        ("cores: 0", "cluster.cores: expected"),
        ("parts: 2, slurm: {jobs: 1}", "expected parts or workers elsewhere (scheduler, slurm), got both"),
    ],
)
def test_a_wrong_cluster_section_is_refused_in_one_line(
    rings: Run, monkeypatch: pytest.MonkeyPatch, settings: str, said: str
):
    monkeypatch.chdir(rings.home)
    rings.with_settings(settings)
    found = torusweep("run", "rings.yaml")
    assert not settled(found)
    assert said in found.err
    assert not rings.folder.exists()


def test_parts_of_the_command_line_do_not_go_with_workers_elsewhere(rings: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(rings.home)
    rings.with_settings("slurm: {jobs: 1}")
    found = torusweep("run", "rings.yaml", "--parts", "2")
    assert not settled(found)
    assert "got both; leave parts: 2 out" in found.err
