"""Workers elsewhere: Slurm's jobs, a scheduler over TLS; and the messages if nobody computes."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster
from torusweep.errors import BadInput
from torusweep.run import slurm, tasks
from torusweep.run import workers as cluster
from torusweep.run.consent import VARIABLE
from torusweep.sweeps.configuration.schema import Cluster, Slurm

from tests.run.elsewhere import Elsewhere, certificates, entry
from tests.run.fake_slurm import FakeSlurm
from tests.run.rings import Run, told, until


def test_slurm_without_sbatch_is_refused_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(BadInput, match="expected the command 'sbatch'"),
        cluster.connect(Cluster(slurm=Slurm()), backend="numba", tasks=1),
    ):
        pass


PENDING = {
    "sbatch": "#!/bin/sh\necho Submitted batch job 4711\n",
    "squeue": "#!/bin/sh\necho 'PENDING (PartitionDown)'\n",
    "scancel": "#!/bin/sh\n",
}


def test_why_slurm_does_not_start_the_jobs_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):  # a drained node, a partition that is down
    for name, content in PENDING.items():
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(slurm, "SQUEUE_SECONDS", 1)
    monkeypatch.setattr(slurm, "START_SECONDS", 2)
    with (
        pytest.raises(BadInput, match=r"within 2 s, got none; 1 job PENDING \(PartitionDown\)"),
        cluster.connect(Cluster(slurm=Slurm(interface="lo")), backend="numba", tasks=1),
    ):
        pass
    assert capsys.readouterr().out.splitlines() == ["waiting for Slurm: 1 job PENDING (PartitionDown)"] * 2


REFUSING = "#!/bin/sh\necho 'sbatch: error: Batch job submission failed: Invalid account' >&2\nexit 1\n"


def test_a_refusal_of_slurm_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "sbatch").write_text(REFUSING)
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    begun = time.monotonic()
    with (
        pytest.raises(BadInput, match=r"^cluster\.slurm: sbatch refused: Batch job submission failed: Invalid"),
        cluster.connect(Cluster(slurm=Slurm(jobs=3, interface="lo")), backend="numba", tasks=1),
    ):
        pass
    assert time.monotonic() - begun < 120, "not the ten minutes in which a job may wait"


def test_slurm_may_refuse_some_of_the_jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys):
    """The limit of a user's jobs: the others wait, and Slurm's words are said."""
    once = f"#!/bin/sh\nmkdir {tmp_path}/first 2>/dev/null && exec echo Submitted batch job 4711\n"
    for name, content in {**PENDING, "sbatch": once + REFUSING.partition("\n")[2]}.items():
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(slurm, "SQUEUE_SECONDS", 1)
    monkeypatch.setattr(slurm, "START_SECONDS", 2)
    with (
        pytest.raises(BadInput, match="within 2 s, got none"),
        cluster.connect(Cluster(slurm=Slurm(jobs=2, interface="lo")), backend="numba", tasks=1),
    ):
        pass
    words = "sbatch refused: Batch job submission failed: Invalid account"
    assert f"waiting for Slurm: 1 job PENDING (PartitionDown); {words}" in capsys.readouterr().out


def test_jobs_that_are_refused_when_they_are_asked_for_again_end_the_run():
    class Nobody:
        status = "running"

        def nthreads(self, **_: object) -> dict[str, int]:
            return {}

    workers = tasks.Workers(Nobody(), "", tasks.Patience(600, refused=lambda: "Invalid account"))
    with pytest.raises(tasks.LostWorkers, match="sbatch refused: Invalid account; repeat the command"):
        workers.present  # noqa: B018


def test_the_last_line_of_a_run_is_what_slurm_said(rings: Run, tmp_path: Path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "sbatch").write_text(REFUSING)
    (tmp_path / "tools" / "sbatch").chmod(0o755)
    rings.with_settings("slurm: {jobs: 2, cores: 1, memory: 2 GiB, interface: lo}")
    path = f"{tmp_path / 'tools'}:{os.environ['PATH']}"
    status, said = rings.forked("run", "rings.yaml", PATH=path, HOME=str(tmp_path))
    assert status == 1
    assert said.splitlines()[-1].startswith("Slurm refused: Batch job submission failed: Invalid account")
    assert "Traceback" not in said


def test_the_job_script_for_slurm(tmp_path: Path):
    asked = Slurm.model_validate(
        {
            "jobs": 3,
            "cores": 8,
            "memory": "16 GiB",
            "walltime": "00:30:00",
            "queue": "batch",
            "account": "net",
            "interface": "lo",
        }
        | {"directives": ["--constraint=epyc"]}
    )
    jobs = slurm.slurm_cluster(Cluster(slurm=asked, gpus=2), tmp_path, cluster.of_jobs())
    try:
        script = jobs.job_script().splitlines()
    finally:
        jobs.close()
    assert script[0] == "#!/usr/bin/env bash"
    assert {line for line in script if line.startswith("#SBATCH")} == {
        *("#SBATCH -J torusweep", "#SBATCH -p batch", "#SBATCH -A net", "#SBATCH -n 1", "#SBATCH --cpus-per-task=8"),
        *("#SBATCH --mem=16G", "#SBATCH -t 00:30:00", "#SBATCH --constraint=epyc"),
        *("#SBATCH --gpus=2", "#SBATCH --nodes=1"),
    }
    threads = "NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1"
    (exported,) = (line.removeprefix("export ") for line in script if line.startswith("export "))
    assert exported.startswith(
        f"{threads} MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=67108864 "
        "SSL_CERT_FILE=/dev/null PYTHONSAFEPATH=1 "
    )
    with dask.config.set(dask.config.collect_env(dict(item.split("=", 1) for item in exported.split()))):
        assert {name: dask.config.get(name) for name in cluster.UNWATCHED} == cluster.UNWATCHED
    command = next(line for line in script if "dask_worker" in line)
    assert command.startswith(f"{sys.executable} -m distributed.cli.dask_worker tls://127.0.0.1:")
    assert "--nworkers 8 " in command
    assert "--nthreads 1 " in command
    assert f"--tls-key {tmp_path}/" in command
    assert "--no-dashboard --dashboard-address 127.0.0.1:0" in command


# --- an existing scheduler ---------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    there = Elsewhere(tmp_path)
    yield there
    there.end()


@pytest.mark.faults
def test_a_scheduler_over_tls_is_used_and_its_loss_is_said(rings: Run, clean: bytes, elsewhere: Elsewhere):  # 7
    preload = {"DASK_DISTRIBUTED__WORKER__PRELOAD": f'["{Path(__file__).parent / "faulty_worker.py"}"]'}
    elsewhere.worker(**preload)
    elsewhere.worker(**preload, FAULT="slow 0.02")
    rings.config.write_text(elsewhere.config())
    rings.here("points")
    status, said = rings.step("static")
    assert status == 0, said
    assert rings.static() == clean
    assert f"static (the Dask scheduler {elsewhere.address}): 40 of 40 points" in said

    rings.forget()
    elsewhere.worker(**preload, FAULT="slow 0.2")
    driver = rings.start("step", "static", str(rings.config), str(rings.folder))
    until(rings.shards)
    elsewhere.scheduler.kill()
    start = time.monotonic()
    said = driver.communicate(timeout=120)[0]
    assert driver.returncode == 2, said
    assert time.monotonic() - start < 30
    assert len(told(said)) == 1, said
    assert "lost the connection to the Dask scheduler" in said
    assert "repeat the command: finished points are kept" in said
    assert rings.shards()


BLOCKER = """
import importlib.abc, sys
class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torusweep":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
"""
OTHER = """
from torusweep.sweeps import points
points.stage_digest = lambda stage: "0123456789abcdef"
"""


def test_workers_without_our_code_are_found_out_before_work(rings: Run, elsewhere: Elsewhere, tmp_path: Path):  # 26, 28
    rings.config.write_text(elsewhere.config())
    rings.here("points")
    for name, code, says in (
        ("other", OTHER, "torusweep 0.2.0 (code 0123456789ab)"),
        ("none", BLOCKER, "has no torusweep; install version"),
    ):
        (tmp_path / f"{name}.py").write_text(code)
        worker = elsewhere.worker(DASK_DISTRIBUTED__WORKER__PRELOAD=f'["{tmp_path / name}.py"]')
        with pytest.raises(BadInput, match="install") as refusal:
            rings.here("static")
        assert says in str(refusal.value)
        assert tasks.code_version() in str(refusal.value)
        worker.kill()
        worker.wait()
        until(lambda: "Remove worker" in elsewhere.log("scheduler0"))
    assert rings.shards() == []


def test_nobody_at_the_address_is_one_line_in_ten_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # 27
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        settings = Cluster.model_validate({"scheduler": f"tls://{address}"})
        for tls in (certificates(tmp_path), {"ca": "no", "cert": "such", "key": "file"}):
            monkeypatch.setenv(VARIABLE, entry(f"tls://{address}", tls))
            start = time.monotonic()
            with (
                pytest.raises(BadInput, match="cluster") as refusal,
                cluster.connect(settings, backend="numpy", tasks=1),
            ):
                pytest.fail("connected to nobody")
            assert time.monotonic() - start < 10
            assert "\n" not in str(refusal.value)


@pytest.mark.faults
def test_workers_that_are_gone_end_the_run(rings: Run, elsewhere: Elsewhere):
    """With the scheduler alive: after cluster.worker_ttl_seconds in one line, and at once where a signal says so."""
    rings.config.write_text(elsewhere.config().replace("cluster: {", "cluster: {worker_ttl_seconds: 10, "))
    rings.here("points")
    preload = {"DASK_DISTRIBUTED__WORKER__PRELOAD": f'["{Path(__file__).parent / "faulty_worker.py"}"]'}
    for signalled in (False, True):
        worker = elsewhere.worker(**preload, FAULT="slow 0.2")
        before = len(rings.shards())
        driver = rings.start("step", "static", str(rings.config), str(rings.folder))
        until(lambda: len(rings.shards()) > before)  # noqa: B023
        worker.kill()
        worker.wait()
        if signalled:
            time.sleep(2)
            driver.terminate()
        said = driver.communicate(timeout=120)[0]
        assert driver.returncode == (143 if signalled else 2), said
        assert ("no worker for" in said) != signalled, said
        assert "Traceback" not in said


@pytest.mark.faults
def test_slurm_jobs_that_are_gone_are_submitted_again(rings: Run, clean: bytes, tmp_path: Path):
    slurm = FakeSlurm(tmp_path / "slurm")
    (tmp_path / "home").mkdir()
    rings.with_settings("worker_ttl_seconds: 10, slurm: {jobs: 1, cores: 1, memory: 2 GiB, interface: lo}")
    rings.here("points")
    try:
        step = rings.start(
            *("step", "static", "rings.yaml", "results/rings"),
            fault="slow 0.1",
            PATH=slurm.path,
            HOME=str(tmp_path / "home"),
        )
        until(rings.shards)
        slurm.cancel()
        said = step.communicate(timeout=200)[0]
    finally:
        slurm.cancel()
    assert step.returncode == 0, said
    assert len(slurm.jobs()) == 2
    assert rings.static() == clean
    assert "Traceback" not in said


def test_a_scheduler_that_does_not_answer_is_lost(monkeypatch: pytest.MonkeyPatch):
    """The connection stands, as to a stopped process or behind a cut link, and nobody answers."""
    monkeypatch.setattr(tasks, "SILENT_SECONDS", 1.0)

    async def never(**_: object) -> None:
        await asyncio.sleep(60)

    with (
        LocalCluster(processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as there,
        Client(there) as client,
    ):
        workers = tasks.Workers(client, "", tasks.Patience(60))
        assert workers.present == 1
        there.scheduler.handlers["ncores"] = never
        until(lambda: time.monotonic() - workers._counted > 1.0)
        start = time.monotonic()
        with pytest.raises(tasks.LostScheduler, match="repeat the command"):
            workers.present  # noqa: B018
        assert 1.0 <= time.monotonic() - start < 10


def test_no_worker_comes(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch):  # 26
    monkeypatch.setitem(cluster.JOIN_SECONDS, "scheduler", 1)
    settings = Cluster.model_validate({"scheduler": elsewhere.address})
    with (
        pytest.raises(BadInput, match="expected 1 workers within 1 s, got 0; start workers"),
        cluster.connect(settings, backend="numpy", tasks=1),
    ):
        pytest.fail("worked without workers")
