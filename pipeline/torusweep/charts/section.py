"""Chapters of the results page: headings, notes, tables and charts.

Names and texts from outside pass through `html.escape` here, or in the function that makes the HTML. The first rows
of a long table are HTML; all its rows are also data (`packed`), which the page's script shows page by page.

`sampled` chooses a sample of many designs that keeps the best designs.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from html import escape
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from torusweep.charts import Drawing
from torusweep.charts.drawing import Chart
from torusweep.tables.columns import NUMBERS, Column
from torusweep.tables.rows import Record

MOST_WRITTEN_OUT = 1e15  # larger numbers have an exponent
NOTHING = ("", "–")  # texts of a cell without a value
FIRST_ROWS = 25  # of a table in the page's HTML, for readers without scripts, and for paper
MOST_DRAWN = 1500  # networks in a chart; the explorer has more
MOST_ROWS = 5000  # of a table in the page, whose file stays small; the Parquet tables have all rows
WORDS = {"topology": "network", "degree_max": "degree", "vc_rule": "rule", "virtual_channels": "VCs"}  # headings
BREAKS = re.compile(
    r"(?<=[_/])(?=[^\s)])|(?<=\w\()(?=[^\s)])|(?<=[=,])(?=[^\s\d)])"
)  # `breakable` of tables.js does the same


def sampled(costs: Sequence[np.ndarray], count: int, most: int) -> np.ndarray:
    """Return the ascending indices of a sample of `count` designs, int64[≤ most]. Equal costs give the same sample.

    costs  float64[count] for each kind of cost; less is better, and NaN is a missing number

    The sample first takes the Pareto front of each two kinds of cost, as far as there is room. Of designs with equal
    costs, a front has only the first. Evenly spaced designs fill the rest.
    """
    if count <= most:
        return np.arange(count)
    kept = np.zeros(count, bool)
    for i, first in enumerate(costs):
        order = np.argsort(first, kind="stable")  # NaN last
        order = order[: np.count_nonzero(~np.isnan(first))]
        for second in costs[i:]:
            kept[_front(first, second, order)] = True
    front = np.flatnonzero(kept)[:most]
    others = np.flatnonzero(~kept)
    room = most - len(front)
    evenly = others[np.arange(room) * len(others) // room] if room else others[:0]
    return np.sort(np.concatenate([front, evenly]))


def _front(first: np.ndarray, second: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the Pareto front of two costs, with the first of equal designs. `order` sorts designs by `first`."""
    order = order[~np.isnan(second[order])]
    if not len(order):
        return order
    begin = np.flatnonzero(np.append(True, np.diff(first[order]) != 0))  # of those equal in the first cost
    least = np.minimum.reduceat(second[order], begin)
    beaten = np.append(False, least[1:] >= np.minimum.accumulate(least)[:-1])
    ends = np.append(begin[1:], len(order))
    chosen = [at + int(np.argmin(second[order[at:end]])) for at, end in zip(begin[~beaten], ends[~beaten])]
    return order[np.array(chosen, np.int64)]


class Panel(NamedTuple):
    """A chart with the rows that it shows, its title above and its caption below.

    id     id of the page's element that holds the chart
    place  place in a paper, with which the caption begins; '' for none
    level  level of the heading
    """

    id: str
    chart: Chart
    rows: Sequence[Record]
    place: str = ""
    level: int = 3

    @property
    def drawing(self) -> Drawing:
        return self.chart.draw(self.rows)

    def html(self) -> str:
        chart = self.chart.of(self.rows)
        style = ' class="wide"' if chart.wide else ""
        place = f"<b>{escape(self.place)}.</b> " if self.place else ""
        label = escape(place and f"{self.place}: ") + escape(chart.alternative(self.rows))
        return (
            f"<figure{style}><h{self.level}>{escape(chart.title)}</h{self.level}>"
            f'<div class="chart" id="{escape(self.id)}" role="img" aria-label="{label}"></div>'
            f"{downloads('SVG', 'PNG')}<figcaption>{place}{escape(chart.caption)}</figcaption></figure>"
        )


def downloads(*kinds: str) -> str:
    """Return the HTML of buttons that save the chart or the table above them, in each of the given formats."""
    buttons = "".join(f'<button type="button" data-save="{kind.lower()}">{kind}</button>' for kind in kinds)
    return f'<p class="downloads">Download {buttons}</p>'


