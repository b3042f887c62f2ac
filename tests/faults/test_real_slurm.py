"""On a real Slurm of one node, without accounting (`sacct` fails): both ways in which a sweep uses Slurm."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from torusweep.errors import BadInput
from torusweep.run import workers as slurm_jobs

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
    rings.here("points")
    assert rings.here("static", workers=0) == 0
    content = rings.static()
    rings.forget()
    return content


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


def test_snakemakes_profile(slurm: RealSlurm, rings: Run, table: bytes):
    """Each stage a job, whose end `squeue` tells: `sacct` knows nothing here, and is not asked."""
    accounting = subprocess.run(["sacct"], capture_output=True, text=True)
    assert accounting.returncode != 0, "this Slurm has accounting: the test would show nothing"
    small = ("--set-threads", "stage=2", "--set-resources", "stage:mem_mb=1000")
    status, said = rings.call("run", "rings.yaml", "--profile", str(ROOT / "config/profiles/slurm"), *small)
    assert status == 0, said
    assert "has been submitted with SLURM jobid" in said
    assert rings.static() == table
