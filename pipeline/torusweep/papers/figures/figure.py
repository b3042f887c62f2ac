"""A figure of a paper: its rows, from the tables of a sweep, and its chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torusweep.charts.drawing import Chart
from torusweep.charts.section import Panel
from torusweep.tables.rows import Record, Tables

__all__ = ["Figure", "Record", "Row", "Tables", "panel_of"]

Row = dict[str, Any]


class Figure(NamedTuple):
    """A figure of a paper.

    id      of the page's element, and the name of the file
    place   the paper's number of the figure, and what differs here
    tables  that it needs
    rows    the numbers behind it; empty where the sweep does not have them
    chart   of these rows; in a file, one that needs a page's whole width is higher
    """

    id: str
    paper: str
    place: str
    tables: tuple[str, ...]
    rows: Callable[[Tables], list[Row]]
    chart: Chart

    def panel(self, rows: list[Row]) -> Panel:
        return Panel(self.id, self.chart, rows, self.place, level=4)


def panel_of(number: str) -> str:
    """The place of a simulated figure: '8a' is Fig. 8 (a), simulated."""
    figure, part = (number[:-1], f" ({number[-1]})") if number[-1] in "ab" else (number, "")
    return f"Fig. {figure}{part}, simulated"