def panels(charts: Mapping[str, Chart], rows: Sequence[Record], least: int = 2) -> list[Panel]:
    """Return a panel for each chart, given by its id, that shows at least `least` of the rows."""
    return [Panel(id, chart, rows) for id, chart in charts.items() if len(chart.shown(rows)) >= least]


Part: TypeAlias = str | Sequence[Panel]


class Chapter(NamedTuple):
    """A chapter of the page.

    id      id of the chapter's element, for links
    title   heading of the chapter
    parts   pieces of HTML, and lists of panels that stand side by side; empty parts are left out
    folded  HTML shown in place of the parts until a reader unfolds them; '' if they are not folded
    """

    id: str
    title: str
    parts: Sequence[Part]
    folded: str = ""

    @property
    def body(self) -> str:
        return "\n".join(part if isinstance(part, str) else _side_by_side(part) for part in self.parts if part)

    @property
    def panels(self) -> list[Panel]:
        return [panel for part in self.parts if not isinstance(part, str) for panel in part]

    def html(self) -> str:
        body = self.body
        if self.folded:
            body = f'<details class="fold"><summary>{self.folded}</summary>\n{body}</details>'
        return f'<section id="{self.id}"><h2>{escape(self.title)}</h2>\n{body}</section>'


def _side_by_side(panels: Iterable[Panel]) -> str:
    return f'<div class="figures">{"".join(panel.html() for panel in panels)}</div>'


def heading(title: str, note: str = "") -> str:
    """Return the HTML of a heading within a section, with a note (HTML) below the heading."""
    return f"<h3>{escape(title)}</h3>{paragraph(note) if note else ''}"


def paragraph(note: str) -> str:
    """Return the HTML of a paragraph with a note, which is HTML itself."""
    return f'<p class="note">{note}</p>'


def listing(title: str, note: str, fields: Iterable[Field], rows: Sequence[Any], empty: int = 0) -> str:
    """Return the HTML of a table under a heading; '' without rows. In the note (HTML), {} is the number of rows.

    empty  number of rows left out for lack of a value, for the note
    """
    count = f"{len(rows):,}" + (f"; {empty:,} without a value left out" if empty else "")
    return heading(title, note.format(count)) + table(fields, rows) if rows else ""


# --- tables ---------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """A table's cell: its text, its class in the style sheet, and the number by which its column is sorted."""

    text: str
    style: str = ""
    value: float | int | None = None

    def html(self) -> str:
        style = f' class="{self.style}"' if self.style else ""
        value = f' data-value="{"" if self.value is None else self.value}"' if self.style == "number" else ""
        return f"<td{style}{value}>{breakable(self.text)}</td>"

    def packed(self, style: str) -> str | list[Any]:
        """Return the cell as data for a column of the given style: its text, or, if that is not enough, all fields."""
        if self.style == style and (style != "number" or _read(self.text) is not None or self.value is None):
            return self.text
        return [self.text, self.style, self.value]


class Field(NamedTuple):
    """A column of a table on the page.

    title    text of the heading
    cell     function from a row to its cell
    meaning  text shown when a pointer is over the heading
    style    style of the heading: 'number' above numbers, else ''
    """

    title: str
    cell: Callable[[Any], Cell]
    meaning: str = ""
    style: str = ""


def number(value: float | int | None, digits: int = 8) -> Cell:
    """Return the cell of a number with `digits` significant digits; larger numbers are rounded to units, None is –."""
    if value is None:
        return Cell("–", "number")
    whole = isinstance(value, int) or 10**digits <= abs(value) < MOST_WRITTEN_OUT
    text = f"{value:,.0f}" if whole else f"{value:.{digits}g}"
    return Cell(text if whole or "e" in text else f"{Decimal(text):,}", "number", value)


def fields(columns: Iterable[Column], *shown: str | tuple[Any, ...] | Field) -> list[Field]:
    """Return fields for columns of a table of records, with their declared meaning and unit.

    shown  for each field: a column's name, a ready field, or a tuple (name, heading, digits of numbers or function from
           row to cell)
    """
    known = {column.name: column for column in columns}
    return [
        one if isinstance(one, Field) else _field(known, *((one,) if isinstance(one, str) else one)) for one in shown
    ]


