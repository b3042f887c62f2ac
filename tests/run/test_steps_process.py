"""The process in which a run's steps run: they do, wherever it can be; where it cannot be, or dies, the run says so or does without."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest
from torusweep.errors import BadInput
from torusweep.run import forking
from torusweep.run.steps import STEPS
from torusweep.run.steps_process import ADDRESS, TAKEN, StepsProcess, _answer, _serve, ask

from tests.run.rings import COMMAND, PRELOAD, Run, alive, until


@pytest.fixture
def steps(rings: Run, nothing_to_fork_from: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[StepsProcess]:
    """Steps that this process asks for are run by another one, in the folder of `rings`."""
    monkeypatch.chdir(rings.home)
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", f'["{PRELOAD}"]')
    with StepsProcess() as there:
        there.prepare()
        for name, value in there.announce().items():
            monkeypatch.setenv(name, value)
        there.start(os.getpgrp())
        yield there


def driver_of(run: Run) -> psutil.Process:
    """The process that computes, once it has finished something."""
    until(run.shards)
    return psutil.Process(json.loads((run.folder / ".lock").read_text())["pid"])


def clients(command: int) -> list[psutil.Process]:
    """Steps as Snakemake calls them."""
    return [process for process in psutil.Process(command).children(recursive=True) if "step" in process.cmdline()]


def test_a_run_has_its_steps_run_beside_its_workers(rings: Run, clean: bytes):
    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.1")
    driver = driver_of(rings)
    origin = driver.parent()
    assert origin is not None
    assert origin.ppid() == run.pid, "forked from what the run has started"
    assert "step static" in json.loads((rings.folder / ".lock").read_text())["command"]
    (asking,) = clients(run.pid)
    assert not asking.children(), "it only asks"
    workers = [child for child in origin.children() if child != driver]
    assert len(workers) == 2, "of the same"
    assert os.getpgid(driver.pid) == os.getpgid(asking.pid), "as a step is"
    assert os.getpgid(run.pid) not in {os.getpgid(process.pid) for process in (driver, origin, *workers)}, (
        "a terminal's business"
    )
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 0, said
    assert alive([driver, origin, *workers]) == []
    assert rings.static() == clean


def test_what_becomes_of_a_step_is_passed_on(
    steps: StepsProcess, rings: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert ask("points", rings.config, rings.folder, {}) == 0
    assert ask("static", rings.config, rings.folder, {"workers": 1}) == 0
    assert rings.static()
    assert (capsys.readouterr().err, ask("unheard of", rings.config, rings.folder, {})) == ("", 1)
    assert "Traceback" in capsys.readouterr().err
    with pytest.raises(BadInput, match=r"none\.yaml: expected a configuration file"):
        ask("points", Path("none.yaml"), rings.folder, {})
    monkeypatch.chdir("/")
    assert ask("points", rings.config, rings.folder, {}) is None, "its names mean something else there"


def test_workers_are_as_large_as_what_they_are_forked_from(steps: StepsProcess, rings: Run):
    """Not as the process of the steps, which has run others before."""
    origin, there = (psutil.Process(pid) for pid in (forking.SERVER._forkserver_pid, steps._process.pid))
    assert ask("points", rings.config, rings.folder, {}) == 0
    assert ask("static", rings.config, rings.folder, {"workers": 0, "symmetry": "off"}) == 0  # by Numba
    rings.forget()
    taken = origin.memory_info().rss / 2**30
    assert there.memory_info().rss / 2**30 > taken + 0.02, "it has computed"
    rings.with_settings("memory_per_worker_gib: 0.05, workers: 1")
    assert ask("points", rings.config, rings.folder, {}) == 0
    with pytest.raises(BadInput, match="since a worker takes") as refused:
        ask("static", rings.config, rings.folder, {})
    assert float(str(refused.value).split("since a worker takes ")[1].split()[0]) == pytest.approx(taken, abs=0.006)


def test_workers_come_from_where_the_process_of_the_steps_came_from(steps: StepsProcess, rings: Run, clean: bytes):
    origin = psutil.Process(forking.SERVER._forkserver_pid)
    assert [child.pid for child in origin.children()] == [steps._process.pid]
    assert ask("points", rings.config, rings.folder, {}) == 0
    computing = threading.Thread(target=ask, args=("static", rings.config, rings.folder, {"workers": 2}))
    computing.start()
    until(lambda: len(origin.children()) == 3 or not computing.is_alive())
    computing.join()
    assert psutil.Process(steps._process.pid).children() == [], "it has started no Python"
    assert rings.static() == clean


def test_workers_are_had_when_what_they_come_from_was_killed(steps: StepsProcess, rings: Run, clean: bytes):
    assert ask("points", rings.config, rings.folder, {}) == 0
    os.kill(forking.SERVER._forkserver_pid, signal.SIGKILL)
    assert ask("static", rings.config, rings.folder, {"workers": 1}) == 0
    assert rings.static() == clean


def test_it_is_killed_in_the_middle_of_a_step(rings: Run, clean: bytes):
    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.1")
    driver_of(rings).kill()
    said = run.communicate(timeout=60)[0]
    assert run.returncode == 1, said
    assert (
        "the process of the steps ended in the middle of the step static: it was killed, perhaps for its memory" in said
    )
    assert "the same command goes on from here" in said
    kept = set(rings.shards())
    status, said = rings.call("run", "rings.yaml", "--workers", "2")
    assert status == 0, said
    assert kept < set(rings.shards())
    assert rings.static() == clean


def test_a_run_that_is_killed_leaves_a_step_that_ends_by_itself(rings: Run, clean: bytes):
    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.1")
    driver = driver_of(rings)
    family = psutil.Process(run.pid).children(recursive=True)
    run.kill()
    run.wait()
    status, said = rings.call("run", "rings.yaml")
    assert (status, said.count("\n")) == (2, 1), said
    assert f"process {driver.pid} " in said
    assert psutil.wait_procs(family, timeout=60)[1] == []
    assert rings.static() == clean


def origin_of(run: int) -> psutil.Process:
    """The process that a run's steps and workers are forked from."""
    found: list[psutil.Process] = []

    def there() -> bool:
        found[:] = [
            child for child in psutil.Process(run).children() if any("forkserver" in word for word in child.cmdline())
        ]
        return bool(found)

    until(there)
    return found[0]


