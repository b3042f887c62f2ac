"""The page's section on verification: the papers' numbers beside ours, with a verdict for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from torusweep.charts.section import Cell, Chapter, fields, heading, table
from torusweep.papers.verification import PAPER_NAMES, PAPERS, not_compared, summary
from torusweep.stages.all_columns import TABLES

Record = Mapping[str, Any]

STYLES = {
    "agrees": "good",
    "paper in error": "warn",
    "departs": "warn",
    "not run": "wait",
    "waits": "wait",
    "unexplained": "bad",
}  # by verdict
FIELDS = fields(
    TABLES["verification"],
    *(("place", "where"), ("row", "what", lambda row: Cell(row["row"])), "topology"),
    ("quantity", "", lambda row: Cell(row["quantity"])),
    *(("paper_value", "paper"), ("our_value", "ours"), "capacity", ("difference", "", 6)),
    ("verdict", "", lambda row: Cell(row["verdict"], STYLES[row["verdict"]])),
)


def verification_section(rows: Sequence[Record]) -> Chapter | None:
    """Unexplained rows first, then errors and departures with their reasons, what is missing, and every row."""
    if not rows:
        return None
    parts = [
        _by_reason(rows, "unexplained", "Unexplained", ""),
        _by_reason(
            rows,
            "paper in error",
            "Errors of the papers",
            "Each correct value was derived a second time, without this program. For a bisection width it is the width"
            " of the cut that the reason names, an upper bound.",
        ),
        _by_reason(
            rows,
            "departs",
            "Simulations that differ",
            "The papers do not specify their routers in full, so signs, orders and bounds are compared. These differ"
            " from the paper.",
        ),
        _not_compared(rows),
        *[_paper(paper, [row for row in rows if row["paper"] == paper]) for paper in PAPERS],
    ]
    return Chapter("verification", "The papers' numbers and ours", parts, folded=_summary(rows))


def _summary(rows: Sequence[Record]) -> str:
    """How many numbers have which verdict, in a line."""
    counts = summary(rows)
    words = {
        "agrees": "numbers agree with the papers",
        "paper in error": "errors of the papers, explained",
        "departs": "simulated numbers differ, explained",
        "not run": "not simulated here",
        "waits": "wait for a capability",
    }
    found = [
        f'<span class="{STYLES[verdict]}"><b>{counts[verdict]:,}</b> {text}</span>'
        for verdict, text in words.items()
        if counts[verdict]
    ]
    style = "bad" if counts["unexplained"] else "good"
    return ", ".join([*found, f'<span class="{style}"><b>{counts["unexplained"]:,}</b> unexplained</span>'])


def _table(rows: Sequence[Record], *, without: str = "", sortable: bool = False) -> str:
    """The rows under FIELDS, but for one; capacity is left out where nothing is simulated."""
    left_out = {without, "" if any(row["capacity"] is not None for row in rows) else "capacity"}
    return table([field for field in FIELDS if field.title not in left_out], rows, sortable=sortable)


def _by_reason(rows: Sequence[Record], verdict: str, title: str, note: str) -> str:
    """The rows of a verdict: a box for each reason, with the rows that it explains."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for row in rows:
        if row["verdict"] == verdict:
            groups.setdefault((row["paper"], row["reason"]), []).append(row)
    if not groups:
        return ""
    boxes = [f"<h3>{escape(title)}</h3>", f"<p>{note}</p>" if note else ""]
    style = "erratum unexplained" if verdict == "unexplained" else "erratum"
    for (paper, reason), group in groups.items():
        text = escape(f"{reason[:1].upper()}{reason[1:]}" + ("" if reason.endswith(".") else "."))
        about = f"<p><b>{escape(PAPER_NAMES[paper])}.</b> {text}</p>"
        boxes.append(f'<div class="{style}">{about}{_table(group, without="verdict")}</div>')
    return "\n".join(filter(None, boxes))


def _not_compared(rows: Sequence[Record]) -> str:
    """How many numbers wait for what."""
    items = "".join(
        f"<li>{escape(PAPER_NAMES[paper])}, {len(group):,} number{'s' * (len(group) > 1)}: {escape(needed)}</li>"
        for (paper, needed), group in not_compared(rows).items()
    )
    lead = "<p>Numbers that need what this sweep has not computed:</p>"
    return f"{heading('Not compared yet')}{lead}<ul>{items}</ul>" if items else ""


def _paper(paper: str, rows: Sequence[Record]) -> str:
    """Every number of a paper, folded away."""
    if not rows:
        return ""
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in STYLES}
    counted = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items() if count)
    about = f"<b>{escape(PAPER_NAMES[paper])}</b>, all {len(rows):,} numbers: {counted}"
    return f"<details><summary>{about}</summary>{_table(rows, sortable=True)}</details>"
