"""The page's section on machines, with a table for each comparison of networks that the configuration names.

A network's uniform load is its saturation load under uniform traffic with the best routing computed. Its adverse load
is the least saturation load over the other patterns, each with its own best routing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart
from torusweep.charts.looks import KINDS
from torusweep.charts.section import Cell, Chapter, Field, Panel, heading, meaning_of, number, panels, paragraph, table
from torusweep.networks.families import KIND_OF
from torusweep.questions.cost.columns import TABLE as COST
from torusweep.questions.loads.columns import TABLE as LOADS
from torusweep.questions.static.columns import STATIC
from torusweep.tables.rows import Record, Tables, stored_rows

MEANING = {column.name: meaning_of(column) for column in (*COST.columns, *LOADS.columns, *STATIC)}
UNIFORM = ("uniform", "uniform_other", "all_to_all")  # patterns that are not adverse
LINKED = "with_links("  # a network of a family with other links
NOTE = (
    "Machines, in bold, then rivals of about the same size. Saturation is the load, in flits per cycle per terminal,"
    " at which the busiest link is full; a link carries one flit a cycle, or its bandwidth. Above 1, the terminals are"
    " the limit. <em>Uniform</em>: every terminal sends equally much to all. <em>Adverse</em>: the worst of the other"
    " patterns computed. Each is under the best routing of those computed for that pattern."
)
LIMITS = (
    "<strong>The unit is a link of the same network.</strong> A link of one machine may carry a hundred times as much"
    " as that of another, and a chip with six links can send more than one of them carries. Compare networks"
    " that you could build with the same links.",
    "<strong>Loads are limits, not measurements.</strong> Traffic spreads over the routes exactly as the routing says,"
    " and no packet waits for another. Routers reach less.",
    "<strong>The adverse pattern is the worst of a few</strong>, not of all. A program whose neighbours are"
    " neighbours in the network sees neither number. Where its routing is minimal or by_group, other routes may carry"
    " more: by way of a third group, a balanced Dragonfly carries about half of what its terminals send.",
    "<strong>Hops are not nanoseconds.</strong> A hop in a torus may be a wire of centimetres; one between groups is an"
    " optical cable across the hall.",
    "<strong>Nothing here says</strong> what software, congestion control, spare parts and repairs are worth, or how"
    " far the machine can grow.",
)


class Compared(NamedTuple):
    """A network of a comparison, with its rows of `labels` and `static`, and rows of `loads` and `cost` if any."""

    label: Record
    static: Record
    uniform: Record | None
    adverse: Record | None
    cost: Record | None

    @property
    def links(self) -> float:
        """The number of links per terminal."""
        return float(self.static["links"] / self.static["terminals"])


def machines_section(tables: Tables) -> Chapter | None:
    """Return a table for each comparison in the table `labels`, a chart, sources and notes; None if it has none."""
    found = compared(tables)
    if not found:
        return None
    comparisons = dict.fromkeys(row.label["comparison"] for row in found)
    parts: list[str | Sequence[Panel]] = [paragraph(NOTE + _prices(found)), _panels(found)]
    for title in comparisons:
        rows = [row for row in found if row.label["comparison"] == title]
        parts.append(heading(title) + table(FIELDS, rows))
    parts += [_limits(), _sources(found)]
    return Chapter("machines", "Machines", parts)


def compared(tables: Tables) -> list[Compared]:
    """Return the connected networks of all comparisons, in the configuration's order, machines first in each."""
    compared = [row for row in tables.get("labels", ()) if row["comparison"]]
    networks = stored_rows(tables, "static").among("topology", (row["topology"] for row in compared))
    static = {record["topology"]: record for record in networks}  # the last of a network counts, as everywhere
    loads: dict[str, list[Record]] = {}
    for row in stored_rows(tables, "loads").among("topology", static):
        if row["saturation_load"] is not None and row["collective_time"] is None and not row["lost_pairs"]:
            loads.setdefault(row["topology"], []).append(row)
    costs = _costs(tables.get("cost", ()))
    labels = [row for row in compared if row["topology"] in static]
    order = {title: place for place, title in enumerate(dict.fromkeys(row["comparison"] for row in labels))}
    labels.sort(key=lambda row: (order[row["comparison"]], not row["label"]))
    found = []
    for label in labels:
        network, own = static[label["topology"]], loads.get(label["topology"], [])
        if network["connected"] and network["terminals"] > 1:
            found.append(Compared(label, network, *_counting(own), costs.get(label["topology"])))
    return found


def _costs(rows: Iterable[Record]) -> dict[str, Record]:
    """Return the cheapest row of each network under the first cost model; empty without costs."""
    found: dict[str, Record] = {}
    model = None
    for row in rows:
        model = model or row["cost_model"]
        if row["cost_model"] == model and row["cost_per_terminal"] is not None:
            found[row["topology"]] = min(found.get(row["topology"], row), row, key=COST.best_first)
    return found


def _counting(rows: Iterable[Record]) -> tuple[Record | None, Record | None]:
    """Return (best row under uniform traffic, best row under the worst other pattern), None where absent."""
    best: dict[str, Record] = {}
    for row in rows:
        best[row["traffic"]] = min(best.get(row["traffic"], row), row, key=LOADS.best_first)
    uniform = next((best[name] for name in UNIFORM if name in best), None)
    others = [row for name, row in best.items() if name not in UNIFORM]
    return uniform, min(others, key=lambda row: row["saturation_load"], default=None)


# --- tables ---------------------------------------------------------------------------------------


