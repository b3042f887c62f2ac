"""What these papers' rows need computed, besides what a sweep requests itself; no simulations, which take long."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

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
    is_static,
    parts,
)
from torusweep.papers.verification.rows import Expected, load_expected
from torusweep.stages.deadlock.stage import DeadlockRequest
from torusweep.stages.layout.stage import LayoutRequest
from torusweep.stages.loads.stage import LoadsRequest


def expected_topologies(papers: Iterable[str]) -> list[str]:
    """Canonical spellings of the networks whose static record these papers' rows need, each once, in row order."""
    return _needed(papers, is_static)


def expected_requests(papers: Iterable[str]) -> dict[str, list[tuple[str, Any]]]:
    """By stage, the topologies and requests that these papers' rows need, each once, in row order.

    A stage without any is absent.
    """
    rows = load_expected(papers)
    found: dict[str, list[tuple[str, Any]]] = {
        "loads": [(topology, LoadsRequest(ROUTING, TRAFFIC)) for topology in _needed(papers, is_load)],
        "deadlock": [(row.topology, deadlock_request(row)) for row in rows if is_deadlock(row.quantity)],
        "layout": [(row.topology, LayoutRequest(placement_of(row))) for row in rows if is_layout(row.quantity)],
    }
    return {stage: list(dict.fromkeys(requests)) for stage, requests in found.items() if requests}


def expected_latency(papers: Iterable[str]) -> list[tuple[int, float, str]]:
    """Nodes, message bits and wire delay of the cubes whose latency these papers' rows need; each once, in order."""
    return list(dict.fromkeys(cubes_of(row) for row in load_expected(papers) if is_latency(row.quantity)))


def cubes_of(row: Expected) -> tuple[int, float, str]:
    """Nodes, message bits and wire delay of the cubes that a row of latency compares with."""
    found = CUBES.fullmatch(parts(row.quantity)[1])
    assert found is not None
    return int(found["nodes"]), float(found["message_bits"]), found["wire_delay"]


def placement_of(row: Expected) -> str:
    """The placement that a row of layout compares with."""
    return parts(row.quantity)[1] or PLACEMENT


def deadlock_request(row: Expected) -> Any:
    """The request: the routing, rule and virtual channels that a row of deadlock compares with."""
    found = RULE.fullmatch(parts(row.quantity)[1])
    assert found is not None
    return DeadlockRequest(found["routing"], found["rule"], int(found["channels"]))


def _needed(papers: Iterable[str], answers: Callable[[str], bool]) -> list[str]:
    rows = [row for row in load_expected(papers) if answers(row.quantity)]
    return list(dict.fromkeys(name for row in rows for name in (row.topology, parts(row.quantity)[2]) if name))
