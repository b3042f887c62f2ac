"""What the page says of simulation: latency against accepted load, and where the simulated networks saturate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import altair as alt

from torusweep.charts.chart import Chart, inline, specification
from torusweep.charts.lines import cut_above
from torusweep.charts.scatter import words
from torusweep.stages.static.section import Cell, Section, number, table
from torusweep.tables.records import SIMULATION

Record = Mapping[str, Any]

MOST_LINES = 8  # of a chart
MOST_CHARTS = 6
MOST_ROWS = 300  # of the table
KNEE = 6  # an axis of latency ends at so many times the least
ALIKE = (
    "traffic",
    "router",
    "switching",
    "virtual_channels",
    "packet_flits",
)  # what the curves of one chart have in common
MEANING = {column.name: column.meaning + (f" ({column.unit})" if column.unit else "") for column in SIMULATION}
CAPTION = (
    "Each line is a network, each mark a simulated load; lower and further right is better. Latency is from a packet's generation to its tail's"
    " arrival. A curve that turns upwards is close to saturation, where queues grow with the run; larger, faint marks are saturated."
)


def simulation_section(rows: Sequence[Record], loads: Iterable[Record], drawn: dict[str, Any]) -> Section:
    """Curves of the networks simulated alike, a table of where each saturates, and how long workloads take.

    rows, loads  records of the tables simulation and loads
    drawn        the charts' specifications join it, by the id of their elements
    """
    curves, workloads = _curves(rows), [row for row in rows if row["offered_load"] is None]
    parts = [_figures(curves, drawn), _saturations(curves, loads), _workloads(workloads)]
    return Section("simulation", "What simulation says", "\n".join(filter(None, parts)))


def _curves(rows: Iterable[Record]) -> list[list[Record]]:
    """The rows of each network, routing and router, by offered load."""
    found: dict[tuple[Any, ...], list[Record]] = {}
    for row in rows:
        if row["offered_load"] is not None:
            key = (
                *(row[name] for name in ALIKE),
                row["topology"],
                row["routing"],
                row["vc_rule"],
                row["injection"],
                row["buffer_flits"],
            )
            found.setdefault(key, []).append(row)
    return [sorted(curve, key=lambda row: row["offered_load"]) for curve in found.values()]


# --- curves -----------------------------------------------------------------------------------------


def _figures(curves: Sequence[Sequence[Record]], drawn: dict[str, Any]) -> str:
    """A chart for each way of simulating that several loads were asked for, those of most networks first."""
    groups: dict[tuple[Any, ...], list[Sequence[Record]]] = {}
    for curve in curves:
        if sum(row["total_latency"] is not None for row in curve) > 1:
            groups.setdefault(tuple(curve[0][name] for name in ALIKE), []).append(curve)
    several = sorted(groups.values(), key=len, reverse=True)[:MOST_CHARTS]
    parts = []
    for place, group in enumerate(several):
        name, first = f"simulated_{place}", group[0][0]
        chosen = [
            group[i * (len(group) - 1) // max(1, min(MOST_LINES, len(group)) - 1)]
            for i in range(min(MOST_LINES, len(group)))
        ]
        drawn[name] = specification(latency_against_load(chosen))
        title = f"{first['traffic']} traffic, router {first['router']}"
        about = f"{first['switching']}, {first['virtual_channels']} virtual channels, packets of {first['packet_flits']} flits."
        some = f" {len(chosen)} of {len(group)} networks; the table has all." if len(chosen) < len(group) else ""
        chart = f'<div class="chart" id="{name}" role="img" aria-label="Latency against accepted load: {escape(title)}"></div>'
        parts.append(
            f"<figure><h3>{escape(title)}</h3>{chart}<figcaption>{escape(f'{about}{some}')}</figcaption></figure>"
        )
    return f'<p class="note">{CAPTION}</p><div class="figures">{"".join(parts)}</div>' if parts else ""


def latency_against_load(curves: Sequence[Sequence[Record]]) -> Chart:
    """Mean total latency against accepted load, a line a network (and routing, where a network has several); curves as `_curves` gives them."""
    routings: dict[str, set[str]] = {}
    for curve in curves:
        routings.setdefault(curve[0]["topology"], set()).add(curve[0]["routing"])
    rows = []
    for curve in curves:
        name = (
            curve[0]["topology"]
            if len(routings[curve[0]["topology"]]) == 1
            else f"{curve[0]['topology']}, {curve[0]['routing']}"
        )
        columns = (
            "offered_load",
            "accepted_load",
            "total_latency",
            "total_latency_error",
            "p99_latency",
            "routing",
            "saturated",
        )
        rows += [
            {**{column: row[column] for column in columns}, "line": name}
            for row in curve
            if row["total_latency"] is not None
        ]
    most = KNEE * min(row["total_latency"] for row in rows)
    lines = words(row["line"] for row in rows)
    names = [line.name for line in lines]
    legend = alt.Legend(labelLimit=240)
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
        color=alt.Color(
            "line:N", title=None, legend=legend, scale=alt.Scale(domain=names, range=[line.colour for line in lines])
        ),
        order="offered_load:Q",
    )
    marks = base.mark_point(filled=True, clip=True).encode(
        shape=alt.Shape(
            "line:N", title=None, legend=legend, scale=alt.Scale(domain=names, range=[line.symbol for line in lines])
        ),
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


def _saturations(curves: Sequence[Sequence[Record]], loads: Iterable[Record]) -> str:
    """A row a curve: its ends, and where it saturates beside what the links could carry."""
    if not curves:
        return ""
    carried = {(row["topology"], row["routing"], row["traffic"]): row["terminal_saturation_load"] for row in loads}
    headers = [
        *[(title, "", MEANING[column]) for column, title in WHAT],
        ("VCs", "number", MEANING["virtual_channels"]),
        ("loads", "number", "simulated"),
        ("latency at the least", "number", MEANING["total_latency"]),
        ("most accepted", "number", MEANING["accepted_load"]),
        ("saturates at", "number", MEANING["simulated_saturation"] + "; else between which of the loads"),
        ("links carry", "number", "load at which the busiest channel or terminal is full, by arithmetic (table loads)"),
        ("", "", MEANING["deadlocked"]),
    ]
    cells = []
    for curve in sorted(curves, key=lambda curve: tuple(curve[0][name] for name, _ in WHAT))[:MOST_ROWS]:
        first = curve[0]
        limit, sought = _saturates(curve)
        cells.append(
            [
                Cell(first["topology"], "name"),
                *[Cell(first[name], "short") for name, _ in WHAT[1:]],
                number(first["virtual_channels"]),
                number(len({row["offered_load"] for row in curve})),
                number(first["total_latency"], 4),
                number(
                    max((row["accepted_load"] for row in curve if row["accepted_load"] is not None), default=None), 4
                ),
                Cell(limit, "number", sought),
                number(carried.get((first["topology"], first["routing"], first["traffic"])), 4),
                Cell("deadlock", "bad") if any(row["deadlocked"] for row in curve) else Cell(""),
            ]
        )
    shown = f" The first {MOST_ROWS} of {len(curves):,}." if len(curves) > MOST_ROWS else ""
    note = "Loads in flits/cycle/terminal, latencies in cycles. A simulated router wastes cycles, so it saturates below what its links could carry."
    return f'<h3>Where they saturate</h3><p class="note">{note}{shown}</p>{table(headers, cells, sortable=True)}'


WHAT = (("topology", "network"), ("routing", "routing"), ("traffic", "traffic"), ("router", "router"))


def _saturates(curve: Sequence[Record]) -> tuple[str, float | None]:
    """(where a curve saturates, as it is known; the load that it is sorted by)."""
    sought = next((row["simulated_saturation"] for row in curve if row["simulated_saturation"] is not None), None)
    if sought is not None:
        return f"{sought:.4g}", sought
    below = [row["offered_load"] for row in curve if not row["saturated"]]
    above = [row["offered_load"] for row in curve if row["saturated"]]
    if not above:
        return f"> {max(below):.4g}", max(below)
    under = max((load for load in below if load < min(above)), default=0.0)
    return f"{under:.4g} … {min(above):.4g}", under


def _workloads(rows: Sequence[Record]) -> str:
    if not rows:
        return ""
    headers = [
        *[(title, "", MEANING[column]) for column, title in WHAT],
        ("workload", "", MEANING["workload"]),
        ("packets each", "number", MEANING["packets_each"]),
        ("delivered after, cycles", "number", MEANING["delivery_time"]),
    ]
    ordered = sorted(
        rows, key=lambda row: (row["workload"] or row["traffic"], row["delivery_time"] or math.inf, row["topology"])
    )
    cells = [
        [
            Cell(row["topology"], "name"),
            *[Cell(row[name] or "–", "short") for name, _ in WHAT[1:]],
            Cell(row["workload"] or "–", "short"),
            number(row["packets_each"]),
            number(row["delivery_time"], 6),
        ]
        for row in ordered[:MOST_ROWS]
    ]
    return f'<h3>Workloads</h3><p class="note">So much is to be sent, and no more: how long it takes.</p>{table(headers, cells, sortable=True)}'