def _of(title: str, source: str, column: str, digits: int = 8) -> Field:
    """Return a field that shows a numeric column of one of a network's records; `source` names a field of Compared."""

    def cell(row: Compared) -> Cell:
        record = getattr(row, source)
        return number(record.get(column) if record else None, digits)

    return Field(title, cell, MEANING[column], "number")


FIELDS = (
    Field("network", lambda row: _name(row.label)),
    Field("year", lambda row: _year(row.label["year"]), style="number"),
    _of("terminals", "static", "terminals"),
    Field("routers", lambda row: number(row.static["nodes"]), "routers and switches", "number"),
    _of("radix", "static", "ports_max"),
    Field("links a terminal", lambda row: number(row.links, 3), "links between routers, over terminals", "number"),
    _of("diameter", "static", "diameter"),
    _of("mean", "static", "mean_distance", 4),
    _of("uniform", "uniform", "saturation_load", 3),
    _of("adverse", "adverse", "saturation_load", 3),
    _of("guaranteed", "static", "guarantee_lower", 3),
    _of("at most", "static", "guarantee_upper", 3),
    _of("cost a terminal", "cost", "cost_per_terminal", 3),
    _of("watts a terminal", "cost", "watts_per_terminal", 3),
    Field("adverse pattern, routing", lambda row: Cell(_case(row.adverse), "short"), "of the adverse load"),
    Field("as spelled here", lambda row: Cell(row.label["topology"] if row.label["label"] else "–", "name")),
)


def _prices(found: Iterable[Compared]) -> str:
    """Return a sentence that says where the prices behind the costs come from."""
    priced = next((row.cost for row in found if row.cost), None)
    if priced is None:
        return ""
    model, currency, date = (escape(str(priced[name])) for name in ("cost_model", "currency", "date"))
    return (
        f" Costs, in {currency}, are at the prices of {model} ({date}) for all networks, whatever their age: routers"
        " and cables, without what the terminals have. They are not what a machine cost."
    )


def _name(label: Record) -> Cell:
    return Cell(label["label"], "machine") if label["label"] else Cell(label["topology"], "name")


def _year(value: int | None) -> Cell:
    return Cell("–", "number") if value is None else Cell(str(value), "number", value)


def _case(row: Record | None) -> str:
    return "–" if row is None else f"{row['traffic']}, {row['routing']}"


# --- chart ----------------------------------------------------------------------------------------


def _kind(topology: str) -> str:
    return KIND_OF[topology.removeprefix(LINKED).partition("(")[0]]


def _panels(found: Sequence[Compared]) -> list[Panel]:
    """Return charts of saturation under both loads, against cost per terminal if known, else against links."""
    priced = [row for row in found if row.cost]
    against, currency = ("cost", f", {priced[0].cost['currency']}") if priced and priced[0].cost else ("links", "")
    marks = [
        _mark(row, kind, load, against)
        for row in priced or found
        for kind, load in (("uniform", row.uniform), ("adverse", row.adverse))
        if load
    ]
    return panels({f"machines_{load}": _saturation(load, against, currency) for load in ("uniform", "adverse")}, marks)


def _saturation(load: str, against: str, currency: str) -> Chart:
    """Return a chart of the networks' saturation, with the machines named.

    load      'uniform' or 'adverse'
    against   'links' or 'cost', each per terminal
    """
    return Chart(
        title=f"{load.capitalize()} traffic: saturation against {against}",
        caption="Large marks with names are machines, small ones rivals, of all sizes. Further up is better, further"
        " left is cheaper. Both axes are logarithmic.",
        where=lambda row: row["kind"] == load,
        wide=True,
        x=Axis("place", f"{against} a terminal{currency}", log=True),
        y=Axis("load", "saturation, flits/cycle/terminal", log=True),
        line="group",
        looks=tuple(KINDS.values()),
        along=None,
        opacity=0.6,
        names="label",
        tips={"label": "machine", "topology": "network", "terminals": "terminals", "place": f"{against} a terminal"}
        | {"load": "saturation", "case": "pattern, routing"},
    )


def _mark(row: Compared, kind: str, load: Record, against: str) -> dict[str, Any]:
    return {
        "kind": kind,
        **{name: row.label[name] for name in ("label", "topology")},
        "group": _kind(row.label["topology"]),
        "terminals": row.static["terminals"],
        "place": row.cost["cost_per_terminal"] if against == "cost" and row.cost else row.links,
        "load": load["saturation_load"],
        "case": _case(load),
    }


# --- words ----------------------------------------------------------------------------------------


def _limits() -> str:
    items = "".join(f"<li>{item}</li>" for item in LIMITS)
    return f"{heading('What these numbers do not say')}<ul>{items}</ul>"


def _sources(found: Iterable[Compared]) -> str:
    """Return the HTML of the source and the note of each machine that has either, ordered by year."""
    machines = {row.label["label"]: row.label for row in found if row.label["label"]}
    items = []
    for label in sorted(machines.values(), key=lambda label: (label["year"] or 0, label["label"])):
        year = f", {label['year']}" if label["year"] else ""
        words = " ".join(filter(None, (_sentence(label["source"]), label["note"])))
        if words:
            items.append(f"<dt>{escape(label['label'])}{year}</dt><dd>{escape(words)}</dd>")
    return f"{heading('Sources, and how our networks differ')}<dl>{''.join(items)}</dl>" if items else ""


def _sentence(text: str | None) -> str:
    return f"{text.rstrip('.')}." if text else ""
