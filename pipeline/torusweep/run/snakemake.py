"""The Snakemake that `torusweep run` starts: loaded beforehand, told what to do, passed signals, and spoken for when it ends.

It is a process of its own, in a process group of its own, so that a terminal's Ctrl-C reaches it through us alone, once.
It takes a second to load, longer than all that is looked at before it runs: so it is started first, and this module imports little.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType

import psutil

from torusweep.run.asked import About
from torusweep.tables import lock

CHATTER = (
    "RuleException:",  # the step has said what is wrong, and `run` that one did
    "CalledProcessError in file",
    "Command '",
    "Exiting because",
    "WorkflowError:\n",
    "At least one job",
    "Assuming ",
    "Building DAG",
    "Using shell",
    "Select jobs",
    "Execute ",
    "Complete log",
    "Elapsed time",
    "Warning: the following output files",
)
STAYS_SECONDS, A_WHILE = 10.0, 1.0  # that Snakemake may take to end when nobody computes any more; between looks
STDERR = 2  # the file, whatever sys.stderr is where we are called
INTERRUPTED = (
    "torusweep: the process of the steps ended",
    " ",
    "Traceback",
    "KeyboardInterrupt",
    "During handling",
    "Exception ignored",
    "\n",
)


class Snakemake:
    """Snakemake, loading from `with` on, and gone where it was not told to run by its end.

    essential  drop its chatter
    """

    def __init__(self, *, essential: bool) -> None:
        self._essential = essential
        self._listener: threading.Thread | None = None

    def __enter__(self) -> Snakemake:
        gate, ours = os.pipe()
        self._gate = os.fdopen(ours, "w", encoding="ascii")
        # the steps talk on standard output, which stays a terminal where it is one; what they say goes where progress belongs
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "torusweep.run.snakemake_start", "snakemake", str(gate)],
            process_group=0,
            pass_fds=[gate],
            stdout=STDERR,
            stderr=subprocess.PIPE if self._essential else None,
        )
        os.close(gate)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gate.close()
        self._process.kill()
        self._process.wait()
        if self._listener is None and self._process.stderr is not None:
            self._process.stderr.close()

    def unlock(self, arguments: Sequence[str]) -> None:
        """Remove the lock that a killed Snakemake left in the working directory, where none is alive there."""
        locks = Path(".snakemake/locks")
        if not locks.is_dir() or not any(locks.iterdir()):
            return
        here = Path.cwd()
        for process in psutil.process_iter(["cmdline", "cwd"]):
            words = process.info["cmdline"] or []
            if (
                process.pid != self._process.pid
                and process.info["cwd"] == str(here)
                and any(Path(word).name == "snakemake" for word in words)
            ):
                return
        say(f"{here / '.snakemake'} is locked, and no Snakemake runs there: unlocked")
        command = [sys.executable, "-P", "-m", "snakemake", *arguments, "--unlock"]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def group(self) -> int:
        """Its process group, in which its steps are."""
        return self._process.pid

    def run(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        about: About,
        computing: Path,
        meanwhile: Callable[[], None],
    ) -> int:
        """Let it run, and pass Ctrl-C and SIGTERM on to the step that computes, which then finishes what it began; the exit status.

        arguments    its command line
        environment  what its steps find in theirs, besides ours
        about        its configuration
        computing    the lock that the step holds
        meanwhile    what to do when it runs
        """
        asked_to_stop: list[int] = []

        def stop(number: int, _frame: FrameType | None) -> None:
            if not asked_to_stop:
                threading.Thread(target=self._insist, args=(computing,), daemon=True).start()
            asked_to_stop.append(number)
            self._pass_on(number, computing)

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with contextlib.suppress(BrokenPipeError), self._gate:  # it could not be loaded, and has said why
                json.dump([arguments, environment, about._asdict()], self._gate)
            self._listener = threading.Thread(
                target=_essential, args=(self._process.stderr or (), asked_to_stop), daemon=True
            )
            self._listener.start()
            meanwhile()
            status = self._process.wait()
            self._listener.join(timeout=1.0)  # not longer: a step that outlives Snakemake holds the pipe open
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if asked_to_stop:
            return 128 + asked_to_stop[0]
        if status < 0:
            say(
                f"Snakemake was killed (signal {-status}); what is finished is kept, and the same command goes on from here"
            )
            return 128 - status
        if status > 0 and self._essential:
            say("a step ended with the error above; what is finished is kept, and the same command goes on from here")
        return status

    def _insist(self, computing: Path) -> None:
        """Kill it where it stays though it was asked to stop, and nobody computes."""
        idle = 0.0
        while idle <= STAYS_SECONDS:
            time.sleep(A_WHILE)
            if self._process.poll() is not None:
                return
            idle = idle + A_WHILE if lock.holder(computing) is None else 0.0
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.group, signal.SIGKILL)

    def _pass_on(self, number: int, computing: Path) -> None:
        """To the step that holds the results, which saves what it has; to all of Snakemake's group where none does."""
        holder = lock.holder(computing)
        if holder and holder.get("host") == socket.gethostname():
            os.kill(holder["pid"], number)
        else:
            os.killpg(self._process.pid, number)


def say(line: str) -> None:
    """A line on standard error."""
    print(line, file=sys.stderr, flush=True)


def _essential(lines: Iterable[bytes], asked_to_stop: list[int]) -> None:
    """Pass on what Snakemake says, but for its chatter, and for how it takes being interrupted."""
    for line in lines:
        if not line.decode(errors="replace").startswith((*CHATTER, *INTERRUPTED) if asked_to_stop else CHATTER):
            sys.stderr.buffer.write(line)
            sys.stderr.flush()
