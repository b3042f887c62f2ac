"""How far a sweep is: a bar on a terminal, plain lines elsewhere.

On standard output, as all that the steps say: standard error is where Snakemake talks (pipeline.workflow).
The time left is reckoned from the points' estimated cost, because long ones come first.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LINE_SECONDS = 5.0


class Lines:
    """A line at the end, and at most every five seconds before."""

    def __init__(self, title: str, total: int, done: int, cost: float) -> None:
        self._title, self._total, self._done, self._cost = title, total, done, cost
        self._before, self._paid = done, 0.0
        self._start = self._last = time.monotonic()

    def advance(self, points: int, cost: float) -> None:
        self._done += points
        self._paid += cost
        now = time.monotonic()
        if self._done == self._total or now - self._last >= LINE_SECONDS:
            self._last = now
            taken = max(now - self._start, 1e-9)
            left = f", about {(self._cost - self._paid) * taken / self._paid:.0f} s left" if self._done < self._total else ""
            self.say(f"{self._title}: {self._done:,} of {self._total:,} points, {(self._done - self._before) / taken:.3g} points/s{left}")

    def say(self, message: str) -> None:
        print(message, flush=True)


class Bar:
    """The same on a terminal."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar, self._task = bar, task

    def advance(self, points: int, cost: float) -> None:
        done = self._bar.tasks[self._task].fields["done"] + points
        self._bar.update(self._task, advance=cost, done=done)

    def say(self, message: str) -> None:
        self._bar.console.print(message, markup=False, highlight=False)


@contextlib.contextmanager
def progress(title: str, *, total: int, done: int, cost: float) -> Iterator[Lines | Bar]:
    """Show that `done` of `total` points are finished, and what `advance` adds of points and of the `cost` that is left."""
    if not sys.stdout.isatty():
        yield Lines(title, total, done, cost)
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    counts = TextColumn("{task.fields[done]:,} of {task.fields[points]:,} points")
    with Progress(TextColumn("{task.description}"), BarColumn(), counts, TimeRemainingColumn()) as bar:
        yield Bar(bar, bar.add_task(title, total=cost, done=done, points=total))
