"""What a paper's figure is here: the numbers behind it, from the tables of a sweep, and the chart of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from torusweep.charts.chart import Chart

Record = Mapping[str, Any]
Tables = Mapping[
    str, Sequence[Record]
]  # by name (pipeline/torusweep/tables/records.py), as lists of records; a table that a sweep lacks is absent
Row = dict[str, Any]


class Figure(NamedTuple):
    """id: of the page's element and of the file; place: as the paper numbers it, with what is ours in words; caption: what to see.

    rows    the numbers behind it, from the tables named; empty where the sweep does not have what the figure shows
    chart   an Altair chart of these rows, without size or theme
    wide    needs the page's whole width, and more height
    """

    id: str
    paper: str
    place: str
    title: str
    caption: str
    tables: tuple[str, ...]
    rows: Callable[[Tables], list[Row]]
    chart: Callable[[list[Row]], Chart]
    wide: bool = False
