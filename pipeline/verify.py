"""The papers' numbers against ours: config/expected/*.csv row by row, with a verdict for each.

A row of those files says where a paper prints a number (paper, place, row), for which network
(topology, canonical spelling), which quantity of ours it is compared with, and how closely (value,
tolerance, relation). `corrected` and `reason` stand where the paper is known to be in error: the
true value, derived without this project's code, and why. `waits_for` names the capability that a
row needs before ours can be computed.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pipeline.errors import BadInput, nearest
from pipeline.points import Point
from pipeline.records import LOADS, STATIC

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = Path(__file__).resolve().parent.parent / "config" / "expected"
PAPERS = ("P98", "P04", "D90", "C10", "R05")  # short names, docs/papers.md; in the order of the report
VERDICTS = ("agrees", "paper in error", "waits", "unexplained")
COLUMNS = ("paper", "place", "row", "topology", "quantity", "value", "tolerance", "relation", "corrected", "reason", "waits_for")
ROUNDING = 1e-9  # relative: what floating-point arithmetic may differ by

Record = Mapping[str, Any]
Table: TypeAlias = "pa.Table | list[dict[str, Any]]"


class Expected(NamedTuple):
    """One number that a paper prints. relation: '=' or '~=' (within tolerance; '~=' for a fit or a limit) or '<='."""

    paper: str
    place: str
    row: str
    topology: str
    quantity: str
    value: float
    tolerance: float
    relation: str
    corrected: float | None
    reason: str
    waits_for: str


# --- quantities: a column of the static table or of loads, or one of these of a record ---------------


def _nodes_at_distance(record: Record, distance: str) -> float | None:
    histogram = record["distance_histogram"]
    return histogram[int(distance)] / record["terminals"] if int(distance) < len(histogram) else 0.0


def _fault_diameter(record: Record, faults: str) -> float | None:
    if record["fault_nodes"] != int(faults):
        return None
    return math.inf if record["fault_diameter"] is None else record["fault_diameter"]  # some set of faults disconnects it


def _bisection_channels(record: Record, _: str) -> float | None:
    return None if record["bisection_upper"] is None else 2 * record["bisection_upper"]


def _mean_distance_per_radix(record: Record, _: str) -> float | None:
    return record["mean_distance"] / dict(record["parameters"])["k"]


def _routed_mean_distance_distinct(record: Record, _: str) -> float | None:
    mean, n = record["routed_mean_distance"], record["terminals"]
    return None if mean is None else mean * n / (n - 1)


EXPRESSIONS: dict[str, Callable[[Record, str], float | None]] = {
    "nodes_at_distance": _nodes_at_distance,  # [d]: nodes d hops away from a node, on average over nodes
    "fault_diameter": _fault_diameter,  # [f]: with f node faults
    "bisection_channels": _bisection_channels,  # one-way channels cut, both directions together
    "mean_distance_per_radix": _mean_distance_per_radix,
    "routed_mean_distance_distinct": _routed_mean_distance_distinct,  # divided by N-1
}
ROUTING, TRAFFIC = "minimal", "uniform"  # of every load that these papers print


def _class_hops(record: Record, name: str) -> float | None:
    return dict(record["per_class_hops"]).get(name)


LOADS_EXPRESSIONS: dict[str, Callable[[Record, str], float | None]] = {"mean_hops": _class_hops}  # [x]: over links of class x
LAYOUT_EXPRESSIONS: dict[str, Callable[[Record, str], float | None]] = {  # [placement], folded without one
    "longest_wire": lambda record, _: record["wire_length_max"],
    "longest_wire_euclidean": lambda record, _: record["wire_length_max_euclidean"],
    "pins": lambda record, _: record["pins"],
    "wire_density_peak": lambda record, _: record["wire_density_max"] * record["channel_width"],
    "wire_density_peak_position": lambda record, _: record["wire_density_position"],
    "wire_density_middle": lambda record, _: record["wire_density_middle"] * record["channel_width"],
    "layout_volume": lambda record, _: record["layout_volume"],
}
PLACEMENT = "folded"  # of every layout that these papers draw, unless the row says another
RULE = re.compile(r"(?P<routing>\w+), (?P<rule>.+), (?P<channels>\d+)")  # of acyclic[routing, rule, virtual channels]
CUBES = re.compile(r"(?P<nodes>\d+), (?P<message_bits>\d+), (?P<wire_delay>\w+)")  # of best_dimension[nodes, message bits, wire delay]
STATIC_COLUMNS = {column.name for column in STATIC}
LOADS_COLUMNS = {column.name for column in LOADS if column.type == "double"}
QUANTITY = re.compile(r"(?P<name>\w+)(?:\[(?P<index>[^\]]+)\])?(?: / (?P<other>.+))?")  # 'name', 'name[index]', 'name / other network'


def is_static(quantity: str) -> bool:
    """Whether the static table can answer it."""
    name, index, _ = _parts(quantity)
    return (name in STATIC_COLUMNS and not index) or name in EXPRESSIONS


def is_load(quantity: str) -> bool:
    """Whether the table of loads can answer it; what neither can belongs to tables that do not exist yet."""
    name, index, _ = _parts(quantity)
    return name in (LOADS_EXPRESSIONS if index else LOADS_COLUMNS)


def is_deadlock(quantity: str) -> bool:
    """Whether the table of deadlock can answer it: 'acyclic[hierarchical, r05_wrap, 2]', 1 where it is true."""
    name, index, _ = _parts(quantity)
    return name == "acyclic" and RULE.fullmatch(index) is not None


def is_layout(quantity: str) -> bool:
    """Whether the table of layouts can answer it: 'longest_wire[shuffled]', 'pins'."""
    return _parts(quantity)[0] in LAYOUT_EXPRESSIONS


def is_latency(quantity: str) -> bool:
    """Whether the table of latency can answer it: 'best_dimension[256, 150, constant]'."""
    name, index, _ = _parts(quantity)
    return name == "best_dimension" and CUBES.fullmatch(index) is not None


def _parts(quantity: str) -> tuple[str, str, str]:
    found = QUANTITY.fullmatch(quantity)
    if found is None:
        raise BadInput(f"quantity {quantity!r}: expected a column's name, name[index], or name / topology")
    return found["name"], found["index"] or "", found["other"] or ""


# --- the papers' files -------------------------------------------------------------------------


def load_expected(papers: Iterable[str], folder: Path = FOLDER) -> list[Expected]:
    """The rows of these papers' files, in the papers' order.

    Raises BadInput for an unknown paper, a missing file, or a row that cannot be read (file and line named).
    """
    wanted = list(papers)
    for paper in wanted:
        if paper not in PAPERS:
            raise BadInput(f"unknown paper '{paper}'{nearest(paper, PAPERS)}; there are {', '.join(PAPERS)}")
    return [row for paper in PAPERS if paper in wanted for row in _read(folder / f"{paper.lower()}.csv", paper)]


def _read(path: Path, paper: str) -> list[Expected]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, strict=True)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                raise BadInput(f"{path}:1: expected the columns {','.join(COLUMNS)}, got {','.join(reader.fieldnames or ())}")
            return [_row(cells, f"{path}:{reader.line_num}", paper) for cells in reader]
    except FileNotFoundError:
        raise BadInput(f"{path} is missing: the papers' numbers stand in config/expected of a clone; install from it ('pip install -e .')") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path}: expected a readable CSV file in UTF-8, got {error}") from None


def _row(cells: dict[str, Any], place: str, paper: str) -> Expected:
    if None in cells or None in cells.values():
        raise BadInput(f"{place}: expected {len(COLUMNS)} cells; check the commas and quotes of the row")
    if cells["paper"] != paper:
        raise BadInput(f"{place}: expected paper {paper}, got {cells['paper']!r}")
    if cells["relation"] not in ("=", "<=", "~="):
        raise BadInput(f"{place}: relation: expected = or <= or ~=, got {cells['relation']!r}")
    try:
        numbers = {name: float(cells[name]) for name in ("value", "tolerance")}
        corrected = float(cells["corrected"]) if cells["corrected"] else None
    except ValueError as error:
        raise BadInput(f"{place}: value, tolerance and corrected: expected numbers, got {error}") from None
    if corrected is not None and not cells["reason"]:
        raise BadInput(f"{place}: expected a reason beside the corrected value")
    _parts(cells["quantity"])
    return Expected(**{**cells, **numbers, "corrected": corrected})


def expected_topologies(papers: Iterable[str]) -> list[str]:
    """Canonical spellings of the networks whose static record these papers' rows need, each once, in row order."""
    return _needed(papers, is_static)


