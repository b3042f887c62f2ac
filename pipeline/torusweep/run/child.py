"""Run Snakemake as a child process, pass signals on to it, and read its output."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import IO

from torusweep.run import workflow
from torusweep.run.place import environment
from torusweep.run.progress import REPORTS
from torusweep.tables import provenance

Listener = Callable[[str], None]  # to a line of the run

LISTEN_SECONDS = 0.1  # between two looks whether Snakemake has ended
AGAIN_SECONDS = 1.0  # within which two signals are one
STAYS_SECONDS = 10.0  # that Snakemake may take to end when it was told to
SAVE_SECONDS = 25.0  # that a step which computes has besides: it gives up its batches after 20 s (torusweep.run.driver)
STDERR = 2  # the file, whatever sys.stderr is where we are called
# Snakemake's lines about a failed job: the step has said what is wrong
CHATTER = (
    "RuleException:",
    "CalledProcessError in file",
    "StepFailed in file",
    f'  File "{workflow.SNAKEFILE}"',
    f'  File "{workflow.__file__}"',
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
    "Will exit after finishing",
)

# how sbatch's words reach us: through Dask's workers (torusweep.run.slurm), Snakemake's executor, or as they are
REFUSED = re.compile(r"(?:sbatch refused: |sbatch failed\b.*message was '|(?=sbatch: error: ))(?:sbatch: error: )?(.+)")
ELSEWHERE = re.compile(r"(--profile|--executor|-e)\b")  # Snakemake's options by which jobs may run on a cluster


def speak(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)


class Snakemake:
    """Snakemake as a child in its own process group, so that a terminal's Ctrl-C reaches it once, through this process.

    Outside the main thread, signals cannot be handled and keep their usual effect.
    """

    def __init__(
        self, command: Sequence[str], computing: Path, place: Path, *, essential: bool, listener: Listener | None = None
    ) -> None:
        """Prepare to run Snakemake; `wait` starts it.

        computing  path of the lock that a computing step holds
        place      the folder in which Snakemake runs (torusweep.run.place)
        essential  whether to drop Snakemake's less important lines
        listener   called in the waiting thread with each line, including the steps' progress reports
        """
        self._command, self._computing, self._place, self._essential = command, computing, place, essential
        self._elsewhere = any(map(ELSEWHERE.match, command))
        self._listener, self._say = listener, listener or speak
        self._signals: list[int] = []
        self._refusals: list[str] = []  # Slurm's words
        self._since = 0.0

    def wait(self) -> int:
        """Run Snakemake to its end. Return its exit status, or 128 + the number of the signal that stopped it."""
        handled = [signal.SIGINT, signal.SIGTERM] if threading.current_thread() is threading.main_thread() else []
        before = {number: signal.signal(number, self._pass_on) for number in handled}
        try:
            # steps talk on standard output, which stays a terminal where it is one; ours is for the summary
            self._process = subprocess.Popen(
                self._command,
                process_group=0,
                stdout=subprocess.PIPE if self._listener else STDERR,
                stderr=subprocess.PIPE if self._essential or self._listener or self._elsewhere else None,
                cwd=self._place,
                env=environment() | ({REPORTS: "1"} if self._listener else {}),
            )
            status = self._listen(self._listener) if self._listener else self._wait_and_speak()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if self._signals:
            self._say("stopped; the same command goes on from here")
            return 128 + self._signals[0]
        if status < 0:
            self._say(
                f"Snakemake was killed (signal {-status}); what is finished is kept,"
                " and the same command goes on from here"
            )
            return 128 - status
        if status > 0 and self._refusals:
            words = "; ".join(dict.fromkeys(self._refusals))
            self._say(f"Slurm refused: {words}; what is finished is kept, and the same command goes on from here")
        elif status > 0 and self._essential:
            self._say(
                "a step ended with the error above; what is finished is kept, and the same command goes on from here"
            )
        return status

    def _wait_and_speak(self) -> int:
        """Wait for Snakemake, pass its essential lines on to standard error, and return its exit status."""
        speaker = threading.Thread(target=self._say_essential, daemon=True)
        speaker.start()
        status = self._process.wait()
        if status < 0:
            self._stop_orphans()
        speaker.join(timeout=1.0)
        if self._process.stderr is not None and not speaker.is_alive():
            self._process.stderr.close()
        return status

    def _listen(self, listener: Listener) -> int:
        """Wait for Snakemake; return its exit status. The listener gets lines of steps, and essential ones."""
        lines: SimpleQueue[tuple[IO[bytes], str]] = SimpleQueue()
        streams = [stream for stream in (self._process.stdout, self._process.stderr) if stream is not None]

        def read(stream: IO[bytes]) -> None:
            for line in stream:
                lines.put((stream, line.decode(errors="replace")))

        def hear(seconds: float) -> None:
            with contextlib.suppress(Empty):
                while True:
                    stream, line = lines.get(timeout=seconds)
                    if stream is self._process.stdout or self._is_essential(line):
                        listener(line.rstrip())

        readers = [threading.Thread(target=read, args=(stream,), daemon=True) for stream in streams]
        for reader in readers:
            reader.start()
        while self._process.poll() is None:
            hear(LISTEN_SECONDS)
        status = self._process.wait()
        if status < 0:
            self._stop_orphans()
        # a step that was stopped may outlive Snakemake and hold the folder; its workers hold the other side open, too
        deadline = time.monotonic() + (STAYS_SECONDS if self._signals else 1.0)
        for stream, reader in zip(streams, readers):
            reader.join(timeout=max(0.0, deadline - time.monotonic()))
            if not reader.is_alive():
                stream.close()
        hear(0.0)
        return status

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        """Pass on a signal. After the first, no step starts, and the running step saves its work; a second ends all.

        A signal within a second of the first is ignored, because make and timeout send one to their whole group, and
        also to their child.
        """
        now = time.monotonic()
        if self._signals and now - self._since < AGAIN_SECONDS:
            return
        self._since = now
        self._signals.append(number)
        holder = provenance.holder(self._computing)
        if holder and holder.get("host") == socket.gethostname():
            self._tell(os.kill, self._process.pid, signal.SIGTERM)
            self._tell(os.kill, holder["pid"], number)
        else:
            self._tell(os.killpg, self._process.pid, signal.SIGTERM)
        threading.Thread(target=self._insist, args=(len(self._signals) > 1,), daemon=True).start()

    @staticmethod
    def _tell(kill: Callable[[int, int], None], pid: int, number: int) -> None:
        """Send a signal to a process, or to a process group, that may have ended already."""
        with contextlib.suppress(ProcessLookupError):
            kill(pid, number)

    def _stop_orphans(self) -> None:
        """Stop the steps that outlive a killed Snakemake, and wait for them. A computing step saves its batches."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
            while True:  # until the group is empty
                os.killpg(self._process.pid, 0)
                time.sleep(0.1)

    def _insist(self, at_once: bool) -> None:
        """Kill the processes that ignore a signal to stop. A computing step gets more time, unless `at_once`."""
        computing = not at_once and provenance.holder(self._computing) is not None
        deadline = time.monotonic() + STAYS_SECONDS + SAVE_SECONDS * computing
        while time.monotonic() < deadline:
            time.sleep(0.5)
            if self._process.poll() is not None:
                return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _say_essential(self) -> None:
        """Print Snakemake's output on standard error; if `essential`, without CHATTER or lines after a signal."""
        for line in self._process.stderr or ():
            if self._is_essential(line.decode(errors="replace")):
                sys.stderr.buffer.write(line)
                sys.stderr.flush()

    def _is_essential(self, line: str) -> bool:
        refused = REFUSED.search(line)
        if refused:
            self._refusals.append(refused[1].strip().removesuffix("'."))
        return not self._essential or (not self._signals and not line.startswith(CHATTER))
