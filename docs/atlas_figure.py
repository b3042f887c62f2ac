"""Draws docs/atlas.svg from an atlas: python docs/atlas_figure.py results/atlas (a few seconds)."""

from __future__ import annotations

import sys
from pathlib import Path

from torusweep.all_columns import schema_of
from torusweep.charts import finished, save
from torusweep.questions.screen.section import section
from torusweep.tables import store


def main(results: Path) -> None:
    rows = store.open_current(results / "best.parquet", schema_of("best")).to_pylist()
    chapter = section({"best": rows})
    assert chapter is not None
    (panel,) = [panel for panel in chapter.panels if panel.id == "best_mean_distance_3d"]
    save(
        finished(
            panel.drawing,
            "What hand-picked lattices leave on the table, in three dimensions",
            "mean distance relative to the bound of all lattices of the size; the best lattice is that of all twists",
        ),
        Path(__file__).with_name("atlas.svg"),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
