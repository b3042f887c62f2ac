"""Format results as aligned lines of text, and for notebooks as small HTML tables in which all values are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from torusweep.networks.topology import Topology
from torusweep.tables.columns import Column

Fact = tuple[str, str, str]  # name, value, what it means
LONGEST = 90  # characters of a value; longer values are cut
SHOWN_ROWS = 12
ONE = re.compile(r"(?<=ch)es\b|(?<=\w\w)s\b")  # plural ending of a unit, which the value 1 does not have
COUNTED = ("nodes", "links", "channels")  # units that are not printed, because the column's name has the same word
STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;color:inherit;background:transparent"
CELL = "padding:.15em .8em .15em 0;border:0;color:inherit;background:transparent"


def value_text(value: object) -> str:
    """Format a value for people. Numbers have six digits, True is yes, None is –, and long texts are cut."""
    text = whole_text(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def whole_text(value: object) -> str:
    """Format a value for people like `value_text`, but in full length."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Number):
        return f"{value:.6g}"
    if isinstance(value, dict):
        value = ", ".join(f"{key}: {whole_text(item)}" for key, item in value.items())
    elif isinstance(value, list | tuple):
        value = ", ".join(map(whole_text, value))
    return " ".join(str(value).split())


def facts_of(topology: Topology) -> list[Fact]:
    """Return facts to print about a network: size, notes, and its terminals unless each node has exactly one."""
    most = int(topology.degrees.max(initial=0))
    least = int(topology.degrees.min(initial=most))
    shown = [
        ("nodes", value_text(topology.nodes), ""),
        ("links", value_text(topology.links) + (", of one direction" if topology.directed else ""), ""),
        ("degree", value_text(most) if least == most else f"{least} … {most}", "links that leave a node"),
    ]
    if not np.array_equal(topology.terminals, np.arange(topology.nodes)):
        shown.append(("terminals", value_text(len(topology.terminals)), "nodes that send and receive"))
    if topology.plan.notes:
        shown.append(("notes", "; ".join(topology.plan.notes), "what was left out or changed"))
    return shown


class _Value(NamedTuple):
    """A column's value in a line: {name} and formats with u ({name:.9gu}) print its unit; {name:n} does not."""

    value: Any
    unit: str

    def __format__(self, form: str) -> str:
        shown = form.removesuffix("u")
        text = whole_text(self.value) if shown in ("", "n") else format(self.value, shown)
        if form[-1:] not in ("", "u") or not self.unit or not isinstance(self.value, int | float):
            return text
        return f"{text} {ONE.sub('', self.unit, 1) if text == '1' else self.unit}"


def facts(
    record: Mapping[str, Any], columns: Iterable[Column], lines: Iterable[str], usual: Mapping[str, Any]
) -> list[Fact]:
    """Return (label, value, meaning) of each printed line for a row of a table.

    A line is a column's name, or a label, a colon and templates, as in "bounds: {lower:n} … {upper}[ ({method})] |
    unknown". A part in brackets is left out if a column in it has no value. The line uses its first template in which
    all columns outside brackets have a value; without such a template, the line is left out. A name that is not a
    column's is a value that the question adds to the row. The meaning is that of the first column. `usual` maps a
    column to a value, or to another column's name: a column with this value, or with the other column's, counts as
    without a value.
    """
    known = {column.name: column for column in columns}
    values = {
        name: _Value(value, known[name].printed_unit if name in known else "")
        for name, value in record.items()
        if value not in (None, "", []) and not (name in usual and value == record.get(usual[name], usual[name]))
    }
    found = []
    for line in lines:
        label, _, templates = line.partition(": ")
        if not templates:
            repeated = label in known and known[label].unit in (label, *COUNTED)
            label, templates = label.replace("_", " "), f"{{{label}:n}}" if repeated else f"{{{label}}}"
        filled = (_filled(template, values) for template in templates.split(" | "))
        text = next((text for text in filled if text is not None), None)
        if text is not None:
            column = known.get(re.findall(r"{(\w+)|$", templates)[0])
            found.append((label, text, column.meaning if column else ""))
    return found


