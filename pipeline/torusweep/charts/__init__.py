"""Charts and pieces of a page, for the stages, the papers' figures and the results.

Charts as Vega-Lite: data, themes, files.

A chart is an Altair chart without size or theme. `finished` adds both for a file; the page adds its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import vl_convert
from altair.utils.schemapi import debug_mode

from torusweep.errors import BadInput

Record = Mapping[str, Any]
Drawing = alt.Chart | alt.LayerChart | alt.FacetChart

SUFFIXES = (".svg", ".pdf", ".png")  # of the files that a chart can be saved as


class Theme(NamedTuple):
    """Colours of what is not data."""

    ink: str
    muted: str
    grid: str
    paper: str


LIGHT = Theme(ink="#1d2329", muted="#5b6570", grid="#e4e8ec", paper="#ffffff")
DARK = Theme(ink="#e7ebef", muted="#a0abb6", grid="#282f37", paper="#171b20")


def inline(rows: Sequence[Record]) -> alt.InlineData:
    """Rows as a chart's data. They are not checked against Vega-Lite's schema, which takes long; the tests do that."""
    with debug_mode(False):
        return alt.InlineData(values=list(rows))


def log_ticks(values: Sequence[float]) -> list[float]:
    """Ticks of a logarithmic axis: powers of ten, and 2 and 5 times these where they fit.

    Values that differ by less than a factor of 8 have ticks at even steps, about five.
    """
    least, most = min(values, default=1.0), max(values, default=1.0)
    if least < most < 8 * least:
        rough = (most - least) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        return [float(f"{count * step:.6g}") for count in range(math.ceil(least / step), math.floor(most / step) + 1)]
    steps = (1,) if most / least > 2000 else (1, 2, 5)
    return [
        step * 10.0**power
        for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
        for step in steps
    ]


def config(theme: Theme) -> dict[str, Any]:
    """Vega-Lite configuration of a theme."""
    font = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
    axis = {
        "labelColor": theme.muted,
        "titleColor": theme.ink,
        "gridColor": theme.grid,
        "domainColor": theme.grid,
        "tickColor": theme.grid,
    }
    return {
        "background": "transparent",
        "font": font,
        "view": {"stroke": None},
        "text": {"color": theme.muted},
        "axis": {**axis, "titleFontWeight": 500, "titleFontSize": 12, "labelFontSize": 11, "titlePadding": 10},
        "axisX": {"labelSeparation": 8},
        "legend": {
            "labelColor": theme.ink,
            "titleColor": theme.ink,
            "orient": "top",
            "symbolSize": 80,
            "labelFontSize": 12,
        },
        "title": {
            "color": theme.ink,
            "subtitleColor": theme.muted,
            "anchor": "start",
            "fontSize": 16,
            "subtitleFontSize": 12,
            "offset": 14,
        },
    }


def specification(chart: Drawing) -> dict[str, Any]:
    """A chart as Vega-Lite."""
    return dict(chart.to_dict(validate=False))


def finished(
    chart: Drawing, title: str = "", subtitle: str = "", *, width: int = 760, height: int = 420
) -> dict[str, Any]:
    """A chart's specification for a file: with a size, a title and the light theme on white."""
    finished = specification(chart.properties(width=width, height=height))
    if title:
        finished["title"] = {"text": title, "subtitle": subtitle}
    finished["config"] = {**config(LIGHT), "background": LIGHT.paper}
    finished["padding"] = 16
    return finished


def save(specification: dict[str, Any], path: Path) -> None:
    """Write a specification as SVG, PDF or PNG, by the file's suffix.

    Raises BadInput for another suffix, and for a file that cannot be written.
    """
    if path.suffix == ".svg":
        picture = vl_convert.vegalite_to_svg(specification).encode()
    elif path.suffix == ".pdf":
        picture = vl_convert.vegalite_to_pdf(specification)
    elif path.suffix == ".png":
        picture = vl_convert.vegalite_to_png(specification, scale=2)
    else:
        raise BadInput(f"{path}: expected a name that ends in .svg, .pdf or .png, got '{path.suffix}'; choose one")
    try:
        path.write_bytes(picture)
    except OSError as error:
        raise BadInput(f"{path}: expected a file that can be written, got: {error.strerror}; choose another") from None
