"""The page's section on machines: who is compared with whom, which loads count, and that names cannot break it."""

from __future__ import annotations

from typing import Any

import pytest
from torusweep import charts as figures
from torusweep.answers import page as report
from torusweep.answers.page.machines import compared, machines_section
from torusweep.charts.section import Chapter
from torusweep.networks.families import build
from torusweep.questions.static.record import static_record

from tests.answers import vega_lite
from tests.answers.page_parts import HOSTILE, MANIFEST, Page
from tests.records import loads_record

CASES = {
    "torus(k=4, n=2)": (("minimal", "uniform"), ("dimension_order", "shift"), ("valiant", "shift")),
    "hyperx(radices=[4, 4], terminals=2)": (
        *(("dimension_order", pattern) for pattern in ("uniform", "shift", "random_permutation")),
        *(("valiant", pattern) for pattern in ("shift", "random_permutation")),
    ),
    "xgft(down=[8, 4], up=[1, 4])": (("minimal", "uniform"),),
    "mesh(k=4, n=2)": (("minimal", "uniform"),),
}


def label(topology: str, name: str = "", comparison: str = "Small", **said: Any) -> dict[str, Any]:
    empty = {"year": None, "source": "", "note": ""}
    return {"topology": topology, "label": name, "comparison": comparison, **empty, **said}


LABELS = [
    label("hyperx(radices=[4, 4], terminals=2)"),
    label("torus(k=4, n=2)", "A machine", year=1999, source="Nobody 1999", note="It was never built."),
    label("xgft(down=[8, 4], up=[1, 4])", comparison="Large"),
    label("mesh(k=4, n=2)", "Not compared", comparison=""),
]


@pytest.fixture(scope="module")
def tables() -> dict[str, list[dict[str, Any]]]:
    return {
        "static": [static_record(build(topology)) for topology in CASES],
        "loads": [
            loads_record(build(topology), routing=routing, traffic=traffic)
            for topology, cases in CASES.items()
            for routing, traffic in cases
        ],
        "labels": LABELS,
    }


def section_of(tables: dict[str, list[dict[str, Any]]]) -> Chapter:
    found = machines_section(tables)
    assert found is not None
    return found


def test_machines_stand_before_their_rivals(tables: dict[str, list[dict[str, Any]]]) -> None:
    names = [row.label["topology"] for row in compared(tables)]
    assert names == ["torus(k=4, n=2)", "hyperx(radices=[4, 4], terminals=2)", "xgft(down=[8, 4], up=[1, 4])"]


def test_of_each_pattern_the_best_routing_counts_and_of_patterns_the_worst(
    tables: dict[str, list[dict[str, Any]]],
) -> None:
    found = {row.label["topology"]: row for row in compared(tables)}
    by_case = {(row["topology"], row["routing"], row["traffic"]): row["saturation_load"] for row in tables["loads"]}
    for topology, cases in CASES.items():
        if topology not in found:
            continue
        patterns = {traffic for _, traffic in cases} - {"uniform"}
        best = [
            max(by_case[topology, routing, traffic] for routing, traffic in cases if traffic == pattern)
            for pattern in patterns
        ]
        adverse = found[topology].adverse
        assert (adverse["saturation_load"] if adverse else None) == (min(best) if best else None)
    # 4 × 4 with 2 terminals: side over terminals (Ahn et al. 2009); Valiant halves it, whatever the traffic
    hyperx = found["hyperx(radices=[4, 4], terminals=2)"]
    uniform, adverse = hyperx.uniform, hyperx.adverse
    assert uniform is not None
    assert adverse is not None
    assert uniform["saturation_load"] == pytest.approx(2)
    assert (adverse["saturation_load"], adverse["traffic"]) == (pytest.approx(1), "shift")


def test_the_tables_have_links_a_terminal_and_the_largest_routers_ports(
    tables: dict[str, list[dict[str, Any]]],
) -> None:
    text = " ".join(Page(section_of(tables).body).text)
    # 16 switches of 6 links and 2 terminals: 48 links, 32 terminals; 4 leaves of 8 terminals and 4 links, 4 spines
    assert {row["topology"]: (row["ports_max"], row["links"]) for row in tables["static"]} == {
        "torus(k=4, n=2)": (5, 32),
        "hyperx(radices=[4, 4], terminals=2)": (8, 48),
        "xgft(down=[8, 4], up=[1, 4])": (12, 16),
        "mesh(k=4, n=2)": (5, 24),
    }
    assert [row.links for row in compared(tables)] == [2, 1.5, 0.5]
    assert "A machine, 1999" in text
    assert "Nobody 1999. It was never built." in text
    assert "Not compared" not in text
    sourceless = {**tables, "labels": [label("torus(k=4, n=2)", "A machine", year=1999)]}
    assert "A machine, 1999" not in " ".join(Page(section_of(sourceless).body).text)


