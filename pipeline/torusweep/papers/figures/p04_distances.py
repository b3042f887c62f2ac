"""Figs. 4 and 5 of Parhami & Kwai 2004: mean distances of the four classes of toroidal networks."""

from __future__ import annotations

from collections.abc import Iterable

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart
from torusweep.charts.looks import TIPS, Look, distinct, measured
from torusweep.papers.figures.figure import Figure, Record, Row, Tables

CLASSES = {
    "torus": Look("torus", "#006DAD", "circle"),
    "pruned_torus": Look("pruned", "#B84300", "square"),
    "directed_torus": Look("directed", "#008A62", "triangle-right"),
    "pruned_directed_torus": Look("both", "#CB73A3", "diamond"),
}
HIGHER = (
    Look("4D torus", "#006DAD", "circle"),
    Look("4D pruned", "#B84300", "square"),
    Look("5D torus", "#379AD8", "circle", (5, 3)),
    Look("5D pruned", "#C48600", "square", (5, 3)),
)
MOST = 32  # "k assuming all even values from 4 to 32" (sec. 4.B)


def radix_and_dimensions(record: Record) -> tuple[int, int] | None:
    """Return (k, n) of a network of the four classes; None for any other network."""
    parameters = dict(record["parameters"])
    plain = record["family"] in CLASSES and not (record["family"] == "torus" and record["directed"])
    return (parameters["k"], parameters["n"]) if plain and {"k", "n"} <= parameters.keys() else None


def torus_mean(k: int, n: int) -> float:
    """Return the mean distance of the k-ary n-cube, n times that of a ring: k/4 if k is even, else (k − 1/k)/4."""
    return n * (k * k - k % 2) / (4 * k)


def radix_axis(nodes: str) -> Axis:
    """Return an axis of whole radices; `nodes` is the formula of the number of nodes for its title, such as k³."""
    return Axis("k", f"radix k ({nodes} nodes)", whole=True)


def _networks(tables: Tables, dimensions: tuple[int, ...]) -> list[Row]:
    """Return a row for each network of the four classes with one of `dimensions`, ordered by class and radix."""
    rows = []
    for record in measured(distinct(tables, CLASSES)):
        found = radix_and_dimensions(record)
        if found and found[1] in dimensions:
            k, n = found
            own = {name: record[name] for name in TIPS} | {"k": k, "n": n}
            own["line"] = CLASSES[record["family"]].name
            rows.append({**own, "excess": record["mean_distance"] - torus_mean(k, n)})
    order = [line.name for line in CLASSES.values()]
    return sorted(rows, key=lambda row: (row["n"], order.index(row["line"]), row["k"]))


def four_classes(tables: Tables) -> list[Row]:
    """Return the rows of Fig. 4: k, mean_distance, and excess, the hops beyond the mean distance of the k-ary torus."""
    return _lines_of_all([row for row in _networks(tables, (3,)) if row["k"] <= MOST], CLASSES.values())


def more_dimensions(tables: Tables) -> list[Row]:
    """Return the rows of Fig. 5: k, n and mean_distance of whole and pruned tori of four and five dimensions."""
    found = [row for row in _networks(tables, (4, 5)) if row["line"] in ("torus", "pruned")]
    return _lines_of_all([{**row, "line": f"{row['n']}D {row['line']}"} for row in found], HIGHER)


def _lines_of_all(rows: list[Row], lines: Iterable[Look]) -> list[Row]:
    """Return the rows if each of the given lines has at least two points; else []."""
    return rows if all(len({row["k"] for row in rows if row["line"] == line.name}) > 1 for line in lines) else []


FOUR = Chart(
    title="Mean distance of the four classes in three dimensions",
    caption="All four grow as 3k/4. Pruning hardly changes the mean distance, directed links add one hop, and both"
    " together add about three.",
    x=radix_axis("k³"),
    y=Axis("mean_distance", "mean distance, hops", zero=True),
    looks=tuple(CLASSES.values()),
    tips=TIPS,
)
EXCESS = FOUR._replace(
    title="What pruning and direction cost in distance",
    caption="The same, minus the torus's own mean distance. The cost of pruning decreases with the radix. Directed"
    " links cost one hop (less if the radix is not a multiple of 4, which the paper's formula overlooks), both together"
    " about three.",
    y=Axis("excess", "mean distance beyond the torus's, hops", zero=True),
)
MORE = FOUR._replace(
    title="Mean distance in four and five dimensions",
    caption="Tori and their pruned versions, which have degree 4 in any dimension. The cost of pruning decreases with"
    " the radix. It is larger in five dimensions, where a node keeps a smaller share of its links.",
    x=radix_axis("k⁴ or k⁵"),
    looks=HIGHER,
)
FIGURES = (
    Figure("p04-fig-4", "P04", "Fig. 4", ("static",), four_classes, FOUR),
    Figure("p04-fig-4-excess", "P04", "Fig. 4, magnified", ("static",), four_classes, EXCESS),
    Figure("p04-fig-5", "P04", "Fig. 5", ("static",), more_dimensions, MORE),
)
