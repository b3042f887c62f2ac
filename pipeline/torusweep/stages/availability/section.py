"""The page's section on failures: the distribution of each measure against how many parts fail, by network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import altair as alt

from torusweep.charts.chart import Chart, inline
from torusweep.charts.lines import LEGEND, SIX
from torusweep.charts.section import (
    Cell,
    Field,
    Panel,
    Part,
    Record,
    Section,
    Tables,
    heading,
    meanings,
    number_field,
    paragraph,
    table,
    word_field,
)
from torusweep.counts import counted
from torusweep.stages.availability.columns import AVAILABILITY
from torusweep.stages.availability.measures import QUANTITIES

MEANING = meanings(AVAILABILITY)
INTRODUCTION = (
    "Each draw lets parts of a network fail at random; where all combinations are few, each is taken once, and the"
    " numbers are exact. Distances, loads and times are of the draws after which all surviving terminals still reach"
    " each other."
)
CAPTION = "Lines: mean; bands: 5 % to 95 % of the draws."
PROPORTION = "Lines: share of the draws; bands: its 95 % interval."
X_TITLES = {"failures": "failed {} at a time", "probability": "probability that each of the {} fails"}


def section(tables: Tables) -> Section | None:
    """A chart for each kind of part and measure with several numbers of failures, and the table; None without rows."""
    rows = [row for row in tables.get("availability", ()) if row["mean"] is not None]
    labels = _labels(tables.get("labels", ()))
    if not rows:
        return None
    panels = []
    for fails in dict.fromkeys(row["fails"] for row in rows):
        for along in X_TITLES:
            for measure, quantity in QUANTITIES.items():
                drawn = _drawn(rows, fails, along, measure)
                if drawn:
                    title = f"{measure.replace('_', ' ').capitalize()} as {fails} fail"
                    caption = PROPORTION if quantity.proportion else CAPTION
                    names = list(dict.fromkeys(row["topology"] for row in rows))
                    more = "" if len(names) <= len(SIX) else f" The first {len(SIX)} of {len(names):,} networks."
                    named = [{**row, "name": labels.get(row["topology"], row["topology"])} for row in drawn]
                    chart = distribution(named, along, fails, measure)
                    panels.append(
                        Panel(f"availability_{fails}_{along}_{measure}", title, chart, caption + more, wide=False)
                    )
    parts: list[Part] = [
        paragraph(f"{escape(INTRODUCTION)} {escape(_worth(rows))}"),
        panels,
        heading("Every network, number of failures and measure", f"All {len(rows):,}.") + table(FIELDS, rows),
    ]
    return Section("availability", "After failures", parts)


def _labels(rows: Iterable[Record]) -> dict[str, str]:
    """The label of each network that has one of its own."""
    labels = {row["topology"]: row["label"] for row in rows if row["label"]}
    often = Counter(labels.values())
    return {topology: label for topology, label in labels.items() if often[label] == 1}


def _interval(row: Record) -> Cell:
    if row["mean_low"] is None or row["mean_high"] is None:
        return Cell("exact" if row["interval"] == "exact" else "–", "short")
    return Cell(f"{row['mean_low']:.5g} … {row['mean_high']:.5g}", "short")


def _failures(row: Record) -> Cell:
    """A number that fail at a time, or a probability; sorted by the expected number."""
    if row["failures"] is not None:
        return Cell(f"{row['failures']:,}", "number", row["failures"])
    return Cell(f"{100 * row['probability']:.4g} % each", "number", row["probability"] * row["parts"])


FIELDS = (
    word_field("topology", "network", MEANING, "name"),
    word_field("fails", "fails", MEANING),
    Field("how many", _failures, f"{MEANING['failures']}; {MEANING['probability']}", "number"),
    word_field("measure", "measure", MEANING),
    number_field("intact", "intact", MEANING, 6),
    number_field("mean", "mean", MEANING, 6),
    Field("95 % interval", _interval, MEANING["interval"]),
    number_field("q05", "5 %", MEANING, 6),
    number_field("q50", "median", MEANING, 6),
    number_field("q95", "95 %", MEANING, 6),
    number_field("worst", "worst", MEANING, 6),
    number_field("measured", "draws", MEANING),
)


def _worth(rows: Sequence[Record]) -> str:
    """How often failures disconnect terminals."""
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
        said += f" Most often it happens to {worst['topology']}, with {many}: in {1 - worst['mean']:.3g} of the draws."
    return said


def _drawn(rows: Sequence[Record], fails: str, along: str, measure: str) -> list[Record]:
    """The rows of a chart, of the first networks; none where there are fewer than two places along the axis."""
    found = [row for row in rows if row["fails"] == fails and row["measure"] == measure and row.get(along) is not None]
    names = list(dict.fromkeys(row["topology"] for row in rows))[: len(SIX)]
    found = [row for row in found if row["topology"] in names]
    return found if len({row[along] for row in found}) > 1 else []


def distribution(rows: Sequence[Record], along: str, fails: str, measure: str, title: str = "") -> Chart:
    """The mean of a measure against failures, a line for each network, with a band of its quantiles.

    rows   of the table `availability`, of at most six networks; a row's `name`, if it has one, is the line's
    along  failures or probability
    title  of the vertical axis; '' for the measure with its unit
    """
    quantity = QUANTITIES[measure]
    ends = ("mean_low", "mean_high") if quantity.proportion else ("q05", "q95")
    values: list[dict[str, Any]] = []
    for row in rows:
        low, high = (row["mean"] if row[end] is None else row[end] for end in ends)
        shown = {name: row[name] for name in ("topology", along, "mean", "worst", "measured")}
        values.append({**shown, "line": row.get("name", row["topology"]), "low": low, "high": high})
    names = list(dict.fromkeys(value["line"] for value in values))
    colours, shapes = [line.colour for line in SIX][: len(names)], [line.shape for line in SIX][: len(names)]
    percent = {"format": "~%"} if along == "probability" else {"tickMinStep": 1}
    unit = f", {quantity.unit}" if quantity.unit else ""
    scale = alt.Scale(zero=False, padding=8)
    base = alt.Chart(inline(values)).encode(
        x=alt.X(f"{along}:Q", title=X_TITLES[along].format(fails), axis=alt.Axis(**percent)),
        color=alt.Color("line:N", title=None, legend=LEGEND, scale=alt.Scale(domain=names, range=colours)),
    )
    y_title = title or measure.replace("_", " ") + unit
    band = base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", title=y_title, scale=scale), y2="high:Q")
    middle = base.encode(y=alt.Y("mean:Q", title=y_title, scale=scale))
    marks = middle.mark_point(filled=True, opacity=1, size=40).encode(
        shape=alt.Shape("line:N", title=None, legend=LEGEND, scale=alt.Scale(domain=names, range=shapes)),
        tooltip=[
            alt.Tooltip("line:N", title="network"),
            alt.Tooltip(f"{along}:Q"),
            *(alt.Tooltip(f"{name}:Q", format=".5~g") for name in ("mean", "low", "high", "worst")),
            alt.Tooltip("measured:Q", title="draws", format=","),
        ],
    )
    return alt.layer(band, middle.mark_line(strokeWidth=2), marks)
