"""The page's section on collective operations: what algorithms reach of the bound, on every network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import altair as alt

from torusweep.charts.chart import Chart, inline
from torusweep.charts.section import (
    Cell,
    Field,
    Panel,
    Part,
    Record,
    Section,
    Tables,
    heading,
    meanings,
    number_field,
    paragraph,
    table,
    word_field,
)
from torusweep.collectives.algorithms import ALGORITHMS, BEST_KNOWN, OPTIMUM
from torusweep.collectives.operations import OPERATIONS
from torusweep.counts import counted
from torusweep.stages.collectives.columns import COLLECTIVES

MEANING = meanings(COLLECTIVES)
ROW_HEIGHT = 26  # pixels of the chart for an algorithm
AXIS_HEIGHT = 50  # pixels of the axis and its title below them
BLUE = "#006DAD"
INTRODUCTION = (
    "The bound is what no algorithm beats, proved by a cut, a partition or a linear program; it is the optimum where an"
    " algorithm is known that attains it, elsewhere the row best_known has the least time that is known. Times are for"
    " data so large that bandwidth decides, with all channels of a node at work. Bus bandwidth is that of nccl-tests,"
    " in flits a cycle and terminal; a channel carries one in each direction."
)


def section(tables: Tables) -> Section | None:
    """A chart for each operation that has algorithms, and the table; None without rows."""
    rows = [row for row in tables.get("collectives", ()) if row["bound"] is not None]
    if not rows:
        return None
    measured = [row for row in rows if row["algorithm"] not in (OPTIMUM, BEST_KNOWN) and row["bound_share"] is not None]
    panels = [
        Panel(
            f"collectives_{operation}",
            operation,
            _shares(shown),
            f"{escape(OPERATIONS[operation].meaning.capitalize())}. A mark is a network.",
            wide=False,
        )
        for operation in OPERATIONS
        if len(shown := [row for row in measured if row["operation"] == operation]) > 1
    ]
    order = list(OPERATIONS)
    listed = sorted(rows, key=lambda row: (row["topology"], order.index(row["operation"]), row["cycles"] or 0.0))
    parts: list[Part] = [
        paragraph(escape(INTRODUCTION) + _worth(measured)),
        panels,
        heading("Every operation and algorithm", f"By network, all {len(listed):,}.") + table(FIELDS, listed),
    ]
    return Section("collectives", "Collective operations", parts)


def _proof(row: Record) -> Cell:
    """The proof of the bound in words."""
    if row["cut_nodes"] is not None:
        nodes = len(row["cut_nodes"])
        verb = "into" if row["cut_enters"] else "out of"
        return Cell(f"{counted(row['cut_capacity'], 'channel')} {verb} {counted(nodes, 'node')}", "short")
    if row["parts"] is not None:
        return Cell(f"{counted(row['cut_capacity'], 'channel')} between {counted(row['parts'], 'set')}", "short")
    return Cell("linear program", "short")


FIELDS = (
    word_field("topology", "network", MEANING, "name"),
    word_field("operation", "operation", MEANING),
    word_field("algorithm", "algorithm", MEANING),
    number_field("bus_bandwidth", "bus bandwidth", MEANING, 5),
    Field(
        "of bound",
        lambda row: (
            Cell("–", "number")
            if row["bound_share"] is None
            else Cell(f"{100 * row['bound_share']:.4g} %", "number", row["bound_share"])
        ),
        MEANING["bound_share"],
        "number",
    ),
    number_field("cycles", "cycles a flit", MEANING, 6),
    number_field("steps", "steps", MEANING),
    number_field("latency_hops", "hops", MEANING),
    Field("bottleneck", _proof, "what proves the bound"),
)


def _worth(rows: Sequence[Record]) -> str:
    """Which algorithm reaches the bound, and so the optimum, on the most networks."""
    if not rows:
        return ""
    reached: dict[str, int] = {}
    for row in rows:
        reached.setdefault(row["algorithm"], 0)
        reached[row["algorithm"]] += row["bound_share"] > 1 - 1e-9
    best = max(reached, key=lambda name: reached[name])
    tried = sum(row["algorithm"] == best for row in rows)
    return f" The algorithm {escape(best)} reaches the optimum in {reached[best]:,} of {tried:,} cases."


def _shares(rows: Sequence[Record]) -> Chart:
    """A row for each algorithm, a mark for each network at its share of the bound."""
    names = [name for name in ALGORITHMS if any(row["algorithm"] == name for row in rows)]
    shown = ("topology", "algorithm", "bus_bandwidth", "bound_share", "steps")
    values: list[dict[str, Any]] = [{name: row[name] for name in shown} for row in rows]
    share = alt.X("bound_share:Q", title="share of the bound", scale=alt.Scale(domain=[0, 1]))
    return (
        alt.Chart(inline(values))
        .mark_point(filled=True, opacity=0.7, size=60, color=BLUE)
        .encode(
            x=share.axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
            y=alt.Y("algorithm:N", title=None, sort=names),
            tooltip=[
                alt.Tooltip("topology:N", title="network"),
                alt.Tooltip("algorithm:N"),
                alt.Tooltip("bound_share:Q", title="of the bound", format=".1%"),
                alt.Tooltip("bus_bandwidth:Q", title="bus bandwidth", format=".5~g"),
                alt.Tooltip("steps:Q", format=","),
            ],
        )
        .properties(height=AXIS_HEIGHT + ROW_HEIGHT * len(names))
    )
