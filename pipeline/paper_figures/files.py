"""The papers' figures of a sweep as files, for other documents than the page."""

from __future__ import annotations

from pathlib import Path

from pipeline import figures, store
from pipeline.paper_figures import FIGURES, drawable
from pipeline.report.sections import PAPER_NAMES

WIDTH, HEIGHT, WIDE_HEIGHT = 560, 360, 440


def write_figures(folder: Path, out: Path) -> list[Path]:
    """Write each figure that the sweep in `folder` has numbers for to `out`, as SVG named by its id; what lies there from before goes.

    Raises BadInput where a table or the manifest is missing, altered or of another version.
    """
    there = store.read_manifest(folder)["tables"]
    names = dict.fromkeys(name for figure in FIGURES for name in figure.tables if name in there)
    tables = {name: store.open_current(folder / f"{name}.parquet").to_pylist() for name in names}
    out.mkdir(exist_ok=True)
    for old in out.glob("*.svg"):
        old.unlink()
    written = []
    for figure, rows in drawable(tables):
        source = f"{PAPER_NAMES[figure.paper]}, {figure.place}"
        written.append(out / f"{figure.id}.svg")
        height = WIDE_HEIGHT if figure.wide else HEIGHT
        figures.save(figures.finished(figure.chart(rows), figure.title, source, width=WIDTH, height=height), written[-1])
    return written
