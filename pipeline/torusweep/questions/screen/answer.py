"""The answer to the question `screen`."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from torusweep.quantities import counted
from torusweep.questions.answer import Records
from torusweep.questions.console import print_note
from torusweep.questions.screen.columns import SCREEN


class Screened(Records):
    """Networks, then the graphs of design spaces: rows of the table `screen`."""

    columns = SCREEN
    main = (
        *("topology", "class_size", "nodes", "degree", "diameter", "mean_distance", "saturation_load"),
        *("diameter_bound", "mean_distance_bound"),
    )

    def heading(self) -> str:
        return counted(len(self), "graph")

    def print(self, console: Console, computed_by: str) -> None:
        console.print(Text(repr(self)), soft_wrap=True)
        print_note(console, f"computed by {computed_by}")
