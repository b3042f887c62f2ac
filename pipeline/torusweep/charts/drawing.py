"""Declare charts by their rows, axes, colours and texts, and draw them.

The page, `plot` and the papers' figures read the same declaration. Every line has its own colour, symbol and dash, so
no reader depends on colour alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import altair as alt

from torusweep.charts import Axis, Drawing, Row, inline
from torusweep.charts.looks import BLUE, GREY, SERIES, Look, value_looks

Tips = Mapping[str, Sequence[str]]

PAPER = "#ffffff"  # the centre of a hollow mark
SOLID = (1, 0)
VARIANTS = {"as printed": [4, 3], "corrected": [1, 0]}  # dashes of a paper's model with and without its error
NUMBER = ",.5~r"  # format of numbers, without an exponent
ENDS = ("low", "high"), ("left", "right")  # columns with the ends of error bars in y and in x
ROW_HEIGHT, AXIS_HEIGHT = 36, 60  # pixels of a row that a word names, and of the axis and its title below the rows
WIDTH = 740  # pixels for a legend above a chart
FACET = 360, 230  # width and height in pixels of each of several charts side by side
LABEL = 320  # most pixels of a label in a legend
NAMED = 6  # most lines that a chart's alternative text names
CHARACTER = 7  # approximate width in pixels


class Chart(NamedTuple):
    """The declaration of a chart: marks over two columns, and lines through them. Columns are keys of the chart's rows.

    line     column that decides a mark's colour and symbol; '' for a single colour
    looks    looks of the values of `line`, in the legend's order; looks without names are for values in the rows'
             order; () for the next colour and symbol per value; a text is the title of a colour scale of numbers
    tips     columns shown when a pointer is over a mark, with their names, and their format if it is not NUMBER
    along    column in whose order a line joins its marks; '' for the column of x, None for no lines
    detail   column with a separate line for each value; the lines have the looks of `line`
    size     size of a mark, in square pixels
    opacity  opacity of a mark
    area     column with the area of each mark, as a share of the largest area
    band     columns with the ends of a band around each line
    level    number, or column with one value per line, for a rule across the chart; in a row or a bar, for a tick
    hollow   column that is true for marks with a white centre
    ringed   column that is true for marks with a ring around them
    names    column with names next to marks; in a chart without lines, marks with a name are larger
    front    rows of a dashed staircase below the marks
    marks    approximate limit of the number of marks per line; 0 for all
    cut      whether lines end a little beyond the domain of y, by `cut_above`
    pick     whether a click on a name in the legend fades the other lines
    bar      whether bars side by side replace marks, in a group for each word of an axis
    title    heading of the chart
    caption  plain text below the chart
    where    condition on the rows that the chart shows; None for all rows
    of_rows  function from the shown rows to those parts of this declaration, by name, that depend on them
    wide     whether the chart needs the whole width of the page

    On a y axis of words, each word has a row, with its name above the row's marks: phones have no room next to them.
    Rows may have the ends of error bars (ENDS), and a `variant` among VARIANTS, which decides the dash of a line.
    """

    x: Axis
    y: Axis
    line: str = "line"
    looks: Sequence[Look] | str = ()
    tips: Tips = MappingProxyType({})
    along: str | None = ""
    detail: str = ""
    size: int = 40
    opacity: float = 1
    area: str = ""
    band: tuple[str, str] | None = None
    level: str | float = ""
    hollow: str = ""
    ringed: str = ""
    names: str = ""
    front: Sequence[Row] = ()
    marks: int = 0
    cut: bool = False
    pick: bool = False
    bar: bool = False
    title: str = ""
    caption: str = ""
    where: Callable[[Row], bool] | None = None
    of_rows: Callable[[Sequence[Row]], Mapping[str, Any]] | None = None
    wide: bool = False

    def shown(self, rows: Iterable[Row]) -> list[Row]:
        """Return the given rows for which the chart's condition `where` holds."""
        return [row for row in rows if self.where is None or self.where(row)]

    def of(self, rows: Iterable[Row]) -> Chart:
        """Return this chart with names of lines, words on axes, and `of_rows` filled in from the given rows."""
        shown = self.shown(rows)
        chart = self._replace(**self.of_rows(shown)) if self.of_rows else self
        if not isinstance(chart.looks, str) and chart.looks and not chart.looks[0].name:
            names = dict.fromkeys(row[self.line] for row in shown)
            chart = chart._replace(looks=[look._replace(name=name) for look, name in zip(chart.looks, names)])
        return chart._replace(x=chart.x.worded(shown), y=chart.y.worded(shown), of_rows=None)

    def draw(self, rows: Iterable[Row], legend: alt.Legend | None = None) -> Drawing:
        """Draw the given rows. On a page, `legend` is None, as the page's script arranges the names in the legend."""
        shown = self.shown(rows)
        chart = self.of(shown)
        return chart._drawn(chart._thinned(shown), legend).properties(description=chart.alternative(shown))

    def alternative(self, rows: Iterable[Row]) -> str:
        """Return a text for readers who cannot see the chart: its title, axes, lines, least and greatest values."""
        shown = self.shown(rows)
        chart = self.of(shown)
        value, along = (chart.x, chart.y) if chart.y.order is not None else (chart.y, chart.x)
        said = [chart.title, " against ".join(axis.title or axis.column.replace("_", " ") for axis in (value, along))]
        names = list(dict.fromkeys(str(row[self.line]) for row in shown if self.line and self.line in row))
        if len(names) > 1 and not isinstance(chart.looks, str):
            said.append("; ".join(names[:NAMED]) + f"; {len(names) - NAMED} more" * (len(names) > NAMED))
        known = sorted((row for row in shown if row.get(value.column) is not None), key=lambda row: row[value.column])
        if known:
            ends = (f"{r[value.column]:,.5g} ({r.get('topology') or r.get(self.line)})" for r in (known[0], known[-1]))
            said.append("Least {}, most {}".format(*ends))
        return ". ".join(filter(None, said)) + "."

    def _thinned(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Thin out each line's rows to about `marks`, evenly, with the first and last row; cut the line if `cut`."""
        if not self.marks and not self.cut:
            return rows
        lines: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            lines.setdefault((row[self.line], row.get("variant"), row.get(self.detail)), []).append(row)
        kept: list[Row] = []
        for line in lines.values():
            step = max(1, round(len(line) / self.marks)) if self.marks else 1
            line = [line[0], *line[1:][::-step][::-1]]
            ends = self.y.domain if self.cut else None
            kept += cut_above(line, self.x.column, self.y.column, ends[1], logarithmic=self.y.log) if ends else line
        return kept

    def _drawn(self, rows: Sequence[Row], legend: alt.Legend | None) -> Drawing:
        present = {row[self.line] for row in rows} if self.line else set()
        known = [] if isinstance(self.looks, str) else self.looks or value_looks(sorted(present))
        looks = [look for look in known if look.name in present]
        values = self._values(rows, looks)
        base, shape = self._base(values, looks, legend or alt.Legend(symbolOpacity=1, labelLimit=240))
        tips = {name: said for name, said in self.tips.items() if any(name in row for row in values)}
        tooltip = [_tip(name, said, values) for name, said in tips.items()]
        if self.bar:
            return self._bars(base, tooltip)
        layers = [*self._below(base, values), *self._lines(base, values), *self._marks(base, shape, tooltip, values)]
        if self.y.order is not None:
            return alt.layer(*layers).properties(height=AXIS_HEIGHT + ROW_HEIGHT * len(self.y.order))
        return layers[0] if len(layers) == 1 else alt.layer(*layers)

    def _values(self, rows: Sequence[Row], looks: Sequence[Look]) -> list[dict[str, Any]]:
        """Return the rows of lines that have a look, with the columns that the chart needs and the dash of the line."""
        own: tuple[Any, ...] = (self.x.column, self.y.column, self.line, self.along, self.detail, self.area, self.level)
        own += (self.hollow, self.ringed, self.names, "variant", *(self.band or ()), *ENDS[0], *ENDS[1])
        columns = {*own, *self.tips}
        values = [{name: value for name, value in row.items() if name in columns} for row in rows]
        if not looks:
            return values
        dashed = any(look.dash != SOLID for look in looks)
        dashes = {look.name: {"dash": str(look.dash)} if dashed else {} for look in looks}
        return [row | dashes[row[self.line]] for row in values if row[self.line] in dashes]

    def _base(
        self, values: list[dict[str, Any]], looks: Sequence[Look], legend: alt.Legend
    ) -> tuple[alt.Chart, dict[str, Any]]:
        """Return (chart with data, axes and colours; encoding of the marks' symbols)."""
        most = math.inf if self.y.domain is None else self.y.domain[1]
        shown = values if most == math.inf else [row for row in values if row[self.y.column] <= most]
        x, y = self.x.of(alt.X, shown, words=True), self.y.of(alt.Y, shown, words=self.bar)
        encoding: dict[str, Any] = {"x": x, "y": y}
        shape: dict[str, Any] = {}
        if looks:
            names, colours, symbols, _ = (list(column) for column in zip(*looks))
            of: dict[str, Any] = {"shorthand": f"{self.line}:N", "title": None, "legend": legend}
            encoding["color"] = alt.Color(**of, scale=alt.Scale(domain=names, range=colours))
            shape["shape"] = alt.Shape(**of, scale=alt.Scale(domain=names, range=symbols))
        elif isinstance(self.looks, str):
            whole = all(isinstance(row[self.line], int) for row in values)
            beside = alt.Legend(orient="right", tickMinStep=1 if whole else alt.Undefined, format=".6~r")
            scale = alt.Scale(scheme="viridis")
            encoding["color"] = alt.Color(f"{self.line}:Q", title=self.looks, legend=beside, scale=scale)
        else:
            encoding["color"] = alt.value(BLUE)
        if self.detail:
            encoding["detail"] = f"{self.detail}:N"
        return alt.Chart(inline(values)).encode(**encoding), shape

    def _below(self, base: alt.Chart, values: list[dict[str, Any]]) -> list[alt.Chart]:
        """Return the layers below lines and marks: the staircase `front`, rules, bands and error bars."""
        layers = []
        if self.front:
            stairs = alt.Chart(inline(self.front)).mark_line(
                interpolate="step-before", strokeWidth=1.5, strokeDash=[4, 3], color=GREY
            )
            layers.append(stairs.encode(x=f"{self.x.column}:Q", y=f"{self.y.column}:Q"))
        if isinstance(self.level, float):
            layers.append(alt.Chart(inline([{"level": self.level}])).mark_rule(color=GREY).encode(y="level:Q"))
        elif self.level and self.y.order is None:
            levels = {row[self.line]: row for row in values if row[self.level] is not None}
            rules = alt.Chart(
                inline([{name: row[name] for name in (self.line, self.level)} for row in levels.values()])
            )
            colour = alt.Color(f"{self.line}:N", legend=base.encoding.color["legend"])
            layers.append(rules.mark_rule(strokeWidth=1, opacity=0.6).encode(y=f"{self.level}:Q", color=colour))
        x, y, clip = base.encoding.x, base.encoding.y, self.y.domain is not None
        if self.band:
            band = base.mark_area(opacity=0.18, clip=clip)
            layers.append(band.encode(y=_of(y, self.band[0]), y2=f"{self.band[1]}:Q"))
        for ends, axis, level in ((ENDS[0], y, False), (ENDS[1], x, True)):
            if any(row.get(ends[0]) is not None for row in values) and not self.band:
                known = base.transform_filter(f"isValid(datum.{ends[0]})")
                rule = known.mark_rule(strokeWidth=1.2, clip=clip)
                layers.append(rule.encode(_of(axis, ends[0]), **{"x2" if level else "y2": f"{ends[1]}:Q"}))
                upright: Any = "vertical" if level else "horizontal"
                tick = known.mark_tick(orient=upright, size=7, thickness=1.2, opacity=1, clip=clip)
                layers += [tick.encode(_of(axis, end)) for end in ends]
        return layers

    def _lines(self, base: alt.Chart, values: list[dict[str, Any]]) -> list[alt.Chart]:
        if self.along is None:
            return []
        lines = base.mark_line(strokeWidth=1 if self.pick else 2, clip=self.y.domain is not None)
        variants = [name for name in VARIANTS if any(row.get("variant") == name for row in values)]
        dashes = list(dict.fromkeys(row["dash"] for row in values if "dash" in row))
        if variants:
            scale = alt.Scale(domain=variants, range=[VARIANTS[name] for name in variants])
            below = alt.Legend(orient="bottom")
            lines = lines.encode(strokeDash=alt.StrokeDash("variant:N", title=None, legend=below, scale=scale))
        elif dashes:  # a field of its own: a dash by the line's name would show in the legend's marks
            scale = alt.Scale(domain=dashes, range=[json.loads(f"[{dash[1:-1]}]") for dash in dashes])
            lines = lines.encode(strokeDash=alt.StrokeDash("dash:N", legend=None, scale=scale))
        if self.along:
            lines = lines.encode(order=f"{self.along}:Q")
        return [self._picked(lines, 0.45, 0.04)]

    def _marks(
        self, base: alt.Chart, shape: dict[str, Any], tooltip: list[alt.Tooltip], values: list[dict[str, Any]]
    ) -> list[alt.Chart]:
        """Return the layer of marks, and layers with their white centres, rings, ticks and names."""
        clip = self.y.domain is not None
        marks = base.mark_point(filled=True, opacity=self.opacity, size=self.size, clip=clip)
        marks = marks.encode(tooltip=tooltip, **shape) if tooltip else marks.encode(**shape)
        if self.names and self.along is None:
            is_named = alt.when(f"datum.{self.names}")
            marks = marks.encode(
                size=is_named.then(alt.value(3 * self.size)).otherwise(alt.value(self.size)),
                opacity=is_named.then(alt.value(1)).otherwise(alt.value(self.opacity)),
            )
        if self.area:
            scale = alt.Scale(domain=[0, 1], range=[12, 260])
            marks = marks.encode(size=alt.Size(f"{self.area}:Q", legend=None, scale=scale))
        layers = [self._picked(marks, 0.9, 0.07, first=True)]
        if any(row.get(self.hollow) for row in values):
            centres = base.transform_filter(f"datum.{self.hollow}")
            centres = centres.mark_point(filled=True, opacity=1, size=0.3 * self.size, clip=clip)
            layers.append(centres.encode(color=alt.value(PAPER), **shape))
        if self.ringed:
            rings = base.transform_filter(f"datum.{self.ringed}").mark_point(size=220, strokeWidth=2)
            layers.append(rings.encode(color=alt.value(GREY)))
        if self.level and self.y.order is not None:
            ticks = base.mark_tick(thickness=2, size=16)
            layers.append(ticks.encode(x=_of(base.encoding.x, str(self.level)), color=alt.value(GREY)))
        if self.names:
            named = alt.Chart(base.data).transform_filter(f"datum.{self.names}")  # in the colour of text
            text = named.mark_text(align="left", dx=8, dy=0 if self.along is None else 14, fontSize=10.5, clip=clip)
            layers.append(text.encode(x=base.encoding.x, y=base.encoding.y, text=f"{self.names}:N"))
        if self.y.order is not None:
            column = self.y.column
            text = alt.Chart(inline([{column: name} for name in self.y.order]))
            text = text.mark_text(align="left", baseline="bottom", dy=-9, fontSize=11)
            layers.append(
                text.encode(x=alt.value(4), y=alt.Y(f"{column}:N", sort=list(self.y.order)), text=f"{column}:N")
            )
        return layers

    def _picked(self, chart: alt.Chart, opacity: float, faded: float, *, first: bool = False) -> alt.Chart:
        """Make a layer fade all lines except one picked in the legend; only the first layer defines the selection."""
        if not self.pick:
            return chart
        pick = alt.selection_point(name=self.line, fields=[self.line], bind="legend")
        shown = chart.encode(opacity=alt.when(pick).then(alt.value(opacity)).otherwise(alt.value(faded)))
        return shown.add_params(pick) if first else shown

    def _bars(self, base: alt.Chart, tooltip: list[alt.Tooltip]) -> Drawing:
        """Draw bars, with a name beyond the end of each bar and a tick at its level."""
        flat = self.y.order is not None
        names = base.encoding.color["scale"]["domain"]
        if flat:
            base = base.encode(yOffset=alt.YOffset(f"{self.line}:N", sort=names))
        else:
            base = base.encode(xOffset=alt.XOffset(f"{self.line}:N", sort=names))
        layers = [base.mark_bar().encode(tooltip=tooltip)]
        if self.names:
            text = base.mark_text(align="left", dx=4, fontSize=9) if flat else base.mark_text(dy=-7, fontSize=10)
            layers.append(text.encode(text=f"{self.names}:N", color=alt.value(GREY)))
        if self.level:
            layers.append(base.mark_tick(thickness=2).encode(y=f"{self.level}:Q", color=alt.value(GREY)))
        return alt.layer(*layers)


def _of(axis: alt.X | alt.Y, field: str) -> alt.X | alt.Y:
    """Return the same axis with the values of another field."""
    other = axis.copy(deep=False)
    other.shorthand = f"{field}:Q"
    return other


def _tip(column: str, said: Sequence[str], rows: Iterable[Row]) -> alt.Tooltip:
    """Return one line of a mark's tooltip; `said` is its title, or its title and the format of its numbers."""
    title, form = (said, "") if isinstance(said, str) else said
    value = next((row[column] for row in rows if row.get(column) is not None), "")
    if isinstance(value, str | bool):
        return alt.Tooltip(f"{column}:N", title=title)
    return alt.Tooltip(f"{column}:Q", title=title, format=form or ("," if isinstance(value, int) else NUMBER))


def faceted(chart: Chart, facets: Mapping[str, Sequence[Row]]) -> Drawing:
    """Draw a small chart for each title and its rows, side by side with the same axes; each has its own legend."""
    every = [row for rows in facets.values() for row in rows]
    looks = value_looks(sorted({row[chart.line] for row in every}))
    few = len(looks) <= len(SERIES)  # one colour for a line in all charts
    width, height = FACET
    chart = chart._replace(x=chart.x.ticked(every), y=chart.y.ticked(every))
    parts = [
        chart._replace(looks=looks if few else ())
        .draw(rows, key([look for look in looks if look.name in {row[chart.line] for row in rows}], width))
        .properties(width=width, height=height, title=alt.TitleParams(title, fontSize=13))
        for title, rows in facets.items()
    ]
    whole = alt.concat(*parts, columns=2, title="")
    whole = whole.properties(description=chart.alternative(every))
    own: Any = "independent"
    return whole.resolve_scale(x="shared", y="shared", color=own, shape=own, strokeDash=own)


def key(looks: Sequence[Look], width: int = WIDTH) -> alt.Legend:
    """Return a file's legend, above the chart if three rows suffice or the chart is small, and else to its right."""
    longest = min(LABEL, max(len(look.name) for look in looks) * CHARACTER)
    columns = max(1, width // (longest + 36))
    if len(looks) <= 3 * columns or width < WIDTH:
        rows = -(-len(looks) // columns)
        limit = LABEL if width == WIDTH else WIDTH  # of small charts, longer names move the next one aside
        return alt.Legend(columns=-(-len(looks) // rows), labelLimit=limit, symbolOpacity=1, symbolLimit=0)
    beside = -(-len(looks) // 22)  # rows that stand beside a chart
    return alt.Legend(orient="right", columns=beside, labelLimit=LABEL, symbolOpacity=1, symbolLimit=0)


# --- rows that a chart shows ----------------------------------------------------------------------


def compared(rows: list[dict[str, Any]], along: str) -> list[dict[str, Any]]:
    """Return the rows, or [] if they have fewer than two lines, or fewer than two values in the column `along`."""
    return rows if min(len({row[name] for row in rows}) for name in ("line", along)) > 1 else []


def spread(rows: Sequence[Any], most: int) -> list[Any]:
    """Return at most `most` of the rows, at even distances from the first to the last."""
    count = min(most, len(rows))
    return [rows[i * (len(rows) - 1) // max(1, count - 1)] for i in range(count)]


def cut_above(rows: Iterable[Row], along: str, column: str, most: float, *, logarithmic: bool = False) -> list[Row]:
    """Return the rows whose `column` is at most 2 · most, and points where lines cross that value.

    rows  rows line by line (line, variant, message_bits), each line in order along the axis

    The chart clips the lines at `most`, so the picture is the same without the rows beyond; SVG files and printers then
    need not draw the dashes outside.
    """
    end = 2 * most
    scale = math.log if logarithmic else float
    kept: list[Row] = []
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
