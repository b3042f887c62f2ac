"""The page's sections on deadlock and on loads: their rows and order, and that names cannot break out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from torusweep.charts.section import FIRST_ROWS, Chapter
from torusweep.stages.deadlock import section as deadlock
from torusweep.stages.loads import section as loads

from tests.answers.page_parts import HOSTILE, Page, unpacked
from tests.answers.page_rows import verdict

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


def deadlock_section(rows: list[dict[str, Any]]) -> Chapter:
    section = deadlock.section({"deadlock": rows})
    assert section is not None
    return section


def test_what_locks_up_stands_first_with_its_cycle() -> None:
    body = deadlock_section(VERDICTS).body
    details = body[body.index("Verdicts") :]
    assert re.findall(r'class="(good|bad|wait)">', details) == ["bad", "wait", "good", "good"]
    assert "0 x+ vc0 → 1 x+ vc0 → 2 x+ vc0 → … (4 channels)" in details
    assert "<dt>counterexample</dt><dd>they wait for ever</dd>" in body
    assert deadlock.section({}) is None


def test_verdicts_are_counted_by_routing_and_rule() -> None:
    body = deadlock_section(VERDICTS).body
    counts = body[: body.index("Verdicts")]
    rows = [re.findall(r">([^<]*)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", counts.replace("<wbr>", ""))]
    assert rows == [  # routing, rule, VCs, networks, no, unknown, yes
        ["dimension_order", "dateline", "1", "1", "1", "0", "0"],
        ["dimension_order", "dateline", "2", "2", "0", "0", "2"],
        ["minimal", "dateline", "1", "1", "0", "1", "0"],
    ]


def test_of_many_verdicts_the_first_are_html_all_are_data_and_names_cannot_break_out() -> None:
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


def loads_body(rows: list[dict[str, Any]]) -> str:
    static = [
        {"topology": row["topology"], "nodes": row["nodes"], "family": "ring", "directed": False, "parameters": {}}
        for row in rows
    ]
    section = loads.section({"static": static, "loads": rows})
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
            ["By routing"],
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
            [["ring(k=4)", "minimal", "uniform", "16", "1", "3.25", "2", "0.375", "–", "linear program"]],
        ),
        (LOADS[-1:], [], []),
    ],
)
def test_a_table_where_there_is_something_to_say(
    rows: list[dict[str, Any]], titles: list[str], cells: list[list[str]]
) -> None:
    body = loads_body(rows).replace("<wbr>", "")
    assert re.findall("<h3>(.*?)</h3>", body) == titles
    assert [re.findall(r">([^<]*)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", body)] == cells


def test_many_rows_are_data() -> None:
    body = loads_body([{**BOUND, "topology": f"ring(k={k})", "nodes": k} for k in range(200, 100, -1)])
    assert body.count("<tr>") == 1 + FIRST_ROWS
    assert "All 100, the smallest networks first" in body
    (packed,) = re.findall('data-rows="([^"]*)"', body)
    assert [row[0] for row in unpacked(packed)["rows"]] == [f"ring(k={k})" for k in range(101, 201)]


def test_of_very_many_rows_the_first_are_kept_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torusweep.charts.section.MOST_ROWS", 40)
    body = loads_body([{**BOUND, "topology": f"ring(k={k})", "nodes": k} for k in range(100, 200)])
    (packed,) = re.findall('data-rows="([^"]*)"', body)
    assert len(unpacked(packed)["rows"]) == 40
    assert "the first 40 of 100 (the Parquet table has all)" in body
