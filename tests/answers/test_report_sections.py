"""Sections of the page, each with its charts and tables: design spaces, cost, wires, simulation."""

from __future__ import annotations

import re
from typing import Any

import pytest
from torusweep.answers import page as report
from torusweep.charts import specification
from torusweep.charts.section import Chapter
from torusweep.networks.families import build
from torusweep.questions.cost import section as cost_section
from torusweep.questions.cost.arithmetic import equal_cost
from torusweep.questions.cost.packing import AUTOMATIC
from torusweep.questions.cost.record import cost_record
from torusweep.questions.layout import section as layout_of
from torusweep.questions.layout.record import layout_record
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.record import record_of
from torusweep.questions.screen import section as screen
from torusweep.questions.screen.best import best_table
from torusweep.questions.screen.spaces import Lattices, screen_space
from torusweep.questions.simulation import section as simulation
from torusweep.questions.static.record import static_record

from tests.answers import vega_lite
from tests.answers.page_parts import MANIFEST, Page
from tests.answers.page_rows import EMPTY, ROUTER, curve

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]

# --- design spaces --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def best() -> Rows:
    parts = [part.rows for nodes in (16, 27, 32, 64) for part in screen_space(Lattices(3, nodes))]
    return best_table(parts).to_pylist()


def test_charts_show_shares_of_the_bound(best):
    found = screen.section({"best": best})
    drawn = {panel.id: specification(panel.drawing) for panel in found.panels}
    vega_lite.check(drawn.values())
    assert list(drawn) == ["best_mean_distance_3d", "best_saturation_load_3d"]
    marks = vega_lite.rows(drawn["best_mean_distance_3d"])[0]
    assert all(mark["share"] >= 1 for mark in marks)
    shares = {(mark["line"], mark["nodes"]): mark["share"] for mark in marks}
    bound = next(row for row in best if row["nodes"] == 64 and row["network"] == "bound of lattices")
    assert shares["cube", 64] == pytest.approx(3.0 / bound["mean_distance"])  # three rings of 4: a hop each
    assert shares["best lattice", 64] == min(share for (_, nodes), share in shares.items() if nodes == 64)
    assert {mark["line"] for mark in marks} == {
        *("best lattice", "cube", "rectangular torus", "PTT", "PDTT, the FCC lattice", "BCC lattice"),
    }
    assert all(mark["share"] <= 1 + 1e-12 for mark in vega_lite.rows(drawn["best_saturation_load_3d"])[0])


def test_what_a_twist_is_worth_is_said(best):
    text = screen.section({"best": best}).body
    total = sum({row["nodes"]: row["lattices"] for row in best}.values())
    assert f"{total:,} lattices of 4 sizes were compared, none left out." in text
    means = {(row["network"], row["nodes"]): row["mean_distance"] for row in best}
    gains = [1 - means["least mean distance", nodes] / means["cube", nodes] for nodes in (27, 64)]
    assert f"by {min(gains):.1%} to {max(gains):.1%}" in text


def test_a_page_without_networks(best):
    text = report.page({"best": best}, MANIFEST)
    assert 'class="tiles"' not in text
    assert "The best of all lattices" in text
    assert screen.section({}) is None


# --- cost -----------------------------------------------------------------------------------------

PRICED = ("torus(k=4, n=2)", "mesh(k=4, n=2)", "hyperx(radices=[4, 4], terminals=2)", "slim_fly(q=5, terminals=4)")
MODELS = ("2014-besta", "2023-circuits")


@pytest.fixture(scope="module")
def priced() -> Tables:
    networks = list(map(build, PRICED))
    static = [static_record(network) for network in networks]
    loads = [record_of(exact_loads(network, routing="minimal", traffic="uniform"), None) for network in networks]
    cost = [cost_record(network, model, AUTOMATIC) for network in networks for model in MODELS]
    return {"static": static, "loads": loads, "cost": cost, "equal_cost": equal_cost(static, loads, cost)}


def test_a_chart_for_each_model_and_a_row_for_each_network(priced):
    found = cost_section.section(priced)
    assert found is not None
    drawn = [specification(panel.drawing) for panel in found.panels]
    vega_lite.check(drawn)
    assert [panel.chart.title for panel in found.panels] == [
        f"uniform traffic, prices of {model}" for model in sorted(MODELS)
    ]
    marks = [row for values in drawn[0]["datasets"].values() for row in values]
    expected = {row["topology"]: row for row in priced["equal_cost"] if row["cost_model"] == "2014-besta"}
    assert {mark["topology"]: (mark["throughput"], mark["on_front"]) for mark in marks} == {
        name: (row["throughput"], row["on_front"]) for name, row in expected.items()
    }
    text = "".join(Page(found.body).text)
    best = max(expected.values(), key=lambda row: row["saturation_per_cost"])
    assert f"Most for the price: {best['topology']} (by 2014-besta, uniform traffic)" in text
    assert "By what they carry for their price, all 8." in text
    assert "Besta & Hoefler 2014 (Slim Fly), sec. VI" in text
    assert "2023 (estimate)" in text