def test_what_it_is_forked_from_is_killed_and_started_again_alike(rings: Run, clean: bytes):
    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.1")
    first = origin_of(run.pid)
    first.kill()
    driver = driver_of(rings)
    second = driver.parent()
    assert second is not None
    assert second != first
    for process in (driver, second):
        environment = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
        assert {f"{name}={value}".encode() for name, value in forking.BORN_WITH.items()} <= set(environment)
    blocked = int(Path(f"/proc/{second.pid}/status").read_text().split("SigBlk:")[1].split()[0], 16)
    assert all(blocked >> (number - 1) & 1 for number in (signal.SIGINT, signal.SIGTERM)), (
        "so that workers are born with them blocked"
    )
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 0, said
    assert rings.static() == clean


def test_nobody_takes_the_step(
    rings: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def asked() -> int | None:
        return ask("points", rings.config, rings.folder, {"workers": 1})

    monkeypatch.delenv(ADDRESS, raising=False)
    assert asked() is None
    address = tmp_path / "steps"
    monkeypatch.setenv(ADDRESS, str(address))
    assert asked() is None, "there is no such socket"
    for answers, expected in (((), None), ((TAKEN,), 1)):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(address))
            listener.listen()

            def end(listener: socket.socket = listener, answers: tuple[bytes, ...] = answers) -> None:
                with listener.accept()[0] as there:
                    there.recv(1 << 16)
                    for answer in answers:
                        there.sendall(answer)

            ending = threading.Thread(target=end)
            ending.start()
            assert asked() == expected
            ending.join()
        address.unlink()
    assert "it was killed" in capsys.readouterr().err
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
    assert asked() is None, "nobody listens any more"


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.2, 0.3, 0.4])
def test_a_run_stopped_while_its_workers_start_ends(rings: Run, seconds: float):
    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.2")
    until(lambda: (rings.folder / ".lock").exists() and (rings.folder / ".lock").read_text())
    time.sleep(seconds)
    family = psutil.Process(run.pid).children(recursive=True)
    run.terminate()
    said = run.communicate(timeout=60)[0]
    assert run.returncode == 128 + signal.SIGTERM, said
    assert psutil.wait_procs(family, timeout=30)[1] == []


def serve_with_something_left(left: Path, listener: socket.socket, living: Any, group: int) -> None:
    atexit.register(left.touch)
    _serve(listener, living, group)


