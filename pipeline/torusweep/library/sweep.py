"""A sweep, read from a file or a dictionary, which can be planned and run.

A run shows its progress as a bar in a notebook or on a terminal, and as lines elsewhere.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from torusweep.errors import BadInput, RunFailed, one_line, printable
from torusweep.library.results import Results
from torusweep.quantities import counted
from torusweep.run import command
from torusweep.run.progress import LINE_SECONDS, HowFar, how_far
from torusweep.stages import STAGES
from torusweep.sweeps import configuration
from torusweep.sweeps import forecast as forecast_text
from torusweep.sweeps.forecast import Forecast
from torusweep.sweeps.requested_points import forecast_of, requested_points

MOST_WORDS = 3  # lines of a run that an exception repeats


class Silent:
    """A display of a run that shows nothing. `words` collects the run's last lines, without progress reports."""

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
        """Do nothing, as there is nothing to close."""

    def show(self, far: HowFar) -> None:
        """Show how far a step is."""

    def say(self, line: str) -> None:
        """Show a line of the run."""


class StepLines(Silent):
    """A display of a run as lines on standard error: per step one every five seconds at most, and one at its end."""

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
    """A display of a run on a terminal: a bar for each step, on standard error."""

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
    """A display of a run in a notebook: a bar for each step below the cell, in HTML that needs no widgets."""

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
    """Return a step's progress in words."""
    left = f", {far.left}" if far.left else ""
    return f"{far.title}: {far.done:,} of {counted(far.total, 'point')}{left}"


def shown_here() -> Silent:
    """Return the display of a run that suits this process."""
    if in_notebook():
        return Notebook()
    return Terminal() if sys.stderr.isatty() else StepLines()


def in_notebook() -> bool:
    """Return whether this process is a Jupyter kernel. IPython in a terminal is not."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


Backend = Literal["auto", "numpy", "numba", "cupy"]


@dataclass(frozen=True, repr=False)
class SweepPlan:
    """The forecast of a sweep. Times are right within a factor of about five.

    sweep      name of the sweep
    forecast   points, seconds, workers, bytes of memory and of disk, the most expensive points
    """

    sweep: str
    forecast: Forecast

    @property
    def record(self) -> dict[str, Any]:
        """The forecast as `torusweep plan --json` prints it: times in seconds, sizes in bytes."""
        return forecast_text.record(self.sweep, self.forecast)

    @property
    def points(self) -> int:
        return self.forecast.points

    @property
    def seconds(self) -> float:
        return self.forecast.seconds

    def __repr__(self) -> str:
        return forecast_text.text(self.sweep, self.forecast)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


class Sweep:
    """A sweep, whose configuration was read and checked.

    >>> import torusweep as ts
    >>> sweep = ts.sweep({"sweep": "rings", "topologies": [{"family": "ring", "k": {"from": 3, "to": 10}}]})
    >>> sweep
    sweep 'rings': 1 in topologies; plan() says what it takes, run() computes it
    >>> sweep.plan().points
    8
    >>> ts.sweep({"sweep": "rings", "topologies": ["rimg(k=8)"]}).plan()
    Traceback (most recent call last):
    torusweep.errors.BadInput: the sweep: topologies[0]: unknown topology 'rimg' (did you mean 'ring'?); \
'torusweep topologies' lists all

    name           name of the sweep, and of its folder of results
    path           path of the configuration's file; None for a dictionary
    configuration  what the sweep requests (docs/config.md)
    """

    def __init__(self, given: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        """Read a configuration from a YAML file's path or a dictionary. Raises BadInput if it is invalid."""
        self.path: Path | None = None
        if isinstance(given, Mapping):
            self.configuration = configuration.of_mapping(given)
        elif isinstance(given, str | os.PathLike):
            if isinstance(given, str) and ("\n" in given or ": " in given):
                raise BadInput(
                    f"expected the path of a configuration, or a dict, got the text '{one_line(given, 40)}';"
                    " write it to a file"
                )
            self.path = Path(given)
            self.configuration = configuration.load(self.path)
        else:
            raise BadInput(f"expected the path of a configuration, or a dict, got {type(given).__name__}")
        self.name: str = self.configuration.sweep

    def plan(self, *, workers: int | None = None) -> SweepPlan:
        """Estimate the time, memory and disk of the sweep. Nothing is computed or written.

        workers  number of workers; by default as configured
        Raises BadInput for a network that does not exist, or a request that does not suit it; Refused beyond limits.
        """
        return SweepPlan(self.name, forecast_of(self.configuration, workers))

    def run(
        self,
        results: str | os.PathLike[str] = "results",
        *,
        workers: int | None = None,
        backend: Backend | None = None,
        symmetry: bool | None = None,
        progress: bool = True,
    ) -> Results:
        """Compute the sweep like `torusweep run`: tables, verification, page. Finished points are not computed again.

        results   folder that holds the sweeps' folders
        workers, backend, symmetry  values that replace the configuration's; 0 workers compute in one process
        progress  whether to show a bar and the run's lines

        A configuration from a dictionary is written to RESULTS/NAME/sweep.yaml, which `torusweep run` can continue.
        Ctrl-C, or a notebook's stop button, saves the running batches and raises KeyboardInterrupt; another call
        continues from there. A run outside the main thread cannot be interrupted, since only that thread gets signals.
        Raises BadInput and Refused before anything is computed, RunFailed if a step or a point failed.
        """
        folder = Path(results)
        if self.path is None:
            requested_points(self.configuration)  # what is wrong is said before anything is written
            path = command.write_configuration(self.configuration, folder)
        else:
            path = self.path
        overrides = {
            "backend": backend,
            "symmetry": None if symmetry is None else "on" if symmetry else "off",
            "workers": workers,
        }
        with shown_here() if progress else Silent() as shown:
            status, made = command.run(
                path,
                folder,
                overrides={name: value for name, value in overrides.items() if value is not None},
                options=(),
                listener=shown,
            )
        again = f"torusweep run {shlex.quote(str(path))} --results {shlex.quote(str(folder))}"
        if status == 128 + signal.SIGINT:
            raise KeyboardInterrupt(
                f"stopped; what is finished is kept, run() goes on from here, and so does '{again}'"
            )
        if status != 0:
            words = "\n".join(printable(line) for line in shown.words)
            raise RunFailed(f"{words}\nwhat is finished is in {made}; run() goes on from here, and so does '{again}'")
        return Results(made)

    def __repr__(self) -> str:
        return f"sweep '{self.name}': {self._size()}; plan() says what it takes, run() computes it"

    def _size(self) -> str:
        """Return how many entries each section of the configuration has, in words."""
        asked = self.configuration
        sizes = {"topologies": len(asked.topologies), "papers": len(asked.papers)}
        sizes |= {name: len(asked.entries(name)) for name in STAGES}
        return ", ".join(f"{size} in {section}" for section, size in sizes.items() if size)
