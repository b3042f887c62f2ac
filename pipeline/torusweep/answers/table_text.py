"""A table as text: aligned columns for people, CSV and JSON for programs."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
import math
from collections.abc import Sequence
from typing import Any, Literal, TextIO

import pyarrow as pa
from pyarrow import types
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from torusweep.errors import BadInput, one_line, printable
from torusweep.quantities import counted

DIGITS = 6  # significant, of a number for people
LEAST_TEXT = 24  # characters that a folded column is wide, at least
SHORT_TEXT = 14  # that a type or unit is wide, where rows describe columns
PIPE_WIDTH = 100_000  # characters; a piped table is never folded


def records(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows for JSON: maps become objects, times become text, numbers that are not finite become null.

    Raises BadInput for a column without Python values: dates before year 1 or after 9999, maps with lists as keys.
    """
    columns = {name: [_plain(value) for value in _values(table.column(name), name)] for name in table.column_names}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def as_json(table: pa.Table) -> str:
    """Return the table as one JSON array, with one row on each line."""
    rows = ",\n ".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in records(table))
    return f"[{rows}]\n"


def as_csv(table: pa.Table) -> str:
    """Return comma-separated values after a line of column names; lists and maps are JSON, nulls are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows([_cell(value, null="") for value in row.values()] for row in records(table))
    return text.getvalue()


def cells(table: pa.Table) -> list[list[str]]:
    """Return the column names and then the rows as readable texts: numbers to six digits, – for null."""
    names = [printable(name) for name in table.column_names]
    return [names, *([printable(_cell(_rounded(value), null="–")) for value in row.values()] for row in records(table))]


def print_aligned(table: pa.Table, file: TextIO, *, columns: bool = False) -> None:
    """Print aligned columns, with numbers to six digits. A narrow terminal shows each value on its own line.

    columns  whether the rows describe columns: then long texts are folded instead
    """
    console = Console(file=file, highlight=False)
    if not console.is_terminal:
        console = Console(file=file, highlight=False, width=PIPE_WIDTH)
    names, *rows = cells(table)
    widths = [max(map(cell_len, column)) for column in zip(names, *rows)]
    text = [place for place, field in enumerate(table.schema) if types.is_string(field.type)]
    folded = _folded(widths, text, console.width)
    if columns and folded is None:
        folded = text[1:]
    if folded is None:
        _print_records(console, names, rows)
    else:
        shown = Table(box=None, pad_edge=False, header_style="bold")
        for place, (field, name) in enumerate(zip(table.schema, names)):
            number = types.is_integer(field.type) or types.is_floating(field.type) or types.is_decimal(field.type)
            least = min(widths[place], SHORT_TEXT if columns else LEAST_TEXT) if place in folded else widths[place]
            most = SHORT_TEXT if columns and place in folded[:-1] else None
            justify: Literal["right", "left"] = "right" if number else "left"
            shown.add_column(Text(name), justify=justify, overflow="fold", min_width=least, max_width=most)
        for row in rows:
            shown.add_row(*map(Text, row))
        console.print(shown)
    console.print(Text(counted(table.num_rows, "row"), style="dim"))


def _folded(widths: Sequence[int], text: Sequence[int], most: int) -> list[int] | None:
    """Return at most two text columns to fold, the widest first, so that the table fits; None if it still does not."""
    widest = sorted(text, key=lambda place: -widths[place])
    for count in range(3):
        folded = [place for place in widest[:count] if widths[place] > LEAST_TEXT]
        total = sum(widths) + 2 * (len(widths) - 1) + sum(LEAST_TEXT - widths[place] for place in folded)
        if total <= most:
            return folded
    return None


def _print_records(console: Console, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print every row as a block with a line for each column: the column's name and its value."""
    for number, row in enumerate(rows, start=1):
        console.print(Text(f"row {number}", style="bold"))
        block = Table(box=None, show_header=False, pad_edge=False)
        block.add_column(style="dim", overflow="fold")
        block.add_column(overflow="fold")
        for name, value in zip(names, row):
            block.add_row(Text(name), Text(value))
        console.print(block)


def _values(column: pa.ChunkedArray[Any], name: str) -> list[Any]:
    """Return a column's values, with Arrow maps as dictionaries. Raises BadInput for values that Python cannot hold."""
    try:
        values = column.to_pylist()
        return [None if value is None else dict(value) for value in values] if types.is_map(column.type) else values
    except (OverflowError, ValueError, TypeError) as error:
        shown = printable(name)[:60]
        raise BadInput(
            f"column {shown!r}: expected values that can be printed, got: {one_line(error)}; write CAST(x AS VARCHAR)"
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _rounded(value: Any) -> Any:
    """Return a value of `records` with numbers rounded to DIGITS significant digits; whole parts are never rounded."""
    if isinstance(value, float):
        return float(round(value)) if abs(value) >= 10**DIGITS else float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return value


def _cell(value: Any, *, null: str) -> str:
    if value is None:
        return null
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def lacks_values(answer: pa.Table) -> bool:
    """Return whether an answer has no row, or a column that contains only nulls."""
    return any(column.null_count == answer.num_rows for column in answer.columns)
