"""The page's section on collective operations: which share of the bound each algorithm reaches on each network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart
from torusweep.charts.section import Cell, Chapter, Field, fields, listing, panels, paragraph, share
from torusweep.collectives.algorithms import ALGORITHMS, BEST_KNOWN, OPTIMUM
from torusweep.collectives.operations import OPERATIONS
from torusweep.quantities import counted
from torusweep.questions.collectives.columns import COLLECTIVES
from torusweep.tables.rows import Record, Tables

INTRODUCTION = (
    "No algorithm beats the bound, which is proved by a cut, a partition or a linear program. It is the optimum if an"
    " algorithm is known that attains it; otherwise the row best_known has the least time that is known. Times are for"
    " data so large that bandwidth decides, and all channels of a node work at once. Bus bandwidth is defined as in"
    " nccl-tests, in flits per cycle per terminal; a channel carries one flit a cycle in each direction."
)


def section(tables: Tables) -> Chapter | None:
    """Return a chart for each operation that has algorithms, and a table; None if no row has a bound."""
    asked = tables.get("collectives", ())
    rows = [row for row in asked if row["bound"] is not None]
    if not rows:
        return None
    measured = [row for row in rows if row["algorithm"] not in (OPTIMUM, BEST_KNOWN) and row["bound_share"] is not None]
    charts = {f"collectives_{operation}": _shares(operation) for operation in OPERATIONS}
    order = {operation: place for place, operation in enumerate(OPERATIONS)}
    listed = sorted(rows, key=lambda row: (row["topology"], order.get(row["operation"], -1), row["cycles"] or 0.0))
    every = listing("Every operation and algorithm", "By network, all {}.", FIELDS, listed, len(asked) - len(rows))
    return Chapter(
        "collectives",
        "Collective operations",
        [paragraph(escape(INTRODUCTION) + _worth(measured)), panels(charts, measured), every],
    )


def _shares(operation: str) -> Chart:
    """Return a chart of the share of the bound that each algorithm (a row) reaches on each network (a mark)."""
    return Chart(
        title=f"{operation}: share of the bound",
        caption=f"{OPERATIONS[operation].meaning.capitalize()}. A mark is a network.",
        where=lambda row: row["operation"] == operation,
        x=Axis("bound_share", "share of the bound", domain=(0, 1), format="%", ticks=(0, 0.25, 0.5, 0.75, 1)),
        y=Axis("algorithm", order=tuple(ALGORITHMS)),
        line="",
        along=None,
        size=60,
        opacity=0.7,
        tips={"topology": "network", "algorithm": "algorithm", "bound_share": ("of the bound", ".1%")}
        | {"bus_bandwidth": "bus bandwidth", "steps": "steps"},
    )


def _proof(row: Record) -> Cell:
    """Return a table cell that names the proof of a row's bound in words."""
    if row["cut_capacity"] is not None and row["cut_nodes"] is not None:
        nodes = len(row["cut_nodes"])
        verb = "into" if row["cut_enters"] else "out of"
        return Cell(f"{counted(row['cut_capacity'], 'channel')} {verb} {counted(nodes, 'node')}", "short")
    if row["cut_capacity"] is not None and row["parts"] is not None:
        return Cell(f"{counted(row['cut_capacity'], 'channel')} between {counted(row['parts'], 'set')}", "short")
    return Cell("linear program", "short")


FIELDS = fields(
    COLLECTIVES,
    *("topology", "operation", "algorithm", ("bus_bandwidth", "", 5)),
    ("bound_share", "of bound", lambda row: share(row["bound_share"])),
    *(("cycles", "cycles a flit", 6), "steps", ("latency_hops", "hops")),
    Field("bottleneck", _proof, "what proves the bound"),
)


def _worth(rows: Sequence[Record]) -> str:
    """Return a sentence on the algorithm that reaches the bound, and therefore the optimum, in the most cases."""
    if not rows:
        return ""
    reached: dict[str, int] = {}
    for row in rows:
        reached.setdefault(row["algorithm"], 0)
        reached[row["algorithm"]] += row["bound_share"] > 1 - 1e-9
    best = max(reached, key=lambda name: reached[name])
    tried = sum(row["algorithm"] == best for row in rows)
    return f" The algorithm {escape(best)} reaches the optimum in {reached[best]:,} of {tried:,} cases."
