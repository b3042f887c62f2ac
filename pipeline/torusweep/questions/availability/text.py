"""The distribution of measures after failures as text: a table for each number of failures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console

from torusweep.questions.availability.request import AvailabilityRequest
from torusweep.questions.console import Columns, print_heading, print_note, print_rows

NOTE = (
    "quantiles and mean are over the draws after which all surviving terminals reach each other, but for connected,"
    " largest_component and deadlock_free, which are over all draws"
)


def print_availability(console: Console, groups: Iterable[tuple[AvailabilityRequest, list[dict[str, Any]]]]) -> None:
    """A table for each request: a line for each measure, then what was looked at."""
    for request, rows in groups:
        print_heading(console, f"{rows[0]['topology']} {request}")
        print_rows(console, rows, COLUMNS, left=("measure", "unit"))
        for method in dict.fromkeys(row["method"] for row in rows):
            names = ", ".join(row["measure"] for row in rows if row["method"] == method)
            print_note(console, f"{names}: {method}")
        console.print()
    print_note(console, NOTE)


def _interval(row: dict[str, Any]) -> str:
    low, high = row["mean_low"], row["mean_high"]
    if row["interval"] == "exact":
        return "exact"
    return "–" if low is None or high is None else f"{low:.6g} … {high:.6g}"


def _draws(row: dict[str, Any]) -> str:
    return f"{row['measured']:,} of {row['draws']:,}"


COLUMNS: Columns = {
    **{"measure": "measure", "intact": "intact", "mean": "mean", _interval: "95 % interval"},
    **{"q05": "5 %", "q50": "median", "q95": "95 %", "worst": "worst", _draws: "of draws", "unit": "unit"},
}
