"""Draw the papers' figures from the tables of a sweep, and write them as SVG files; FIGURES lists them.

A figure is drawn if the sweep has its numbers. tests/papers/figures/ checks what the captions claim.
"""

from __future__ import annotations

from pathlib import Path

from torusweep.charts import finished, save
from torusweep.papers.figures import c10, c10_simulated, d90, p04_distances, p04_latency, r05
from torusweep.papers.figures.figure import Figure, Row, Tables
from torusweep.papers.verification.rows import PAPER_NAMES

__all__ = ["FIGURES", "Figure", "Row", "drawable"]

FIGURES: tuple[Figure, ...] = (
    *p04_distances.FIGURES,
    *p04_latency.FIGURES,
    *p04_latency.RATIO_FIGURES,
    *d90.FIGURES,
    *c10.FIGURES,
    *c10_simulated.FIGURES,
    *c10.APPLICATION_FIGURES,
    *r05.FIGURES,
    *r05.SIMULATED_FIGURES,
)
WIDTH, HEIGHT, WIDE_HEIGHT = 560, 360, 440


def drawable(tables: Tables) -> list[tuple[Figure, list[Row]]]:
    """Return the figures for which a sweep's tables have numbers, with their rows, in the order of the papers."""
    found = [(figure, figure.rows(tables)) for figure in FIGURES if tables.keys() >= set(figure.tables)]
    return [(figure, rows) for figure, rows in found if rows]


def write_figures(tables: Tables, out: Path) -> list[Path]:
    """Write the figures for which the tables have numbers to `out`, as `<id>.svg`; delete other SVG files there."""
    out.mkdir(exist_ok=True)
    for old in out.glob("*.svg"):
        old.unlink()
    written = []
    for figure, rows in drawable(tables):
        source = f"{PAPER_NAMES[figure.paper]}, {figure.place}"
        written.append(out / f"{figure.id}.svg")
        height = WIDE_HEIGHT if figure.chart.wide else HEIGHT
        save(finished(figure.chart.draw(rows), figure.chart.title, source, width=WIDTH, height=height), written[-1])
    return written
