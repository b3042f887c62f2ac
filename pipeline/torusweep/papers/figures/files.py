"""The papers' figures of a sweep as SVG files."""

from __future__ import annotations

from pathlib import Path

from torusweep.charts import finished, save
from torusweep.papers.figures import drawable
from torusweep.papers.figures.figure import Tables
from torusweep.papers.verification import PAPER_NAMES

WIDTH, HEIGHT, WIDE_HEIGHT = 560, 360, 440


def write_figures(tables: Tables, out: Path) -> list[Path]:
    """Write each figure that the tables have numbers for to `out`, as `<id>.svg`; delete other SVG files there."""
    out.mkdir(exist_ok=True)
    for old in out.glob("*.svg"):
        old.unlink()
    written = []
    for figure, rows in drawable(tables):
        source = f"{PAPER_NAMES[figure.paper]}, {figure.place}"
        written.append(out / f"{figure.id}.svg")
        height = WIDE_HEIGHT if figure.wide else HEIGHT
        save(finished(figure.chart(rows), figure.title, source, width=WIDTH, height=height), written[-1])
    return written
