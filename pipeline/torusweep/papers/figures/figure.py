"""Describe a figure of a paper by its chart, and the chart's rows from the tables of a sweep."""

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

    id      id of the page's element, and name of the file
    paper   short name of the paper, as in PAPER_NAMES
    place   number of the figure in the paper, and how this figure differs
    tables  names of the tables that the figure needs
    rows    function from a sweep's tables to the chart's rows; [] if the sweep lacks the numbers
    chart   chart of these rows; in a file, a chart that needs a page's whole width is higher
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
    """Return the place of a simulated figure in words, such as 'Fig. 8 (a), simulated' for the number '8a'."""
    figure, part = (number[:-1], f" ({number[-1]})") if number[-1] in "ab" else (number, "")
    return f"Fig. {figure}{part}, simulated"
