"""The report's section on channel loads: saturation by traffic and by routing, collective operations, bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart
from torusweep.charts.looks import KINDS, Look, kind, series, size_axis
from torusweep.charts.section import (
    MOST_DRAWN,
    Cell,
    Chapter,
    Field,
    Panel,
    Part,
    fields,
    listing,
    number,
    panels,
    sampled,
)
from torusweep.questions.loads.columns import LOADS
from torusweep.tables.rows import Record, Tables, stored_rows

# (family, dimensions) → the look of its line; families of two dimensions have dashed lines
LINES = {
    ("rt", None): Look("RT, 2a × a", "#006DAD", "circle", (5, 3)),
    ("rtt", None): Look("RTT, twisted", "#CB73A3", "diamond", (5, 3)),
    ("pt", None): Look("PT, 2a × a × a", "#006DAD", "square"),
    ("ptt", None): Look("PTT, twisted in xy", "#C48600", "triangle-up"),
    ("pdtt", None): Look("PDTT, twisted twice", "#CB73A3", "cross"),
    ("torus", 3): Look("3D torus, degree 6", "#379AD8", "cross"),
    ("pruned_torus", 3): Look("pruned, degree 4", "#B84300", "square"),
    ("directed_torus", 3): Look("directed, degree 3", "#008A62", "triangle-right"),
    ("pruned_directed_torus", 3): Look("pruned and directed, degree 2", "#7C818A", "triangle-down"),
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
NETWORK, ROUTING, TRAFFIC = fields(LOADS, "topology", "routing", "traffic")
NODES = Field("nodes", lambda row: number(row["nodes"]), style="number")


def section(tables: Tables) -> Chapter | None:
    """Return the chapter on the table `loads`; None if there is nothing to compare."""
    loads = tables.get("loads", ())
    networks = stored_rows(tables, "static").among("topology", (row["topology"] for row in loads))
    rows = joined(networks, loads)
    ordered = sorted(rows, key=_order)
    charts = _of_all(ordered) + panels({"saturation_against_size": SATURATION}, ordered, least=1)
    parts: list[Part] = [
        *(charts, _by_traffic(rows), _by_routing(rows), _collectives(rows), _bounds(rows), _of_capacity(rows))
    ]
    return Chapter("loads", "Channel loads", parts) if any(parts) else None


def joined(static: Iterable[Record], loads: Iterable[Record]) -> list[dict[str, Any]]:
    """Return the rows of `loads`, with the static columns of each network and the network's line in the chart."""
    networks = {
        record["topology"]: {**record, "line": _line(record), "kind": kind(record), "series": series(record)}
        for record in static
    }
    return [{**networks[load["topology"]], **load} for load in loads if load["topology"] in networks]


# --- chart ----------------------------------------------------------------------------------------


def caption(rows: Iterable[Record]) -> str:
    """Return the caption of the chart that shows these rows, which are rows from `joined`."""
    families = {row["family"] for row in rows}
    return CAPTION + TWISTED * (not families.isdisjoint({"rtt", "ptt", "pdtt"})) + PRUNED * ("pruned_torus" in families)


def _line(network: Record) -> str | None:
    if network["family"] == "torus" and network["directed"]:
        return None
    look = LINES.get((network["family"], dict(network["parameters"]).get("n")))
    return look and look.name


def _is_minimal_uniform(row: Record) -> bool:
    return (row["routing"], row["traffic"]) == ("minimal", "uniform") and row["saturation_load"] is not None


SATURATION = Chart(
    title="Saturation load against size",
    where=lambda row: _is_minimal_uniform(row) and row["line"] is not None,
    of_rows=lambda rows: {"caption": caption(rows)},
    wide=True,
    x=Axis("nodes", "nodes", log=True),
    y=Axis("saturation_load", "saturation load, flits/cycle/terminal", log=True),
    looks=tuple(LINES.values()),
    size=50,
    tips={"topology": "network", "nodes": "nodes", "degree_max": "degree", "saturation_load": "saturation load"}
    | {"link_utilization": "link utilization", "mean_hops": "mean path, hops"},
)
OF_ALL = SATURATION._replace(
    title="Saturation load of all networks",
    where=None,
    of_rows=None,
    caption=f"{CAPTION} Only links limit it here; a terminal sends and takes at most one flit a cycle.",
    line="kind",
    looks=tuple(KINDS.values()),
    detail="series",
    tips={**SATURATION.tips, "terminals": "terminals"},
    pick=True,
)


