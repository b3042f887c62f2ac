"""A chart of named lines: each has a colour, a shape and a dash of its own, so that no reader depends on colour alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import altair as alt

from torusweep.charts.chart import Chart, inline


class Line(NamedTuple):
    name: str
    colour: str
    shape: str
    dash: tuple[int, int] = (1, 0)


SIX = (  # for lines that only their values name
    Line("", "#006DAD", "circle"),
    Line("", "#C48600", "square"),
    Line("", "#008A62", "triangle-up"),
    Line("", "#B84300", "diamond"),
    Line("", "#379AD8", "cross"),
    Line("", "#CB73A3", "triangle-down"),
)
LEGEND = alt.Legend(symbolOpacity=1)
VARIANTS = {"as printed": [4, 3], "corrected": [1, 0]}  # a paper's model as it stands there, and without its error


def compared(rows: list[dict[str, Any]], along: str) -> list[dict[str, Any]]:
    """The rows, if they are of two lines and two places along the axis at least; else none: a sweep may hold a network or two by chance."""
    return rows if min(len({row[name] for row in rows}) for name in ("line", along)) > 1 else []


def cut_above(
    rows: Iterable[dict[str, Any]], along: str, column: str, most: float, *, logarithmic: bool = False
) -> list[dict[str, Any]]:
    """The rows up to `most`, and where a line goes beyond it, the point at twice `most` on the way there.

    rows  a line's (by line, variant and message_bits) one after the other, in order along the axis
    A clipped line looks the same without the rest, but print and files draw every dash of it, however far outside.
    """
    end = 2 * most
    scale = math.log if logarithmic else float
    kept: list[dict[str, Any]] = []
    for _, line in groupby(rows, key=lambda row: (row["line"], row.get("variant"), row.get("message_bits"))):
        points = list(line)
        kept += points[:1] if points[0][column] <= end else []
        for a, b in pairwise(points):
            if (a[column] <= end) != (b[column] <= end):
                share = (scale(end) - scale(a[column])) / (scale(b[column]) - scale(a[column]))
                kept.append({**b, along: a[along] + share * (b[along] - a[along]), column: end})
            if b[column] <= end:
                kept.append(b)
    return kept


def line_chart(
    rows: Sequence[dict[str, Any]],
    lines: Sequence[Line],
    x: alt.X,
    y: alt.Y,
    tooltip: Sequence[alt.Tooltip],
    *,
    size: int = 40,
    clip: bool = False,
    detail: str = "",
    along: str = "",
) -> Chart:
    """Lines with marks.

    rows    'line' is the name of one of `lines`, which keep their order in the legend; where rows have a 'variant' (of VARIANTS),
            it decides the dash
    size    of the marks, square pixels
    clip    whether what lies outside the axes' domain is left out, or widens the domain
    detail  another column of whose values each has a line of its own, alike in looks
    along   the column in whose order a line goes from mark to mark; the axis where ''
    """
    present = [line for line in lines if any(row["line"] == line.name for row in rows)]
    names = [line.name for line in present]
    variants = [name for name in VARIANTS if any(row.get("variant") == name for row in rows)]
    dashes = {
        str(line.dash): list(line.dash) for line in present
    }  # a field of its own: the dash of a line's name would get into the legend's marks
    dash = alt.StrokeDash("dash:N", legend=None, scale=alt.Scale(domain=list(dashes), range=list(dashes.values())))
    if variants:
        dash = alt.StrokeDash(
            "variant:N",
            title=None,
            legend=alt.Legend(orient="bottom"),
            scale=alt.Scale(domain=variants, range=[VARIANTS[name] for name in variants]),
        )
    values = [{**row, "dash": str(line.dash)} for line in present for row in rows if row["line"] == line.name]
    colour = alt.Color(
        "line:N", title=None, legend=LEGEND, scale=alt.Scale(domain=names, range=[line.colour for line in present])
    )
    shape = alt.Shape(
        "line:N", title=None, legend=LEGEND, scale=alt.Scale(domain=names, range=[line.shape for line in present])
    )
    base = alt.Chart(inline(values)).encode(x=x, y=y, color=colour, detail=f"{detail}:N" if detail else alt.Undefined)
    drawn = base.mark_line(strokeWidth=2, clip=clip).encode(
        strokeDash=dash, order=f"{along}:Q" if along else alt.Undefined
    )
    return alt.layer(
        drawn, base.mark_point(filled=True, opacity=1, size=size, clip=clip).encode(shape=shape, tooltip=list(tooltip))
    )
