"""The console that commands print on: a terminal with its width and colours, or plain text for a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from torusweep.questions.display import whole_text

MIN_WIDTH = 40  # characters; narrower columns would split words
PIPE_WIDTH = 240  # characters; a sentence in a table stays on one line
BAR_WIDTH = 40  # characters of the longest bar of a chart
MOST_CHANNELS = 32  # channels of a circular wait that are printed; --json has all
NO_ROUTE = (  # line on pairs of terminals without a route, for rows with the columns LOST
    "no route: {lost_pairs} of terminals ({lost_share:.2%}), as {lost_examples}[; {lost_traffic:.2%} of the traffic,"
    " which is not sent]"
)


@contextmanager
def open_console() -> Iterator[Console]:
    """Open a console on standard output. Output to a pipe has unwrapped lines, no colours and no trailing blanks."""
    if sys.stdout.isatty():
        console = Console(highlight=False)
        # the environment variable COLUMNS may be 0
        yield console if console.width >= MIN_WIDTH else Console(highlight=False, width=MIN_WIDTH)
        return
    text = io.StringIO()
    yield Console(file=text, highlight=False, width=PIPE_WIDTH)
    click.echo("\n".join(line.rstrip() for line in text.getvalue().split("\n")), nl=False)


def print_heading(console: Console, text: str) -> None:
    """Print a heading in bold."""
    console.print(Text(text, style="bold"))


def print_note(console: Console, text: str) -> None:
    """Print an explanation in dimmed text."""
    console.print(Text(text, style="dim"))


def print_facts(console: Console, heading: str, facts: Iterable[tuple[str, ...]]) -> None:
    """Print a heading, then a line for each (name, value, …). Names are dimmed, and a terminal wraps long values."""
    print_heading(console, heading)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value, *_ in facts:
        table.add_row(Text(name), Text(value))
    console.print(table)


def print_circle(console: Console, channels: Sequence[str], said: str, packets: Sequence[str] | None = None) -> None:
    """Print channels, each waiting for the next, and the packets that hold them; leave out the middle of many."""
    print_note(console, f"\n{said} the next; in the last, the first:")
    width, digits = max(map(len, channels)), len(str(len(channels)))
    holders = [""] * len(channels) if packets is None else [f"   packet {packet}" for packet in packets]
    lines = [
        f"  {number:>{digits}}  {channel:{width}}{holder}".rstrip()
        for number, (channel, holder) in enumerate(zip(channels, holders), 1)
    ]
    half = MOST_CHANNELS // 2
    if len(lines) > MOST_CHANNELS:
        lines[half:-half] = [f"  … {len(lines) - 2 * half} more …"]
    console.print(Text("\n".join(lines)))


Columns = Mapping[Any, str]  # a key of the row, or a function of the row that returns the cell → the column's heading


def print_rows(
    console: Console,
    rows: Iterable[Any],
    columns: Columns,
    *,
    left: Collection[Any] = (),
    bold: Callable[[Any], bool] = lambda row: False,
) -> None:
    """Print rows as a table at its full width. A narrow terminal wraps long lines instead of cutting numbers.

    columns  contents of a cell → heading of its column. The contents are a key of the row (numbers get six digits), a
             key with a format as in 'mean:.4g', or a function of the row. None prints as –
    left     keys of `columns` that are aligned left; other columns are aligned right
    bold     function of a row: whether it is printed in bold
    """
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for shown, heading in columns.items():
        justify: Literal["left", "right"] = "left" if shown in left else "right"
        table.add_column(heading, style="" if heading else "dim", justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*(_cell(row, shown) for shown in columns), style="bold" if bold(row) else None)
    table.width = console.measure(table, options=console.options.update(max_width=PIPE_WIDTH)).maximum
    console.print(table, crop=False, soft_wrap=True)


def _cell(row: Any, shown: Any) -> Text:
    name, form = ("", "") if callable(shown) else shown.partition(":")[::2]
    value = shown(row) if callable(shown) else row[name] if isinstance(row, Mapping) else getattr(row, name)
    if isinstance(value, str):
        return Text(value)
    return Text(format(value, form) if form and value is not None else whole_text(value))


def print_bars(console: Console, bars: Iterable[tuple[str, float, float, str]], indent: str = "") -> None:
    """Print a bar for each (label, length of the dark part, length of the bar, text after the bar)."""
    bars = list(bars)
    width, most = max(len(label) for label, *_ in bars), max(whole for _, _, whole, _ in bars) or 1
    for label, dark, whole, said in bars:
        ends = [max(int(length > 0), round(BAR_WIDTH * length / most)) for length in (dark, whole)]
        bar = "█" * ends[0] + "░" * (ends[1] - ends[0])
        console.print(Text(f"{indent}{label:>{width}} {bar:<{BAR_WIDTH}} {said}"))
