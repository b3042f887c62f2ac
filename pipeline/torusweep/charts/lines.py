"""Line charts: each line has its own colour, shape and dash, so that no reader depends on colour alone."""

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


SIX = (  # for lines that are named by a value
    Line("", "#006DAD", "circle"),
    Line("", "#C48600", "square"),
    Line("", "#008A62", "triangle-up"),
    Line("", "#B84300", "diamond"),
    Line("", "#379AD8", "cross"),
    Line("", "#CB73A3", "triangle-down"),
)
LEGEND = alt.Legend(symbolOpacity=1, labelLimit=240)
VARIANTS = {"as printed": [4, 3], "corrected": [1, 0]}  # dashes of a paper's model with and without its error


def compared(rows: list[dict[str, Any]], along: str) -> list[dict[str, Any]]:
    """The rows, or none unless they have two lines and two places along the axis: fewer compare nothing."""
    return rows if min(len({row[name] for row in rows}) for name in ("line", along)) > 1 else []


def cut_above(
    rows: Iterable[dict[str, Any]], along: str, column: str, most: float, *, logarithmic: bool = False
) -> list[dict[str, Any]]:
    """The rows up to twice `most`; where a line crosses that value, the point of the crossing.

    rows  line by line (line, variant, message_bits), each in order along the axis

    The chart clips the lines at `most`. Without the rest they look the same, but SVG files and printers
    would draw every dash outside.
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

    rows    'line' names one of `lines`, whose order the legend keeps; 'variant' (of VARIANTS), if present,
            decides the dash
    size    of the marks, square pixels
    clip    leave out what lies outside the axes' domain, instead of widening the domain
    detail  another column; each of its values has a line of its own, with the same looks
    along   the column in whose order a line connects its marks; '' for the x axis
    """
    present = [line for line in lines if any(row["line"] == line.name for row in rows)]
    names = [line.name for line in present]
    variants = [name for name in VARIANTS if any(row.get("variant") == name for row in rows)]
    # the dash is a field of its own: a dash by the line's name would show in the legend's marks
    dashes = {str(line.dash): list(line.dash) for line in present}
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
    order = f"{along}:Q" if along else alt.Undefined
    marks = base.mark_point(filled=True, opacity=1, size=size, clip=clip).encode(shape=shape, tooltip=list(tooltip))
    return alt.layer(base.mark_line(strokeWidth=2, clip=clip).encode(strokeDash=dash, order=order), marks)
