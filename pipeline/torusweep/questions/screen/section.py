"""The report's section on design spaces: the gain of the best twist over tori and over hand-picked twists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart, compared
from torusweep.charts.looks import Look
from torusweep.charts.section import Chapter, Panel, fields, heading, paragraph, table
from torusweep.networks.families import plan
from torusweep.questions.screen.best import BOUND, GREATEST_SATURATION, LEAST_MEAN
from torusweep.questions.screen.columns import BEST
from torusweep.tables.rows import Record, Tables

LONGEST_SIDE = 2  # largest ratio of the longest to the shortest side of a rectangular torus that is drawn
FEWEST_NODES = 16  # least number of nodes of a network that is drawn, or counted as a gain
LINES = {  # network → look of its line
    LEAST_MEAN: Look("best lattice", "#006DAD", "circle"),
    GREATEST_SATURATION: Look("best lattice", "#006DAD", "circle"),
    "square torus": Look("square torus", "#B84300", "square", (5, 3)),
    "cube": Look("cube", "#B84300", "square", (5, 3)),
    "rectangular torus": Look("rectangular torus", "#C48600", "diamond", (5, 3)),
    "RTT": Look("RTT", "#CB73A3", "cross"),
    "PTT": Look("PTT", "#008A62", "triangle-up"),
    "PDTT, the FCC lattice": Look("PDTT, the FCC lattice", "#CB73A3", "cross"),
    "BCC lattice": Look("BCC lattice", "#379AD8", "triangle-down"),
}
QUANTITIES = (  # column, name, the winner that is drawn, caption
    ("mean_distance", "mean distance", LEAST_MEAN, "Lower is better."),
    ("saturation_load", "saturation load", GREATEST_SATURATION, "Higher is better."),
)
DRAWN = (
    "In the charts, 1 is the bound: no lattice of that size and dimension is better. The best lattice is the best of"
    " all twists, by enumeration; the others are networks that people know. Rectangular tori are drawn where no side"
    f" is longer than {LONGEST_SIDE} × another."
)
FIELDS = fields(
    BEST,
    *("dimensions", "nodes", "network", ("topology", "spelling"), ("mean_distance", "", 6), "diameter"),
    *(("saturation_load", "saturation", 6), ("attained", "lattices as good"), "lattices"),
)


def section(tables: Tables) -> Chapter | None:
    """Return the chapter on the table `best`: charts for each number of dimensions, and a table; None without rows."""
    rows = tables.get("best", ())
    if not rows:
        return None
    found = [
        Panel(f"best_{column}_{dimensions}d", _against_size(column, name, caption, dimensions), drawn)
        for dimensions in sorted({row["dimensions"] for row in rows})
        for column, name, winner, caption in QUANTITIES
        if (drawn := _drawn([row for row in rows if row["dimensions"] == dimensions], column, winner))
    ]
    listed = heading("Every size", "Winners, networks of that size that people know, the bound.")
    note = paragraph(f"{_worth(rows)} {escape(DRAWN)}")
    return Chapter("best", "The best of all lattices", [note, found, listed + table(FIELDS, rows)])


def _worth(rows: Sequence[Record]) -> str:
    """Write sentences on the number of lattices compared and on the gain of the best twist over tori."""
    sizes = {(row["dimensions"], row["nodes"]): row["lattices"] for row in rows}
    found = f"{sum(sizes.values()):,} lattices of {len(sizes):,} sizes were compared, none left out."
    best = {(row["dimensions"], row["nodes"]): row["mean_distance"] for row in rows if row["network"] == LEAST_MEAN}
    gains = [
        (1 - best[row["dimensions"], row["nodes"]] / row["mean_distance"], row["topology"])
        for row in rows
        if row["network"] in ("square torus", "cube") and row["nodes"] >= FEWEST_NODES
    ]
    if not gains:
        return found
    most, name = max(gains)
    least = min(gains)[0]
    return (
        f"{found} The best twist shortens the mean distance of a square torus or a cube by {least:.1%} to"
        f" {most:.1%} ({escape(name)})."
    )


def _drawn(rows: Iterable[Record], column: str, winner: str) -> list[dict[str, Any]]:
    """Return a chart's rows, line by line, each with its share of the bound; [] for fewer than two lines or sizes."""
    rows = list(rows)
    shown = (LINES.keys() - {LEAST_MEAN, GREATEST_SATURATION}) | {winner}
    bounds = {row["nodes"]: row[column] for row in rows if row["network"] == BOUND}
    found = [
        {**row, "line": LINES[row["network"]].name, "share": row[column] / bounds[row["nodes"]]}
        for row in rows
        if row["network"] in shown and row[column] and row["nodes"] >= FEWEST_NODES and _is_compact(row)
    ]
    return compared(found, "nodes")


def _is_compact(row: Record) -> bool:
    """Return whether to draw the row: not a rectangular torus with one side much longer than another."""
    sides = plan(row["topology"])[1].radices if row["network"] == "rectangular torus" else (1,)
    return max(sides) <= LONGEST_SIDE * min(sides)


def _against_size(column: str, name: str, caption: str, dimensions: int) -> Chart:
    return Chart(
        title=f"{name.capitalize()} relative to the bound, {dimensions}D",
        caption=caption,
        x=Axis("nodes", "nodes", log=True),
        y=Axis("share", "relative to the bound"),
        looks=tuple(dict.fromkeys(LINES.values())),
        size=20,
        tips={"line": "network", "topology": "spelling", "nodes": "nodes", column: name}
        | {"share": "relative to the bound"},
    )
