"""How far a sweep is: a bar on a terminal, plain lines elsewhere.

On standard output, as all that the steps say: standard error is where Snakemake talks (pipeline.workflow).
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

LINE_SECONDS = 5.0


class Lines:
    """A line at the start, at the end, and at most every five seconds between."""

    def __init__(self, title: str, total: int, done: int) -> None:
        self._title, self._total, self._done = title, total, done
        self._before, self._start, self._last = done, time.monotonic(), time.monotonic()

    def advance(self, points: int) -> None:
        self._done += points
        now = time.monotonic()
        if self._done == self._total or now - self._last >= LINE_SECONDS:
            self._last = now
            rate = (self._done - self._before) / max(now - self._start, 1e-9)
            left = f", about {(self._total - self._done) / rate:.0f} s left" if rate and self._done < self._total else ""
            self.say(f"{self._title}: {self._done:,} of {self._total:,} points, {rate:.3g} points/s{left}")

    def say(self, message: str) -> None:
        print(message, flush=True)


class Bar:
    """The same on a terminal."""

    def __init__(self, bar: object, task: object) -> None:
        self._bar, self._task = bar, task

    def advance(self, points: int) -> None:
        self._bar.advance(self._task, points)  # type: ignore[attr-defined]

    def say(self, message: str) -> None:
        self._bar.console.print(message, markup=False, highlight=False)  # type: ignore[attr-defined]


@contextlib.contextmanager
def progress(title: str, *, total: int, done: int) -> Iterator[Lines | Bar]:
    """Show that `done` of `total` points are finished, and what `advance` adds."""
    if not sys.stdout.isatty():
        yield Lines(title, total, done)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("points"), TimeRemainingColumn())
    with Progress(*columns) as bar:
        yield Bar(bar, bar.add_task(title, total=total, completed=done))
