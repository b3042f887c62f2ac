"""The page's section on cost: what it says, draws and lists of networks at equal cost."""

from __future__ import annotations

from typing import Any

import pytest
from torusweep.answers import page as report
from torusweep.answers.designs import is_better_large
from torusweep.charts.chart import specification
from torusweep.costs.equal_cost import equal_cost
from torusweep.networks.families import build
from torusweep.stages.cost import AUTOMATIC, cost_record
from torusweep.stages.cost.section import section
from torusweep.stages.loads import exact_loads, record_of
from torusweep.stages.static import static_record

from tests.answers import vega_lite
from tests.answers.page_parts import MANIFEST, Page

NETWORKS = ("torus(k=4, n=2)", "mesh(k=4, n=2)", "hyperx(radices=[4, 4], terminals=2)", "slim_fly(q=5, terminals=4)")
MODELS = ("2014-besta", "2008-kim")


@pytest.fixture(scope="module")
def tables() -> dict[str, list[dict[str, Any]]]:
    networks = list(map(build, NETWORKS))
    static = [static_record(network) for network in networks]
    loads = [record_of(exact_loads(network, routing="minimal", traffic="uniform"), None) for network in networks]
    cost = [cost_record(network, model, AUTOMATIC) for network in networks for model in MODELS]
    return {"static": static, "loads": loads, "cost": cost, "equal_cost": equal_cost(static, loads, cost)}


def test_a_chart_for_each_model_and_a_row_for_each_network(tables):
    found = section(tables)
    assert found is not None
    drawn = [specification(panel.chart) for panel in found.panels]
    vega_lite.check(drawn)
    assert [panel.title for panel in found.panels] == [
        f"uniform traffic, prices of {model}" for model in sorted(MODELS)
    ]
    marks = [row for values in drawn[0]["datasets"].values() for row in values]
    expected = {row["topology"]: row for row in tables["equal_cost"] if row["cost_model"] == "2008-kim"}
    assert {mark["topology"]: (mark["throughput"], mark["on_front"]) for mark in marks} == {
        name: (row["throughput"], row["on_front"]) for name, row in expected.items()
    }
    text = "".join(Page(found.body).text)
    best = max(expected.values(), key=lambda row: row["saturation_per_cost"])
    assert f"Most for the price: {best['topology']} (by 2008-kim, uniform traffic)" in text
    assert "By what they carry for their price, all 8." in text
    assert "Kim et al. 2008 (Dragonfly), sec. 2" in text
    assert "2008 (estimate)" in text


def test_a_sweep_without_loads_has_prices_only(tables):
    found = section({"cost": tables["cost"], "static": tables["static"]})
    assert found is not None
    assert found.panels == []
    assert "Networks at equal cost" not in found.body
    gone = [row | {"cost_model": "gone.yaml"} for row in tables["cost"]]
    assert "Sources of the prices. gone.yaml." in "".join(Page(section({"cost": gone}).body).text)
    assert section({}) is None


def test_the_page_has_the_section(tables):
    text = report.page(tables, MANIFEST)
    assert 'id="cost"' in text
    assert 'id="equal_cost_0"' in text
    assert 'id="cost"' not in report.page({"static": tables["static"]}, MANIFEST)


def test_more_throughput_is_better():
    assert is_better_large("throughput")
    assert is_better_large("saturation_per_cost")
    assert not is_better_large("cost_per_terminal")
