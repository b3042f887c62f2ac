"""Show a sweep's progress: a bar on a terminal, plain lines elsewhere, or lines of JSON for another program.

Progress goes to standard output, like all lines of steps; standard error is Snakemake's (torusweep.run.command).
A step's log has the same lines with their times, whatever standard output is.
The time left is computed from the points' estimated costs, because long points come first. Estimates err by a factor of
five, and the first points also wait for compilers. So until a third of the cost and of the points is done, the time
left is the plan's, and the line says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from torusweep.errors import BadInput
from torusweep.quantities import counted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LINE_SECONDS = 5.0
SURE = 1 / 3  # share of the cost, and of the points
REPORTS = "TORUSWEEP_REPORTS"  # in the environment: steps say how far they are in lines of JSON
REPORT_SECONDS = 0.1  # between two of them
_MARK = '{"torusweep": '  # with which such a line begins
_LOG: ContextVar[FileIO | None] = ContextVar("log", default=None)  # of this thread's step


def note(line: str) -> None:
    """Write a line with the time to the step's log, if there is one. A full disk does not stop the step."""
    file = _LOG.get()
    if file is not None:
        with contextlib.suppress(OSError):
            file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {line}\n".encode(errors="replace"))


def tell(line: str) -> None:
    """Print a line on standard output, and write it to the step's log."""
    print(line, flush=True)
    note(line)


@contextlib.contextmanager
def logged(path: Path | None, what: str) -> Iterator[None]:
    """Write messages in a `with` block, and the exception that ends it, to a step's log under the heading `what`.

    path  the log, to which lines are appended; None for no log. Raises BadInput if it cannot be written.
    """
    if path is None:
        yield
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = FileIO(path, "a")  # without a buffer, which would fail again at its end
    except OSError as error:
        raise BadInput(f"cannot write the log {path}: {error.strerror}; make its folder writable") from None
    with file:
        token = _LOG.set(file)
        try:
            note(f"{what}, process {os.getpid()} on {socket.gethostname()}")
            yield
            note("ended")
        except BadInput as refusal:
            note(f"refused: {' '.join(str(refusal).split())}")  # whole: its end is the remedy
            raise
        except BaseException:
            note(traceback.format_exc().rstrip())
            raise
        finally:
            _LOG.reset(token)


class HowFar(NamedTuple):
    """A step's report of its progress.

    title       title of the bar
    done, total points
    left        time left in words, or ""
    """

    title: str
    done: int
    total: int
    left: str


def how_far(line: str) -> HowFar | None:
    """Return the progress report that a step's line contains; None for any other line."""
    if not line.startswith(_MARK):
        return None
    try:
        return HowFar(**json.loads(line)["torusweep"])
    except (ValueError, TypeError):
        return None


def time_left(cost: float, paid: float, seconds: float, finished: float, workers: int = 1) -> str:
    """Return the time left in words; '' if nothing is left, or if more time has passed than planned.

    cost, paid  estimated seconds on one core: of all points, and of the finished points
    seconds     time that has passed
    finished    share of the points that are finished
    workers     number of workers, by which the plan divides the time
    """
    if paid >= cost:
        return ""
    planned = paid < SURE * cost or finished < SURE
    if planned and seconds > cost / workers:
        return ""
    left = (cost - paid) / workers if planned else (cost - paid) * seconds / paid
    words = (
        "less than a second" if left < 0.5 else f"about {left:.0f} s" if left < 100 else f"about {left / 60:.0f} min"
    )
    return f"{words} left{' by the plan' * planned}"


