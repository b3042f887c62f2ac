"""The distribution of measures after failures as text: a table for each number of failures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console

from torusweep.questions.console import number_table, print_heading, print_note, print_wide
from torusweep.stages.availability.request import AvailabilityRequest

HEADINGS = ("measure", "intact", "mean", "95 % interval", "5 %", "median", "95 %", "worst", "of draws", "unit")
NOTE = (
    "quantiles and mean are over the draws after which all surviving terminals reach each other, but for connected,"
    " largest_component and deadlock_free, which are over all draws"
)


def print_availability(console: Console, groups: Iterable[tuple[AvailabilityRequest, list[dict[str, Any]]]]) -> None:
    """A table for each request: a line for each measure, then what was looked at."""
    for request, rows in groups:
        print_heading(console, f"{rows[0]['topology']} {request}")
        table = number_table(*HEADINGS, left=1)
        table.columns[-1].justify = "left"
        for row in rows:
            interval = "exact" if row["interval"] == "exact" else _interval(row["mean_low"], row["mean_high"])
            numbers = [_number(row[name]) for name in ("q05", "q50", "q95", "worst")]
            head = (row["measure"], _number(row["intact"]), _number(row["mean"]), interval)
            table.add_row(*head, *numbers, f"{row['measured']:,} of {row['draws']:,}", row["unit"])
        print_wide(console, table)
        for method in dict.fromkeys(row["method"] for row in rows):
            names = ", ".join(row["measure"] for row in rows if row["method"] == method)
            print_note(console, f"{names}: {method}")
        console.print()
    print_note(console, NOTE)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:.6g} … {high:.6g}"