def _of_all(rows: Sequence[Record]) -> list[Panel]:
    """Return the chart of all networks, or of a sample of many; [] if every network lies on one of LINES."""
    drawn = [row for row in rows if _is_minimal_uniform(row)]
    if len({row["topology"] for row in drawn}) < 2 or all(row["line"] for row in drawn):
        return []
    size = size_axis(drawn)
    costs = [-np.array([float(row[name]) for row in drawn]) for name in (size.column, "saturation_load")]
    kept = [drawn[place] for place in sampled(costs, len(drawn), MOST_DRAWN)]
    note = f" A sample of {len(kept):,} of {len(drawn):,} networks, which keeps the Pareto front."
    chart = OF_ALL._replace(x=size, caption=OF_ALL.caption + note * (len(kept) < len(drawn)))
    return [Panel("saturation_of_all", chart, kept)]


# --- tables ---------------------------------------------------------------------------------------


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


def _pivot(rows: Sequence[Record], title: str, note: str, leading: tuple[Field, Field], across: str, value: str) -> str:
    """Return a table of the column `value`, with a column for each value of `across`. Rows need at least two values."""
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

        return fields(LOADS, (value, name, cell))[0]

    names = dict.fromkeys(row[across] for row in rows)
    return _listing(title, note, [*map(first, (*leading, NODES)), *map(of, names)], several)


def _order(row: Record, *columns: str) -> tuple[Any, ...]:
    return (row["nodes"], row["topology"], *(row[column] for column in columns))


def _collectives(rows: Sequence[Record]) -> str:
    note = (
        "The phases of an operation follow each other, each at the rate that its busiest channel allows. Bus bandwidth"
        " compares networks of any size: 2(N-1)/N over the time for one flit of every terminal's message."
    )
    shown = fields(
        LOADS,
        *(("collective_time", "cycles a flit", 4), ("bus_bandwidth", "", 4)),
        ("terminal_bus_bandwidth", "with one port a terminal", 4),
        Field("phases", lambda row: number(len(row["phases"] or ())), style="number"),
    )
    return _records("Collective operations", note, shown, [row for row in rows if row["collective_time"] is not None])


def _bounds(rows: Sequence[Record]) -> str:
    note = (
        "In flits/cycle/terminal: the load that this routing carries, the most that any routing could carry, and the"
        " load under the permutation that is worst for this routing."
    )
    shown = fields(
        LOADS,
        *(("saturation_load", "", 4), ("capacity", "", 4), ("capacity_minimal", "by minimal routing", 4)),
        *(("capacity_share", "share of capacity", 4), ("worst_case_saturation_load", "worst permutation", 4)),
        ("bounds_method", "method", lambda row: Cell(row["bounds_method"] or "–", "argument")),
    )
    known = ("bounds_method", "capacity", "worst_case_saturation_load")
    return _records("Bounds over all routings", note, shown, [row for row in rows if any(row[name] for name in known)])


def _of_capacity(rows: Sequence[Record]) -> str:
    note = (
        "For networks and demands with units: traffic over the fullest link, in percent of its capacity. A terminal"
        " inside a router has no link of its own."
    )
    columns = (("busiest_link_percent", "fullest link, %", 4), ("links_over_capacity", "links over capacity"))
    known = [row for row in rows if row.get("busiest_link_percent") is not None]
    return _records("Links and their capacity", note, fields(LOADS, *columns), known)


def _records(title: str, note: str, shown: Sequence[Field], rows: Sequence[Record]) -> str:
    """Return a table with a row for each record, ordered by number of nodes, then by name."""
    ordered = sorted(rows, key=lambda row: _order(row, "routing", "traffic"))
    return _listing(title, note, [NETWORK, ROUTING, TRAFFIC, NODES, *shown], ordered)


def _listing(title: str, note: str, shown: Sequence[Field], rows: Sequence[Any]) -> str:
    return listing(title, f"{note} All {{}}, the smallest networks first.", shown, rows)
