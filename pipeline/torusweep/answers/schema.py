"""What tables there are, and their columns, as tables for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from torusweep.answers.joined import ALL, view_columns
from torusweep.answers.view import VIEW
from torusweep.errors import BadInput, nearest
from torusweep.stages import STAGES
from torusweep.stages.all_columns import TABLES
from torusweep.tables import store
from torusweep.tables.columns import Column

ROWS = {  # what a row of a table is
    "points": "what the sweep asks for",
    "static": "a network: distances, connectivity, bisection, cost",
    "distances": "a network and a distance: pairs of nodes",
    "loads": "a network, routing and traffic: loads of its channels, saturation",
    "channel_loads": "a network, routing, traffic and channel: its load",
    "deadlock": "a network, routing and virtual-channel rule: verdict",
    "layout": "a network and placement: wires, volume",
    "collectives": "a network, operation and algorithm: time, bound, share of the bound",
    "cost": "a network, cost model and packing: routers, cables, prices, watts",
    "availability": "a network, failures and measure: its distribution over draws",
    "screen": "a network, or a class of lattices: distances, loads, bounds",
    "best": "a size: the best lattice, a known network, or the bound",
    "equal_cost": "a network, cost model and traffic: throughput for its price, whether it is on the Pareto front",
    "labels": "a network of the configuration with a label or a comparison: name, year, source",
    "search": "a search by simulated annealing: the best graph that it found",
    "latency": "a network, model and rate: mean latency by a paper's model",
    "simulation": "a network, routing, traffic and offered load: latency, saturation",
    "verification": "a paper's number beside ours",
    VIEW: "a network: static, with the loads of its best routing and its layout of shortest wires",
}


def tables() -> dict[str, list[Column]]:
    """The columns of every table, and of the view `designs`."""
    return {VIEW: view_columns(), **{name: list(columns) for name, columns in TABLES.items()}}


def overview(folder: Path) -> pa.Table:
    """Every table: its rows in this folder (null where it is not there), columns, and what a row is."""
    rows = _rows(folder)
    listed = [
        {"table": name, "rows": rows.get(name), "columns": len(columns), "a row is": _row(name)}
        for name, columns in tables().items()
    ]
    kinds = {"table": pa.string(), "rows": pa.int64(), "columns": pa.int64(), "a row is": pa.string()}
    fields = [pa.field(name, kind) for name, kind in kinds.items()]
    return pa.Table.from_pylist(listed, schema=pa.schema(fields))


def schema(table: str = ALL) -> pa.Table:
    """The columns of a table, or of ALL: name, type, unit, meaning. Raises BadInput for an unknown table."""
    known = tables()
    if table == ALL:
        return pa.Table.from_pylist(
            [{"table": name, **column._asdict()} for name, columns in TABLES.items() for column in columns]
        )
    if table not in known:
        raise BadInput(f"unknown table '{table}'{nearest(table, known)}; 'torusweep query --schema' lists all")
    return pa.Table.from_pylist([column._asdict() for column in known[table]])


def _row(table: str) -> str:
    return ROWS.get(table) or (STAGES[table].description if table in STAGES else "")


def _rows(folder: Path) -> Mapping[str, int]:
    """The rows of each table of a folder, by its manifest; none where there is no whole one."""
    try:
        entries = store.read_manifest(folder).get("tables", {})
    except BadInput:
        return {}
    return {name: entry["rows"] for name, entry in entries.items()}
