"""Compare the papers' numbers with ours: each row of papers/expected/*.csv gets a verdict on whether they agree.

A row names where a paper prints a number (paper, place, row), the network (topology, canonical spelling), the quantity
of ours to compare, and how closely the two numbers must agree (value, tolerance, relation). If the paper is in error,
`corrected` is the true value, derived without this project's code, and `reason` explains the error. `waits_for` names
what must be computed first. Simulated quantities are judged by sign, order and bound.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.papers.verification.quantities import (
    EXPRESSIONS,
    LAYOUT_EXPRESSIONS,
    LOADS_COLUMNS,
    LOADS_EXPRESSIONS,
    ROUTING,
    STATIC_COLUMNS,
    TRAFFIC,
    Record,
    SimulatedRows,
    is_deadlock,
    is_latency,
    is_layout,
    is_load,
    is_simulated,
    is_static,
    parts,
)
from torusweep.papers.verification.rows import Expected, cubes_of, deadlock_request, load_expected, placement_of
from torusweep.tables import store

COMPARED = ("static", "loads", "deadlock", "layout", "latency", "simulation")  # tables with numbers of the papers
VERDICTS = ("agrees", "paper in error", "departs", "not run", "waits", "unexplained")
ROUNDING = 1e-9  # relative error of floating-point arithmetic

Table: TypeAlias = pa.Table | list[dict[str, Any]]


def verification_rows(
    tables: Mapping[str, Table], papers: Iterable[str], computed: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Make the rows of the table `verification` from a sweep's tables, one for each number that the papers print.

    From `loads`, exact records with minimal routing and uniform traffic are compared; other exact records give the
    capacity of what is simulated. `computed` are the papers whose numbers the sweep has to have.
    """
    expected = load_expected(papers)
    if not expected:
        return []
    graphs = {
        (record["topology"], record["routing"], record["vc_rule"], record["virtual_channels"]): record
        for record in _records(tables.get("deadlock", []))
    }
    layouts = {(record["topology"], record["placement"]): record for record in _records(tables.get("layout", []))}
    latency = tables.get("latency", [])
    if isinstance(latency, pa.Table):
        latency = latency.filter(latency["best_dimension"].is_valid())  # few of many rows
    cubes = [record for record in _records(latency) if (record["radices"], record["locality"]) == ("real", 1)]
    best = {(record["nodes"], record["message_bits"], record["wire_delay"]): record for record in cubes}
    printed = (ROUTING, TRAFFIC, "exact")
    loads = _records(tables.get("loads", []))
    simulated = SimulatedRows(_records(tables.get("simulation", [])), loads)
    by_loads = _by_topology(row for row in loads if (row["routing"], row["traffic"], row["method"]) == printed)
    by_static = _by_topology(_records(tables.get("static", [])))

    def records(row: Expected) -> Mapping[str, Record]:
        if is_deadlock(row.quantity):
            found = graphs.get((row.topology, *astuple(deadlock_request(row))))
            return {} if found is None else {row.topology: found}
        if is_layout(row.quantity):
            found = layouts.get((row.topology, placement_of(row)))
            return {} if found is None else {row.topology: found}
        if is_latency(row.quantity):
            found = best.get(cubes_of(row))
            return {} if found is None else {row.topology: found}
        return by_loads if is_load(row.quantity) else by_static

    return [
        _simulated(row, simulated) if is_simulated(row.quantity) else _verified(row, records(row), computed)
        for row in expected
    ]


def verify_folder(folder: Path) -> list[dict[str, Any]]:
    """Make the table `verification` again from the tables in a sweep's folder and the papers' numbers.

    Raises BadInput for a table that is missing, altered or of another version, and for a sweep without papers.
    """
    verified = store.open_current(folder / "verification.parquet", schema_of("verification"))
    papers = {row["paper"] for row in verified.to_pylist()}
    if not papers:
        raise BadInput(
            f"{folder}: expected a sweep that asks for papers' numbers, got none; add for example 'verify: [P04]' to"
            " its configuration"
        )
    listed = store.read_manifest(folder)["tables"]
    names = [name for name in COMPARED if name == "static" or name in listed or (folder / f"{name}.parquet").exists()]
    tables = {name: store.open_current(folder / f"{name}.parquet", schema_of(name)) for name in names}
    lacking = {
        row["paper"]
        for row in verified.to_pylist()
        if row["verdict"] == "not run" and not is_simulated(row["quantity"])
    }
    return verification_rows(tables, papers, papers - lacking)


def _records(table: Table) -> list[dict[str, Any]]:
    return table if isinstance(table, list) else table.to_pylist()


def _by_topology(records: Iterable[Record]) -> dict[str, Record]:
    return {record["topology"]: record for record in records}


def _verified(row: Expected, records: Mapping[str, Record], computed: Collection[str]) -> dict[str, Any]:
    known = any(answers(row.quantity) for answers in (is_static, is_load, is_deadlock, is_layout, is_latency))
    ours, missing = _ours(row.quantity, row.topology, records) if known else (None, "")
    verdict, reason = _missing(row, missing, computed) if ours is None else judge(row, ours)
    if verdict == "agrees":
        reason = "; ".join(filter(None, (reason, _short_of_proof(row.quantity, records[row.topology]))))
    if ours == math.inf:
        ours = None  # the table holds finite numbers; the reason says it
    return _line(row, ours, None, verdict, reason)


