"""A TLS scheduler that a run uses is lost together with its workers, as when their machine goes down."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.elsewhere import Elsewhere
from tests.run.rings import PRELOAD, Run, told, until

pytestmark = pytest.mark.faults

WAITING_SECONDS = 25  # 15 until a silent scheduler is taken to be lost, 10 until Dask's client gives it up
LOSSES = pytest.mark.parametrize("loss", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "silent"])


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    """A scheduler with two workers."""
    there = Elsewhere(tmp_path)
    workers(there, "slow 0.2")
    yield there
    there.end()


def workers(there: Elsewhere, fault: str) -> None:
    for _ in range(2):
        there.worker(DASK_DISTRIBUTED__WORKER__PRELOAD=f'["{PRELOAD}"]', FAULT=fault)


def run_that_loses(rings: Run, there: Elsewhere, loss: int) -> tuple[subprocess.Popen[str], float]:
    """`torusweep run`, in the middle of which the scheduler and all workers get a signal at once; and the seconds in
    which it must end: those that it waits, and for the rest as many as it took to begin, five where nothing else runs.
    """
    rings.config.write_text(there.config())
    start = time.monotonic()
    run = rings.start("run", "rings.yaml")
    until(lambda: len(rings.shards()) > 3)
    for process in there.processes:
        os.kill(process.pid, loss)
    return run, WAITING_SECONDS + max(5, time.monotonic() - start)


@LOSSES
def test_a_run_ends_in_one_line_and_keeps_what_is_finished(rings: Run, clean: bytes, elsewhere: Elsewhere, loss: int):
    run, seconds = run_that_loses(rings, elsewhere, loss)
    start, kept = time.monotonic(), {path: path.read_bytes() for path in rings.shards()}
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 1, said
    assert time.monotonic() - start < seconds
    _forecast, line, _kept = told(said)
    assert line == (
        "torusweep: lost the connection to the Dask scheduler; start it again and repeat the command:"
        " finished points are kept"
    )
    assert not (rings.folder / "static.parquet").exists()

    (again := rings.home / "again").mkdir()
    there = Elsewhere(again)
    try:
        workers(there, "")
        rings.config.write_text(there.config())
        status, said = rings.forked("run", "rings.yaml")
    finally:
        there.end()
    assert status == 0, said
    assert rings.static() == clean
    assert {path: path.read_bytes() for path in kept} == kept, "nothing is computed twice"


@LOSSES
def test_the_first_sigterm_ends_a_run_whose_scheduler_is_lost(rings: Run, elsewhere: Elsewhere, loss: int):
    run, seconds = run_that_loses(rings, elsewhere, loss)
    start = time.monotonic()
    run.terminate()
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 143, said
    assert time.monotonic() - start < seconds
    lines = told(said)  # what will be computed, that it stops, and that it goes on from there
    assert len(lines) <= 3, said
    assert lines[-1] == "stopped; the same command goes on from here"
    assert rings.shards()
