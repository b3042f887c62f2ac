"""The page's section on failures: charts of each measure over the number of failed parts, and a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import product
from typing import Any

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart
from torusweep.charts.looks import SIX
from torusweep.charts.section import Cell, Chapter, Panel, fields, listing, paragraph
from torusweep.quantities import counted
from torusweep.questions.availability.columns import AVAILABILITY
from torusweep.questions.availability.measures import QUANTITIES
from torusweep.tables.rows import Record, Tables

INTRODUCTION = (
    "Each draw lets parts of a network fail at random. If there are few combinations, each is taken once, and the"
    " numbers are exact. Distances, loads and times are over the draws after which all surviving terminals still reach"
    " each other. "
)
CAPTION = "Lines: mean; bands: 5 % to 95 % of the draws."
PROPORTION = "Lines: share of the draws; bands: its 95 % interval."
X_TITLES = {"failures": "failed {} at a time", "probability": "probability that each of the {} fails"}


def section(tables: Tables) -> Chapter | None:
    """Return a chapter: a chart for each kind of part and measure with several numbers of failures, and a table."""
    asked = tables.get("availability", ())
    rows = [row for row in asked if row["mean"] is not None and row["measure"] in QUANTITIES]
    if not rows:
        return None
    labels, names = _labels(tables.get("labels", ())), list(dict.fromkeys(row["topology"] for row in rows))
    more = "" if len(names) <= len(SIX) else f" The first {len(SIX)} of {len(names):,} networks."
    drawn = [mark(row, labels.get(row["topology"], "")) for row in rows if row["topology"] in names[: len(SIX)]]
    found = []
    for fails, along, measure in product(dict.fromkeys(row["fails"] for row in rows), X_TITLES, QUANTITIES):
        chart = distribution(along, fails, measure, more=more)
        if len({row[along] for row in chart.shown(drawn)}) > 1:
            found.append(Panel(f"availability_{fails}_{along}_{measure}", chart, drawn))
    listed = listing("Every network, number of failures and measure", "All {}.", FIELDS, rows, len(asked) - len(rows))
    return Chapter("availability", "After failures", [paragraph(INTRODUCTION + escape(_worth(rows))), found, listed])


def _labels(rows: Iterable[Record]) -> dict[str, str]:
    """Return spelling → label for the networks whose label no other network has."""
    labels = {row["topology"]: row["label"] for row in rows if row["label"]}
    often = Counter(labels.values())
    return {topology: label for topology, label in labels.items() if often[label] == 1}


def _interval(row: Record) -> Cell:
    if row["mean_low"] is None or row["mean_high"] is None:
        return Cell("exact" if row["interval"] == "exact" else "–", "short")
    return Cell(f"{row['mean_low']:.5g} … {row['mean_high']:.5g}", "short")


def _probability(row: Record) -> Cell:
    known = row["probability"] is not None
    return Cell(f"{100 * row['probability']:.4g} % each" if known else "–", "number", row["probability"])


FIELDS = fields(
    AVAILABILITY,
    "topology",
    "fails",
    *(("failures", "how many"), ("probability", "with probability", _probability)),
    "measure",
    *(("intact", "", 6), ("mean", "", 6)),
    ("interval", "95 % interval", _interval),
    *(("q05", "5 %", 6), ("q50", "median", 6), ("q95", "95 %", 6), ("worst", "", 6), ("measured", "draws")),
)


def _worth(rows: Sequence[Record]) -> str:
    """Return a sentence on how often failures disconnect terminals; "" if no row measures it."""
    asked = [row for row in rows if row["measure"] == "connected"]
    if not asked:
        return ""
    safe = sum(row["worst"] == 1 for row in asked)
    worst = min(asked, key=lambda row: row["mean"])
    said = f"In {safe:,} of {len(asked):,} cases no draw disconnects surviving terminals."
    if worst["mean"] < 1:
        many = (
            counted(worst["failures"], f"failed {worst['fails'].removesuffix('s')}")
            if worst["failures"] is not None
            else f"{worst['fails']} that fail with probability {worst['probability']:g}"
        )
        share = "all draws" if not worst["mean"] else f"{100 * (1 - worst['mean']):.3g} % of the draws"
        said += f" Most often it happens to {worst['topology']}, with {many}: in {share}."
    return said


def mark(row: Record, name: str) -> dict[str, Any]:
    """Add to a row what the chart needs: its band's ends, and its line's name (`name`, or the network if empty)."""
    ends = ("mean_low", "mean_high") if QUANTITIES[row["measure"]].proportion else ("q05", "q95")
    low, high = (row["mean"] if row[end] is None else row[end] for end in ends)
    return {**row, "line": name or row["topology"], "low": low, "high": high}


def distribution(along: str, fails: str, measure: str, more: str = "") -> Chart:
    """Return a chart of a measure's mean over the failures, with a line and a band for each network, at most six.

    along  column of the horizontal axis: failures or probability
    more   text to add to the caption
    """
    quantity, whole = QUANTITIES[measure], along == "failures"
    return Chart(
        title=f"{measure.replace('_', ' ').capitalize()} as {fails} fail",
        caption=(PROPORTION if quantity.proportion else CAPTION) + more,
        where=lambda row: (row["fails"], row["measure"]) == (fails, measure) and row.get(along) is not None,
        x=Axis(along, X_TITLES[along].format(fails), zero=True, format="" if whole else "~%", whole=whole),
        y=Axis("mean", measure.replace("_", " ") + (f", {quantity.unit}" if quantity.unit else "")),
        looks=SIX,
        band=("low", "high"),
        tips={"line": "network", along: along, "mean": "mean", "low": "low", "high": "high", "worst": "worst"}
        | {"measured": "draws"},
    )
