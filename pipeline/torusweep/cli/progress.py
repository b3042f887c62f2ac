"""Progress of long computations on standard error: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

LINE_SECONDS = 5.0  # between lines

Report = Callable[[float], None]


@contextmanager
def count_progress(things: str, total: int | None = None) -> Iterator[Report]:
    """A function to call with the number of things done so far; total: how many there are at most, if known."""
    if sys.stderr.isatty():
        with _bar(things, MofNCompleteColumn(), total) as report:
            yield report
    else:
        yield _lines(lambda done: f"{things}: {int(done):,}" + ("" if total is None else f" of {total:,}"))


@contextmanager
def share_progress(work: str, total: float = 1.0) -> Iterator[Report]:
    """A function to call with the amount of work done so far, 0 … total; shown in per cent."""
    if sys.stderr.isatty():
        with _bar(work, TaskProgressColumn(), total) as report:
            yield report
    else:
        yield _lines(lambda done: f"{work}: {100 * done / total:.0f} %")


@contextmanager
def wait_notice(work: str) -> Iterator[None]:
    """For work of unknown length: a spinner on a terminal, elsewhere one line if the work takes long."""
    if sys.stderr.isatty():
        with Console(stderr=True).status(work):
            yield
        return
    timer = Timer(LINE_SECONDS, lambda: print(work, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _bar(label: str, numbers: MofNCompleteColumn | TaskProgressColumn, total: float | None) -> Iterator[Report]:
    columns = (TextColumn(label), BarColumn(), numbers, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)


def _lines(text: Callable[[float], str]) -> Report:
    last = time.monotonic()

    def report(done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_SECONDS:
            last = now
            print(text(done), file=sys.stderr, flush=True)

    return report


class _OnTerminal:
    """What a question shows while it is computed (torusweep.questions.question.Progress)."""

    share = staticmethod(share_progress)
    count = staticmethod(count_progress)
    wait = staticmethod(wait_notice)

    @staticmethod
    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)


ON_TERMINAL = _OnTerminal()
