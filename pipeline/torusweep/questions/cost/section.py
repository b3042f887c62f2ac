"""The page's section on cost: how much traffic networks carry for their price, and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart
from torusweep.charts.looks import BLUE, GREY, Look
from torusweep.charts.section import Cell, Chapter, Panel, fields, listing, number, panels, paragraph
from torusweep.errors import BadInput
from torusweep.quantities import counted
from torusweep.questions.cost.columns import COST, EQUAL_COST
from torusweep.questions.cost.model import Sourced, cost_model
from torusweep.tables.rows import Record, Tables

MOST_PANELS = 6  # charts, each of a cost model and a traffic; the charts with the most networks are drawn
INTRODUCTION = (
    "Costs are sums of the prices in a cost model, each with a date and a source: routers and circuit switches by their"
    " ports, and cables by their length between cabinets on a floor. Compare networks only by the same model."
)
FRONT = (
    "A mark is a network with the best of the sweep's routings. A network is on the front if no other one is as good in"
    " throughput, latency without load and cost, and better in one of them. Tooltips and the table have the latencies."
)
MANY = 1000
LOOKS = (Look("on the front", BLUE, "circle"), Look("not on it", GREY, "square"))
FIELDS = fields(
    COST,
    *("topology", "cost_model", "packing", "routers", "radix", "terminals"),
    *(("electrical_cables", "electrical"), ("optical_cables", "optical"), ("cable_metres", "metres", 5)),
    *(("router_cost", "routers cost", 6), ("cable_cost", "cables cost", 6), ("circuit_cost", "circuits cost", 6)),
    *(("cost_per_terminal", "cost a terminal", 5), ("watts_per_terminal", "W a terminal", 4)),
    ("energy_per_bit", "pJ a bit", 4),
)


def section(tables: Tables) -> Chapter | None:
    """Return charts of throughput over cost for each model and traffic, and tables of networks; None without rows."""
    rows, compared = tables.get("cost", ()), tables.get("equal_cost", ())
    if not rows:
        return None
    listed = sorted(rows, key=lambda row: (row["cost_model"], row["cost_per_terminal"] or 0.0, row["topology"]))
    best = sorted(compared, key=lambda row: (row["cost_model"], row["traffic"], -(row["saturation_per_cost"] or 0)))
    return Chapter(
        "cost",
        "Cost",
        [
            paragraph(escape(INTRODUCTION) + _best(compared)),
            _panels(compared),
            listing("Networks at equal cost", "By what they carry for their price, all {}.", EQUAL_FIELDS, best),
            listing("What each network is made of", "By cost of a terminal, all {}.", FIELDS, listed),
            paragraph(_sources(sorted({row["cost_model"] for row in rows}))),
        ],
    )


def _for_many(worth: float | None) -> Cell:
    return number(worth and MANY * worth, 4)


EQUAL_FIELDS = fields(
    EQUAL_COST,
    *("topology", "cost_model", "traffic", "routing", "terminals", ("cost_per_terminal", "cost a terminal", 5)),
    *(("throughput", "", 4), ("latency", "", 5)),
    ("saturation_per_cost", "for 1,000", lambda row: _for_many(row["saturation_per_cost"])),
    ("on_front", "front"),
)


def _best(rows: Sequence[Record]) -> str:
    """Return a sentence that names, for each model and traffic, the network with the most traffic for its price."""
    said = []
    for (model, traffic), own in _groups(rows).items():
        best = max(own, key=lambda row: (row["saturation_per_cost"] or 0.0, row["topology"]))
        said.append(f"{escape(best['topology'])} (by {escape(model)}, {escape(traffic)} traffic)")
    return f" Most for the price: {'; '.join(said[:MOST_PANELS])}." if said else ""


def _groups(rows: Sequence[Record]) -> dict[tuple[str, str], list[Record]]:
    """Return (cost model, traffic) → its rows, for groups of at least two networks, the largest groups first."""
    found: dict[tuple[str, str], list[Record]] = {}
    for row in rows:
        found.setdefault((row["cost_model"], row["traffic"]), []).append(row)
    several = {key: own for key, own in found.items() if len(own) > 1}
    return dict(sorted(several.items(), key=lambda item: (-len(item[1]), item[0])))


def _panels(rows: Sequence[Record]) -> list[Panel]:
    marks = [{**row, "front": LOOKS[not row["on_front"]].name} for row in rows]
    groups = list(_groups(rows).items())[:MOST_PANELS]
    return panels({f"equal_cost_{number}": _chart(*key, own) for number, (key, own) in enumerate(groups)}, marks)


def _chart(model: str, traffic: str, rows: Sequence[Record]) -> Chart:
    """Return a chart of throughput over cost per terminal, with a mark for each network."""
    cost = f"cost of a terminal, {rows[0]['currency']}"
    on_front = counted(sum(row["on_front"] for row in rows), "network")
    return Chart(
        title=f"{traffic} traffic, prices of {model}",
        caption=f"{FRONT} {on_front} of {len(rows):,} on the front.",
        where=lambda row: (row["cost_model"], row["traffic"]) == (model, traffic),
        x=Axis("cost_per_terminal", cost),
        y=Axis("throughput", "throughput, flits/cycle/terminal", zero=True),
        line="front",
        looks=LOOKS,
        along=None,
        size=60,
        opacity=0.8,
        tips={"topology": "network", "routing": "routing", "cost_per_terminal": cost, "throughput": "throughput"}
        | {"latency": "latency without load, cycles", "terminals": "terminals", "on_front": "on the front"},
    )


def _sources(models: Sequence[str]) -> str:
    """Return the sources of the models' prices, as HTML. A model that can no longer be read is only named."""
    said = []
    for name in models:
        try:
            model = cost_model(name)
        except BadInput:
            said.append(escape(name))
            continue
        parts = [(key, part) for key, part in model if isinstance(part, Sourced)]
        sources = "; ".join(
            f"{escape(key)}: {escape(part.source)}, {part.date}{' (estimate)' if part.estimate else ''}"
            for key, part in parts
        )
        said.append(f"<b>{escape(name)}</b>, {escape(model.description)}. {sources}")
    return "Sources of the prices. " + ". ".join(said) + "."
