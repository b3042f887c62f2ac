"""The page's section on simulation: which curves share a chart, where each saturates, and how long workloads take."""

from __future__ import annotations

from typing import Any

import pytest
from torusweep.answers import page as report
from torusweep.charts.chart import specification
from torusweep.charts.section import Chapter
from torusweep.stages.simulation.section import MOST_LINES, section

from tests.answers import vega_lite
from tests.answers.page_parts import MANIFEST, Page
from tests.answers.page_rows import EMPTY, ROUTER, curve


def simulation_section(rows: list[dict[str, Any]], loads: list[dict[str, Any]]) -> Chapter:
    found = section({"simulation": rows, "loads": loads})
    assert found is not None
    return found


def drawings(section: Chapter) -> dict[str, dict[str, Any]]:
    return {panel.id: specification(panel.chart) for panel in section.panels}


def marks(specification: dict[str, Any]) -> list[dict[str, Any]]:
    return vega_lite.rows(specification)[0]


def test_networks_simulated_alike_share_a_chart_which_ends_above_the_knee() -> None:
    rows = [
        *curve("torus(k=8, n=2)", [20.0, 30.0, 9000.0], 3),
        *curve("mesh(k=8, n=2)", [30.0, 40.0]),
        *curve("rtt(a=8)", [9.0, 9.5], traffic="tornado"),
    ]
    found = simulation_section(rows, [])
    drawn, body = drawings(found), found.body
    assert list(drawn) == ["simulated_0", "simulated_1"]
    vega_lite.check(drawn.values())
    first = marks(drawn["simulated_0"])
    assert {mark["line"] for mark in first} == {"torus(k=8, n=2)", "mesh(k=8, n=2)"}
    assert max(mark["total_latency"] for mark in first) == 240  # twice the axis, which ends at 6 times the least
    assert {mark["line"] for mark in marks(drawn["simulated_1"])} == {"rtt(a=8)"}
    assert "tornado traffic, router default" in body
    assert "wormhole, 2 virtual channels, packets of 8 flits." in body


def test_of_many_networks_some_are_drawn_and_routings_of_one_are_told_apart() -> None:
    many = simulation_section([row for k in range(4, 24) for row in curve(f"ring(k={k})", [5.0, 6.0])], [])
    lines = {mark["line"] for mark in marks(drawings(many)["simulated_0"])}
    assert len(lines) == MOST_LINES
    assert {"ring(k=4)", "ring(k=23)"} <= lines
    assert f"{MOST_LINES} of 20 networks" in many.body
    two = [
        row for routing in ("dimension_order", "adaptive") for row in curve("ring(k=8)", [5.0, 6.0], routing=routing)
    ]
    drawn = drawings(simulation_section(two, []))
    assert {mark["line"] for mark in marks(drawn["simulated_0"])} == {
        "ring(k=8), dimension_order",
        "ring(k=8), adaptive",
    }


@pytest.mark.parametrize(
    ("latencies", "saturated_from", "sought", "shown"),
    [
        ([5.0, 6.0, 90.0], 3, None, "0.2 … 0.3"),
        ([5.0, 6.0, 7.0], 99, None, "> 0.3"),
        ([80.0, 90.0], 1, None, "0 … 0.1"),
        ([5.0, 6.0], 99, 0.62, "0.62"),
    ],
)
def test_where_a_curve_saturates(latencies: list[float], saturated_from: int, sought: float | None, shown: str) -> None:
    rows = curve("ring(k=8)", latencies, saturated_from, simulated_saturation=sought)
    loads = [
        {"topology": "ring(k=8)", "routing": "dimension_order", "traffic": "uniform", "terminal_saturation_load": 0.875}
    ]
    text = "".join(Page(simulation_section(rows, loads).body).text)
    assert f"{shown}0.875" in text  # beside what the links carry
    assert "deadlock" not in text
    rows[-1]["deadlocked"] = True
    assert "deadlock" in "".join(Page(simulation_section(rows, []).body).text)


def test_workloads_have_a_table_of_their_own() -> None:
    batch = {**EMPTY, **ROUTER, "topology": "ring(k=8)", "packets_each": 7, "delivery_time": 1234.0, "saturated": None}
    found = simulation_section([batch], [])
    text = "".join(Page(found.body).text)
    assert not found.panels
    assert "Workloads" in text
    assert "71234" in text
    assert "Saturation" not in text
    assert section({"simulation": []}) is None


def test_the_page_has_the_section() -> None:
    text = report.page({"simulation": curve("ring(k=8)", [5.0, 6.0])}, MANIFEST)
    assert 'id="simulated_0"' in text
    assert 'href="#simulation"' in text
