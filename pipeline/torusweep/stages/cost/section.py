"""The page's section on cost: what networks carry for their price, and the Pareto front of all."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import altair as alt

from torusweep import costs
from torusweep.charts.chart import Chart, inline
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
from torusweep.costs.columns import EQUAL_COST
from torusweep.counts import counted
from torusweep.errors import BadInput
from torusweep.stages.cost.columns import COST

MEANING = meanings(COST)
COMPARED = meanings(EQUAL_COST)
BLUE, GREY = "#006DAD", "#7C818A"
HEIGHT = 320  # pixels of a chart
MOST_PANELS = 6  # pairs of a cost model and a traffic that are drawn, those with most networks first
INTRODUCTION = (
    "Routers by their ports, cables by their length between cabinets on a floor, circuit switches by their ports: sums"
    " of the prices of a cost model, each of which has a date and a source. Compare networks by one model."
)
FRONT = (
    "A mark is a network, with its best routing of the sweep; blue: no other network carries as much, is as near and"
    " costs as little. Latencies without load are in the tooltips and the table."
)
MANY = 1000


def section(tables: Tables) -> Section | None:
    """Throughput over cost for each model and traffic, the front, and the table `cost`; None without rows."""
    rows = tables.get("cost", ())
    if not rows:
        return None
    compared = tables.get("equal_cost", ())
    listed = sorted(rows, key=lambda row: (row["cost_model"], row["cost_per_terminal"] or 0.0, row["topology"]))
    parts: list[Part] = [paragraph(escape(INTRODUCTION) + _best(compared)), _panels(compared)]
    if compared:
        order = sorted(
            compared, key=lambda row: (row["cost_model"], row["traffic"], -(row["saturation_per_cost"] or 0))
        )
        note = f"By what they carry for their price, all {len(order):,}."
        parts.append(heading("Networks at equal cost", note) + table(EQUAL_FIELDS, order))
    parts.append(heading("What each network is made of", f"By cost of a terminal, all {len(listed):,}."))
    parts.append(table(FIELDS, listed))
    parts.append(paragraph(_sources(sorted({row["cost_model"] for row in rows}))))
    return Section("cost", "Cost", parts)


FIELDS = (
    word_field("topology", "network", MEANING, "name"),
    word_field("cost_model", "cost model", MEANING),
    word_field("packing", "packing", MEANING),
    number_field("routers", "routers", MEANING),
    number_field("radix", "radix", MEANING),
    number_field("terminals", "terminals", MEANING),
    number_field("electrical_cables", "electrical", MEANING),
    number_field("optical_cables", "optical", MEANING),
    number_field("cable_metres", "metres", MEANING, 5),
    number_field("router_cost", "routers cost", MEANING, 6),
    number_field("cable_cost", "cables cost", MEANING, 6),
    number_field("circuit_cost", "circuits cost", MEANING, 6),
    number_field("cost_per_terminal", "cost a terminal", MEANING, 5),
    number_field("watts_per_terminal", "W a terminal", MEANING, 4),
    number_field("energy_per_bit", "pJ a bit", MEANING, 4),
)
EQUAL_FIELDS = (
    word_field("topology", "network", COMPARED, "name"),
    word_field("cost_model", "cost model", COMPARED),
    word_field("traffic", "traffic", COMPARED),
    word_field("routing", "routing", COMPARED),
    number_field("terminals", "terminals", COMPARED),
    number_field("cost_per_terminal", "cost a terminal", COMPARED, 5),
    number_field("throughput", "throughput", COMPARED, 4),
    number_field("latency", "latency", COMPARED, 5),
    Field(
        "for 1,000",
        lambda row: (
            Cell("–", "number")
            if row["saturation_per_cost"] is None
            else Cell(f"{MANY * row['saturation_per_cost']:.4g}", "number", MANY * row["saturation_per_cost"])
        ),
        f"throughput for 1,000 units of currency of a terminal's cost; {COMPARED['saturation_per_cost']}",
        "number",
    ),
    Field("front", lambda row: Cell("yes" if row["on_front"] else "", "short"), COMPARED["on_front"]),
)


def _best(rows: Sequence[Record]) -> str:
    """Which network carries most for its price, for each model and traffic, in a sentence."""
    said = []
    for (model, traffic), own in _groups(rows).items():
        best = max(own, key=lambda row: (row["saturation_per_cost"] or 0.0, row["topology"]))
        said.append(f"{escape(best['topology'])} (by {escape(model)}, {escape(traffic)} traffic)")
    return f" Most for the price: {'; '.join(said[:MOST_PANELS])}." if said else ""


def _groups(rows: Sequence[Record]) -> dict[tuple[str, str], list[Record]]:
    """The rows of each cost model and traffic that have two networks and more, those with most networks first."""
    found: dict[tuple[str, str], list[Record]] = {}
    for row in rows:
        found.setdefault((row["cost_model"], row["traffic"]), []).append(row)
    several = {key: own for key, own in found.items() if len(own) > 1}
    return dict(sorted(several.items(), key=lambda item: (-len(item[1]), item[0])))


def _panels(rows: Sequence[Record]) -> list[Panel]:
    return [
        Panel(
            f"equal_cost_{number}",
            f"{traffic} traffic, prices of {model}",
            _chart(own),
            f"{escape(FRONT)} {counted(sum(row['on_front'] for row in own), 'network')} of {len(own):,} on the front.",
            wide=False,
        )
        for number, ((model, traffic), own) in enumerate(list(_groups(rows).items())[:MOST_PANELS])
    ]


def _chart(rows: Sequence[Record]) -> Chart:
    """Throughput over cost per terminal, a mark for each network, those on the front in blue."""
    shown = ("topology", "routing", "cost_per_terminal", "throughput", "latency", "terminals", "on_front")
    values: list[dict[str, Any]] = [{name: row[name] for name in shown} for row in rows]
    currency = rows[0]["currency"]
    colour = alt.Color("on_front:N", legend=None, scale=alt.Scale(domain=[True, False], range=[BLUE, GREY]))
    return (
        alt.Chart(inline(values))
        .mark_point(filled=True, opacity=0.8, size=60)
        .encode(
            x=alt.X(
                "cost_per_terminal:Q", title=f"cost of a terminal, {currency}", scale=alt.Scale(zero=False, padding=14)
            ),
            y=alt.Y("throughput:Q", title="throughput, flits/cycle/terminal", scale=alt.Scale(domainMin=0, padding=14)),
            color=colour,
            shape=alt.Shape(
                "on_front:N", legend=None, scale=alt.Scale(domain=[True, False], range=["circle", "square"])
            ),
            tooltip=[
                alt.Tooltip("topology:N", title="network"),
                alt.Tooltip("routing:N"),
                alt.Tooltip("cost_per_terminal:Q", title=f"cost of a terminal, {currency}", format=",.5~g"),
                alt.Tooltip("throughput:Q", format=".4~g"),
                alt.Tooltip("latency:Q", title="latency without load, cycles", format=".4~g"),
                alt.Tooltip("terminals:Q", format=","),
            ],
        )
        .properties(height=HEIGHT)
    )


def _sources(models: Sequence[str]) -> str:
    """Where the prices come from, as HTML; of a file that is gone or has changed, its name only."""
    said = []
    for name in models:
        try:
            model = costs.cost_model(name)
        except BadInput:
            said.append(escape(name))
            continue
        parts = [(key, part) for key, part in model if isinstance(part, costs.Sourced)]
        sources = "; ".join(
            f"{escape(key)}: {escape(part.source)}, {part.date}{' (estimate)' if part.estimate else ''}"
            for key, part in parts
        )
        said.append(f"<b>{escape(name)}</b>, {escape(model.description)}. {sources}")
    return "Sources of the prices. " + ". ".join(said) + "."