def test_a_sweep_without_loads_has_prices_only(priced):
    found = cost_section.section({"cost": priced["cost"], "static": priced["static"]})
    assert found is not None
    assert found.panels == []
    assert "Networks at equal cost" not in found.body
    gone = [row | {"cost_model": "gone.yaml"} for row in priced["cost"]]
    assert "Sources of the prices. gone.yaml." in "".join(Page(cost_section.section({"cost": gone}).body).text)
    assert cost_section.section({}) is None


def test_the_page_has_costs(priced):
    text = report.page(priced, MANIFEST)
    assert 'id="cost"' in text
    assert 'id="equal_cost_0"' in text
    assert 'id="cost"' not in report.page({"static": priced["static"]}, MANIFEST)


# --- wires ----------------------------------------------------------------------------------------

PLACED = {
    "torus(k=8, n=2)": ("straight", "folded", "folded(dimensions=2)"),
    "torus(k=4, n=2)": ("straight", "folded"),
    "mesh(k=4, n=2)": ("straight", "folded"),
    "rtt(a=4)": ("trellis",),
}


@pytest.fixture(scope="module")
def rows() -> Rows:
    return [layout_record(build(name), placement) for name, placements in PLACED.items() for placement in placements]


@pytest.fixture(scope="module")
def static() -> Rows:
    return [static_record(build(name)) for name in PLACED]


def layout_section(static: Rows, rows: Rows) -> Chapter:
    found = layout_of.section({"static": static, "layout": rows})
    assert found is not None
    return found


def test_what_folding_buys_is_counted(static: Rows, rows: Rows):
    text = "".join(Page(layout_section(static, rows).body).text)
    # rings of 8 and 4: 7 → 2 and 3 → 2; a mesh: 1 → 2, and all its wires with it
    assert (
        "3 networks are placed both straight and folded. Folding shortens the longest wire of 2 (at best from 7 to 2,"
        " torus(k=8, n=2)) and lengthens that of 1; the total length grows in 1." in text
    )
    assert "By size, all 8." in text
    tori = "".join(Page(layout_section(static, rows[:5]).body).text)
    assert "the total length grows in none." in tori


def test_the_chart_has_one_network_a_family_and_every_wire_once(static: Rows, rows: Rows):
    drawn = specification(layout_section(static, rows).panels[0].drawing)
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
    few = layout_section(static, rows[:2]).panels[0].drawing
    assert few.to_dict()["height"] < drawn["height"]


def test_the_caption_on_wires_speaks_of_what_the_chart_shows(static: Rows):
    def said(*placements: str) -> list[bool]:
        rows = [layout_record(build("torus(k=4, n=2)"), placement) for placement in placements]
        body = layout_section(static, rows).body
        return [part in body for part in ("mark at a length", "Folding shortens the longest", "whole rows")]

    assert said("straight", "folded") == [True, True, False]
    assert said("folded", "folded(dimensions=1)") == [True, False, True]


def test_the_page_draws_small_networks_under_the_placements_of_the_sweep(static: Rows, rows: Rows):
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
    assert layout_of.section({"static": static, "layout": []}) is None


# --- simulation -----------------------------------------------------------------------------------


def simulation_section(rows: Rows, loads: Rows) -> Chapter:
    found = simulation.section({"simulation": rows, "loads": loads})
    assert found is not None
    return found


def drawings(section: Chapter) -> dict[str, dict[str, Any]]:
    return {panel.id: specification(panel.drawing) for panel in section.panels}


def marks(drawn: dict[str, Any]) -> Rows:
    return vega_lite.rows(drawn)[0]


def test_networks_simulated_alike_share_a_chart_which_ends_above_the_knee():
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


def test_of_many_networks_some_are_drawn_and_routings_of_one_are_told_apart():
    many = simulation_section([row for k in range(4, 24) for row in curve(f"ring(k={k})", [5.0, 6.0])], [])
    lines = {mark["line"] for mark in marks(drawings(many)["simulated_0"])}
    assert len(lines) == simulation.MOST_LINES
    assert {"ring(k=4)", "ring(k=23)"} <= lines
    assert f"{simulation.MOST_LINES} of 20 networks" in many.body
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
def test_where_a_curve_saturates(latencies: list[float], saturated_from: int, sought: float | None, shown: str):
    rows = curve("ring(k=8)", latencies, saturated_from, simulated_saturation=sought)
    loads = [
        {"topology": "ring(k=8)", "routing": "dimension_order", "traffic": "uniform", "terminal_saturation_load": 0.875}
    ]
    text = "".join(Page(simulation_section(rows, loads).body).text)
    assert f"{shown}0.875" in text  # beside what the links carry
    assert "deadlock" not in text
    rows[-1]["deadlocked"] = True
    assert "deadlock" in "".join(Page(simulation_section(rows, []).body).text)


def test_workloads_have_a_table_of_their_own():
    batch = {**EMPTY, **ROUTER, "topology": "ring(k=8)", "packets_each": 7, "delivery_time": 1234.0, "saturated": None}
    found = simulation_section([batch], [])
    text = "".join(Page(found.body).text)
    assert not found.panels
    assert "Workloads" in text
    assert "71,234" in text
    assert "Saturation" not in text
    assert simulation.section({"simulation": []}) is None


def test_the_page_has_simulations():
    text = report.page({"simulation": curve("ring(k=8)", [5.0, 6.0])}, MANIFEST)
    assert 'id="simulated_0"' in text
    assert 'href="#simulation"' in text