def _simulated(row: Expected, simulated: SimulatedRows) -> dict[str, Any]:
    found = simulated.ours(row.quantity, row.topology)
    if found.value is None:
        return _line(row, None, None, "not run", f"{found.missing}; {row.waits_for} simulates it")
    return _line(row, found.value, found.capacity, *judge_simulated(row, found.value))


def _line(row: Expected, ours: float | None, capacity: float | None, verdict: str, reason: str) -> dict[str, Any]:
    return {
        "paper": row.paper,
        "place": row.place,
        "row": row.row,
        "topology": row.topology,
        "quantity": row.quantity,
        "paper_value": row.value,
        "our_value": ours,
        "capacity": capacity,
        "difference": None if ours is None else ours - row.value,
        "tolerance": row.tolerance,
        "verdict": verdict,
        "reason": reason,
    }


def _short_of_proof(quantity: str, record: Record) -> str:
    """Return why our number does not prove the paper's (a bound, a sample, or the same theorem); '' if it does."""
    if quantity.startswith("fault_diameter") and not record["fault_method"].startswith("exhaustive"):
        return f"not refuted by {record['fault_sets']:,} sets of faults, a sample"
    if not quantity.startswith("bisection"):
        return ""
    lower, upper = record["bisection_lower"], record["bisection_upper"]
    return (
        record["bisection_method"]
        if lower == upper
        else f"ours is a bound, the width is {'?' if lower is None else lower} to {upper}"
    )


def _ours(quantity: str, topology: str, records: Mapping[str, Record]) -> tuple[float | None, str]:
    """Return (our value, ''), or (None, topology that is not in the sweep)."""
    name, index, other = parts(quantity)
    if topology not in records:
        return None, topology or quantity
    plain = is_deadlock(quantity) or is_latency(quantity) or (name in STATIC_COLUMNS | LOADS_COLUMNS and not index)
    answer = (
        (lambda record: record[name])
        if plain
        else (lambda record: (EXPRESSIONS | LOADS_EXPRESSIONS | LAYOUT_EXPRESSIONS)[name](record, index))
    )
    found = answer(records[topology])
    value = None if found is None else float(found)
    if not other or value is None:
        return value, ""
    divisor, missing = _ours(name, other, records)
    return value / divisor if divisor else None, missing


def _missing(row: Expected, topology: str, computed: Collection[str]) -> tuple[str, str]:
    if row.waits_for:
        return "waits", f"waits for {row.waits_for}"
    what = f"{topology} is not in the sweep" if topology else f"{row.quantity} is null"
    if row.paper in computed:
        return "unexplained", f"{what}, and nothing is known that it waits for"
    return "not run", f"{what}; 'papers: [{row.paper}]' computes it"


def judge(row: Expected, ours: float) -> tuple[str, str]:
    """Return (verdict, reason) for our number. A known error of the paper must show, else the row is unexplained."""
    if ours == math.inf:
        return "unexplained", "some set of faults disconnects the network"
    fits = _fits(row, ours)
    if row.corrected is None and fits:
        return "agrees", row.reason
    if row.corrected is None:
        return (
            "unexplained",
            f"ours is not within {row.tolerance:g} of the paper's, and no error of the paper is known here",
        )
    if fits:
        return "unexplained", "listed as the paper's error, but ours is what the paper prints"
    if abs(ours - row.corrected) <= ROUNDING * max(1.0, abs(row.corrected)):
        return "paper in error", row.reason
    return (
        "unexplained",
        f"ours is not the corrected value {row.corrected:.10g} (known error of the paper: {row.reason})",
    )


def judge_simulated(row: Expected, ours: float) -> tuple[str, str]:
    """Return (verdict, reason) for a simulated number, as the paper does not specify its router in full.

    The row's relation decides: a sign, an order or a bound. If ours departs from it, the row must give a reason.
    """
    if _fits(row, ours):
        return "agrees", ""
    if row.reason:
        return "departs", row.reason
    return "unexplained", f"expected ours {row.relation} {row.value:g}, and no reason is known for a difference"


def _fits(row: Expected, ours: float) -> bool:
    slack = row.tolerance + ROUNDING * max(1.0, abs(row.value))
    if row.relation == "sign":
        return (ours - 1) * (row.value - 1) > 0
    if row.relation in ("<", ">"):
        return ours < row.value if row.relation == "<" else ours > row.value
    return ours <= row.value + slack if row.relation == "<=" else abs(ours - row.value) <= slack


def not_compared(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Group the rows that lack a number of ours by paper and by what they need, which their reasons end with."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["verdict"] in ("waits", "not run"):
            found.setdefault((row["paper"], row["reason"].rpartition("; ")[2]), []).append(row)
    return found


def summary(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of rows with each verdict, in the order of VERDICTS."""
    verdicts = [row["verdict"] for row in rows]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}
