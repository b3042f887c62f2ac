"""The table of layout: what is asked, what is refused before anything is computed, what the papers need."""

from __future__ import annotations

from pathlib import Path

import pytest
from torusweep.sweeps.configuration import load
from torusweep.sweeps.requested_points import requested_points
from torusweep.tables.store import read_manifest

from tests.run.asking import computed, refused_as_too_many, refused_at_its_line
from tests.run.rings import Run

CONFIG = """
sweep: rings
topologies: ["torus(k=4, n=2)", "rtt(a=4)", "ring(k=6)"]
layout:
  - {placement: [straight, trellis, "folded( block=[2,2] )"], skip_unsuitable: true}
  - {placement: folded, nodes: {to: 20}}
"""
LONGEST = {  # by hand
    ("torus(k=4, n=2)", "straight"): 3,
    ("torus(k=4, n=2)", "folded(block=[2, 2])"): 1,
    ("rtt(a=4)", "straight"): 7,
    ("rtt(a=4)", "trellis"): 3,
    ("rtt(a=4)", "folded(block=[2, 2])"): 4,  # 4 × 2 cabinets: (0, 1) and (2, 0), which is folded to place 3
    ("ring(k=6)", "straight"): 5,
    ("torus(k=4, n=2)", "folded"): 2,
    ("ring(k=6)", "folded"): 2,
}


def test_rows_are_those_asked_for_and_known(rings: Run):
    rings.config.write_text(CONFIG)
    rings.here("points")
    rows = computed(rings, "layout", workers=0)
    assert {(row["topology"], row["placement"]): row["wire_length_max"] for row in rows} == LONGEST
    assert [(row["topology"], row["placement"]) for row in rows] == list(LONGEST)
    assert read_manifest(rings.folder)["tables"]["layout"]["rows"] == len(rows)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{placement: foldd}", "3:22: layout[0].placement: unknown placement 'foldd' (did you mean 'folded'"),
        ("{placement: trellis}", "(skip_unsuitable: true leaves such networks out)"),
        (
            "{placement: trellis, families: [torus], skip_unsuitable: true}",
            "expected at least one network, got none: nothing requested suits",
        ),
        ("{placement: folded, families: [mesh]}", "none of the sweep's is chosen"),
        ("{placements: folded}", "did you mean 'placement'"),
    ],
)
def test_what_cannot_be_placed_is_refused_where_it_stands(tmp_path: Path, entry: str, says: str):
    assert says in refused_at_its_line(tmp_path, '["torus(k=4, n=2)", "rtt(a=4)"]', "layout", entry)


def test_more_points_than_the_limit_are_refused(tmp_path: Path):
    assert "9 points of layout" in refused_as_too_many(tmp_path, CONFIG, 8)


def test_the_papers_layouts_are_asked_for_with_them(tmp_path: Path):
    path = tmp_path / "my.yaml"
    path.write_text("sweep: my\npapers: [P04, D90]\n")
    asked = [
        (point.topology, point.request.placement) for point in requested_points(load(path)) if point.stage == "layout"
    ]
    assert asked == [
        *((f"{family}(k={k}, n=3)", "folded") for k in (8, 16) for family in ("torus", "pruned_torus")),
        *((f"torus(k={k}, n={n}, directed=true)", "folded") for k, n in ((1024, 2), (32, 4), (2, 20))),
    ]