def expected_loads(papers: Iterable[str]) -> list[Point]:
    """The points of loads that these papers' rows need, each once, in row order."""
    return [Point(topology, routing=ROUTING, traffic=TRAFFIC) for topology in _needed(papers, is_load)]


def expected_deadlock(papers: Iterable[str]) -> list[Point]:
    """The points of deadlock that these papers' rows need, each once, in row order."""
    return list(dict.fromkeys(_analysed(row) for row in load_expected(papers) if is_deadlock(row.quantity)))


def expected_layout(papers: Iterable[str]) -> list[Point]:
    """The points of layout that these papers' rows need, each once, in row order."""
    return list(dict.fromkeys(Point(row.topology, placement=_placement(row)) for row in load_expected(papers) if is_layout(row.quantity)))


def expected_latency(papers: Iterable[str]) -> list[tuple[int, float, str]]:
    """Nodes, message bits and wire delay of the cubes whose latency these papers' rows need, each once, in row order."""
    return list(dict.fromkeys(_cubes(row) for row in load_expected(papers) if is_latency(row.quantity)))


def _cubes(row: Expected) -> tuple[int, float, str]:
    found = CUBES.fullmatch(_parts(row.quantity)[1])
    assert found is not None
    return int(found["nodes"]), float(found["message_bits"]), found["wire_delay"]


