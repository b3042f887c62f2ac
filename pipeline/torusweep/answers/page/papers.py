"""The page's section on the papers' figures: each that the sweep has numbers for, with a caption."""

from __future__ import annotations

from html import escape
from itertools import groupby

from torusweep.charts.section import Chapter, Panel, Tables, heading
from torusweep.papers.figures import Figure, Row, drawable
from torusweep.papers.verification import PAPER_NAMES


def papers_section(tables: Tables) -> Chapter | None:
    """The figures, paper by paper; None if the sweep has numbers for none."""
    parts: list[str | list[Panel]] = []
    figures = drawable(tables)
    for paper, found in groupby(figures, key=lambda item: item[0].paper):
        parts += [heading(PAPER_NAMES[paper]), [_panel(figure, rows) for figure, rows in found]]
    folded = f"{len(figures)} figure{'s' * (len(figures) > 1)} of the papers, drawn from this sweep's numbers"
    return Chapter("papers", "The papers' figures", parts, folded=folded) if parts else None


def _panel(figure: Figure, rows: list[Row]) -> Panel:
    caption = f"<b>{escape(figure.place)}.</b> {escape(figure.caption)}"
    label = f"{figure.paper} {figure.place}: {figure.title}"
    return Panel(figure.id, figure.title, figure.chart(rows), caption, label, wide=figure.wide, level=4)
