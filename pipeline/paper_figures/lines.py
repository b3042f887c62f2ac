"""A chart of named lines: each has a colour, a shape and a dash of its own, so that no reader depends on colour alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt


class Line(NamedTuple):
    name: str
    colour: str
    shape: str
    dash: tuple[int, int] = (1, 0)


LEGEND = alt.Legend(symbolOpacity=1, symbolDash=[1, 0])
VARIANTS = {"as printed": [4, 3], "corrected": [1, 0]}  # a paper's model as it stands there, and without its error


def line_chart(
    rows: Sequence[dict[str, Any]], lines: Sequence[Line], x: alt.X, y: alt.Y, tooltip: Sequence[alt.Tooltip], *, size: int = 40, clip: bool = False
) -> alt.Chart:
    """Lines with marks.

    rows    'line' is the name of one of `lines`, which keep their order in the legend; where rows have a 'variant' (of VARIANTS),
            it decides the dash
    size    of the marks, square pixels
    clip    whether what lies outside the axes' domain is left out, or widens the domain
    """
    present = [line for line in lines if any(row["line"] == line.name for row in rows)]
    names = [line.name for line in present]
    variants = [name for name in VARIANTS if any(row.get("variant") == name for row in rows)]
    dash = alt.StrokeDash("line:N", legend=None, scale=alt.Scale(domain=names, range=[list(line.dash) for line in present]))
    if variants:
        dash = alt.StrokeDash("variant:N", title=None, scale=alt.Scale(domain=variants, range=[VARIANTS[name] for name in variants]))
    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(point=alt.OverlayMarkDef(size=size, filled=True, strokeDash=[1, 0], clip=clip), strokeWidth=2, clip=clip)
        .encode(
            x=x,
            y=y,
            color=alt.Color("line:N", title=None, legend=LEGEND, scale=alt.Scale(domain=names, range=[line.colour for line in present])),
            shape=alt.Shape("line:N", title=None, scale=alt.Scale(domain=names, range=[line.shape for line in present])),
            strokeDash=dash,
            tooltip=list(tooltip),
        )
    )
