"""How far a sample or a simulation is, on standard error: a bar on a terminal, nothing elsewhere, where the result follows soon."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counted(number: int | None, things: str = "packets") -> Iterator[Callable[[int], None] | None]:
    """What to tell how many packets, or other things, are done, of that many at most (None: not known); None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(things), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=number)
        yield lambda done: bar.update(task, completed=done)