@pytest.mark.usefixtures("nothing_to_fork_from")
def test_it_does_what_is_left_for_the_end(tmp_path: Path):
    """Dask's workers that were starting, for one; multiprocessing would wait for them."""
    assert forking.ready()
    context = get_context("forkserver")
    living, ours = context.Pipe(duplex=False)
    with socket.socket(socket.AF_UNIX) as listener, living:
        listener.bind(str(tmp_path / "steps"))
        listener.listen()
        process = context.Process(
            target=serve_with_something_left, args=(tmp_path / "left", listener, living, os.getpgrp())
        )
        process.start()
    ours.close()
    process.join(timeout=30)
    assert process.exitcode == 0
    assert (tmp_path / "left").exists()


def test_its_folder_of_temporary_files_was_cleaned_away(rings: Run, clean: bytes, tmp_path: Path):
    """As machines do after some days."""
    temporary = tmp_path / "t"
    temporary.mkdir()
    run = rings.start("run", "rings.yaml", "--workers", "1", fault="slow 0.05", TMPDIR=str(temporary))
    driver_of(rings)
    for folder in temporary.glob("pymp-*"):
        shutil.rmtree(folder)
    said = run.communicate(timeout=60)[0]
    assert run.returncode == 0, said
    assert rings.static() == clean


def test_a_run_stopped_before_it_computes_leaves_no_folder_of_temporary_files(rings: Run, tmp_path: Path):
    temporary = tmp_path / "t"
    temporary.mkdir()
    run = rings.start("run", "rings.yaml", "--workers", "1", TMPDIR=str(temporary))
    until(lambda: list(temporary.glob("pymp-*")))
    run.terminate()
    run.communicate(timeout=60)
    assert run.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)
    until(lambda: not list(temporary.glob("pymp-*")))


def test_standard_output_is_the_commands_own(rings: Run):
    """What libraries print in workers goes where the steps talk."""
    with (rings.home / "said").open("w") as other:
        run = subprocess.run(
            [*COMMAND, "run", "rings.yaml", "--workers", "1", "--json"],
            cwd=rings.home,
            env={**os.environ, "DASK_DISTRIBUTED__WORKER__PRELOAD": f'["{PRELOAD}"]', "FAULT": "print"},
            stdout=subprocess.PIPE,
            stderr=other,
            timeout=120,
            check=True,
        )
    assert json.loads(run.stdout)["rows"]["static"] == 40
    assert "printed by a worker" in (rings.home / "said").read_text()


def test_who_is_of_another_group_runs_the_step_itself(steps: StepsProcess, rings: Run):
    """A job that a batch system has put on this machine has memory and cores of its own."""
    asks = f"ask('points', Path({str(rings.config)!r}), Path({str(rings.folder)!r}), {{}})"
    code = f"from pathlib import Path\nfrom torusweep.run.steps_process import ask\nprint({asks})"
    for group, expected in ((None, "0"), (0, "None")):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, process_group=group
        )
        assert done.stdout.strip() == expected


def test_a_process_is_fit_for_another_step_unless_it_was_stopped_or_holds_a_gpu(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["torusweep"])

    def answer(step: Callable[..., int]) -> tuple[tuple[int, str, bool], bool]:
        monkeypatch.setitem(STEPS, "made up", step)
        return _answer("made up", "config", "folder", {})

    def ends(error: BaseException) -> Callable[..., int]:
        def step(*_: object) -> int:
            raise error

        return step

    monkeypatch.setattr("torusweep_kernels.backend.gpu_count", lambda: 0)
    monkeypatch.setitem(sys.modules, "cupy", ModuleType("cupy"))
    assert answer(lambda *_: 3) == ((3, "", False), True)
    assert sys.argv == ["torusweep", "step", "made up", "config", "folder"], "as a lock names it"
    assert answer(ends(BadInput("expected this"))) == ((2, "expected this", True), True)
    assert answer(ends(SystemExit(143))) == ((143, "", False), False)
    assert answer(ends(KeyboardInterrupt())) == ((130, "torusweep: interrupted\n", False), False)
    monkeypatch.setattr("torusweep_kernels.backend.gpu_count", lambda: 1)
    assert answer(lambda *_: 0) == ((0, "", False), False)
    monkeypatch.delitem(sys.modules, "cupy")
    assert answer(lambda *_: 0) == ((0, "", False), True)


def test_pythons_whose_forks_need_a_key_start_another_process_to_fork_from(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(forking.SERVER, "_forkserver_authkey", b"key", raising=False)
    forking.share()
    assert not forking.shared()