def _field(known: Mapping[str, Column], name: str, title: str = "", shown: int | Callable[[Any], Cell] = 8) -> Field:
    meaning, title = meaning_of(known[name]), title or WORDS.get(name) or name.replace("_", " ")
    style = "number" if known[name].type in NUMBERS else ""
    if not isinstance(shown, int):
        return Field(title, shown, meaning, style)
    if style:
        return Field(title, lambda row: number(row[name], shown), meaning, style)
    return Field(title, lambda row: Cell(_word(row[name]), "name" if name == "topology" else "short"), meaning)


def _word(value: str | bool | None) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else value or "–"


def meaning_of(column: Column) -> str:
    """Return the meaning of a column of a results table, with the column's unit."""
    return column.meaning + (f" ({column.printed_unit})" if column.printed_unit else "")


def share(value: float | None, digits: int = 4) -> Cell:
    """Return the cell of a share, in per cent; a dash for None."""
    return Cell("–", "number") if value is None else Cell(f"{100 * value:.{digits}g} %", "number", value)


def shared_field(field: Field) -> Field:
    """Return a field for a table of groups of records, in which all records of a group have the same value."""
    return field._replace(cell=lambda group: field.cell(group[0]))


def table(fields: Iterable[Field], rows: Iterable[Any], *, sortable: bool = True) -> str:
    """Return the HTML of a table, which a click on a heading sorts. Columns without values are left out.

    The HTML has at most the first FIRST_ROWS of `rows`; its data have at most MOST_ROWS.
    """
    rows = list(rows)
    columns = [(field, [field.cell(row) for row in rows[:MOST_ROWS]]) for field in fields]
    columns = [(field, own) for field, own in columns if any(cell.text not in NOTHING for cell in own)]
    button = "<button type=button>{}</button>" if sortable else "{}"
    head = "".join(
        f'<th class="{field.style}" title="{escape(field.meaning)}">' + button.format(breakable(field.title)) + "</th>"
        for field, _ in columns
    )
    cells = list(zip(*(own for _, own in columns)))
    body = "\n".join("<tr>" + "".join(cell.html() for cell in row) + "</tr>" for row in cells[:FIRST_ROWS])
    kind = ' class="sortable"' if sortable else ""
    data = f' data-rows="{_rows(cells)}"' if len(cells) > FIRST_ROWS else ""
    note = f'<p class="note">In this page: {extent(len(rows), MOST_ROWS)}.</p>' if len(rows) > MOST_ROWS else ""
    content = f"<thead><tr>{head}</tr></thead><tbody>\n{body}</tbody>"
    shown = f'<div class="scroll" tabindex="0"><table{kind}>{content}</table></div>'
    return f'<div class="table"{data}>{shown}{note}{downloads("CSV")}</div>'


def breakable(text: str) -> str:
    """Return the HTML of a text whose long words may break only after `_`, `(`, `/`, `=` and commas.

    A number stays with its name, as in `seed=1`, and a closing bracket never stands alone.
    """
    return "<wbr>".join(map(escape, BREAKS.split(text)))


def _rows(cells: Sequence[Sequence[Cell]]) -> str:
    """Return rows as data for the page's script: the style of each column, and each row's cells."""
    styles = [cell.style for cell in cells[0]]
    rows = [[cell.packed(style) for cell, style in zip(row, styles, strict=True)] for row in cells]
    return packed({"styles": styles, "rows": rows})


def _read(text: str) -> float | None:
    """Return the number that a text denotes, as the page's script reads it; None if it is not a number."""
    return float(text.replace(",", "")) if re.fullmatch(r"-?[\d,]+(\.\d+)?(e[-+]?\d+)?", text) else None


def packed(data: Any) -> str:
    """Pack data as JSON, gzip and base64, so that the page cannot mistake any text in them for HTML."""
    return base64.b64encode(gzip.compress(json_text(data).encode(), compresslevel=6, mtime=0)).decode()


def json_text(data: Any) -> str:
    """Return compact JSON. Numbers that are not finite become null."""
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(data), ensure_ascii=False, separators=(",", ":"))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def extent(count: int, most: int = MOST_ROWS) -> str:
    """Say in words how many of `count` rows a table of at most `most` rows shows."""
    return f"the first {most:,} of {count:,} (the Parquet table has all)" if count > most else f"all {count:,}"
