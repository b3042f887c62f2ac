"""The page's sections on loads and deadlock: what they compare, their rows and order; names cannot break out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from torusweep import charts as figures
from torusweep.answers import page as report
from torusweep.charts.section import FIRST_ROWS, Chapter
from torusweep.networks.families import build
from torusweep.questions.deadlock import section as deadlock
from torusweep.questions.loads import section as loads_section
from torusweep.questions.loads.section import LINES, caption, joined
from torusweep.questions.static.record import static_record

from tests.answers import vega_lite
from tests.answers.page_parts import HOSTILE, MANIFEST, Page, unpacked
from tests.answers.page_rows import verdict
from tests.records import loads_record

Rows = list[dict[str, Any]]


TOPOLOGIES = (
    *("rt(a=4)", "rtt(a=4)", "pt(a=4)", "ptt(a=4)", "pdtt(a=4)", "mesh(k=4, n=2)"),
    *(
        f"{family}(k={k}, n=3)"
        for family in ("torus", "pruned_torus", "directed_torus", "pruned_directed_torus")
        for k in (4, 8)
    ),
)


@pytest.fixture(scope="module")
def static() -> Rows:
    directed = "torus(k=4, n=3, directed=true)"
    return [static_record(build(topology)) for topology in (*TOPOLOGIES, directed)]


def chart(static: Rows, loads: Rows) -> dict[str, Any]:
    found = loads_section.section({"static": static, "loads": loads})
    assert found is not None
    return figures.specification(found.panels[-1].drawing)


@pytest.fixture(scope="module")
def loads(static: Rows) -> Rows:
    found = [loads_record(build(record["topology"])) for record in static]
    return [*found, loads_record(build("rt(a=4)"), traffic="tornado")]


def test_the_chart_compares_the_papers_networks_under_uniform_traffic(static: Rows, loads: Rows):
    rows, _ = vega_lite.rows(chart(static, loads))
    found = {row["topology"]: row["saturation_load"] for row in rows}
    assert set(found) == set(TOPOLOGIES) - {"mesh(k=4, n=2)"}
    assert len(rows) == len(found)
    assert {row["line"] for row in rows} == {line.name for line in LINES.values()}
    # Cámara et al. 2010: 4/a, and 4 over the exact mean 2a/3 - 1/(6a); 8/k and 4/k
    expected = {"rt(a=4)": 1, "pt(a=4)": 1, "rtt(a=4)": 4 / 2.625, "torus(k=8, n=3)": 1, "pruned_torus(k=8, n=3)": 0.5}
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_a_chart_shows_every_network_where_some_are_no_papers(
    static: Rows, loads: Rows, monkeypatch: pytest.MonkeyPatch
):
    def shown(static: Rows, loads: Rows) -> list[tuple[str, set[str]]]:
        found = loads_section.section({"static": static, "loads": loads})
        assert found is not None
        drawn = [(panel.id, vega_lite.rows(figures.specification(panel.drawing))[-1]) for panel in found.panels]
        return [(name, {row["topology"] for row in rows}) for name, rows in drawn]

    every = {record["topology"] for record in static}
    papers = ("saturation_against_size", set(TOPOLOGIES) - {"mesh(k=4, n=2)"})
    assert shown(static, loads) == [("saturation_of_all", every), papers]
    assert shown(static[:5], loads[:5]) == [("saturation_against_size", set(TOPOLOGIES[:5]))]
    monkeypatch.setattr(loads_section, "MOST_DRAWN", 5)
    assert len(shown(static, loads)[0][1]) == 5
    assert "A sample of 5 of 15 networks" in loads_section.section({"static": static, "loads": loads}).body
    for place, record in enumerate(static):  # with most terminals it is on the front, wherever it stands
        switched = [*static[:place], {**record, "terminals": 10**6}, *static[place + 1 :]]
        assert record["topology"] in shown(switched, loads)[0][1]
    mesh = [row for row in loads if row["topology"] == "mesh(k=4, n=2)"]
    assert loads_section.section({"static": static, "loads": mesh * 2}) is None  # one network, by two methods


def test_the_caption_speaks_of_what_the_chart_shows(static: Rows, loads: Rows):
    def said(*families: str) -> list[bool]:
        words = caption(row for row in joined(static, loads) if row["family"] in families)
        return [part in words for part in ("Uniform traffic", "One twist raises", "Pruning a 3D torus")]

    assert said("rt", "pdtt", "pruned_torus") == [True, True, True]
    assert said("rt", "torus", "mesh") == [True, False, False]


def test_the_chart_can_be_drawn(static: Rows, loads: Rows, tmp_path: Path):
    found = loads_section.section({"static": static, "loads": loads})
    assert found is not None
    figures.save(figures.finished(found.panels[-1].drawing, "A title"), tmp_path / "chart.svg")
    drawing = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert all(name in drawing for name in [line.name for line in LINES.values()])


def tables(static: Rows, loads: Rows) -> str:
    """HTML of the section's tables."""
    found = loads_section.section({"static": static, "loads": loads})
    body = "".join(part for part in found.parts if isinstance(part, str)) if found else ""
    return body.replace("<wbr>", "")  # where a word may be broken


