"""The page's part on loads: which networks its chart compares, what its table holds, and that names cannot break it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from torusweep.answers import page as report
from torusweep.charts import chart as figures
from torusweep.charts.section import FIRST_ROWS
from torusweep.library.records import loads_record
from torusweep.networks.families import build
from torusweep.stages.loads.section import LINES, caption, joined, section
from torusweep.stages.static import static_record

from tests.answers import vega_lite
from tests.answers.page_parts import HOSTILE, MANIFEST, Page

TOPOLOGIES = (
    *("rt(a=4)", "rtt(a=4)", "pt(a=4)", "ptt(a=4)", "pdtt(a=4)", "mesh(k=4, n=2)"),
    *(
        f"{family}(k={k}, n=3)"
        for family in ("torus", "pruned_torus", "directed_torus", "pruned_directed_torus")
        for k in (4, 8)
    ),
)


@pytest.fixture(scope="module")
def static() -> list[dict[str, Any]]:
    directed = "torus(k=4, n=3, directed=true)"
    return [static_record(build(topology)) for topology in (*TOPOLOGIES, directed)]


def chart(static: list[dict[str, Any]], loads: list[dict[str, Any]]) -> dict[str, Any]:
    found = section({"static": static, "loads": loads})
    assert found is not None
    return figures.specification(found.panels[0].chart)


@pytest.fixture(scope="module")
def loads(static: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = [loads_record(build(record["topology"])) for record in static]
    return [*found, loads_record(build("rt(a=4)"), traffic="tornado")]


def test_the_chart_compares_the_papers_networks_under_uniform_traffic(
    static: list[dict[str, Any]], loads: list[dict[str, Any]]
) -> None:
    rows, _ = vega_lite.rows(chart(static, loads))
    found = {row["topology"]: row["saturation_load"] for row in rows}
    assert set(found) == set(TOPOLOGIES) - {"mesh(k=4, n=2)"}
    assert len(rows) == len(found)
    assert {row["line"] for row in rows} == {line.name for line in LINES.values()}
    # Cámara et al. 2010: 4/a, and 4 over the exact mean 2a/3 - 1/(6a); 8/k and 4/k
    expected = {"rt(a=4)": 1, "pt(a=4)": 1, "rtt(a=4)": 4 / 2.625, "torus(k=8, n=3)": 1, "pruned_torus(k=8, n=3)": 0.5}
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_the_caption_speaks_of_what_the_chart_shows(static: list[dict[str, Any]], loads: list[dict[str, Any]]) -> None:
    def said(*families: str) -> list[bool]:
        words = caption(row for row in joined(static, loads) if row["family"] in families)
        return [part in words for part in ("Uniform traffic", "One twist raises", "Pruning a 3D torus")]

    assert said("rt", "pdtt", "pruned_torus") == [True, True, True]
    assert said("rt", "torus", "mesh") == [True, False, False]


def test_the_chart_can_be_drawn(static: list[dict[str, Any]], loads: list[dict[str, Any]], tmp_path: Path) -> None:
    found = section({"static": static, "loads": loads})
    assert found is not None
    figures.save(figures.finished(found.panels[0].chart, "A title"), tmp_path / "chart.svg")
    drawing = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert all(name in drawing for name in [line.name for line in LINES.values()])


def tables(static: list[dict[str, Any]], loads: list[dict[str, Any]]) -> str:
    """HTML of the section's tables."""
    found = section({"static": static, "loads": loads})
    body = "".join(part for part in found.parts if isinstance(part, str)) if found else ""
    return body.replace("<wbr>", "")  # where a word may be broken


def test_the_table_holds_networks_of_several_patterns(
    static: list[dict[str, Any]], loads: list[dict[str, Any]]
) -> None:
    body = tables(static, loads)
    assert body.count("<tr>") == 2
    assert "rt(a=4)" in body
    assert 'title="the smaller of saturation_load and ejection_load (flits/cycle/terminal)"' in body
    assert tables(static, loads[:-1]) == ""
    many = [
        {**row, "topology": f"rt(a={a})", "traffic": pattern}
        for a in range(100)
        for pattern in ("uniform", "tornado")
        for row in loads[:1]
    ]
    large = [{**static[0], "topology": f"rt(a={a})"} for a in range(100)]
    assert tables(large, many).count("<tr>") == 1 + FIRST_ROWS


def test_the_page_has_both_and_names_cannot_break_out(
    static: list[dict[str, Any]], loads: list[dict[str, Any]]
) -> None:
    name = f'graph(path="{HOSTILE}")'
    hostile = [{**loads[0], "topology": name, "traffic": pattern} for pattern in ("uniform", HOSTILE)]
    failed = {"stage": "loads", "point": f"{name} under minimal, {HOSTILE}", "reason": HOSTILE}
    tables = {"static": [*static, {**static[0], "topology": name}], "loads": [*loads, *hostile]}
    page = Page(report.page(tables, {**MANIFEST, "failed": [failed]}))
    assert len(page.scripts) == 3
    text = "".join(page.text)
    assert "Channel loads" in text
    assert f"{name} under minimal, {HOSTILE}: {HOSTILE}" in text
    specifications = json.loads(page.scripts[0][1])["specifications"]
    assert "saturation_against_size" in specifications
    vega_lite.check(specifications.values())
    assert "saturation_against_size" in [own.get("id") for _, own in page.elements]


def test_without_loads_there_is_no_section(static: list[dict[str, Any]]) -> None:
    page = Page(report.page({"static": static}, MANIFEST))
    assert "Channel loads" not in "".join(page.text)
    assert "saturation_against_size" not in json.loads(page.scripts[0][1])["specifications"]
