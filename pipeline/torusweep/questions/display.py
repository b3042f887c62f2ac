"""Format results as aligned lines of text, and as small HTML tables for notebooks with all values escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from numbers import Number
from typing import Any

import numpy as np

from torusweep.networks.topology import Topology
from torusweep.tables.columns import Column

Fact = tuple[str, str, str]  # name, value, what it means
LONGEST = 90  # characters of a value; longer ones are cut
SHOWN_ROWS = 12
COUNTED = ("nodes", "links", "channels")  # units that are not printed, because the column's name has the same word
STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;color:inherit;background:transparent"
CELL = "padding:.15em .8em .15em 0;border:0;color:inherit;background:transparent"


def value_text(value: object) -> str:
    """Format a value for people: numbers with six digits, True as yes, None as –; long texts are cut."""
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
    """Facts to print about a network: its size, its notes, and its terminals unless each node has exactly one."""
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


def facts(record: dict[str, Any], columns: Sequence[Column], names: Iterable[str]) -> list[Fact]:
    """(name, value with its unit, meaning) of the named columns of a row; columns without a value are left out."""
    known = {column.name: column for column in columns}
    found = []
    for name in names:
        value, column = record[name], known[name]
        if value is None or value in ("", []):
            continue
        said = column.printed_unit in ("", name, *COUNTED) or not isinstance(value, int | float)
        whole = whole_text(value)
        one = whole == "1" and column.unit.endswith("s") and len(column.unit) > 2 and column.unit.isalpha()
        unit = "" if said else f" {column.unit.removesuffix('s' if one else '')}"
        meaning = column.meaning if len(whole) <= LONGEST else f"{column.meaning}: {whole}"
        found.append((name, f"{value_text(value)}{unit}", meaning))
    return found


def text_of(heading: str, lines: Iterable[Fact]) -> str:
    """Format a heading and, below it, one aligned line for each fact."""
    lines = list(lines)
    width = max((len(name) for name, _, _ in lines), default=0)
    return "\n".join([heading, *(f"  {name:<{width}}  {value}" for name, value, _ in lines)])


def html_of(heading: str, lines: Iterable[Fact], picture: str = "") -> str:
    """Format facts as an HTML table, next to a drawing. picture: SVG of the drawing, not escaped; "" for none."""
    rows = "".join(
        f'<tr title="{escape(meaning)}"><td style="{CELL};opacity:.7;text-align:left">{escape(name)}</td>'
        f'<td style="{CELL};text-align:left">{escape(value)}</td></tr>'
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
