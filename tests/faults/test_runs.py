"""Runs of which a part is killed or stopped: Snakemake, the step that computes, the command itself (rows 9-12)."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from pathlib import Path

import psutil
import pytest

from tests.run.rings import COMMAND, Run, until


def driver_of(run: Run) -> psutil.Process:
    """The process that computes, once it has finished something."""
    until(run.shards)
    return psutil.Process(json.loads((run.folder / ".lock").read_text())["pid"])


@pytest.mark.faults
def test_kills_locks_and_a_stop(rings: Run, clean: bytes):
    run = rings.start(
        "run", "rings.yaml", "--workers", "2", fault="slow 4"
    )  # so long that two more runs are refused meanwhile
    until(rings.shards)
    driver = json.loads((rings.folder / ".lock").read_text())["pid"]
    (snakemake,) = [child for child in psutil.Process(run.pid).children() if "snakemake" in child.cmdline()]
    status, said = rings.forked("run", "rings.yaml")  # 11
    assert (status, said.count("\n")) == (2, 1), said
    assert f"process {run.pid} " in said
    snakemake.kill()  # 9
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 128 + signal.SIGKILL
    assert "Snakemake was killed (signal 9)" in said
    assert "stopped; what is finished is kept" in said
    assert not psutil.pid_exists(driver), "it has ended its batches, and goes with the run"
    kept = rings.shards()

    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.1")  # 10
    until(lambda: len(rings.shards()) > len(kept))
    os.kill(run.pid, signal.SIGINT)  # 12
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 130, said
    assert said.endswith("static stopped; what is finished is kept\nstopped; the same command goes on from here\n")
    assert set(kept) < set(rings.shards())


@pytest.mark.faults
def test_a_signal_to_make_and_all_its_children_is_one_signal(rings: Run, tmp_path: Path):
    """make passes SIGTERM on to its child, which has had it with the group."""
    (rings.home / "Makefile").write_text(f"run:\n\t{shlex.join(COMMAND)} run rings.yaml --workers 2\n")
    begun = tmp_path / "begun"
    run = rings.start("run", command=("make", "--silent"), fault=f"note {begun}; slow 0.5")
    until(rings.shards)
    kept, noted = rings.shards(), begun.stat().st_size
    until(lambda: begun.stat().st_size > noted)  # a batch runs that is not among them
    os.killpg(run.pid, signal.SIGTERM)
    said = run.communicate(timeout=120)[0]
    assert "static stopped; what is finished is kept\nstopped; the same command goes on from here\n" in said
    assert set(kept) < set(rings.shards()), "the batches that ran are saved"


@pytest.mark.faults
def test_a_step_that_is_killed_ends_the_run_which_goes_on_when_called_again(rings: Run, clean: bytes):
    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.1")
    driver_of(rings).kill()
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 1, said
    assert "the same command goes on from here" in said
    kept = set(rings.shards())
    status, said = rings.forked("run", "rings.yaml", "--workers", "1")
    assert status == 0, said
    assert kept < set(rings.shards())
    assert rings.static() == clean


@pytest.mark.faults
def test_a_run_that_is_killed_leaves_a_step_that_ends_by_itself(rings: Run, clean: bytes):
    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.5")
    driver = driver_of(rings)
    family = psutil.Process(run.pid).children(recursive=True)
    run.kill()
    run.wait()
    status, said = rings.forked("run", "rings.yaml")
    assert (status, said.count("\n")) == (2, 1), said
    assert f"process {driver.pid} " in said
    assert psutil.wait_procs(family, timeout=120)[1] == []
    assert rings.static() == clean


@pytest.mark.parametrize(
    "seconds",
    [pytest.param(0.4, marks=pytest.mark.faults), *(pytest.param(late, marks=pytest.mark.slow) for late in (0.0, 2.0))],
)
def test_a_run_stopped_while_its_workers_start_ends(rings: Run, seconds: float):
    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.2")
    until(lambda: (rings.folder / ".lock").exists() and (rings.folder / ".lock").read_text())
    time.sleep(seconds)
    family = psutil.Process(run.pid).children(recursive=True)
    run.terminate()
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 128 + signal.SIGTERM, said
    assert psutil.wait_procs(family, timeout=60)[1] == []


@pytest.mark.faults
def test_a_batch_that_does_not_end_does_not_hold_a_stop(rings: Run, tmp_path: Path):
    """What was computed is kept; the batch that hangs is given up after 20 s, without a second signal."""
    run = rings.start("run", "rings.yaml", "--workers", "2", fault=f"hang {tmp_path / 'begun'}")
    until((tmp_path / "begun").exists)
    family = psutil.Process(run.pid).children(recursive=True)
    run.terminate()
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 128 + signal.SIGTERM, said
    assert "gave up" in said
    assert psutil.wait_procs(family, timeout=60)[1] == []
