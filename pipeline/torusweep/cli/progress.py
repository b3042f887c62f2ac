"""Show a question's progress on standard error: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock, Timer

from rich import progress as rich
from rich.console import Console

from torusweep.questions.how import Report

LINE_SECONDS = 5.0  # between lines
BAR_COLUMNS = 10  # of a bar, so that most lines fit into 40 columns
Line = Callable[[float], str]
QUIET_SECONDS = 1.0  # after which what has been found is shown, though more is to come


def count(things: str, total: int | None = None) -> AbstractContextManager[Report]:
    """Yield a function to call with the number of things done so far, of `total` (None if unknown)."""
    of_all = "" if total is None else f" of {total:,}"
    return _shown(things, rich.MofNCompleteColumn(), total, lambda done: f"{things}: {int(done):,}{of_all}")


def share(work: str) -> AbstractContextManager[Report]:
    """Yield a function to call with the share of work done so far, 0 … 1, which is shown in per cent."""
    return _shown(work, rich.TaskProgressColumn(), 1.0, lambda done: f"{work}: {100 * done:.0f} %")


@contextmanager
def wait(work: str) -> Iterator[None]:
    """Show that work of unknown length runs: a spinner on a terminal, elsewhere one line if the work takes long."""
    if sys.stderr.isatty():
        with Console(stderr=True).status(work):
            yield
        return
    timer = Timer(LINE_SECONDS, say, [work])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def found(things: str, total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function to call with a text on each thing found. If the work is slow, the texts and a bar are shown."""
    waiting: list[str] | None = []
    number, lock = 0, Lock()

    def show() -> None:
        nonlocal waiting
        with lock:
            for line in waiting or ():
                say(line)
            waiting = None

    timer = Timer(QUIET_SECONDS, show)
    timer.daemon = True
    timer.start()
    try:
        with count(things, total) if sys.stderr.isatty() else nullcontext() as report:

            def show_or_keep(line: str) -> None:
                nonlocal number
                number += 1
                with lock:
                    if waiting is None:
                        say(line)
                    else:
                        waiting.append(line)
                if report is not None:
                    report(number)

            yield show_or_keep
    finally:
        timer.cancel()


def say(line: str) -> None:
    """Show a line that the user should know before long work begins."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def _shown(work: str, numbers: rich.ProgressColumn, total: float | None, line: Line) -> Iterator[Report]:
    """Show progress numbers beside a bar on a terminal, or in lines of text elsewhere."""
    if not sys.stderr.isatty():
        yield _lines(line)
        return
    # a terminal that becomes narrower than a line breaks it in two, of which only the second is drawn anew
    columns = (rich.TextColumn(work), rich.BarColumn(bar_width=BAR_COLUMNS), numbers, rich.TimeRemainingColumn())
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)


def _lines(line: Line) -> Report:
    last = time.monotonic()

    def report(done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_SECONDS:
            last = now
            say(line(done))

    return report
