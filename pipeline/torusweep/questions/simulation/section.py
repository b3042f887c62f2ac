"""The report's section on simulation: latency against accepted load, saturation, workloads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart, spread
from torusweep.charts.section import Cell, Chapter, Field, Panel, fields, listing, number, paragraph, shared_field
from torusweep.quantities import counted
from torusweep.questions.simulation.columns import SIMULATION
from torusweep.tables.rows import Record, Tables

MOST_LINES = 8  # lines of a chart
MOST_CHARTS = 6
KNEE = 6  # the axis of latency ends at this multiple of the least latency
# columns that are equal for all curves of a chart
SHARED = ("traffic", "router", "switching", "virtual_channels", "packet_flits", "packet_mix")
CURVE = ("topology", "routing", "vc_rule", "injection", "buffer_flits")  # columns in which these curves differ
CAPTION = (
    "Each line is a network, each mark a simulated load; lower and further right is better. Latency is from a packet's"
    " generation to its tail's arrival. A curve that turns upwards is close to saturation, where queues grow with the"
    " run; marks with a white centre are saturated."
)
Curve = Sequence[Record]  # rows of one network, routing and router, by offered load
POINT = fields(SIMULATION, "topology", "routing", "traffic", "router")  # the columns that name a simulated point


def section(tables: Tables) -> Chapter | None:
    """Return the chapter on the table `simulation`: curves, saturation, times of workloads; None without rows."""
    rows = tables.get("simulation", ())
    if not rows:
        return None
    curves = _curves(rows)
    found = _panels(curves)
    workloads = [row for row in rows if row["offered_load"] is None]
    return Chapter(
        "simulation",
        "Simulation",
        [
            paragraph(CAPTION) if found else "",
            found,
            _saturations(curves, tables.get("loads", ())),
            _workloads(workloads),
        ],
    )


def _curves(rows: Iterable[Record]) -> list[Curve]:
    found: dict[tuple[Any, ...], list[Record]] = {}
    for row in rows:
        if row["offered_load"] is not None:
            found.setdefault(tuple(row[name] for name in SHARED + CURVE), []).append(row)
    return [sorted(curve, key=lambda row: row["offered_load"]) for curve in found.values()]


# --- curves ---------------------------------------------------------------------------------------


def _panels(curves: Sequence[Curve]) -> list[Panel]:
    """Return a chart for each group of curves with equal SHARED columns, the largest groups first."""
    groups: dict[tuple[Any, ...], list[Curve]] = {}
    for curve in curves:
        if sum(row["total_latency"] is not None for row in curve) > 1:
            groups.setdefault(tuple(curve[0][name] for name in SHARED), []).append(curve)
    largest = enumerate(sorted(groups.values(), key=len, reverse=True)[:MOST_CHARTS])
    return [Panel(f"simulated_{place}", *_drawn(group)) for place, group in largest]


def _drawn(group: Sequence[Curve]) -> tuple[Chart, list[dict[str, Any]]]:
    """Return a chart of curves and its rows: a line for each network, or for each routing if a network has several."""
    first, curves = group[0][0], spread(group, MOST_LINES)
    length = f"{first['packet_mix']} flits" if first["packet_mix"] else counted(first["packet_flits"], "flit")
    router = f"{counted(first['virtual_channels'], 'virtual channel')}, packets of {length}."
    some = f" {len(curves)} of {len(group)} networks; the table has all." if len(curves) < len(group) else ""
    chart = LATENCY._replace(
        title=f"{first['traffic']} traffic, router {first['router']}", caption=f"{first['switching']}, {router}{some}"
    )
    routings: dict[str, set[str]] = {}
    for curve in curves:
        routings.setdefault(curve[0]["topology"], set()).add(curve[0]["routing"])
    rows: list[dict[str, Any]] = []
    for curve in curves:
        name = curve[0]["topology"]
        line = f"{name}, {curve[0]['routing']}" if len(routings[name]) > 1 else name
        rows += [{**row, "line": line} for row in curve]
    return chart, rows


def _knee(rows: Sequence[Record]) -> dict[str, Any]:
    return {"y": LATENCY.y._replace(domain=(0, KNEE * min(row["total_latency"] for row in rows)))}


LATENCY = Chart(
    x=Axis("accepted_load", "accepted load, flits/cycle/terminal", zero=True),
    y=Axis("total_latency", "mean latency, cycles"),
    where=lambda row: row["total_latency"] is not None,
    of_rows=_knee,
    along="offered_load",
    hollow="saturated",
    cut=True,
    tips={"line": "network", "routing": "routing", "offered_load": "offered load", "accepted_load": "accepted load"}
    | {"total_latency": "mean latency, cycles", "total_latency_error": "±", "p99_latency": "99 % within, cycles"},
)


# --- tables ---------------------------------------------------------------------------------------


def _saturations(curves: Sequence[Curve], loads: Iterable[Record]) -> str:
    """Return a table with a row for each curve: its ends, its saturation, and the load that the links can carry."""
    if not curves:
        return ""
    carried = {(row["topology"], row["routing"], row["traffic"]): row["terminal_saturation_load"] for row in loads}

    def most_accepted(curve: Curve) -> Cell:
        return number(max((row["accepted_load"] for row in curve if row["accepted_load"] is not None), default=None), 4)

    def carried_by_links(curve: Curve) -> Cell:
        return number(carried.get((curve[0]["topology"], curve[0]["routing"], curve[0]["traffic"])), 4)

    def deadlock(curve: Curve) -> Cell:
        return Cell("yes", "bad") if any(row["deadlocked"] for row in curve) else Cell("")

    named = [*POINT, *fields(SIMULATION, "virtual_channels")]
    shown = fields(
        SIMULATION,
        *map(shared_field, named),
        Field("loads", lambda curve: number(len({row["offered_load"] for row in curve})), "simulated loads", "number"),
        ("total_latency", "latency at the least load", lambda curve: number(curve[0]["total_latency"], 4)),
        ("accepted_load", "most accepted", most_accepted),
        ("simulated_saturation", "saturates at", _saturation),
        Field(
            "links carry",
            carried_by_links,
            "load at which the busiest channel or terminal is full, computed from channel loads (table loads)",
            "number",
        ),
        Field("deadlock", deadlock, "whether packets wait for each other for ever"),
    )
    ordered = sorted(
        curves, key=lambda curve: [curve[0][name] for name in ("topology", "routing", "traffic", "router")]
    )
    note = (
        "Loads in flits/cycle/terminal, latencies in cycles. A simulated router"
        " cannot use every cycle of its links, so it saturates below the load that they can carry. By way of a random"
        " node (valiant) links carry packets to a terminal of the source's router, too, which are not simulated: where"
        " these are many, it may saturate above that load. All {} curves."
    )
    return listing("Saturation", note, shown, ordered)


def _saturation(curve: Curve) -> Cell:
    """Return a curve's saturation: the saturation point if searched for, or the loads between which it lies."""
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
    """Return a table with a row for each workload or fixed batch: the time until everything is delivered."""
    time = ("delivery_time", "delivered after, cycles", 6)
    shown = [*POINT, *fields(SIMULATION, "workload", "packets_each", time)]
    ordered = sorted(
        rows, key=lambda row: (row["workload"] or row["traffic"], row["delivery_time"] or math.inf, row["topology"])
    )
    return listing("Workloads", "Time until a fixed amount of traffic is delivered. All {}.", shown, ordered)
