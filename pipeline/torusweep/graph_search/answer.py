"""The answer to the question `search`."""

from __future__ import annotations

from rich.console import Console

from torusweep.graph_search.columns import SEARCH
from torusweep.graph_search.text import print_search
from torusweep.questions.answer import Record


class FoundGraph(Record):
    """The best graph of a search, beside the bounds: a row of the table `search`; `topology` spells it."""

    columns = SEARCH
    main = (
        *("nodes", "degree", "symmetry", "grid", "max_wire", "diameter", "diameter_bound", "mean_distance"),
        *("mean_distance_bound", "objective", "gap", "optimal", "moves", "chains", "seed"),
    )

    def print(self, console: Console, computed_by: str) -> None:
        print_search(console, self.record)