class ProgressLines:
    """A display of progress as lines: at most one every five seconds, and one at the end."""

    def __init__(
        self, title: str, total: int, done: int, cost: float, workers: int, say: Callable[[str], None] = tell
    ) -> None:
        self._title, self._total, self._done, self._cost, self._workers = title, total, done, cost, workers
        self._before, self._paid, self.say = done, 0.0, say
        self._start = self._last = time.monotonic()

    def advance(self, points: int, cost: float) -> None:
        self._done += points
        self._paid += cost
        now = time.monotonic()
        if self._done == self._total or now - self._last >= LINE_SECONDS:
            self._last = now
            taken = max(now - self._start, 1e-9)
            finished = (self._done - self._before) / (self._total - self._before)
            left = time_left(self._cost, self._paid, taken, finished, self._workers) if self._done < self._total else ""
            pace = f"{(self._done - self._before) / taken:.3g} points/s"
            self.say(
                f"{self._title}: {self._done:,} of {counted(self._total, 'point')},"
                f" {', '.join(filter(None, (pace, left)))}"
            )


class Reports:
    """A display of progress as lines of JSON: one at the beginning, at most ten per second, and one at the end."""

    def __init__(self, title: str, total: int, done: int, cost: float, workers: int) -> None:
        self._title, self._total, self._done, self._cost, self._workers = title, total, done, cost, workers
        self._before, self._paid = done, 0.0
        self._start = self._last = time.monotonic()
        self._report(time_left(cost, 0.0, 0.0, 0.0, workers))

    def advance(self, points: int, cost: float) -> None:
        self._done += points
        self._paid += cost
        now = time.monotonic()
        if self._done == self._total or now - self._last >= REPORT_SECONDS:
            self._last = now
            finished = (self._done - self._before) / max(self._total - self._before, 1)
            self._report(time_left(self._cost, self._paid, now - self._start, finished, self._workers))

    def say(self, message: str) -> None:
        print(message, flush=True)

    def _report(self, left: str) -> None:
        self.say(json.dumps({"torusweep": HowFar(self._title, self._done, self._total, left)._asdict()}))


class Bar:
    """A display of progress as a bar on a terminal."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar, self._task = bar, task

    def advance(self, points: int, cost: float) -> None:
        task = self._bar.tasks[self._task]
        done = task.fields["done"] + points
        finished = (done - task.fields["before"]) / max(task.fields["points"] - task.fields["before"], 1)
        paid = task.completed + cost
        left = time_left(task.total or 0.0, paid, task.elapsed or 0.0, finished, task.fields["workers"])
        self._bar.update(self._task, advance=cost, done=done, left=left)

    def say(self, message: str) -> None:
        self._bar.console.print(message, markup=False, highlight=False)


class Noted:
    """A display of progress that also writes lines to the step's log."""

    def __init__(self, shown: Reports | Bar, lines: ProgressLines) -> None:
        self._both = (shown, lines)

    def advance(self, points: int, cost: float) -> None:
        for one in self._both:
            one.advance(points, cost)

    def say(self, message: str) -> None:
        for one in self._both:
            one.say(message)


@contextlib.contextmanager
def progress(title: str, *, total: int, done: int, cost: float, workers: int = 1) -> Iterator[ProgressLines | Noted]:
    """Show that `done` of `total` points are finished; each `advance` then adds a number of points and their cost."""
    if os.environ.get(REPORTS):
        lines = ProgressLines(title, total, done, cost, workers, note)
        yield Noted(Reports(title, total, done, cost, workers), lines)
        return
    if not sys.stdout.isatty():
        yield ProgressLines(title, total, done, cost, workers)
        return
    from rich.progress import BarColumn, Progress, TextColumn

    counts = TextColumn("{task.fields[done]:,} of " + counted(total, "point"))
    with Progress(TextColumn("{task.description}"), BarColumn(), counts, TextColumn("{task.fields[left]}")) as bar:
        known: dict[str, Any] = {"done": done, "before": done, "points": total, "workers": workers}
        task = bar.add_task(title, total=cost, left=time_left(cost, 0.0, 0.0, 0.0, workers), **known)
        yield Noted(Bar(bar, task), ProgressLines(title, total, done, cost, workers, note))
