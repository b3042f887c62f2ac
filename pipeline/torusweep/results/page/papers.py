"""The page's part on the papers' figures: each that the sweep has numbers for, under its paper, with what to see in it."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import Any

from torusweep.charts.chart import specification
from torusweep.papers.figures import Figure, Tables, drawable
from torusweep.stages.static.section import PAPER_NAMES, Section


def papers_section(tables: Tables, drawn: dict[str, Any]) -> Section:
    """The section; its charts' Vega-Lite specifications join `drawn`, by the id of the element that each is drawn in."""
    parts = []
    for paper, found in groupby(drawable(tables), key=lambda item: item[0].paper):
        figures = []
        for figure, rows in found:
            drawn[figure.id] = specification(figure.chart(rows))
            figures.append(_place(figure))
        parts.append(f'<h3>{escape(PAPER_NAMES[paper])}</h3><div class="figures">{"".join(figures)}</div>')
    return Section("papers", "The papers' figures", "\n".join(parts))


def _place(figure: Figure) -> str:
    label = f"{figure.paper} {figure.place}: {figure.title}"
    chart = f'<div class="chart" id="{escape(figure.id)}" role="img" aria-label="{escape(label)}"></div>'
    caption = f"<figcaption><b>{escape(figure.place)}.</b> {escape(figure.caption)}</figcaption>"
    style = ' class="wide"' if figure.wide else ""
    return f"<figure{style}><h4>{escape(figure.title)}</h4>{chart}{caption}</figure>"
