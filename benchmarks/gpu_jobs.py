"""Jobs of gpu_check: each in a process of its own, so that a crash, a hang or an illegal address loses only itself.

A job's process writes a line of JSON for each of its rows. The ledger keeps the rows, and adds one that says how a
process ended that did not end well, or which job no longer fitted into the time.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import groupby
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
START = 2.0  # seconds that a process takes to start and end, not counted in `takes`
Tell = Callable[[str], None]


class Row(NamedTuple):
    """A line of the table.

    kind: what it is: compared, timed, tuned, fact, failed, left out. setting: what was tried. same: equal to the bit to
    `beside`, None = not compared. gpu, kernels, cpu, cores: seconds of the whole call, of its launches on the device,
    of Numba with 2 threads and with all cores. said: how it failed, or a fact.
    """

    kind: str
    kernel: str
    case: str
    setting: str = ""
    same: bool | None = None
    beside: str = ""
    gpu: float | None = None
    kernels: float | None = None
    launches: int | None = None
    cpu: float | None = None
    cores: float | None = None
    estimate: float | None = None
    said: str = ""


class Job(NamedTuple):
    """name: unique among jobs. takes: seconds that it is expected to take; it begins only if they are left. limit:
    seconds after which it is ended. by_name: other jobs start it, the ledger does not. alone: nothing else runs beside
    it, since it is timed.
    """

    name: str
    run: Callable[[], Iterable[Row]]
    takes: float = 5
    limit: float = 60
    by_name: bool = False
    alone: bool = True


def run_one(module: str, name: str) -> int:
    """In the process of a job: its rows as lines of JSON. Exit status 0, or 3 where a module is missing."""
    (job,) = (job for job in import_module(module).jobs() if job.name == name)
    try:
        for row in job.run():
            print(json.dumps(row._asdict()), flush=True)
    except ModuleNotFoundError as error:
        print(json.dumps(Row("failed", "", name, said=f"not run: no module {error.name}")._asdict()), flush=True)
        return 3
    return 0


def ledger(module: str, seconds: float, tell: Tell, only: str = "", together: int = 1) -> list[Row]:
    """The rows of the module's jobs() in their order, whose names contain `only`; `tell` receives each as a line of
    JSON at once. All of it ends within so many seconds: what no longer fits is left out, and said so.

    together: so many jobs run at the same time, but for those that run alone
    """
    end, lock = time.monotonic() + seconds, Lock()
    rows: list[Row] = []

    def add(row: Row) -> None:
        with lock:
            rows.append(row)
            tell(json.dumps(row._asdict()))

    def run(job: Job) -> None:
        left = end - time.monotonic() - START
        if left < job.takes:
            said = f"left out: it takes about {job.takes:g} s, {max(left, 0):.0f} left"
            return add(Row("left out", "", job.name, said=said))
        said = finished(module, job, min(job.limit, left), add)
        return add(Row("failed", "", job.name, said=said)) if said else None

    chosen = [job for job in import_module(module).jobs() if not job.by_name and only in job.name]
    for alone, some in groupby(chosen, lambda job: job.alone):
        with ThreadPoolExecutor(1 if alone else together) as pool:
            list(pool.map(run, some))
    return rows


def finished(module: str, job: Job, limit: float, add: Callable[[Row], None]) -> str:
    """Run a job's process, and `add` its rows as they come; how it failed, '' if it did not."""
    command = [sys.executable, "-m", "benchmarks.gpu_check", "one", module, job.name]
    # in a session of its own, so that all that it starts is ended with it
    how: dict[str, Any] = {"cwd": ROOT, "stdout": subprocess.PIPE, "start_new_session": True, "text": True}
    said, lines = "", [""]  # the last line that is no row: what a job of many parts was doing
    with tempfile.TemporaryFile() as errors, subprocess.Popen(command, stderr=errors, **how) as process:
        reader = Thread(target=read, args=(process.stdout, add, lines))
        reader.start()
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            said = f"no end within {limit:.0f} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            reader.join()
        errors.seek(0)
        whole = errors.read().decode(errors="replace").strip()
    if said or process.returncode in (0, 3):
        return f"{said}: {lines[0][:300]}" if said and lines[0] else said
    print(f"{job.name}:\n{whole}", file=sys.stderr, flush=True)
    how = f"signal {-process.returncode}" if process.returncode < 0 else f"exit status {process.returncode}"
    return ": ".join([how, *(line[:300] for line in whole.splitlines()[-1:])])


def read(lines: IO[str], add: Callable[[Row], None], last: list[str]) -> None:
    """Rows from lines of JSON; the last other line, which may lack its end, is kept in last[0]."""
    for line in lines:
        try:
            add(Row(**json.loads(line)))
        except (ValueError, TypeError):
            last[0] = line.strip() or last[0]


def failed(rows: Iterable[Row]) -> bool:
    """Whether anything differs or did not run to its end."""
    return any(row.kind == "failed" or row.same is False for row in rows)


def cells(*values: Any) -> str:
    """A line of a table in Markdown; numbers with three digits, None as nothing."""
    return f"| {' | '.join(cell(value) for value in values)} |"


def cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("|", "\\|")
