"""The page's section on wires: what it counts, which networks it draws, and what stands in its table."""

from __future__ import annotations

import re
from typing import Any

import pytest
from torusweep.answers import page as report
from torusweep.charts.chart import specification
from torusweep.charts.section import Chapter
from torusweep.networks.families import build
from torusweep.stages.layout import layout_record
from torusweep.stages.layout.section import section, wire_lengths
from torusweep.stages.static import static_record

from tests.answers import vega_lite
from tests.answers.page_parts import MANIFEST, Page

PLACED = {
    "torus(k=8, n=2)": ("straight", "folded", "folded(dimensions=2)"),
    "torus(k=4, n=2)": ("straight", "folded"),
    "mesh(k=4, n=2)": ("straight", "folded"),
    "rtt(a=4)": ("trellis",),
}


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return [layout_record(build(name), placement) for name, placements in PLACED.items() for placement in placements]


@pytest.fixture(scope="module")
def static() -> list[dict[str, Any]]:
    return [static_record(build(name)) for name in PLACED]


def layout_section(static: list[dict[str, Any]], rows: list[dict[str, Any]]) -> Chapter:
    found = section({"static": static, "layout": rows})
    assert found is not None
    return found


def test_what_folding_buys_is_counted(static: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    text = "".join(Page(layout_section(static, rows).body).text)
    # rings of 8 and 4: 7 → 2 and 3 → 2; a mesh: 1 → 2, and all its wires with it
    assert (
        "3 networks are placed both straight and folded. Folding shortens the longest wire of 2 (at best from 7 to 2,"
        " torus(k=8, n=2)) and lengthens that of 1; the total length grows in 1." in text
    )
    assert "By size, all 8." in text
    tori = "".join(Page(layout_section(static, rows[:5]).body).text)
    assert "the total length grows in none." in tori


def test_the_chart_has_one_network_a_family_and_every_wire_once(
    static: list[dict[str, Any]], rows: list[dict[str, Any]]
) -> None:
    drawn = specification(layout_section(static, rows).panels[0].chart)
    vega_lite.check([drawn])
    marks, _, labels = vega_lite.rows(drawn)
    assert list(dict.fromkeys(mark["layout"].partition(" · ")[0] for mark in marks)) == [
        "torus(k=8, n=2)",
        "mesh(k=4, n=2)",
    ]  # rtt has one placement
    found = {mark["layout"]: sum(m["wires"] for m in marks if m["layout"] == mark["layout"]) for mark in marks}
    assert found == {  # folded(dimensions=2) is folded in a plane
        "torus(k=8, n=2) · straight": 128,
        "torus(k=8, n=2) · folded": 128,
        "mesh(k=4, n=2) · straight": 24,
        "mesh(k=4, n=2) · folded": 24,
    }
    assert [label["layout"] for label in labels] == list(found)
    # a row of 8 straight: 7 wires of 1 and one of 7
    assert {
        mark["length"]: mark["share"]
        for mark in marks
        if mark["layout"].endswith("2) · straight") and "torus" in mark["layout"]
    } == {
        1: 7 / 8,
        7: 1 / 8,
    }
    assert wire_lengths(rows[:1]).to_dict()["height"] < drawn["height"]


def test_the_caption_speaks_of_what_the_chart_shows(static: list[dict[str, Any]]) -> None:
    def said(*placements: str) -> list[bool]:
        rows = [layout_record(build("torus(k=4, n=2)"), placement) for placement in placements]
        body = layout_section(static, rows).body
        return [part in body for part in ("A mark stands at a length", "Folding shortens the longest", "whole rows")]

    assert said("straight", "folded") == [True, True, False]
    assert said("folded", "folded(dimensions=1)") == [True, False, True]


def test_the_page_draws_small_networks_under_the_placements_of_the_sweep(
    static: list[dict[str, Any]], rows: list[dict[str, Any]]
) -> None:
    text = report.page({"static": static, "layout": rows}, MANIFEST)
    assert re.findall(r"<svg [^>]*class=\"layout\"><title>([^<]*)</title>", text) == [
        "torus(k=8, n=2), straight",
        "torus(k=8, n=2), folded",
        "rtt(a=4), trellis",
    ]
    Page(text)
    without = report.page({"static": static, "layout": [row for row in rows if row["placement"] == "folded"]}, MANIFEST)
    assert re.findall(r"class=\"layout\"><title>([^<]*)</title>", without) == ["torus(k=8, n=2), folded"]
    assert 'id="layout"' not in report.page({"static": static}, MANIFEST)
    assert section({"static": static, "layout": []}) is None
