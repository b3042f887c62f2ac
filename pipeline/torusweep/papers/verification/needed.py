"""What these papers' rows need to be computed, besides what a sweep asks for itself. Simulations are not among it: they take long."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
from torusweep.sweep.points import Point


def expected_topologies(papers: Iterable[str]) -> list[str]:
    """Canonical spellings of the networks whose static record these papers' rows need, each once, in row order."""
    return _needed(papers, is_static)


def expected_loads(papers: Iterable[str]) -> list[Point]:
    """The points of loads that these papers' rows need, each once, in row order."""
    return [Point(topology, routing=ROUTING, traffic=TRAFFIC) for topology in _needed(papers, is_load)]


def expected_deadlock(papers: Iterable[str]) -> list[Point]:
    """The points of deadlock that these papers' rows need, each once, in row order."""
    return list(dict.fromkeys(analysed(row) for row in load_expected(papers) if is_deadlock(row.quantity)))


def expected_layout(papers: Iterable[str]) -> list[Point]:
    """The points of layout that these papers' rows need, each once, in row order."""
    return list(
        dict.fromkeys(
            Point(row.topology, placement=placement_of(row)) for row in load_expected(papers) if is_layout(row.quantity)
        )
    )


def expected_latency(papers: Iterable[str]) -> list[tuple[int, float, str]]:
    """Nodes, message bits and wire delay of the cubes whose latency these papers' rows need, each once, in row order."""
    return list(dict.fromkeys(cubes_of(row) for row in load_expected(papers) if is_latency(row.quantity)))


def cubes_of(row: Expected) -> tuple[int, float, str]:
    """Nodes, message bits and wire delay of the cubes that a row of latency compares with."""
    found = CUBES.fullmatch(parts(row.quantity)[1])
    assert found is not None
    return int(found["nodes"]), float(found["message_bits"]), found["wire_delay"]


def placement_of(row: Expected) -> str:
    """The placement that a row of layout compares with."""
    return parts(row.quantity)[1] or PLACEMENT


def analysed(row: Expected) -> Point:
    """The point of deadlock that a row compares with."""
    found = RULE.fullmatch(parts(row.quantity)[1])
    assert found is not None
    return Point(row.topology, routing=found["routing"], vc_rule=found["rule"], virtual_channels=int(found["channels"]))


def _needed(papers: Iterable[str], answers: Callable[[str], bool]) -> list[str]:
    rows = [row for row in load_expected(papers) if answers(row.quantity)]
    return list(dict.fromkeys(name for row in rows for name in (row.topology, parts(row.quantity)[2]) if name))
