"""Scatter charts of any two columns: a colour for each kind of network, a symbol for each family of a kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import altair as alt

from torusweep.charts.chart import Chart, inline, log_ticks
from torusweep.charts.networks import COLOURS, kind
from torusweep.networks.families import FAMILIES

Record = Mapping[str, Any]

# Vega's symbols as SVG paths, each about as large as the unit circle
SYMBOLS = {
    "circle": "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z",
    "square": "M-.9,-.9H.9V.9H-.9Z",
    "diamond": "M0,-1.2L.9,0L0,1.2L-.9,0Z",
    "triangle-up": "M0,-1L1.1,.9H-1.1Z",
    "cross": "M-1,-.35H-.35V-1H.35V-.35H1V.35H.35V1H-.35V.35H-1Z",
    "triangle-down": "M0,1L1.1,-.9H-1.1Z",
    "triangle-right": "M1,0L-.9,1.1V-1.1Z",
    "triangle-left": "M-1,0L.9,1.1V-1.1Z",
}

# kinds whose colours differ most, for lines that are no kinds: the two blues are apart
SERIES = ("torus", "pruned", "directed", "twisted", "hierarchical", "mesh", "other")
WIDTH = 740  # pixels above a chart
LABEL = 320  # pixels of a legend's label, at most
CHARACTER = 7  # pixels, about
THOUSANDS = 10_000  # from here on an axis is labelled 20k; SI prefixes below 1 (20m for 0.02) are avoided


class Group(NamedTuple):
    """Designs that share a colour and a symbol: a family, its directed networks apart."""

    name: str
    colour: str
    symbol: str


def group_of(record: Record) -> tuple[str, str]:
    """(kind, name) of the group that a design belongs to."""
    family = record["family"]
    return kind(record), f"{family}, directed" if record["directed"] and "directed" not in family else family


def network_groups(names: Iterable[tuple[str, str]]) -> list[Group]:
    """The groups of some designs, kind by kind: a colour for each kind, a symbol for each group of it.

    names  (kind, name) of each design's group
    """
    order = {kind: place for place, kind in enumerate(COLOURS)}
    place = {family: number for number, family in enumerate(FAMILIES)}
    present = sorted(set(names), key=lambda item: (order[item[0]], place.get(item[1], len(place)), item[1]))
    symbols = list(SYMBOLS)
    return [
        Group(name, COLOURS[kind], symbols[number % len(symbols)])
        for kind, of_kind in groupby(present, key=lambda item: item[0])
        for number, (_, name) in enumerate(of_kind)
    ]


def value_groups(values: Iterable[str]) -> list[Group]:
    """A group for each value, in order, each with the next colour and the next symbol: 56 groups differ."""
    colours = [COLOURS[kind] for kind in SERIES]
    symbols = list(SYMBOLS)
    return [
        Group(value, colours[i % len(colours)], symbols[i % len(symbols)])
        for i, value in enumerate(sorted(set(values)))
    ]


def explorer_chart(groups: Sequence[Group]) -> Chart:
    """The page's chart over the fields x and y; its script adds titles, scales and the data sets points and front."""
    x = alt.X("x:Q", scale=alt.Scale(nice=False, padding=14))
    y = alt.Y("y:Q", scale=alt.Scale(nice=False, padding=14))
    line = (
        alt.Chart(alt.NamedData("front"))
        .mark_line(strokeDash=[4, 3], strokeWidth=1.5, color="#7C818A")
        .encode(x=x, y=y, order="place:Q")
    )
    marks = (
        alt.Chart(alt.NamedData("points"))
        .mark_point(filled=True)
        .encode(
            x=x,
            y=y,
            color=colour(groups, legend=None),
            shape=symbol(groups, legend=None),
            opacity=alt.Opacity("front:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.5, 1])),
            tooltip=[
                alt.Tooltip("topology:N", title="network"),
                alt.Tooltip("x:Q", format=",.6~g"),
                alt.Tooltip("y:Q", format=",.6~g"),
                alt.Tooltip("nodes:Q", format=","),
                alt.Tooltip("degree:Q", title="degree"),
            ],
        )
    )
    return alt.layer(line, marks)


def chart(rows: Sequence[Record], groups: Sequence[Group], titles: Mapping[str, str], log: str) -> Chart:
    """A chart of rows for a file: the fields x, y and group.

    groups  in the legend's order; empty where the field `group` is a number, shown on a colour scale
    titles  of x, y and group
    log     the logarithmic axes: 'x', 'y', 'xy' or ''
    """
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("x:Q", **axis(rows, "x", titles, log)), y=alt.Y("y:Q", **axis(rows, "y", titles, log))
    )
    size = 14 if len(rows) > 5000 else 30 if len(rows) > 800 else 55
    marks = base.mark_point(filled=True, size=size, opacity=0.75)
    if not groups:
        scale = alt.Scale(scheme="viridis")
        whole = all(isinstance(row["group"], int) for row in rows)
        legend = alt.Legend(orient="right", tickMinStep=1 if whole else alt.Undefined, format=".6~r")
        return marks.encode(color=alt.Color("group:Q", title=titles["group"], legend=legend, scale=scale))
    legend = key(groups)
    return marks.encode(color=colour(groups, legend), shape=symbol(groups, legend))


def key(groups: Sequence[Group]) -> alt.Legend:
    """A legend: above the chart if it fits in three rows there, else beside it."""
    longest = min(LABEL, max(len(group.name) for group in groups) * CHARACTER)
    columns = max(1, WIDTH // (longest + 36))
    if len(groups) <= 3 * columns:
        rows = -(-len(groups) // columns)
        return alt.Legend(columns=-(-len(groups) // rows), labelLimit=LABEL, symbolOpacity=1, symbolLimit=0)
    beside = -(-len(groups) // 22)  # rows that stand beside a chart
    return alt.Legend(orient="right", columns=beside, labelLimit=LABEL, symbolOpacity=1, symbolLimit=0)


def axis(rows: Sequence[Record], name: str, titles: Mapping[str, str], log: str) -> dict[str, Any]:
    """Title, scale and labels of an axis."""
    ticks: dict[str, Any] = {"values": log_ticks([row[name] for row in rows])} if name in log else {"tickCount": 8}
    scale: dict[str, Any] = {"type": "log"} if name in log else {"zero": False}
    label = "~s" if max((abs(row[name]) for row in rows), default=0) >= THOUSANDS else ".6~r"
    return {
        "title": titles[name],
        "scale": alt.Scale(nice=False, padding=14, **scale),
        "axis": alt.Axis(format=label, **ticks),
    }


def colour(groups: Sequence[Group], legend: Any) -> alt.Color:
    """The field `group` as colour."""
    scale = alt.Scale(domain=[group.name for group in groups], range=[group.colour for group in groups])
    return alt.Color("group:N", title=None, legend=legend, scale=scale)


def symbol(groups: Sequence[Group], legend: Any) -> alt.Shape:
    """The field `group` as a mark's symbol."""
    scale = alt.Scale(domain=[group.name for group in groups], range=[group.symbol for group in groups])
    return alt.Shape("group:N", title=None, legend=legend, scale=scale)
