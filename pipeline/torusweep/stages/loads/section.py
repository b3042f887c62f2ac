"""The page's section on channel loads: saturation by traffic and routing, collective operations, bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import altair as alt

from torusweep.charts.chart import Chart
from torusweep.charts.lines import Line, line_chart
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
    number,
    number_field,
    table,
    word_field,
)
from torusweep.stages.loads.columns import LOADS

MEANING = meanings(LOADS)
# (family, dimensions) → its line; dashed: two dimensions
LINES = {
    ("rt", None): Line("RT, 2a × a", "#006DAD", "circle", (5, 3)),
    ("rtt", None): Line("RTT, twisted", "#CB73A3", "diamond", (5, 3)),
    ("pt", None): Line("PT, 2a × a × a", "#006DAD", "square"),
    ("ptt", None): Line("PTT, twisted in xy", "#C48600", "triangle-up"),
    ("pdtt", None): Line("PDTT, twisted twice", "#CB73A3", "cross"),
    ("torus", 3): Line("3D torus, degree 6", "#379AD8", "cross"),
    ("pruned_torus", 3): Line("pruned, degree 4", "#B84300", "square"),
    ("directed_torus", 3): Line("directed, degree 3", "#008A62", "triangle-right"),
    ("pruned_directed_torus", 3): Line("pruned and directed, degree 2", "#7C818A", "triangle-down"),
}
CAPTION = "Uniform traffic (every pair of nodes equally), split evenly over all shortest paths; higher is better."
TWISTED = (
    " One twist raises the saturation load of a rectangular torus by half; two twists raise that of a prismatic torus"
    " to 12/7 (Cámara et al. 2010, sec. 5)."
)
PRUNED = (
    " Pruning a 3D torus from six links to four halves its saturation load, to 4/k: the links of the unpruned dimension"
    " carry about half as much as the others, whereas Parhami & Kwai 2004 assume equal loads. All channels are equally"
    " wide here. With as many pins a node, channels of the pruned torus are 1.5 times as wide, and it saturates at 3/4"
    " of the load of the unpruned torus."
)


def section(tables: Tables) -> Section | None:
    """Saturation loads, collective operations and bounds of the table `loads`; None if it has nothing to compare."""
    rows = joined(tables.get("static", ()), tables.get("loads", ()))
    drawn = [row for row in rows if _is_drawn(row)]
    panels = []
    if drawn:
        title = "Saturation load against size"
        panels = [Panel("saturation_against_size", title, saturation_against_size(drawn), escape(caption(drawn)))]
    parts: list[Part] = [panels, _by_traffic(rows), _by_routing(rows), _collectives(rows), _bounds(rows)]
    return Section("loads", "Channel loads", parts) if any(parts) else None


def joined(static: Iterable[Record], loads: Iterable[Record]) -> list[dict[str, Any]]:
    """Records of loads with the static columns of their networks."""
    networks = {record["topology"]: record for record in static}
    return [{**networks[load["topology"]], **load} for load in loads if load["topology"] in networks]


# --- chart ----------------------------------------------------------------------------------------


def caption(rows: Iterable[Record]) -> str:
    """What the chart of these rows shows; rows as `joined` gives them."""
    families = {row["family"] for row in rows}
    return CAPTION + TWISTED * (not families.isdisjoint({"rtt", "ptt", "pdtt"})) + PRUNED * ("pruned_torus" in families)


def _line(row: Record) -> Line | None:
    return LINES.get((row["family"], dict(row["parameters"]).get("n")))


def _is_drawn(row: Record) -> bool:
    """Whether the chart shows this row: minimal routing and uniform traffic on a network of LINES."""
    if row["family"] == "torus" and row["directed"]:
        return False
    minimal_uniform = (row["routing"], row["traffic"]) == ("minimal", "uniform")
    return minimal_uniform and row["saturation_load"] is not None and _line(row) is not None


def saturation_against_size(rows: Iterable[Record]) -> Chart:
    """Saturation load against nodes, a line for each of LINES; rows as `joined` gives them."""
    columns = ("topology", "nodes", "degree_max", "saturation_load", "link_utilization", "mean_hops")
    shown = [{**{name: row[name] for name in columns}, "line": line.name} for row in rows if (line := _line(row))]
    shown.sort(key=lambda row: (row["line"], row["nodes"], row["topology"]))
    scale = alt.Scale(type="log", nice=False, padding=12)
    x = alt.X("nodes:Q", title="nodes", scale=scale, axis=alt.Axis(format="~s", tickCount=6))
    y = alt.Y("saturation_load:Q", title="saturation load, flits/cycle/terminal", scale=scale)
    tooltip = [
        alt.Tooltip("topology:N", title="network"),
        alt.Tooltip("nodes:Q", format=","),
        alt.Tooltip("degree_max:Q", title="degree"),
        alt.Tooltip("saturation_load:Q", title="saturation load", format=".6~g"),
        alt.Tooltip("link_utilization:Q", title="link utilization", format=".4~g"),
        alt.Tooltip("mean_hops:Q", title="mean path, hops", format=".6~g"),
    ]
    return line_chart(shown, list(LINES.values()), x, y, tooltip, size=50)


# --- tables ---------------------------------------------------------------------------------------

NETWORK = word_field("topology", "network", MEANING, "name")
ROUTING = word_field("routing", "routing", MEANING)
TRAFFIC = word_field("traffic", "traffic", MEANING)
NODES = Field("nodes", lambda row: number(row["nodes"]), style="number")


def _by_traffic(rows: Sequence[Record]) -> str:
    note = (
        "Saturation load in flits/cycle/terminal, at which the first channel or terminal is full. A dash: the pattern"
        " does not fit the network, or was not requested."
    )
    return _pivot(rows, "By traffic pattern", note, (NETWORK, ROUTING), "traffic", "terminal_saturation_load")


def _by_routing(rows: Sequence[Record]) -> str:
    note = (
        "Saturation load in flits/cycle/terminal, at which the first channel is full. A dash: the routing does not fit"
        " the network, or was not requested."
    )
    return _pivot(rows, "By routing", note, (NETWORK, TRAFFIC), "routing", "saturation_load")


def _pivot(rows: Sequence[Record], title: str, note: str, fields: tuple[Field, Field], across: str, value: str) -> str:
    """A table of `value` with a column for each value of `across`; only rows that have several."""
    key = {"traffic": "routing", "routing": "traffic"}[across]
    found: dict[tuple[str, str], dict[str, Record]] = {}
    for row in rows:
        found.setdefault((row["topology"], row[key]), {})[row[across]] = row
    several = [by_column for by_column in found.values() if len(by_column) > 1]
    several.sort(key=lambda by_column: _order(next(iter(by_column.values())), key))

    def first(field: Field) -> Field:
        return field._replace(cell=lambda by_column: field.cell(next(iter(by_column.values()))))

    def of(name: str) -> Field:
        def cell(by_column: Mapping[str, Record]) -> Cell:
            return number(by_column[name][value] if name in by_column else None, 4)

        return Field(name, cell, MEANING[value], "number")

    names = dict.fromkeys(row[across] for row in rows)
    return _table(title, note, [*map(first, (*fields, NODES)), *map(of, names)], several)


def _order(row: Record, *columns: str) -> tuple[Any, ...]:
    return (row["nodes"], row["topology"], *(row[column] for column in columns))


def _collectives(rows: Sequence[Record]) -> str:
    note = (
        "The phases of an operation follow each other, each at the rate that its busiest channel allows. Bus bandwidth"
        " compares networks of any size: 2(N-1)/N over the time for one flit of every terminal's message."
    )
    fields = [
        number_field("collective_time", "cycles a flit", MEANING, 4),
        number_field("bus_bandwidth", "bus bandwidth", MEANING, 4),
        number_field("terminal_bus_bandwidth", "with one port a terminal", MEANING, 4),
        Field("phases", lambda row: number(len(row["phases"] or ())), style="number"),
    ]
    return _records("Collective operations", note, fields, [row for row in rows if row["collective_time"] is not None])


def _bounds(rows: Sequence[Record]) -> str:
    note = (
        "In flits/cycle/terminal: the load that this routing carries, the most that any routing could carry, and the"
        " load under the permutation that is worst for this routing."
    )
    fields = [
        number_field("saturation_load", "saturation load", MEANING, 4),
        number_field("capacity", "capacity", MEANING, 4),
        number_field("capacity_minimal", "by minimal routing", MEANING, 4),
        number_field("capacity_share", "share of capacity", MEANING, 4),
        number_field("worst_case_saturation_load", "worst permutation", MEANING, 4),
        Field("method", lambda row: Cell(row["bounds_method"], "argument"), MEANING["bounds_method"]),
    ]
    known = ("capacity", "worst_case_saturation_load")
    shown = [row for row in rows if row["bounds_method"] or any(row[name] is not None for name in known)]
    return _records("Bounds over all routings", note, fields, shown)


def _records(title: str, note: str, fields: Sequence[Field], rows: Sequence[Record]) -> str:
    """A table with a row a record, by nodes and name."""
    ordered = sorted(rows, key=lambda row: _order(row, "routing", "traffic"))
    return _table(title, note, [NETWORK, ROUTING, TRAFFIC, NODES, *fields], ordered)


def _table(title: str, note: str, fields: Sequence[Field], rows: Sequence[Any]) -> str:
    if not rows:
        return ""
    return heading(title, f"{note} All {len(rows):,}, the smallest networks first.") + table(fields, rows)
