"""Local workers: how many, their cores, threads, memory and files, and what becomes of one that dies."""

from __future__ import annotations

import importlib.metadata
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import torusweep
from distributed import Client
from torusweep.errors import BadInput
from torusweep.run import tasks as this_worker
from torusweep.run import workers as cluster
from torusweep.run.tasks import InProcess
from torusweep.sweeps.configuration.schema import Cluster
from torusweep.tables.provenance import software
from torusweep_kernels import backend

from tests.run.rings import COMMAND, Run, until


def listening(process: psutil.Process) -> set[str]:
    """Addresses on which a process and its children take connections."""
    found = set()
    for member in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # it ended since
            connections = member.net_connections(kind="inet")
            found |= {connection.laddr.ip for connection in connections if connection.status == "LISTEN"}
    return found


def where_i_run() -> tuple[int, int | None]:
    time.sleep(0.1)  # so that each worker has its share of tasks
    return this_worker.number_of_worker(), this_worker.threads_of_worker()


def pages_taken_again() -> float:
    """Page faults for each array of 4 MiB, made and thrown away a hundred times."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.zeros(1 << 19) + 1.0
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 100


def interrupted() -> float:
    """How often a second a thread that computes has to wait, since another one of its process has something to do."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    while time.monotonic() < start + 2:
        sum(range(1000))
    return (resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before) / 2


def of_a_worker(task: Callable[[], float]) -> float:
    with cluster.connect(Cluster(workers=1), backend="numba", tasks=1) as workers:
        workers.submit(task)
        outcome = workers.outcome(seconds=30)
    assert outcome is not None
    return float(outcome.answer)


def ask_all(workers: cluster.Workers | InProcess, count: int) -> list[object]:
    for _ in range(count):
        workers.submit(where_i_run)
    found = [workers.outcome(seconds=30) for _ in range(count)]
    return [outcome.answer for outcome in found if outcome is not None]


def test_local_workers_are_numbered_and_listen_on_the_loopback_address_only():
    with cluster.connect(Cluster(workers=2), backend="auto", tasks=100) as workers:
        assert workers.description == "2 local workers"
        assert workers.places == 2
        assert listening(psutil.Process()) == {"127.0.0.1"}
        assert {number for number, _ in ask_all(workers, 20)} == {0, 1}  # type: ignore[misc]
    assert listening(psutil.Process()) == set()


def test_workers_keep_the_memory_that_they_work_in():
    """Dask's setting has every array come in new pages, 1024 of them and more, which the kernel clears first."""
    assert of_a_worker(pages_taken_again) < 100


def test_workers_are_left_to_compute():
    """Dask's own setting has each look 50 times a second how its event loop is."""
    assert of_a_worker(interrupted) < 100


def born_with() -> dict[str, str]:
    """The environment of the process that this one was forked from, before it loaded anything."""
    return dict(item.split("=", 1) for item in Path("/proc/self/environ").read_text().split("\0") if item)


def test_linear_algebra_keeps_to_one_thread_a_worker(monkeypatch: pytest.MonkeyPatch):
    """Snakemake sets these to all cores for each step; libraries read them once, when they are loaded."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"]
    for name in names:
        monkeypatch.setenv(name, "64")
    with cluster.connect(Cluster(workers=1), backend="numba", tasks=1) as workers:
        workers.submit(born_with)
        outcome = workers.outcome(seconds=30)
    assert outcome is not None
    assert [outcome.answer[name] for name in names] == ["1"] * 4


@pytest.mark.parametrize(
    ("workers", "tasks", "expected"),
    [("auto", 100, [1] * 4), ("auto", 2, [2] * 2), ("auto", 1, [4]), (8, 100, [1] * 8), (3, 100, [1] * 3)],
)
@pytest.mark.parametrize("gpus", [0, 1])
def test_workers_share_out_four_cores(workers, tasks, expected, gpus, monkeypatch: pytest.MonkeyPatch):
    """With a GPU, too: a worker a GPU would leave the other cores idle."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(backend, "gpu_count", lambda: gpus)
    found = cluster.local_workers(Cluster(workers=workers), tasks)
    assert [int(environment["NUMBA_NUM_THREADS"]) for environment in found] == expected


