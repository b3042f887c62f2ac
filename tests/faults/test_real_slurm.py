"""On a real Slurm of one node, without accounting (`sacct` fails): both ways in which a sweep uses Slurm."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.run import workers as slurm_jobs
from torusweep.run.compute_table import _estimates
from torusweep.sweeps.forecast import cut
from torusweep.tables.shards import read_shards

from tests.faults.documented import BASH, PATH, commands, start_scheduler, two_workers
from tests.faults.real_slurm import RealSlurm, why_not
from tests.run.rings import Run, until

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.faults, pytest.mark.skipif(bool(why_not()), reason=why_not())]


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    there = RealSlurm()
    yield there
    there.end()


@pytest.fixture
def table(rings: Run) -> bytes:
    """The table that this process makes by itself."""
    return rings.alone()


def test_dasks_workers_as_jobs(slurm: RealSlurm, rings: Run, clean: bytes):
    rings.with_settings("slurm: {jobs: 2, cores: 1, memory: 1GiB, walltime: '00:10:00', interface: lo}")
    status, said = rings.call("run", "rings.yaml")
    assert status == 0, said
    assert "Slurm jobs): 40 of 40 points" in said
    assert "Traceback" not in said
    assert rings.static() == clean
    assert slurm.command("squeue", "-h") == "", "the jobs ended with the run"


def test_documented_workers_as_jobs_serve_all_tables(slurm: RealSlurm, rings: Run, table: bytes):
    _, port = start_scheduler(rings)
    rings.config.write_text(rings.config.read_text() + "loads: [{traffic: uniform, nodes: {to: 8}}]\n")
    (rings.home / "worker.sh").write_text(f"#!/bin/bash\n{two_workers(port)}")
    small = {"--cpus-per-task 32": "--cpus-per-task 1", "64G": "1G", "config/default.yaml": "rings.yaml"}
    real = {"DASK_DISTRIBUTED__WORKER__PRELOAD": "[]"}
    run = rings.start(commands("sbatch", small), command=BASH, PATH=PATH, **real)
    said = run.communicate(timeout=200)[0]
    assert run.returncode == 0, said
    assert "static (the Dask scheduler" in said
    assert "loads (the Dask scheduler" in said
    assert said.count("Submitted batch job") == 1
    assert rings.static() == table
    until(lambda: slurm.command("squeue", "-h") == "")


def test_a_node_that_is_drained_is_said(slurm: RealSlurm, rings: Run, monkeypatch: pytest.MonkeyPatch):
    node = slurm.command("sinfo", "-h", "-o", "%n").strip()
    slurm.command("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
    try:
        monkeypatch.setattr(slurm_jobs, "SQUEUE_SECONDS", 3)
        monkeypatch.setattr(slurm_jobs, "START_SECONDS", 6)
        rings.with_settings("slurm: {jobs: 1, cores: 1, memory: 1GiB, interface: lo}")
        rings.here("points")
        with pytest.raises(BadInput, match=r"got none; 1 job PENDING \(.*(Nodes|Resources).*\)"):
            rings.here("static")
    finally:
        slurm.command("scontrol", "update", f"NodeName={node}", "State=RESUME")


PROFILE = str(ROOT / "config/profiles/slurm")


def test_snakemakes_profile(slurm: RealSlurm, rings: Run, table: bytes):
    """Each stage a job, with what its points need; its end is told by `squeue`: `sacct` knows nothing here."""
    accounting = subprocess.run(["sacct"], capture_output=True, text=True)
    assert accounting.returncode != 0, "this Slurm has accounting: the test would show nothing"
    rings.config.write_text(rings.config.read_text() + "loads: [{traffic: uniform, nodes: {to: 8}}]\n")
    status, said = rings.call("run", "rings.yaml", "--profile", PROFILE)
    assert status == 0, said
    assert said.count("has been submitted with SLURM jobid") == 2, "a part of each stage"
    assert said.index("rule_stage/loads_1-of-1") < said.index("(Rule: stage)"), "both stages at once"
    assert "runtime=11" in said
    assert rings.static() == table


def test_a_killed_part_is_tried_again_and_computes_nothing_twice(slurm: RealSlurm, rings: Run, clean: bytes):
    """Three parts, jobs of one core; one is killed when it has published points, and goes on where it was."""
    rings.here("points")
    second = {point.topology for point in cut(_estimates(rings.folder, "static"), 3)[1]}
    notes = rings.home / "notes"
    fault = f"slow 0.5; note {notes}"
    run = rings.start("run", "rings.yaml", "--profile", PROFILE, "--parts", "3", "--workers", "1", fault=fault)
    try:
        until(lambda: _published(rings) & second)
        listed = [line.split() for line in slurm.command("squeue", "-h", "-o", "%i %C %k").splitlines()]
        assert {cores for _, cores, _ in listed} == {"1"}
        (killed,) = [job for job, _, what in listed if "static_2-of-3" in what]
        slurm.command("scancel", "--signal=KILL", "--full", killed)
        done = _published(rings)
        said = run.communicate(timeout=280)[0]
    finally:
        slurm.command("scancel", "--user=root")
    assert run.returncode == 0, said
    assert said.count("has been submitted with SLURM jobid") == 4, said
    assert rings.static() == clean
    times = Counter(notes.read_text().split())
    assert done & second < second, "it was killed between its first point and its last"
    assert all(times[topology] == 1 for topology in done), "what was published is not computed again"
    assert set(times) == {f"ring(k={k})" for k in range(3, 43)}
    assert (rings.folder / "logs/static/2-of-3.log").read_text().endswith(" ended\n"), "of the second trial"


def test_gpus_are_one_key_and_a_job_of_two_starts_once(slurm: RealSlurm, rings: Run, table: bytes):
    """Snakemake's executors once started a script for each GPU of its job."""
    rings.with_settings("gpus: 2")
    run = rings.start("run", "rings.yaml", "--profile", PROFILE)
    try:
        until(lambda: slurm.command("squeue", "-h", "-o", "%i"))
        shown = slurm.command("scontrol", "show", "job", slurm.command("squeue", "-h", "-o", "%i").split()[0])
        said = run.communicate(timeout=280)[0]
    finally:
        slurm.command("scancel", "--user=root")
    assert run.returncode == 0, said
    assert re.search(r"TresPerJob=gres[:/]gpu[:=]2\b", shown), shown
    assert "NumTasks=1 " in shown or "NumTasks=N/A" in shown, shown
    assert rings.static() == table
    assert said.count("has been submitted with SLURM jobid") == 1
    assert (rings.folder / "logs/static/1-of-1.log").read_text().count(", process ") == 1


def _published(rings: Run) -> set[str]:
    shards = read_shards(rings.folder, "static", schema_of("static")).whole
    return {topology for shard in shards for topology in shard.rows.column("topology").to_pylist()}
