"""A chapter of the page: headings, notes, tables and charts.

Names and texts from outside pass through `html.escape` here, or in the function that makes the HTML. A long
table's first rows are HTML; all its rows are data (`packed`), which the page's script shows page by page.

A sample of many designs that keeps the best ones.
"""

from __future__ import annotations

import base64
import gzip
import json
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

MOST_WRITTEN_OUT = 1e15  # numbers from here on have an exponent
NOTHING = ("", "–")  # what a cell without a value says
FIRST_ROWS = 25  # of a table, in the page's HTML: what a reader without scripts, and paper, gets of it
MOST_DRAWN = 1500  # networks in a chart; the explorer has more
MOST_ROWS = 5000  # of a table, in the page: its file stays small; the Parquet tables have all
WORDS = {"topology": "network", "degree_max": "degree", "vc_rule": "rule", "virtual_channels": "VCs"}  # of columns
BREAKS = re.compile(
    r"(?<=[_/])(?=[^\s)])|(?<=\w\()(?=[^\s)])|(?<=[=,])(?=[^\s\d)])"
)  # `breakable` of tables.js does the same


def sampled(costs: Sequence[np.ndarray], count: int, most: int) -> np.ndarray:
    """int64[≤ most]: indices of the designs that are kept of `count`, ascending; the same for the same costs.

    costs  float64[count] each, less is better, NaN for no number

    The Pareto fronts of any two costs are kept as far as there is room (of designs equal in both, the
    first), and others evenly in their order.
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
    """The designs on the Pareto front of two costs, the first of equal ones. order: by the first cost, stable."""
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
    """A chart of some rows, under its title and above its caption.

    id     of the page's element that holds the chart
    place  of a paper, where the caption begins
    level  of the heading
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
    """Buttons that save the chart or the table above them."""
    buttons = "".join(f'<button type="button" data-save="{kind.lower()}">{kind}</button>' for kind in kinds)
    return f'<p class="downloads">Download {buttons}</p>'


def panels(charts: Mapping[str, Chart], rows: Sequence[Record], least: int = 2) -> list[Panel]:
    """A panel for each chart, by its id, that shows at least `least` of these rows."""
    return [Panel(id, chart, rows) for id, chart in charts.items() if len(chart.shown(rows)) >= least]


Part: TypeAlias = str | Sequence[Panel]


class Chapter(NamedTuple):
    """A chapter of the page.

    id      of its element, for links
    title   its heading
    parts   pieces of HTML, and lists of panels that stand side by side; empty ones are left out
    folded  what stands in place of the parts until a reader unfolds them (HTML); '': they are never folded
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
    """A heading within a section, with a note (HTML) below it."""
    return f"<h3>{escape(title)}</h3>{paragraph(note) if note else ''}"


def paragraph(note: str) -> str:
    """A note, which is HTML."""
    return f'<p class="note">{note}</p>'


def listing(title: str, note: str, fields: Iterable[Field], rows: Sequence[Any], empty: int = 0) -> str:
    """A table under a heading; '' without rows. The note is HTML, in which {} stands for the number of rows.

    empty  number of rows left out for lack of a value, for the note
    """
    count = f"{len(rows):,}" + (f"; {empty:,} without a value left out" if empty else "")
    return heading(title, note.format(count)) + table(fields, rows) if rows else ""


# --- tables ---------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """A table's cell: text, class of the style sheet, and the number that the column is sorted by."""

    text: str
    style: str = ""
    value: float | int | None = None

    def html(self) -> str:
        style = f' class="{self.style}"' if self.style else ""
        value = f' data-value="{"" if self.value is None else self.value}"' if self.style == "number" else ""
        return f"<td{style}{value}>{breakable(self.text)}</td>"

    def packed(self, style: str) -> str | list[Any]:
        """The cell as data, in a column of this style: its text, with style and value where they do not follow."""
        if self.style == style and (style != "number" or _read(self.text) is not None or self.value is None):
            return self.text
        return [self.text, self.style, self.value]


class Field(NamedTuple):
    """A column of a table on the page.

    cell     of a row
    meaning  shown on pointing at the heading
    style    of the heading: '', or 'number' for one above numbers
    """

    title: str
    cell: Callable[[Any], Cell]
    meaning: str = ""
    style: str = ""


def number(value: float | int | None, digits: int = 8) -> Cell:
    """A number's cell, to so many significant digits, or to the unit where it has more; a dash for None."""
    if value is None:
        return Cell("–", "number")
    whole = isinstance(value, int) or 10**digits <= abs(value) < MOST_WRITTEN_OUT
    text = f"{value:,.0f}" if whole else f"{value:.{digits}g}"
    return Cell(text if whole or "e" in text else f"{Decimal(text):,}", "number", value)


def fields(columns: Iterable[Column], *shown: str | tuple[Any, ...] | Field) -> list[Field]:
    """Columns of a table of records as they are declared: words or numbers, with their meaning and unit.

    shown  a column; or with the heading that stands for its name, and the digits of its numbers or a row's cell; or a
           field
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
    """The meaning of a results table's column, with its unit."""
    return column.meaning + (f" ({column.printed_unit})" if column.printed_unit else "")


def share(value: float | None, digits: int = 4) -> Cell:
    """A share's cell, in per cent."""
    return Cell("–", "number") if value is None else Cell(f"{100 * value:.{digits}g} %", "number", value)


def shared_field(field: Field) -> Field:
    """The same column in a table of groups of records that agree in it."""
    return field._replace(cell=lambda group: field.cell(group[0]))


def table(fields: Iterable[Field], rows: Iterable[Any], *, sortable: bool = True) -> str:
    """HTML of a table, a row for each of `rows`; a click on a heading sorts it. A column of nothing is left out.

    Of many rows the first stand in the HTML, and at most MOST_ROWS in its data.
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
    """HTML of a text whose long words may be broken after `_`, `(`, `/`, `=` and commas, and nowhere else.

    A number stays with its name, as in `seed=1`, and no bracket that closes stands alone.
    """
    return "<wbr>".join(map(escape, BREAKS.split(text)))


def _rows(cells: Sequence[Sequence[Cell]]) -> str:
    """Rows as data: the style of each column, and each row's cells."""
    styles = [cell.style for cell in cells[0]]
    rows = [[cell.packed(style) for cell, style in zip(row, styles, strict=True)] for row in cells]
    return packed({"styles": styles, "rows": rows})


def _read(text: str) -> float | None:
    """The number that a text is, as the script reads it."""
    return float(text.replace(",", "")) if re.fullmatch(r"-?[\d,]+(\.\d+)?(e[-+]?\d+)?", text) else None


def packed(data: Any) -> str:
    """Data for the page's script: JSON, gzip, base64, so that no text in them can be taken for HTML."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def extent(count: int, most: int = MOST_ROWS) -> str:
    """The number of `count` rows that a table of at most `most` shows, in words."""
    return f"the first {most:,} of {count:,} (the Parquet table has all)" if count > most else f"all {count:,}"
