"""The page's section on design spaces: the best lattices relative to the bound, beside the networks people know."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from torusweep.answers import page as report
from torusweep.charts.chart import specification
from torusweep.screening.best_table import best_table
from torusweep.screening.spaces import Lattices, screen_space
from torusweep.stages.screen.section import section

from tests.answers import vega_lite
from tests.answers.page_parts import MANIFEST


@pytest.fixture(scope="module")
def best() -> list[dict[str, Any]]:
    parts = [part.rows for nodes in (16, 27, 32, 64) for part in screen_space(Lattices(3, nodes))]
    return best_table(pa.concat_tables(parts)).to_pylist()


def test_charts_show_shares_of_the_bound(best):
    found = section({"best": best})
    drawn = {panel.id: specification(panel.chart) for panel in found.panels}
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
    text = section({"best": best}).body
    total = sum({row["nodes"]: row["lattices"] for row in best}.values())
    assert f"{total:,} lattices of 4 sizes were compared, none left out." in text
    means = {(row["network"], row["nodes"]): row["mean_distance"] for row in best}
    gains = [1 - means["least mean distance", nodes] / means["cube", nodes] for nodes in (27, 64)]
    assert f"by {min(gains):.1%} to {max(gains):.1%}" in text


def test_a_page_without_networks(best):
    text = report.page({"best": best}, MANIFEST)
    assert 'class="tiles"' not in text
    assert "The best of all lattices" in text
    assert section({}) is None