def test_the_table_holds_networks_of_several_patterns(static: Rows, loads: Rows):
    body = tables(static, loads)
    assert body.count("<tr>") == 2
    assert "rt(a=4)" in body
    assert 'title="the smallest of saturation_load, ejection_load and injection_load (flits/cycle/terminal)"' in body
    assert tables(static, loads[:-1]) == ""
    many = [
        {**row, "topology": f"rt(a={a})", "traffic": pattern}
        for a in range(100)
        for pattern in ("uniform", "tornado")
        for row in loads[:1]
    ]
    large = [{**static[0], "topology": f"rt(a={a})"} for a in range(100)]
    assert tables(large, many).count("<tr>") == 1 + FIRST_ROWS


def test_the_page_has_both_and_names_cannot_break_out(static: Rows, loads: Rows):
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


def test_without_loads_there_is_no_section(static: Rows):
    page = Page(report.page({"static": static}, MANIFEST))
    assert "Channel loads" not in "".join(page.text)
    assert "saturation_against_size" not in json.loads(page.scripts[0][1])["specifications"]


# --- verdicts, and tables of loads ----------------------------------------------------------------

VERDICTS = [
    verdict("torus(k=4, n=2)", "yes", channels=2),
    verdict("torus(k=5, n=2)", "yes", channels=2),
    verdict("rtt(a=4)", "unknown", "minimal", least_virtual_channels=None, least_rule=None),
    verdict(
        "torus(k=4, n=2)",
        "no",
        argument="counterexample: they wait for ever",
        cycle=["0 x+ vc0", "1 x+ vc0", "2 x+ vc0", "3 x+ vc0"],
    ),
]


def deadlock_section(rows: Rows) -> Chapter:
    section = deadlock.section({"deadlock": rows})
    assert section is not None
    return section


def test_what_locks_up_stands_first_with_its_cycle():
    body = deadlock_section(VERDICTS).body
    details = body[body.index("Verdicts") :]
    assert re.findall(r'class="(good|bad|wait)">', details) == ["bad", "wait", "good", "good"]
    assert "0 x+ vc0 → 1 x+ vc0 → 2 x+ vc0 → … (4 channels)" in details
    assert "<dt>counterexample</dt><dd>they wait for ever</dd>" in body
    assert deadlock.section({}) is None


def test_each_argument_is_explained_once_whatever_the_classes():
    """Counterexamples that differ in numbers of classes only, and a proof with such a remark."""
    classes = "{} of the rule's {} classes: the last one takes all later hops"
    told = [("no", "counterexample: they wait for ever", 1, 6), ("no", "counterexample: they wait for ever", 2, 6)]
    told.append(("yes", "acyclic (Dally & Seitz 1987)", 1, 2))
    rows = [verdict("ring(k=4)", free, argument=f"{text}; {classes.format(*kn)}") for free, text, *kn in told]
    (listed,) = re.findall("<dl>.*?</dl>", deadlock_section(rows).body)
    assert re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", listed) == [
        ("counterexample", "they wait for ever"),
        ("k of the rule&#x27;s n classes", "the last one takes all later hops"),
    ]


def test_verdicts_are_counted_by_routing_and_rule():
    body = deadlock_section(VERDICTS).body
    counts = body[: body.index("Verdicts")]
    rows = [re.findall(r">([^<]*)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", counts.replace("<wbr>", ""))]
    assert rows == [  # routing, rule, VCs, networks, no, unknown, yes
        ["dimension_order", "dateline", "1", "1", "1", "0", "0"],
        ["dimension_order", "dateline", "2", "2", "0", "0", "2"],
        ["minimal", "dateline", "1", "1", "0", "1", "0"],
    ]


