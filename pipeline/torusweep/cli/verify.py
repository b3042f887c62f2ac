"""The command verify: compare the papers' numbers with ours, and print the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from torusweep.cli import options
from torusweep.papers.verification import not_compared, verify_folder
from torusweep.quantities import counted
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
    """Print the rows that do not agree (or all rows) by reason, and then the number of rows with each verdict."""
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
    """Print rows of one verdict, under headings with their paper and reason."""
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


@click.command()
@options.results
@options.json_output
@click.option("--all", "everything", is_flag=True, help="Print the rows that agree, too.")
def verify(results: Path, as_json: bool, everything: bool) -> None:
    """Compare the papers' numbers with ours, in the tables as they are on disk.

    Exits with status 1 if a number is unexplained.

    \b
    Verdicts:
      agrees          our number is the paper's, or is as the paper says
      paper in error  the paper's number is wrong; the reason follows
      departs         a simulated number is not as the paper says; the reason follows
      not run         this sweep does not compute it; the row names what does
      waits           it needs something that this sweep has not computed; the row names it
      unexplained     it differs, or is missing, for no known reason

    \b
    Examples:
      torusweep verify
      torusweep verify --all --results results/parhami-kwai-2004
      torusweep verify --json | jq '.[] | select(.verdict == "paper in error")'
    """
    rows = verify_folder(results)
    if as_json:
        options.print_json(rows)
    else:
        print_verification(rows, everything=everything)
    if any(row["verdict"] == "unexplained" for row in rows):
        raise SystemExit(1)
