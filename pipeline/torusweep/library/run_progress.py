"""What a run says, shown where somebody reads it: a bar in a notebook or on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from html import escape
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from torusweep.counts import counted
from torusweep.run.progress import LINE_SECONDS, HowFar, how_far

MOST_WORDS = 3  # lines of a run that an exception repeats


class Silent:
    """Shows nothing. `words` are the last lines that the run said, but for its progress."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def __call__(self, line: str) -> None:
        far = how_far(line)
        if far is not None:
            self.show(far)
        elif line.strip():
            self.words = [*self.words, line.strip()][-MOST_WORDS:]
            self.say(line)

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Nothing to close."""

    def show(self, far: HowFar) -> None:
        """Show how far a step is."""

    def say(self, line: str) -> None:
        """Show a line."""


class StepLines(Silent):
    """A line for each step every five seconds, and at its end, on standard error."""

    def __init__(self) -> None:
        super().__init__()
        self._last = time.monotonic()

    def show(self, far: HowFar) -> None:
        now = time.monotonic()
        if far.done == far.total or now - self._last >= LINE_SECONDS:
            self._last = now
            self.say(text(far))

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class Terminal(Silent):
    """A bar for each step on standard error, which is a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._bars = Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), console=Console(stderr=True, highlight=False)
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Terminal:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bars.stop()

    def show(self, far: HowFar) -> None:
        if far.title not in self._tasks:
            self._tasks[far.title] = self._bars.add_task(text(far), total=far.total)
        self._bars.update(self._tasks[far.title], completed=far.done, description=text(far))

    def say(self, line: str) -> None:
        self._bars.console.print(line, markup=False)


class Notebook(Silent):
    """A bar for each step below the cell: HTML, which needs no widgets."""

    def __init__(self) -> None:
        super().__init__()
        self._handles: dict[str, Any] = {}

    def show(self, far: HowFar) -> None:
        from IPython.display import HTML, display  # where there is a notebook, there is IPython

        bar = HTML(
            f'<progress value="{far.done}" max="{max(far.total, 1)}" style="width: 20em; vertical-align: middle">'
            f"</progress> {escape(text(far))}"
        )
        if far.title in self._handles:
            self._handles[far.title].update(bar)
        else:
            self._handles[far.title] = display(bar, display_id=True)

    def say(self, line: str) -> None:
        print(line)


def text(far: HowFar) -> str:
    """How far a step is, in words."""
    left = f", {far.left}" if far.left else ""
    return f"{far.title}: {far.done:,} of {counted(far.total, 'point')}{left}"


def shown_here() -> Silent:
    """What shows a run where this process runs."""
    if in_notebook():
        return Notebook()
    return Terminal() if sys.stderr.isatty() else StepLines()


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs us. IPython in a terminal has none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None