@pytest.mark.parametrize(
    ("name", "number"),
    [(0, 0), (11, 11), ("SLURMCluster-2-13", 13), ("node7-3", 3), ("tls://10.0.0.1:40123", 40123), ("mine", 0)],
)
def test_workers_numbers_end_their_names(name, number, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("distributed.get_worker", lambda: SimpleNamespace(name=name))
    assert this_worker.number_of_worker() == number


def test_a_process_that_is_no_worker_has_number_0():
    assert (this_worker.number_of_worker(), this_worker.is_worker()) == (0, False)


def test_the_code_version_needs_no_installed_package(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> str:
        if name == "torusweep":
            raise importlib.metadata.PackageNotFoundError(name)
        return found(name)

    found = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", missing)
    monkeypatch.setattr("torusweep.tables.provenance.version", missing)
    software.cache_clear()
    assert this_worker.code_version().startswith(f"{torusweep.__version__} (code ")
    assert software()["torusweep"] == torusweep.__version__
    software.cache_clear()


@pytest.mark.faults
def test_more_workers_than_a_process_may_customarily_have_files_open_for(rings: Run):
    """A worker takes eleven; 1,024 are customary, and machines with 128 cores too."""
    limited = ("bash", "-c", 'ulimit -Sn 128 && exec "$@"', "bash", *COMMAND)
    process = rings.start("run", str(rings.config), "--workers", "12", command=limited)
    said = process.communicate(timeout=280)[0]
    assert process.returncode == 0, said
    assert "12 local workers" in said
    assert "Traceback" not in said


def test_workers_that_a_process_may_not_have_the_files_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(128)))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 1024))
    assert len(cluster.local_workers(Cluster(), 500)) == 80
    assert len(cluster.local_workers(Cluster(workers=80), 500)) == 80
    assert len(cluster.local_workers(Cluster(workers=81), 80)) == 80
    with pytest.raises(BadInput, match=r"expected 80 or fewer, .* got 81; ask for fewer"):
        cluster.local_workers(Cluster(workers=81), 500)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, resource.RLIM_INFINITY))
    assert len(cluster.local_workers(Cluster(), 500)) == 128


@pytest.mark.parametrize(
    ("limits", "of_workers", "then"),
    [
        ((1024, 4096), 900, None),
        ((1024, 4096), 1200, (1264, 4096)),
        ((1024, 4096), 12_000, (4096, 4096)),
        ((1024, resource.RLIM_INFINITY), 1200, (1264, resource.RLIM_INFINITY)),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), 12_000, None),
    ],
)
def test_the_limit_of_open_files_is_raised_where_workers_need_it(
    limits, of_workers, then, monkeypatch: pytest.MonkeyPatch
):
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, new: raised.append(new))
    cluster._open_files(of_workers)
    assert raised == ([then] if then else [])


def test_a_process_with_dask_has_all_threads_unless_it_is_a_worker(monkeypatch: pytest.MonkeyPatch):
    """Workers of somebody's own scheduler are told nothing, and share their cores with others."""
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
        assert client.submit(this_worker.threads_of_worker).result(timeout=30) == 1
        assert this_worker.threads_of_worker() is None


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_once_and_then_when_gone(file: Path) -> int:
    """The first time at once, leaving a file; the second time not before somebody has removed it."""
    if file.exists():
        until(lambda: not file.exists())
    else:
        file.touch()
    return 42


def test_an_answer_that_dies_with_its_worker_is_computed_again(tmp_path: Path):
    """One worker has two tasks: the first is done, and the second kills the worker before the answer is fetched."""
    with cluster.connect(Cluster(workers=1), backend="numpy", tasks=2) as workers:
        assert isinstance(workers, cluster.Workers)
        first = workers.submit(at_once_and_then_when_gone, tmp_path / "answered")
        answer = workers._futures[first]
        until(answer.done)
        second = workers.submit(die)
        until(lambda: answer.status == "lost")
        assert workers.outcome(seconds=60) is None, "it was done, and is not any more"
        (tmp_path / "answered").unlink()
        ended = {}
        until(
            lambda: (
                ended.update({outcome.ticket: outcome for outcome in [workers.outcome(seconds=0.1)] if outcome})
                or len(ended) == 2
            )
        )
        assert ended[first].answer == 42
        assert ended[second].died


def test_a_dead_workers_place_is_gone_at_once():
    """Else two tasks would stand at the worker that is left, and the one behind die with the other."""
    with cluster.connect(Cluster(workers=2), backend="numpy", tasks=2) as workers:
        assert isinstance(workers, cluster.Workers)
        assert workers.places == 2
        workers.submit(die)
        ended = None
        while ended is None:
            ended = workers.outcome(seconds=0.1)
        assert ended.died
        assert workers.places == 1


def test_no_cluster_at_all():
    workers = InProcess()
    assert workers.outcome(seconds=0) is None
    assert ask_all(workers, 3) == [where_i_run()] * 3
    workers.submit(int, "no number")
    outcome = workers.outcome(seconds=0)
    assert outcome is not None
    assert isinstance(outcome.error, ValueError)


def test_private_folders_of_killed_runs_are_removed(tmp_path: Path):
    killed = subprocess.Popen(["true"])
    killed.wait()
    here = socket.gethostname()
    names = [f".torusweep-{host}-{pid}-x" for host in (here, "elsewhere") for pid in (killed.pid, os.getpid())]
    for name in names:
        (tmp_path / name / "worker").mkdir(parents=True)
    with cluster.private_folder(tmp_path) as folder:
        assert folder.stat().st_mode & 0o077 == 0
        assert {path.name for path in tmp_path.iterdir()} == {*names[1:], folder.name}, "others may still be in use"
    assert not folder.exists()
