"""Where words go: a terminal in its own width and colours, or a pipe without either."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.table import Table

NARROWEST = 40  # characters; below this, words fall apart
PIPE_WIDTH = 240  # characters; wide enough that a sentence of a table stays on its line


@contextmanager
def page() -> Iterator[Console]:
    """A console to print on. On a pipe nothing is folded to a terminal's width, and no line ends in blanks."""
    if sys.stdout.isatty():
        console = Console(highlight=False)
        yield console if console.width >= NARROWEST else Console(highlight=False, width=NARROWEST)  # COLUMNS may say 0
        return
    text = io.StringIO()
    yield Console(file=text, highlight=False, width=PIPE_WIDTH)
    click.echo("\n".join(line.rstrip() for line in text.getvalue().split("\n")), nl=False)


def uncut(console: Console, table: Table) -> None:
    """Print a table as wide as what stands in it: a narrow terminal goes on in its next line, and no number loses digits."""
    for column in table.columns:
        column.no_wrap = True
    table.width = console.measure(table, options=console.options.update(max_width=PIPE_WIDTH)).maximum
    console.print(table, crop=False, soft_wrap=True)


def named(facts: Iterable[tuple[str, str]]) -> Table:
    """Named facts, a line each, the names dim. facts: (name, what is said of it)."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, said in facts:
        table.add_row(name, said)
    return table