def _placement(row: Expected) -> str:
    return _parts(row.quantity)[1] or PLACEMENT


def _analysed(row: Expected) -> Point:
    """The point of deadlock that a row compares with."""
    found = RULE.fullmatch(_parts(row.quantity)[1])
    assert found is not None
    return Point(row.topology, routing=found["routing"], vc_rule=found["rule"], virtual_channels=int(found["channels"]))


def _needed(papers: Iterable[str], answers: Callable[[str], bool]) -> list[str]:
    rows = [row for row in load_expected(papers) if answers(row.quantity)]
    return list(dict.fromkeys(name for row in rows for name in (row.topology, _parts(row.quantity)[2]) if name))


# --- verdicts ----------------------------------------------------------------------------------


def verification_rows(
    static: Table,
    papers: Iterable[str],
    loads: Table | None = None,
    deadlock: Table | None = None,
    layout: Table | None = None,
    latency: Table | None = None,
) -> list[dict[str, Any]]:
    """The verification table (records.VERIFICATION) of a sweep's tables, a row for each number that these papers print.

    Of `loads`, exact records of minimal routing and uniform traffic count.
    """
    graphs = {(r["topology"], r["routing"], r["vc_rule"], r["virtual_channels"]): r for r in _records(deadlock or [])}
    layouts = {(record["topology"], record["placement"]): record for record in _records(layout or [])}
    of_cubes = latency if latency is None or isinstance(latency, list) else latency.filter(latency["best_dimension"].is_valid())  # few of many
    cubes = [record for record in _records(of_cubes or []) if (record["radices"], record["locality"]) == ("real", 1)]
    best = {(record["nodes"], record["message_bits"], record["wire_delay"]): record for record in cubes}
    printed = (ROUTING, TRAFFIC, "exact")
    of_loads = [record for record in _records(loads or []) if (record["routing"], record["traffic"], record["method"]) == printed]
    by_static, by_loads = _by_topology(_records(static)), _by_topology(of_loads)

    def records(row: Expected) -> Mapping[str, Record]:
        if is_deadlock(row.quantity):
            point = _analysed(row)
            found = graphs.get((point.topology, point.routing, point.vc_rule, point.virtual_channels))
            return {} if found is None else {row.topology: found}
        if is_layout(row.quantity):
            found = layouts.get((row.topology, _placement(row)))
            return {} if found is None else {row.topology: found}
        if is_latency(row.quantity):
            found = best.get(_cubes(row))
            return {} if found is None else {row.topology: found}
        return by_loads if is_load(row.quantity) else by_static

    return [_verified(row, records(row)) for row in load_expected(papers)]


def verify_folder(folder: Path) -> list[dict[str, Any]]:
    """The verification table of a sweep's folder, made anew from its tables and today's config/expected.

    Raises BadInput for a table that is missing or altered, and where the sweep asked for no paper's numbers.
    """
    from pipeline import store

    papers = {row["paper"] for row in store.open_table(folder / "verification.parquet").to_pylist()}
    if not papers:
        raise BadInput(f"{folder}: expected a sweep that asks for papers' numbers, got none; add for example 'papers: [P04]' to its configuration")
    later = {
        stage: store.open_table(folder / f"{stage}.parquet")
        for stage in ("loads", "deadlock", "layout", "latency")
        if (folder / f"{stage}.parquet").exists()
    }
    return verification_rows(store.open_table(folder / "static.parquet"), papers, **later)