def _filled(template: str, values: Mapping[str, _Value]) -> str | None:
    """Fill a template of a line; None if a column outside brackets has no value."""
    parts = re.split(r"\[(.*?)\]", template)
    try:
        return "".join(
            (_filled(part, values) or "") if place % 2 else part.format_map(values) for place, part in enumerate(parts)
        )
    except KeyError:
        return None


def text_of(heading: str, lines: Iterable[Fact]) -> str:
    """Format a heading and, below it, one aligned line for each fact."""
    lines = list(lines)
    width = max((len(name) for name, _, _ in lines), default=0)
    return "\n".join([heading, *(f"  {name:<{width}}  {value_text(value)}" for name, value, _ in lines)])


def html_of(heading: str, lines: Iterable[Fact], picture: str = "") -> str:
    """Format facts as an HTML table, next to a drawing. picture: SVG of the drawing, not escaped; "" for none."""
    rows = "".join(
        f'<tr title="{escape(meaning if len(value) <= LONGEST else f"{meaning}: {value}")}">'
        f'<td style="{CELL};opacity:.7;text-align:left">{escape(name)}</td>'
        f'<td style="{CELL};text-align:left">{escape(value_text(value))}</td></tr>'
        for name, value, meaning in lines
    )
    table = f'<table style="{STYLE}"><tbody>{rows}</tbody></table>'
    title = f'<div style="font-weight:600">{escape(heading)}</div>'
    if not picture:
        return f'<div class="torusweep">{title}{table}</div>'
    return (
        f'<div class="torusweep">{title}<div style="display:flex;gap:1.5em;align-items:flex-start;flex-wrap:wrap">'
        f'<div style="width:16em;max-width:100%">{picture}</div>{table}</div></div>'
    )


def aligned(cells: Sequence[Sequence[str]], side: str = ">", gap: int = 2) -> list[str]:
    """Format rows of cells as lines with aligned columns. side: > aligns to the right, < to the left."""
    widths = [max(map(len, column)) for column in zip(*cells)]
    between = " " * gap
    return [between.join(f"{cell:{side}{width}}" for cell, width in zip(row, widths)).rstrip() for row in cells]


def rows_text(heading: str, rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """Format a heading and a table of the named columns; only the first SHOWN_ROWS rows are shown."""
    lines = aligned([list(names), *([value_text(row[name]) for name in names] for row in rows[:SHOWN_ROWS])])
    more = [f"… {len(rows):,} rows"] if len(rows) > SHOWN_ROWS else []
    return "\n".join([heading, *(f"  {line}" for line in lines), *more])


def _cell(value: object) -> str:
    """Format a value as an HTML table cell. If the text is cut, a tooltip has the whole text."""
    whole, shown = whole_text(value), value_text(value)
    title = "" if whole == shown else f' title="{escape(whole)}"'
    return f'<td style="{CELL};text-align:right"{title}>{escape(shown)}</td>'


def rows_html(
    heading: str,
    rows: Sequence[dict[str, Any]],
    names: Sequence[str],
    columns: Iterable[Column],
    most: int = SHOWN_ROWS,
) -> str:
    """Format a heading and at most `most` rows as an HTML table, which scrolls sideways if it is too wide."""
    meaning = {
        column.name: f"{column.meaning} {column.printed_unit and f'[{column.unit}]'}".strip() for column in columns
    }
    head = "".join(
        f'<th style="{CELL};text-align:right" title="{escape(meaning.get(name, ""))}">{escape(name)}</th>'
        for name in names
    )
    body = "".join("<tr>" + "".join(_cell(row[name]) for name in names) + "</tr>" for row in rows[:most])
    more = f"<div>… {len(rows):,} rows</div>" if len(rows) > most else ""
    return (
        f'<div class="torusweep" style="overflow-x:auto"><div style="font-weight:600">{escape(heading)}</div>'
        f'<table style="{STYLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>'
    )
