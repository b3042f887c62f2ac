"""The console that commands print on: a terminal in its width and colours, or plain text for a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

MIN_WIDTH = 40  # characters; narrower columns would split words
PIPE_WIDTH = 240  # characters; a sentence in a table stays on one line
BAR_WIDTH = 40  # characters of the longest bar of a chart


@contextmanager
def open_console() -> Iterator[Console]:
    """A console on standard output. A pipe gets lines that are not wrapped, without colours and trailing blanks."""
    if sys.stdout.isatty():
        console = Console(highlight=False)
        # the variable COLUMNS may say 0
        yield console if console.width >= MIN_WIDTH else Console(highlight=False, width=MIN_WIDTH)
        return
    text = io.StringIO()
    yield Console(file=text, highlight=False, width=PIPE_WIDTH)
    click.echo("\n".join(line.rstrip() for line in text.getvalue().split("\n")), nl=False)


def print_heading(console: Console, text: str) -> None:
    """A heading, in bold."""
    console.print(Text(text, style="bold"))


def print_note(console: Console, text: str) -> None:
    """An explanation, dimmed."""
    console.print(Text(text, style="dim"))


def print_wide(console: Console, table: Table) -> None:
    """Print a table at its full width: a narrow terminal wraps its lines, and no number loses digits."""
    for column in table.columns:
        column.no_wrap = True
    table.width = console.measure(table, options=console.options.update(max_width=PIPE_WIDTH)).maximum
    console.print(table, crop=False, soft_wrap=True)


def fact_table(facts: Iterable[tuple[str, str]]) -> Table:
    """A line for each (name, value), the names dimmed."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(name, value)
    return table


def number_table(*headings: str, left: int = 0) -> Table:
    """A table of numbers with dimmed headings: its first `left` columns are aligned left, the others right."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for position, heading in enumerate(headings):
        table.add_column(heading, style="" if heading else "dim", justify="left" if position < left else "right")
    return table
