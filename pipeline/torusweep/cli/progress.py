"""How far long work is, on standard error: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LINE_SECONDS = 5.0  # between plain lines


@contextmanager
def counting(number: int | None, things: str = "packets") -> Iterator[Callable[[int], None]]:
    """What to tell how many packets, or other things, are done, of that many at most (None: not known)."""
    if not sys.stderr.isatty():
        yield _lines(lambda done: f"{things}: {done:,}" + ("" if number is None else f" of {number:,}"))
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(things), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=number)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def shared(things: str) -> Iterator[Callable[[float], None]]:
    """What to tell which share of the work is done, 0 … 1."""
    if not sys.stderr.isatty():
        yield _lines(lambda share: f"{things}: {100 * share:.0f} %")
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn(things), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def waiting(for_what: str) -> Iterator[None]:
    """Of work that cannot say how far it is: that it goes on, on a terminal, and one line elsewhere if it takes long."""
    from rich.console import Console

    if sys.stderr.isatty():
        with Console(stderr=True).status(for_what):
            yield
        return
    from threading import Timer

    late = Timer(LINE_SECONDS, lambda: print(for_what, file=sys.stderr, flush=True))
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


def _lines(said: Callable[[float], str]) -> Callable[[float], None]:
    last = time.monotonic()

    def tell(done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_SECONDS:
            last = now
            print(said(done), file=sys.stderr, flush=True)

    return tell