def test_the_charts_name_the_machines_and_fit_the_schema(tables: dict[str, list[dict[str, Any]]]) -> None:
    charts = {panel.id: figures.specification(panel.drawing) for panel in section_of(tables).panels}
    assert list(charts) == ["machines_uniform", "machines_adverse"]
    vega_lite.check(charts.values())
    drawn = [row for data in charts["machines_uniform"]["datasets"].values() for row in data]
    assert {row["topology"]: row["group"] for row in drawn} == {
        "torus(k=4, n=2)": "torus",
        "hyperx(radices=[4, 4], terminals=2)": "HyperX",
        "xgft(down=[8, 4], up=[1, 4])": "fat tree",
    }
    assert {row["label"] for row in drawn} == {"", "A machine"}


def test_the_page_begins_with_it_and_names_cannot_break_out(tables: dict[str, list[dict[str, Any]]]) -> None:
    hostile = label("torus(k=4, n=2)", HOSTILE, comparison=HOSTILE, source=HOSTILE, note=HOSTILE)
    page = Page(report.page({**tables, "labels": [*LABELS, hostile]}, MANIFEST))
    assert len(page.scripts) == 3
    sections = [attributes.get("id") for tag, attributes in page.elements if tag == "section"]
    assert sections[0] == "machines"
    assert HOSTILE in "".join(page.text)


def test_without_labels_there_is_no_section(tables: dict[str, list[dict[str, Any]]]) -> None:
    assert machines_section({**tables, "labels": []}) is None
    assert machines_section({**tables, "labels": LABELS[3:]}) is None
    assert machines_section({"static": tables["static"]}) is None


def cost(topology: str, price: float | None, model: str = "first") -> dict[str, Any]:
    said = {"currency": "USD", "date": "2014-03", "cost_model": model, "topology": topology, "packing": "straight"}
    return {**said, "cost_per_terminal": price, "watts_per_terminal": 3.5}


def test_costs_are_those_of_one_model_and_the_cheapest_packing(tables: dict[str, list[dict[str, Any]]]) -> None:
    torus, hyperx, tree = list(CASES)[:3]
    prices = [cost(torus, 80), cost(torus, 70), cost(hyperx, 1748.86), cost(tree, 10, model="second"), cost(tree, None)]
    priced = {**tables, "cost": prices}
    assert [row.cost and row.cost["cost_per_terminal"] for row in compared(priced)] == [70, 1748.86, None]
    section = section_of(priced)
    text = " ".join(Page(section.body).text)
    assert "Costs, in USD, are at the prices of first (2014-03) for all networks" in text
    assert "watts a terminal" in text
    assert "1,749" in text
    assert "e+0" not in text
    drawn = figures.specification(section.panels[0].drawing)
    vega_lite.check([drawn])
    assert "cost a terminal, USD" in str(drawn)
    rows = [row for data in drawn["datasets"].values() for row in data]
    assert {row["topology"]: row["place"] for row in rows} == {torus: 70, hyperx: 1748.86}
    assert "watts a terminal" not in " ".join(Page(section_of(tables).body).text)


def test_other_links_keep_a_networks_kind(tables: dict[str, list[dict[str, Any]]]) -> None:
    linked = "with_links(xgft(down=[8, 4], up=[1, 4]), bandwidths=[2])"
    more = {
        "static": [*tables["static"], {**tables["static"][2], "topology": linked, "family": "with_links"}],
        "loads": [*tables["loads"], {**tables["loads"][-2], "topology": linked}],
        "labels": [*LABELS, label(linked)],
    }
    drawn = figures.specification(section_of(more).panels[0].drawing)
    groups = {row["topology"]: row["group"] for data in drawn["datasets"].values() for row in data}
    assert groups[linked] == groups["xgft(down=[8, 4], up=[1, 4])"] == "fat tree"


def test_a_network_without_loads_has_dashes(tables: dict[str, list[dict[str, Any]]]) -> None:
    (_, first, *_) = section_of({**tables, "loads": []}).parts
    assert not first
    assert all(row.uniform is None and row.adverse is None for row in compared({**tables, "loads": []}))
