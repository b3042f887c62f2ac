"""Read the papers' files, papers/expected/*.csv: a row for each number that a paper prints, or order that it draws.

The module also lists what must be computed for these rows, besides a sweep's own requests and simulations.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from torusweep.errors import BadInput, nearest
from torusweep.papers.verification.quantities import (
    CUBES,
    PLACEMENT,
    ROUTING,
    RULE,
    TRAFFIC,
    is_deadlock,
    is_latency,
    is_layout,
    is_load,
    is_simulated,
    is_static,
    parts,
    read,
)
from torusweep.questions.deadlock.stage import DeadlockRequest
from torusweep.questions.layout.stage import LayoutRequest
from torusweep.questions.loads.stage import LoadsRequest

FOLDER = Path(__file__).resolve().parents[1] / "expected"
PAPER_NAMES = {  # papers by short name, in the order of the page; see docs/papers.md
    "P98": "Kwai & Parhami 1998",
    "P04": "Parhami & Kwai 2004",
    "D90": "Dally 1990",
    "C10": "Cámara et al. 2010",
    "R05": "Rahman et al. 2005",
}
PAPERS = tuple(PAPER_NAMES)
RELATIONS = ("=", "~=", "<=", "<", ">", "sign")


class Expected(NamedTuple):
    """A number that a paper prints.

    relation   expected relation of our number to the paper's. '=' or '~=': equal within tolerance ('~=' for a fit or a
               limit); '<=', '<', '>': ours is less or greater; 'sign': both are ratios on the same side of 1
    corrected  the true value, if the paper is in error; else None
    reason     why the paper is in error; for a simulated number, why ours may differ
    waits_for  what has to be computed first; for a simulated number, the configuration that simulates it
    """

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


def load_expected(papers: Iterable[str], folder: Path = FOLDER) -> list[Expected]:
    """Read the rows of the given papers' files, in the order of PAPERS.

    Raises BadInput for an unknown paper, a missing file, or a row that cannot be read, with its file and line.
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
            if tuple(reader.fieldnames or ()) != Expected._fields:
                expected, got = (",".join(names) for names in (Expected._fields, reader.fieldnames or ()))
                raise BadInput(f"{path}:1: expected the columns {expected}, got {got}")
            return [_row(cells, f"{path}:{reader.line_num}", paper) for cells in reader]
    except FileNotFoundError:
        raise BadInput(
            f"{path} is missing: expected the papers' numbers in the installed package; install torusweep again"
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path}: expected a readable CSV file in UTF-8, got {error}") from None


def _row(cells: dict[str, Any], place: str, paper: str) -> Expected:
    if None in cells or None in cells.values():
        raise BadInput(f"{place}: expected {len(Expected._fields)} cells; check the commas and quotes of the row")
    if cells["paper"] != paper:
        raise BadInput(f"{place}: expected paper {paper}, got {cells['paper']!r}")
    if cells["relation"] not in RELATIONS:
        raise BadInput(f"{place}: relation: expected {' or '.join(RELATIONS)}, got {cells['relation']!r}")
    try:
        numbers = {name: float(cells[name]) for name in ("value", "tolerance")}
        corrected = float(cells["corrected"]) if cells["corrected"] else None
    except ValueError as error:
        raise BadInput(f"{place}: value, tolerance and corrected: expected numbers, got {error}") from None
    if corrected is not None and not cells["reason"]:
        raise BadInput(f"{place}: expected a reason beside the corrected value")
    row = Expected(**{**cells, **numbers, "corrected": corrected})
    if is_simulated(row.quantity):
        read(row.quantity, row.topology)
        if not row.waits_for or corrected is not None:
            raise BadInput(
                f"{place}: {row.quantity}: expected waits_for to name the configuration that simulates it, and no"
                " corrected value"
            )
    else:
        parts(row.quantity)
    return row


def expected_topologies(papers: Iterable[str]) -> list[str]:
    """List the canonical spellings of networks whose static record the rows need, each once, in row order."""
    return _needed(papers, is_static)


def expected_requests(papers: Iterable[str]) -> dict[str, list[tuple[str, Any]]]:
    """Return the topologies and requests that the papers' rows need, each once, in row order, by stage."""
    rows = load_expected(papers)
    found: dict[str, list[tuple[str, Any]]] = {
        "loads": [(topology, LoadsRequest(ROUTING, TRAFFIC)) for topology in _needed(papers, is_load)],
        "deadlock": [(row.topology, deadlock_request(row)) for row in rows if is_deadlock(row.quantity)],
        "layout": [(row.topology, LayoutRequest(placement_of(row))) for row in rows if is_layout(row.quantity)],
    }
    return {stage: list(dict.fromkeys(requests)) for stage, requests in found.items() if requests}


def expected_latency(papers: Iterable[str]) -> list[tuple[int, float, str]]:
    """List (nodes, message bits, wire delay) of cubes whose latency the rows need, each once, in row order."""
    return list(dict.fromkeys(cubes_of(row) for row in load_expected(papers) if is_latency(row.quantity)))


def cubes_of(row: Expected) -> tuple[int, float, str]:
    """Return the nodes, message bits and wire delay of the cubes with which a row on latency is compared."""
    found = CUBES.fullmatch(parts(row.quantity)[1])
    assert found is not None
    return int(found["nodes"]), float(found["message_bits"]), found["wire_delay"]


def placement_of(row: Expected) -> str:
    """Return the placement of the layout with which a row is compared."""
    return parts(row.quantity)[1] or PLACEMENT


def deadlock_request(row: Expected) -> Any:
    """Return the request (routing, rule, virtual channels) whose result a row on deadlock is compared with."""
    found = RULE.fullmatch(parts(row.quantity)[1])
    assert found is not None
    return DeadlockRequest(found["routing"], found["rule"], int(found["channels"]))


def _needed(papers: Iterable[str], answers: Callable[[str], bool]) -> list[str]:
    rows = [row for row in load_expected(papers) if answers(row.quantity)]
    return list(dict.fromkeys(name for row in rows for name in (row.topology, parts(row.quantity)[2]) if name))
