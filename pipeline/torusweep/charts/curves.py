"""Lines with marks and error bars, a line for each group, for a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from torusweep.charts.chart import Chart, inline
from torusweep.charts.scatter import Group, axis, colour, key, symbol

Record = Mapping[str, Any]

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])  # after every seventh line, which is as many as there are colours
COLOURS_APART = 7
HOLLOW = "#ffffff"  # the paper


def curves(
    rows: Sequence[Record],
    groups: Sequence[Group],
    titles: Mapping[str, str],
    log: str,
    most: float | None = None,
    *,
    connected: bool = True,
) -> Chart:
    """Lines with marks and error bars; the lines of a group share its colour and symbol.

    rows    x, y, group, line; along: the order within a line; hollow: whether the mark is; low, high, left, right:
            ends of the error bars, absent or None where there is none
    groups  in the legend's order
    titles  of x and y
    log     the logarithmic axes: 'x', 'y', 'xy' or ''
    most    where the y axis ends, which cuts lines that go on; None: it shows all
    connected  by lines; otherwise only marks and bars
    """
    places = {group.name: place for place, group in enumerate(groups)}
    dashes = [str(place // COLOURS_APART % len(DASHES)) for place in range(len(groups))]
    values = [
        {name: value for name, value in row.items() if value is not None} | {"dash": dashes[places[row["group"]]]}
        for row in rows
    ]
    shown = [row for row in rows if most is None or row["y"] <= most]
    x = alt.X("x:Q", **axis(shown, "x", titles, log))
    settings = axis(shown, "y", titles, log)
    if most is not None:
        settings["scale"] = alt.Scale(domain=[0, most], nice=False)
    y = alt.Y("y:Q", **settings)
    legend = key(groups)
    base = alt.Chart(inline(values)).encode(x=x, y=y, color=colour(groups, legend), detail="line:N")
    scale = alt.Scale(domain=[str(place) for place in range(len(DASHES))], range=list(DASHES))
    clip = most is not None
    dash = alt.StrokeDash("dash:N", legend=None, scale=scale)
    lines = [base.mark_line(strokeWidth=1.8, clip=clip).encode(order="along:Q", strokeDash=dash)] if connected else []
    marks = base.mark_point(filled=True, opacity=1, size=48, clip=clip).encode(shape=symbol(groups, legend))
    layers = [*_bars(base, values, clip, x, y), *lines, marks]
    if any(row.get("hollow") for row in rows):
        layers.append(
            base.transform_filter("datum.hollow")
            .mark_point(filled=True, opacity=1, size=14, clip=clip, color=HOLLOW)
            .encode(shape=symbol(groups, None), color=alt.value(HOLLOW))
        )
    return alt.layer(*layers)


def _bars(base: alt.Chart, values: Sequence[Record], clip: bool, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Error bars with ends, of y and of x."""
    bars: list[alt.Chart] = []
    for ends, axis_of, level in ((("low", "high"), y, False), (("left", "right"), x, True)):
        if not any(ends[0] in row for row in values):
            continue
        known = base.transform_filter(f"isValid(datum.{ends[0]})")
        fields = [_of(axis_of, end) for end in ends]
        rule = known.mark_rule(strokeWidth=1.2, clip=clip)
        bars.append(rule.encode(fields[0], **{"x2" if level else "y2": f"{ends[1]}:Q"}))
        tick = known.mark_tick(
            orient="vertical" if level else "horizontal", size=7, thickness=1.2, opacity=1, clip=clip
        )
        bars += [tick.encode(field) for field in fields]
    return bars


def _of(axis_of: alt.X | alt.Y, field: str) -> alt.X | alt.Y:
    """The same axis over another field."""
    other = axis_of.copy(deep=False)
    other.shorthand = f"{field}:Q"
    return other