def _records(table: Table) -> list[dict[str, Any]]:
    return table if isinstance(table, list) else table.to_pylist()


def _by_topology(records: Iterable[Record]) -> dict[str, Record]:
    return {record["topology"]: record for record in records}


def _verified(row: Expected, records: Mapping[str, Record]) -> dict[str, Any]:
    known = any(answers(row.quantity) for answers in (is_static, is_load, is_deadlock, is_layout, is_latency))
    ours, missing = _ours(row.quantity, row.topology, records) if known else (None, "")
    verdict, reason = _missing(row, missing) if ours is None else judge(row, ours)
    if verdict == "agrees":
        reason = "; ".join(filter(None, (reason, _short_of_proof(row.quantity, records[row.topology]))))
    if ours == math.inf:
        ours = None  # no number that a table can hold; the reason says it
    return {
        "paper": row.paper,
        "place": row.place,
        "row": row.row,
        "topology": row.topology,
        "quantity": row.quantity,
        "paper_value": row.value,
        "our_value": ours,
        "difference": None if ours is None else ours - row.value,
        "tolerance": row.tolerance,
        "verdict": verdict,
        "reason": reason,
    }


def _short_of_proof(quantity: str, record: Record) -> str:
    """What keeps our number from proving the paper's: a bound, a sample, or a theorem that both rest on."""
    if quantity.startswith("fault_diameter") and not record["fault_method"].startswith("exhaustive"):
        return f"not refuted by {record['fault_sets']:,} sets of faults, a sample"
    if not quantity.startswith("bisection"):
        return ""
    lower, upper = record["bisection_lower"], record["bisection_upper"]
    return record["bisection_method"] if lower == upper else f"ours is a bound, the width is {'?' if lower is None else lower} to {upper}"


def _ours(quantity: str, topology: str, records: Mapping[str, Record]) -> tuple[float | None, str]:
    """(our value, or None and the topology that is not in the sweep)."""
    name, index, other = _parts(quantity)
    if topology not in records:
        return None, topology or quantity
    plain = is_deadlock(quantity) or is_latency(quantity) or (name in STATIC_COLUMNS | LOADS_COLUMNS and not index)
    answer = (lambda record: record[name]) if plain else (lambda record: (EXPRESSIONS | LOADS_EXPRESSIONS | LAYOUT_EXPRESSIONS)[name](record, index))
    found = answer(records[topology])
    value = None if found is None else float(found)
    if not other or value is None:
        return value, ""
    divisor, missing = _ours(name, other, records)
    return value / divisor if divisor else None, missing


def _missing(row: Expected, topology: str) -> tuple[str, str]:
    if row.waits_for:
        return "waits", f"waits for {row.waits_for}"
    if topology:
        return "unexplained", f"{topology} is not in the sweep: add the paper to 'papers' in the configuration and run again"
    return "unexplained", f"{row.quantity} is null and nothing is known that it waits for"


def judge(row: Expected, ours: float) -> tuple[str, str]:
    """(verdict, reason) of a number of ours. A known error of a paper that we do not see is itself unexplained."""
    slack = row.tolerance + ROUNDING * max(1.0, abs(row.value))
    if ours == math.inf:
        return "unexplained", "some set of faults disconnects the network"
    fits = ours <= row.value + slack if row.relation == "<=" else abs(ours - row.value) <= slack
    if row.corrected is None and fits:
        return "agrees", row.reason
    if row.corrected is None:
        return "unexplained", f"ours is not within {row.tolerance:g} of the paper's, and no error of the paper is known here"
    if fits:
        return "unexplained", "listed as the paper's error, but ours is what the paper prints"
    if abs(ours - row.corrected) <= ROUNDING * max(1.0, abs(row.corrected)):
        return "paper in error", row.reason
    return "unexplained", f"ours is not the corrected value {row.corrected:.10g} (known error of the paper: {row.reason})"


def summary(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows have each verdict, in the order of VERDICTS."""
    verdicts = [row["verdict"] for row in rows]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}