def test_of_many_verdicts_the_first_are_html_all_are_data_and_names_cannot_break_out():
    many = [
        verdict(HOSTILE, "yes", cycle=[HOSTILE], argument=f"{HOSTILE}: {HOSTILE}", routing=HOSTILE)
        for _ in range(FIRST_ROWS + 5)
    ]
    page = Page(deadlock_section(many).html())
    assert not page.scripts
    assert "".join(page.text).count(HOSTILE) >= FIRST_ROWS
    assert sum(tag == "tr" for tag, _ in page.elements) == 2 + 1 + FIRST_ROWS  # two heads, one row of counts
    (data,) = [unpacked(str(own["data-rows"])) for _, own in page.elements if "data-rows" in own]
    assert len(data["rows"]) == FIRST_ROWS + 5
    assert {row[0] for row in data["rows"]} == {HOSTILE}


def loads_body(rows: Rows) -> str:
    static = [
        {"topology": row["topology"], "nodes": row["nodes"], "family": "ring", "directed": False, "parameters": {}}
        for row in rows
    ]
    section = loads_section.section({"static": static, "loads": rows})
    return section.body if section else ""


def load(
    topology: str, routing: str, saturation: float, nodes: int = 16, traffic: str = "uniform", **others: Any
) -> dict[str, Any]:
    made = {"topology": topology, "routing": routing, "traffic": traffic, "nodes": nodes, "saturation_load": saturation}
    made["terminal_saturation_load"] = saturation
    nothing = (
        "collective_time",
        "phases",
        "bus_bandwidth",
        "terminal_bus_bandwidth",
        "capacity",
        "capacity_minimal",
        "capacity_share",
    )
    return {**made, **dict.fromkeys((*nothing, "worst_case_saturation_load")), "bounds_method": "", **others}


LOADS = [
    load("torus(k=8, n=2)", "minimal", 1.0, nodes=64),
    load("torus(k=8, n=2)", "valiant", 0.5, nodes=64),
    load("torus(k=4, n=2)", "minimal", 2.0),
    load("torus(k=4, n=2)", "dimension_order", 0.75),
    load("ring(k=8)", "minimal", 1.0),
]
COLLECTIVE = load(
    "ring(k=4)",
    "minimal",
    1.0,
    traffic="all_reduce",
    collective_time=1.5,
    bus_bandwidth=1.25,
    terminal_bus_bandwidth=1.0,
    phases=[1, 2],
)
BOUND = load(
    "ring(k=4)",
    "minimal",
    1.0,
    capacity=3.25,
    capacity_minimal=2.0,
    capacity_share=0.375,
    bounds_method="linear program",
)


@pytest.mark.parametrize(
    ("rows", "titles", "cells"),
    [
        (
            LOADS,
            ["Saturation load of all networks", "By routing"],
            [
                ["torus(k=4, n=2)", "uniform", "16", "2", "–", "0.75"],
                ["torus(k=8, n=2)", "uniform", "64", "1", "0.5", "–"],
            ],
        ),
        (
            [COLLECTIVE],
            ["Collective operations"],
            [["ring(k=4)", "minimal", "all_reduce", "16", "1.5", "1.25", "1", "2"]],
        ),
        (
            [BOUND],
            ["Bounds over all routings"],
            [["ring(k=4)", "minimal", "uniform", "16", "1", "3.25", "2", "0.375", "linear program"]],
        ),
        (LOADS[-1:], [], []),
    ],
)
def test_a_table_where_there_is_something_to_say(rows: Rows, titles: list[str], cells: list[list[str]]):
    body = loads_body(rows).replace("<wbr>", "")
    assert re.findall("<h3>(.*?)</h3>", body) == titles
    assert [re.findall(r">([^<]*)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", body)] == cells


def test_many_rows_are_data():
    body = loads_body([{**BOUND, "topology": f"ring(k={k})", "nodes": k} for k in range(200, 100, -1)])
    assert body.count("<tr>") == 1 + FIRST_ROWS
    assert "All 100, the smallest networks first" in body
    (packed,) = re.findall('data-rows="([^"]*)"', body)
    assert [row[0] for row in unpacked(packed)["rows"]] == [f"ring(k={k})" for k in range(101, 201)]


def test_of_very_many_rows_the_first_are_kept_and_that_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("torusweep.charts.section.MOST_ROWS", 40)
    body = loads_body([{**BOUND, "topology": f"ring(k={k})", "nodes": k} for k in range(100, 200)])
    (packed,) = re.findall('data-rows="([^"]*)"', body)
    assert len(unpacked(packed)["rows"]) == 40
    assert "the first 40 of 100 (the Parquet table has all)" in body
