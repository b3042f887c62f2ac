"""The papers' figures, drawn from the tables of a sweep; FIGURES lists them.

A figure is drawn if the sweep has its numbers. tests/papers/figures/ checks what the captions claim.
"""

from torusweep.papers.figures import (
    c10,
    c10_applications,
    c10_simulated,
    d90,
    p04_distances,
    p04_latency,
    p04_ratios,
    r05,
    r05_simulated,
)
from torusweep.papers.figures.figure import Figure, Row, Tables

__all__ = ["FIGURES", "Figure", "Row", "drawable"]

FIGURES: tuple[Figure, ...] = (
    *p04_distances.FIGURES,
    *p04_latency.FIGURES,
    *p04_ratios.FIGURES,
    *d90.FIGURES,
    *c10.FIGURES,
    *c10_simulated.FIGURES,
    *c10_applications.FIGURES,
    *r05.FIGURES,
    *r05_simulated.FIGURES,
)


def drawable(tables: Tables) -> list[tuple[Figure, list[Row]]]:
    """The figures that a sweep has numbers for, with their rows, in the papers' order."""
    found = [(figure, figure.rows(tables)) for figure in FIGURES if tables.keys() >= set(figure.tables)]
    return [(figure, rows) for figure, rows in found if rows]
