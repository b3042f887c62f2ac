"""Inputs answered by children of this process, which has loaded everything, with limits of memory and time."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import runpy
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from posix import _exit
from types import SimpleNamespace
from typing import NamedTuple, NoReturn

from torusweep import cli
from torusweep.networks.topology import default_memory
from torusweep.tables import apart

from certify import check

# of processor time (a first answer may compile for half a minute) and of memory beside the loaded process, for an input
SECONDS, BYTES = 60, 3 << 30
TRACEBACK = 99  # status of an input that raised


class Asked(NamedTuple):
    """What a child does in a folder of these files. command: arguments of torusweep, or `check` and the checker's."""

    kind: str
    number: int
    files: dict[str, bytes]
    command: list[str]
    seconds: int = SECONDS


def read_apart_by_forks() -> None:
    """Make the processes that read somebody else's files copies of this one, which need not load what they need."""
    own = {"PIPE": subprocess.PIPE, "DEVNULL": subprocess.DEVNULL, "TimeoutExpired": subprocess.TimeoutExpired}
    apart.subprocess = SimpleNamespace(Popen=_forked, **own)  # type: ignore[attr-defined]


def _forked(command: Sequence[str], **pipes: int) -> subprocess.Popen[bytes]:
    """As Popen([python, "-P", "-m", module], …)."""

    before = set(os.listdir("/proc/self/fd"))

    def serve() -> None:
        os._exit = _exit  # which tests.faults.command_line replaces
        for file in set(os.listdir("/proc/self/fd")) - before:  # the pipe on which Popen waits for a new program
            with contextlib.suppress(OSError):
                os.close(int(file))
        with contextlib.suppress(BaseException):
            runpy.run_module(command[-1], run_name="__main__")
        os._exit(1)

    return subprocess.Popen(["false"], preexec_fn=serve, **pipes)  # type: ignore[call-overload]


def _limit(seconds: int) -> None:
    """What this input may take beside what the process has. RLIMIT_AS would count what V8 reserves and never uses."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + seconds
    data = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_DATA, (data + BYTES, resource.RLIM_INFINITY))
    default_memory.cache_clear()  # it heeds the limit
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(4 * seconds)


def _answer(asked: Asked, folder: Path) -> int:
    """Put the files there, and ask. The status that a process of its own would end with."""
    for name, content in asked.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    for stream, name in ((1, "said.out"), (2, "said.err")):
        file = os.open(name, os.O_CREAT | os.O_WRONLY, 0o600)
        os.dup2(file, stream)
        os.close(file)
    sys.stdout, sys.stderr = (open(stream, "w", encoding="utf-8", closefd=False) for stream in (1, 2))  # noqa: SIM115
    try:
        _limit(asked.seconds)
        if asked.command[0] == "check":
            return check.main(asked.command[1:])
        sys.argv = ["torusweep", *asked.command]
        cli.main()
        return 0
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
        return TRACEBACK
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()


def _answer_all(lot: Sequence[Asked], home: Path, told: int) -> NoReturn:
    """In the child: answer one after another, and tell the status of each."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30,) * 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for place, asked in enumerate(lot):
            os.write(told, b"%d\n" % _answer(asked, home / str(place)))
    except BaseException:
        os._exit(TRACEBACK)
    os._exit(0)


def judged(lot: Sequence[Asked], home: Path) -> Iterator[str]:
    """How each input ended: 'answered', 'refused', or what is wrong with it, and what it said last.

    'announced': it was stopped at its limit of time, but had said that it takes longer.

    One child answers them all, for a fork takes longer than most answers; where it ends early, another does the rest.
    """
    while lot:
        home.mkdir()
        heard, told = os.pipe()
        child = os.fork()
        if child == 0:
            _answer_all(lot, home, told)
        os.close(told)
        with os.fdopen(heard, "rb") as reports:
            statuses = [int(line) for line in reports]
        _, how = os.waitpid(child, 0)
        if len(statuses) < len(lot):
            statuses.append(os.waitstatus_to_exitcode(how))
        for place, status in enumerate(statuses):
            yield _verdict(lot[place], status, home / str(place))
        lot = lot[len(statuses) :]
        shutil.rmtree(home, ignore_errors=True)


def _announced(err: str) -> float:
    """The seconds that an answer said it takes."""
    units = {"s": 1, "min": 60, "h": 3600, "days": 86_400}
    said = re.search(r"^.*\babout ([\d.,]+) (s|min|h|days)\b", err, re.MULTILINE)
    return float(said[1].replace(",", "")) * units[said[2]] if said else 0.0


def _verdict(asked: Asked, status: int, folder: Path) -> str:
    """Of an input's status and of what it said."""
    out, err = (
        (folder / name).read_text("utf-8", "replace") if (folder / name).exists() else ""
        for name in ("said.out", "said.err")
    )
    last = " / ".join(err.strip().splitlines()[-2:])[-400:]
    if status in (-signal.SIGALRM, -signal.SIGXCPU, -signal.SIGKILL):
        return "announced" if _announced(err) >= asked.seconds else f"hangs: {last}"
    if status < 0:
        return f"dies of {signal.Signals(-status).name}: {last}"
    if status == TRACEBACK or "Traceback" in err:
        return f"traceback: {last}"
    what = asked.command[0]
    if what == "check":
        refused = "REFUSED" in out or err.startswith("usage")
        past = not re.search(r"malformed: (JSON|Unicode|Recursion)|digest is of another|each key once", out)
        return f"status {status}: {last}" if (status == 0) == refused else "answered" if past else "refused"
    if status == 0 or (status == 1 and what == "verify"):  # numbers that disagree with the papers
        return "answered" if all(one.isprintable() or one == "\n" for one in err) else f"control characters: {err!r}"
    if status == 1 and what in ("run", "step") and re.search("^torusweep: |^a step ended", err, re.MULTILINE):
        return "refused"
    said = [line for line in err.splitlines() if line]
    if status != 2 or len(said) != 1 or not said[0].startswith("torusweep: ") or not said[0].isprintable():
        return f"status {status}, {len(said)} lines: {last}"
    return "refused"
