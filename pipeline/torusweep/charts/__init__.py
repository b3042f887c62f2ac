"""Write charts in Vega-Lite: their data, axes, themes and files.

A chart is an Altair chart without size or theme. `finished` adds both for a file; the page adds its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import vl_convert
from altair.utils.schemapi import debug_mode

from torusweep.errors import BadInput, writing

Row = Mapping[str, Any]
Drawing = alt.Chart | alt.LayerChart | alt.FacetChart | alt.ConcatChart

SUFFIXES = (".svg", ".pdf", ".png")  # of files in which a chart can be saved
THOUSANDS = 10_000  # least value of an axis with labels such as 20k; SI prefixes below 1 (20m for 0.02) are avoided


class Theme(NamedTuple):
    """The colours of a chart's axes, text and other parts that are not data."""

    ink: str
    muted: str
    grid: str
    paper: str


LIGHT = Theme(ink="#1d2329", muted="#5b6570", grid="#e4e8ec", paper="#ffffff")
DARK = Theme(ink="#e7ebef", muted="#a0abb6", grid="#282f37", paper="#171b20")


class _Inline(alt.InlineData):
    """The data that a chart's layers share, because Altair would otherwise copy every row for each layer."""

    def __deepcopy__(self, _memo: object) -> _Inline:
        return self


def inline(rows: Sequence[Row]) -> alt.InlineData:
    """Return rows as a chart's data, without Altair's slow check; the tests check them against Vega-Lite's schema."""
    with debug_mode(False):
        return _Inline(values=list(rows))


def log_ticks(values: Sequence[float]) -> list[float]:
    """Return the ticks of a logarithmic axis: powers of ten and, where there is room, 2 and 5 times these powers.

    If the values differ by less than a factor of 8, the axis has about five ticks at even steps.
    """
    shown = [value for value in values if 0 < value < math.inf]  # tables that somebody altered have others, too
    least, most = min(shown, default=1.0), max(shown, default=1.0)
    if least < most < 8 * least:
        rough = (most - least) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        return [float(f"{count * step:.6g}") for count in range(math.ceil(least / step), math.floor(most / step) + 1)]
    steps = (1,) if most / least > 2000 else (1, 2, 5)
    return [
        step * 10.0**power
        for power in range(max(math.floor(math.log10(least)), -307), min(math.ceil(math.log10(most)), 307) + 1)
        for step in steps
    ]


class Axis(NamedTuple):
    """An axis of a chart.

    column  column of the rows with the axis's values
    title   title of the axis; '' for none
    log     whether the axis is logarithmic
    zero    whether a linear axis begins at 0
    domain  ends of the axis, beyond which values are cut; None to show all values
    format  format of the labels, in d3's notation; '' for a suitable format
    whole   whether ticks are at whole numbers only
    ticks   values at which ticks are; () for suitable ticks
    order   order of values that are words, () for the order of the rows; None if the values are numbers
    """

    column: str
    title: str = ""
    log: bool = False
    zero: bool = False
    domain: tuple[float, float] | None = None
    format: str = ""
    whole: bool = False
    ticks: Sequence[float] = ()
    order: Sequence[str] | None = None

    def worded(self, rows: Sequence[Row]) -> Axis:
        """Return this axis with only those words that occur in the given rows; an axis of numbers is unchanged."""
        if self.order is None:
            return self
        present = dict.fromkeys(row[self.column] for row in rows)
        return self._replace(order=[word for word in dict.fromkeys([*self.order, *present]) if word in present])

    def ticked(self, rows: Iterable[Row]) -> Axis:
        """Return this axis with ticks that suit the given rows; a linear axis is unchanged."""
        return self._replace(ticks=log_ticks([row[self.column] for row in rows])) if self.log else self

    def of(self, channel: type[alt.X] | type[alt.Y], rows: Iterable[Row], *, words: bool) -> Any:
        """Return this axis for a drawing, with ticks that suit the shown `rows`; `words`: whether words have labels."""
        if self.order is not None:
            axis = alt.Axis(labelAngle=0, labelLimit=110 if channel is alt.Y else 0, labels=words, grid=not words)
            return channel(f"{self.column}:N", title=self.title or None, sort=list(self.order), axis=axis)
        values = [row[self.column] for row in rows if row.get(self.column) is not None]
        scale: dict[str, Any] = {"type": "log"} if self.log else {"zero": self.zero}
        if self.domain:
            scale |= {"domain": list(self.domain), "nice": False}
        elif not self.zero:
            scale |= {"nice": False, "padding": 14}
        large = max(map(abs, values), default=0) >= THOUSANDS
        ticks: dict[str, Any] = {"tickMinStep": 1} if self.whole else {"tickCount": 8}
        if self.ticks or self.log:
            ticks = {"values": list(self.ticks) or log_ticks([*values, *(self.domain or ())])}
        axis = alt.Axis(format=self.format or ("~s" if large else ".6~r"), **ticks)
        return channel(f"{self.column}:Q", title=self.title or None, scale=alt.Scale(**scale), axis=axis)


def config(theme: Theme) -> dict[str, Any]:
    """Return the Vega-Lite configuration of a theme."""
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
    """Return a chart as a Vega-Lite specification."""
    return dict(chart.to_dict(validate=False))


def finished(
    chart: Drawing, title: str = "", subtitle: str = "", *, width: int = 760, height: int = 420
) -> dict[str, Any]:
    """Return a chart's specification for a file, with a size, a title and the light theme on white."""
    sized = chart if isinstance(chart, alt.ConcatChart) else chart.properties(width=width, height=height)
    finished = specification(sized)
    if title:
        finished["title"] = {"text": title, "subtitle": subtitle}
    finished["config"] = {**config(LIGHT), "background": LIGHT.paper}
    finished["padding"] = 16
    return finished


def save(specification: dict[str, Any], path: Path) -> None:
    """Write a specification as SVG, PDF or PNG. Raises BadInput for any other suffix, or if writing fails."""
    if path.suffix == ".svg":
        picture = vl_convert.vegalite_to_svg(specification).encode()
    elif path.suffix == ".pdf":
        picture = vl_convert.vegalite_to_pdf(specification)
    elif path.suffix == ".png":
        picture = vl_convert.vegalite_to_png(specification, scale=2)
    else:
        raise BadInput(f"{path}: expected a name that ends in .svg, .pdf or .png, got '{path.suffix}'; choose one")
    with writing(path):
        path.write_bytes(picture)
