"""The page's section on failures: which charts it has, what they draw, and what it says."""

from __future__ import annotations

from typing import Any

import pytest
from torusweep.charts import specification
from torusweep.networks.families import build
from torusweep.questions.availability.record import availability_rows
from torusweep.questions.availability.request import AvailabilityRequest
from torusweep.questions.availability.section import section
from torusweep.questions.how import How

from tests.answers import vega_lite
from tests.answers.page_parts import Page


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for spelling in ("ring(k=8)", "hypercube(n=3)"):
        for count in (0, 1, 2):
            request = AvailabilityRequest("links", count, None, measures="connectivity, distances")
            found += availability_rows(build(spelling), request, How(backend="numpy"))
        found += availability_rows(
            build(spelling), AvailabilityRequest("routers", None, 0.1, measures="connectivity"), How()
        )
    return found


def test_a_chart_for_each_measure_with_several_numbers_of_failures(rows: list[dict[str, Any]]) -> None:
    found = section({"availability": rows})
    assert found is not None
    assert [panel.id for panel in found.panels] == [
        f"availability_links_failures_{name}"
        for name in ("connected", "largest_component", "diameter", "mean_distance")
    ]
    drawn = [specification(panel.drawing) for panel in found.panels]
    vega_lite.check(drawn)
    diameters = {(row["line"], row["failures"]): row for row in vega_lite.rows(drawn[2])[0]}
    assert diameters["ring(k=8)", 1]["mean"] == 7  # a line
    assert ("ring(k=8)", 2) not in diameters  # in parts
    assert [diameters["hypercube(n=3)", 2][end] for end in ("low", "high")] == [3, 4]


def test_what_it_says(rows: list[dict[str, Any]]) -> None:
    found = section({"availability": rows})
    assert found is not None
    text = "".join(Page(found.body).text)
    # links: neither 0 nor 1 of both, nor 2 of the cube; routers that fail with probability 0.1 disconnect both
    assert "In 5 of 8 cases no draw disconnects surviving terminals." in text
    assert "Most often it happens to ring(k=8), with 2 failed links: in all draws." in text
    assert "; 2 without a value left out." in text  # distances of the ring's parts
    assert "10 % each" in text


def test_a_share_of_the_draws_is_in_percent(rows: list[dict[str, Any]]) -> None:
    found = section({"availability": [row for row in rows if row["topology"] == "hypercube(n=3)"]})
    assert found is not None
    routers = next(row for row in rows if (row["topology"], row["fails"]) == ("hypercube(n=3)", "routers"))
    assert 0.5 < routers["mean"] < 1
    assert f": in {100 - 100 * routers['mean']:.3g} % of the draws." in "".join(Page(found.body).text)


def test_lines_have_the_labels_that_one_network_alone_has(rows: list[dict[str, Any]]) -> None:
    def lines(*labels: tuple[str, str]) -> set[str]:
        found = section(
            {"availability": rows, "labels": [{"topology": name, "label": label} for name, label in labels]}
        )
        assert found is not None
        return {row["line"] for row in vega_lite.rows(specification(found.panels[0].drawing))[0]}

    assert lines(("ring(k=8)", "A ring"), ("hypercube(n=3)", "")) == {"A ring", "hypercube(n=3)"}
    assert lines(("ring(k=8)", "Same"), ("hypercube(n=3)", "Same")) == {"ring(k=8)", "hypercube(n=3)"}


def test_no_rows_no_section(rows: list[dict[str, Any]]) -> None:
    assert section({}) is None
    assert section({"availability": []}) is None
