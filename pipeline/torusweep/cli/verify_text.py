"""Verdicts on the papers' numbers as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.counts import counted
from torusweep.papers.verification import not_compared
from torusweep.questions.console import open_console, print_heading

VERDICT_STYLES = {
    "agrees": "green",
    "paper in error": "yellow",
    "departs": "yellow",
    "not run": "dim",
    "waits": "dim",
    "unexplained": "bold red",
}
COMPARED = ("agrees", "paper in error", "departs", "unexplained")
LABEL_WIDTH = 60  # characters at most that numbers are aligned after

Row = Mapping[str, Any]


def print_verification(rows: Sequence[Row], *, everything: bool) -> None:
    """Rows that do not agree (or all), grouped by reason; a count of those not compared; a count of each verdict."""
    with open_console() as console:
        for verdict in COMPARED:
            if verdict != "agrees" or everything:
                _print_compared(console, [row for row in rows if row["verdict"] == verdict])
        for (paper, need), waiting in not_compared(rows).items():
            reason = f"{counted(len(waiting), 'number')}, {need.removeprefix('waits ')}"
            _print_reason(console, paper, waiting[0]["verdict"], reason)
            for row in waiting if everything else ():
                _print_row(console, f"{_label(row)}  paper {_number(row['paper_value'])}  {row['topology']}")
        counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICT_STYLES}
        print_heading(console, ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))


def _print_compared(console: Console, rows: list[Row]) -> None:
    """Rows of one verdict under the paper and the reason that they share."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["paper"], row["reason"] or ""), []).append(row)
    for (paper, reason), group in groups.items():
        _print_reason(console, paper, group[0]["verdict"], reason)
        width = min(max(len(_label(row)) for row in group), LABEL_WIDTH)
        for row in group:
            capacity = "" if row["capacity"] is None else f", capacity {_number(row['capacity'])}"
            values = f"paper {_number(row['paper_value'])}, ours {_number(row['our_value'])}{capacity}"
            _print_row(console, f"{_label(row):<{width}}  {values}  {row['topology']}")


def _print_reason(console: Console, paper: str, verdict: str, reason: str) -> None:
    console.print(Text.assemble((f"{paper}  {verdict}", VERDICT_STYLES[verdict]), f": {reason}" if reason else ""))


def _print_row(console: Console, text: str) -> None:
    console.print(Text(f"     {text}", style="dim"), soft_wrap=True)


def _label(row: Row) -> str:
    return f"{row['place']}: {row['row']}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.10g}"
