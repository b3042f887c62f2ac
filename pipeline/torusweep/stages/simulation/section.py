"""The page's section on simulation: latency against accepted load, saturation, workloads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import altair as alt

from torusweep.charts.chart import Chart, inline
from torusweep.charts.lines import cut_above
from torusweep.charts.scatter import value_groups
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
    paragraph,
    shared_field,
    table,
    word_field,
)
from torusweep.stages.simulation.columns import SIMULATION

MOST_LINES = 8  # of a chart
MOST_CHARTS = 6
KNEE = 6  # the axis of latency ends at this multiple of the least latency
SHARED = (
    "traffic",
    "router",
    "switching",
    "virtual_channels",
    "packet_flits",
    "packet_mix",
)  # by the curves of a chart
CURVE = ("topology", "routing", "vc_rule", "injection", "buffer_flits")  # what distinguishes these curves
MEANING = meanings(SIMULATION)
CAPTION = (
    "Each line is a network, each mark a simulated load; lower and further right is better. Latency is from a packet's"
    " generation to its tail's arrival. A curve that turns upwards is close to saturation, where queues grow with the"
    " run; larger, faint marks are saturated."
)
Curve = Sequence[Record]  # of one network, routing and router, by offered load


def section(tables: Tables) -> Section | None:
    """Latency curves, where each saturates, and times of workloads of the table `simulation`; None if it has no row."""
    rows = tables.get("simulation", ())
    if not rows:
        return None
    curves = _curves(rows)
    panels = _panels(curves)
    workloads = [row for row in rows if row["offered_load"] is None]
    parts: list[Part] = [
        paragraph(CAPTION) if panels else "",
        panels,
        _saturations(curves, tables.get("loads", ())),
        _workloads(workloads),
    ]
    return Section("simulation", "Simulation", parts)


def _curves(rows: Iterable[Record]) -> list[Curve]:
    found: dict[tuple[Any, ...], list[Record]] = {}
    for row in rows:
        if row["offered_load"] is not None:
            found.setdefault(tuple(row[name] for name in SHARED + CURVE), []).append(row)
    return [sorted(curve, key=lambda row: row["offered_load"]) for curve in found.values()]


# --- curves ---------------------------------------------------------------------------------------


def _panels(curves: Sequence[Curve]) -> list[Panel]:
    """A chart for each group of curves with the same SHARED settings, those of most curves first."""
    groups: dict[tuple[Any, ...], list[Curve]] = {}
    for curve in curves:
        if sum(row["total_latency"] is not None for row in curve) > 1:
            groups.setdefault(tuple(curve[0][name] for name in SHARED), []).append(curve)
    panels = []
    for place, group in enumerate(sorted(groups.values(), key=len, reverse=True)[:MOST_CHARTS]):
        first, count = group[0][0], min(MOST_LINES, len(group))
        chosen = [group[i * (len(group) - 1) // max(1, count - 1)] for i in range(count)]
        title = f"{first['traffic']} traffic, router {first['router']}"
        lengths = first["packet_mix"] or first["packet_flits"]
        router = f"{first['virtual_channels']} virtual channels, packets of {lengths} flits."
        some = f" {count} of {len(group)} networks; the table has all." if count < len(group) else ""
        panels.append(
            Panel(
                f"simulated_{place}",
                title,
                latency_against_load(chosen),
                escape(f"{first['switching']}, {router}{some}"),
                label=f"Latency against accepted load: {title}",
                wide=False,
            )
        )
    return panels


def latency_against_load(curves: Sequence[Curve]) -> Chart:
    """Mean total latency against accepted load, a line a network (and routing, where a network has several)."""
    routings: dict[str, set[str]] = {}
    for curve in curves:
        routings.setdefault(curve[0]["topology"], set()).add(curve[0]["routing"])
    columns = ("offered_load", "accepted_load", "total_latency", "total_latency_error", "p99_latency", "routing")
    rows = []
    for curve in curves:
        name = curve[0]["topology"]
        if len(routings[name]) > 1:
            name = f"{name}, {curve[0]['routing']}"
        measured = [row for row in curve if row["total_latency"] is not None]
        rows += [{**{column: row[column] for column in (*columns, "saturated")}, "line": name} for row in measured]
    most = KNEE * min(row["total_latency"] for row in rows)
    lines = value_groups(row["line"] for row in rows)
    names = [line.name for line in lines]
    legend = alt.Legend(labelLimit=240)
    colours = alt.Scale(domain=names, range=[line.colour for line in lines])
    symbols = alt.Scale(domain=names, range=[line.symbol for line in lines])
    base = alt.Chart(inline(cut_above(rows, "accepted_load", "total_latency", most))).encode(
        x=alt.X(
            "accepted_load:Q",
            title="accepted load, flits/cycle/terminal",
            axis=alt.Axis(format="~g"),
            scale=alt.Scale(zero=True, nice=False),
        ),
        y=alt.Y(
            "total_latency:Q",
            title="mean latency, cycles",
            axis=alt.Axis(format=",.6~r"),
            scale=alt.Scale(domain=[0, most], nice=False),
        ),
        color=alt.Color("line:N", title=None, legend=legend, scale=colours),
        order="offered_load:Q",
    )
    marks = base.mark_point(filled=True, clip=True).encode(
        shape=alt.Shape("line:N", title=None, legend=legend, scale=symbols),
        size=alt.when("datum.saturated").then(alt.value(110)).otherwise(alt.value(45)),
        opacity=alt.when("datum.saturated").then(alt.value(0.5)).otherwise(alt.value(1)),
        tooltip=[
            alt.Tooltip("line:N", title="network"),
            alt.Tooltip("routing:N"),
            alt.Tooltip("offered_load:Q", title="offered load", format=".4~g"),
            alt.Tooltip("accepted_load:Q", title="accepted load", format=".4~g"),
            alt.Tooltip("total_latency:Q", title="mean latency, cycles", format=".4~g"),
            alt.Tooltip("total_latency_error:Q", title="±", format=".2~g"),
            alt.Tooltip("p99_latency:Q", title="99 % within, cycles", format=","),
        ],
    )
    return alt.layer(base.mark_line(strokeWidth=2, clip=True), marks)


# --- tables ---------------------------------------------------------------------------------------

POINT = (  # the columns that name a simulated point
    word_field("topology", "network", MEANING, "name"),
    word_field("routing", "routing", MEANING),
    word_field("traffic", "traffic", MEANING),
    word_field("router", "router", MEANING),
)


def _saturations(curves: Sequence[Curve], loads: Iterable[Record]) -> str:
    """A row for each curve: its ends, and where it saturates beside the load that the links can carry."""
    if not curves:
        return ""
    carried = {(row["topology"], row["routing"], row["traffic"]): row["terminal_saturation_load"] for row in loads}

    def least_latency(curve: Curve) -> Cell:
        return number(curve[0]["total_latency"], 4)

    def most_accepted(curve: Curve) -> Cell:
        return number(max((row["accepted_load"] for row in curve if row["accepted_load"] is not None), default=None), 4)

    def carried_by_links(curve: Curve) -> Cell:
        return number(carried.get((curve[0]["topology"], curve[0]["routing"], curve[0]["traffic"])), 4)

    def deadlock(curve: Curve) -> Cell:
        return Cell("deadlock", "bad") if any(row["deadlocked"] for row in curve) else Cell("")

    named = (*POINT, number_field("virtual_channels", "VCs", MEANING))
    saturation = MEANING["simulated_saturation"] + "; if it was not sought, the simulated loads next to it"
    fields = [
        *map(shared_field, named),
        Field("loads", lambda curve: number(len({row["offered_load"] for row in curve})), "simulated loads", "number"),
        Field("zero-load latency", least_latency, "at the least load simulated: " + MEANING["total_latency"], "number"),
        Field("most accepted", most_accepted, MEANING["accepted_load"], "number"),
        Field("saturates at", _saturation, saturation, "number"),
        Field(
            "links carry",
            carried_by_links,
            "load at which the busiest channel or terminal is full, computed from channel loads (table loads)",
            "number",
        ),
        Field("", deadlock, MEANING["deadlocked"]),
    ]
    ordered = sorted(
        curves, key=lambda curve: [curve[0][name] for name in ("topology", "routing", "traffic", "router")]
    )
    note = (
        "Loads in flits/cycle/terminal, latencies in cycles. A simulated router cannot use every cycle of its links, so"
        f" it saturates below the load that they can carry. All {len(curves):,} curves."
    )
    return heading("Saturation", note) + table(fields, ordered)


def _saturation(curve: Curve) -> Cell:
    """Where a curve saturates, as far as it is known."""
    sought = next((row["simulated_saturation"] for row in curve if row["simulated_saturation"] is not None), None)
    if sought is not None:
        return number(sought, 4)
    below = [row["offered_load"] for row in curve if not row["saturated"]]
    above = [row["offered_load"] for row in curve if row["saturated"]]
    if not above:
        return Cell(f"> {max(below):.4g}", "number", max(below))
    under = max((load for load in below if load < min(above)), default=0.0)
    return Cell(f"{under:.4g} … {min(above):.4g}", "number", under)


def _workloads(rows: Sequence[Record]) -> str:
    """A row for each workload or fixed batch: the time until all of it is delivered."""
    if not rows:
        return ""
    fields = (
        *POINT,
        word_field("workload", "workload", MEANING),
        number_field("packets_each", "packets each", MEANING),
        number_field("delivery_time", "delivered after, cycles", MEANING, 6),
    )
    ordered = sorted(
        rows, key=lambda row: (row["workload"] or row["traffic"], row["delivery_time"] or math.inf, row["topology"])
    )
    note = f"Time until a fixed amount of traffic is delivered. All {len(rows):,}."
    return heading("Workloads", note) + table(fields, ordered)
