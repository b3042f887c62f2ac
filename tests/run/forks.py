"""`torusweep …` and `snakemake …` as forks of a process that has loaded what they import, which takes seconds.

Each is a process of its own, with a folder, an environment and an exit status as a shell gives it, and so is the
Snakemake that `torusweep run` starts. What depends on how Python starts (its search path, variables that libraries read
when they are imported) needs a process that is started: tests.run.rings.Run.start.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

SECONDS = 280  # that a program may take
PROGRAMS = ("torusweep", "snakemake")
LOADED = (  # what the two import, until a step starts workers
    *("snakemake.cli", "snakemake.report.html_reporter", "snakemake.storage", "snakemake.workflow", "smart_open"),
    *("torusweep.answers.page", "torusweep.papers.figures", "torusweep.run.child", "torusweep.run.steps"),
    *("altair", "duckdb", "yte"),
)

spent = [0.0]  # processor seconds of the programs and of what they started: tests.cpu_times adds them


def called(program: str, *arguments: str, home: Path, **environment: str) -> tuple[int, str]:
    """The exit status of one of PROGRAMS in a folder, and all that it said."""
    asked = [program, list(arguments), str(home), {**os.environ, **environment}]
    said = os.memfd_create("said")
    with os.fdopen(said, "r+b") as file:
        server, _ = _server()
        socket.send_fds(server, [json.dumps(asked).encode()], [said])
        child = int(server.recv(64))
        try:
            status, seconds = server.recv(64).split()
        except TimeoutError:
            os.kill(child, signal.SIGTERM)  # which it passes on
            server.recv(64)
            raise
        spent[0] += float(seconds)
        file.seek(0)
        return int(status), file.read().decode()


@cache
def _server() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Our side of a process that serves, and this process, which ends when ours does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for one in (ours, theirs):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    command = [sys.executable, "-P", __file__, str(theirs.fileno())]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd="/", stdin=subprocess.DEVNULL)
    theirs.close()
    ours.settimeout(SECONDS)
    return ours, process


def _serve(server: socket.socket) -> Callable[[], None]:
    """In the process that serves: fork for every request; in the fork, return what it runs."""
    while True:
        request, files, *_ = socket.recv_fds(server, 1 << 20, 1)
        if not request:
            os._exit(0)
        child = os.fork()
        if child == 0:
            server.close()
            return _prepared(files[0], *json.loads(request))
        os.close(files[0])
        server.send(b"%d" % child)
        _, how, used = os.wait4(child, 0)
        server.send(b"%d %f" % (os.waitstatus_to_exitcode(how), used.ru_utime + used.ru_stime))


def _prepared(
    said: int, program: str, arguments: list[str], home: str, environment: dict[str, str]
) -> Callable[[], None]:
    """Of this fork a process like one that a shell starts, in a group of its own; what it is to run."""
    os.setpgid(0, 0)
    for stream in (1, 2):
        os.dup2(said, stream)
    os.close(said)
    os.chdir(home)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # TMPDIR may be another
    sys.argv = [program, *arguments]
    from torusweep.cli import main
    from torusweep.run import child

    child.subprocess = SimpleNamespace(Popen=_popen, PIPE=subprocess.PIPE)  # type: ignore[assignment]
    return main if program == "torusweep" else _snakemake


def _snakemake() -> None:
    runpy.run_module("snakemake", run_name="__main__", alter_sys=True)


def _popen(command: Sequence[str], *, env: dict[str, str], **how: Any) -> subprocess.Popen[bytes]:
    """As Popen([python, "-P", "-m", "snakemake", …]), as a fork."""
    assert command[1:4] == ["-P", "-m", "snakemake"]
    files = {int(name) for name in os.listdir("/proc/self/fd")}
    begin = partial(_as_snakemake, list(command[3:]), env, files)
    return subprocess.Popen(["false"], env=env, preexec_fn=begin, **how)


def _as_snakemake(words: list[str], environment: dict[str, str], files: set[int]) -> NoReturn:
    """In the child of Popen, which would begin a program now: Snakemake, without what was the parent's."""
    for file in {int(name) for name in os.listdir("/proc/self/fd")} - files:  # Popen waits until its pipe is closed
        with contextlib.suppress(OSError):
            os.close(file)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdout, sys.stderr = (open(stream, "w", buffering=1, closefd=False) for stream in (1, 2))  # noqa: SIM115
    sys.argv = words
    status = 1
    try:
        _snakemake()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _load() -> None:
    for module in LOADED:
        importlib.import_module(module)
    from torusweep.run import place

    place.options_of_snakemake()  # which are kept


if __name__ == "__main__":
    _load()
    _serve(socket.socket(fileno=int(sys.argv[1])))()
