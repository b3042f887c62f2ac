"""The deadlock table: what is asked, the same rows whatever computes them, and what is refused before computing."""

from __future__ import annotations

from pathlib import Path

import pytest
from torusweep.stages.deadlock.stage import DeadlockRequest
from torusweep.sweeps.configuration import load
from torusweep.sweeps.points import Point
from torusweep.sweeps.requested_points import requested_points
from torusweep.tables.store import read_manifest

from tests.run.asking import computed, refused_as_too_many, refused_at_its_line
from tests.run.rings import Run

CONFIG = """
sweep: rings
topologies: ["torus(k=4, n=2)", "mesh(k=3, n=2)", "rtt(a=3)"]
deadlock:
  - {routing: [dimension-order, adaptive], vc_rule: [dateline, none], virtual_channels: [1, 3], \
families: [torus, mesh], skip_unsuitable: true}
  - {routing: [dimension_order, routing_record], vc_rule: dateline, virtual_channels: 2, skip_unsuitable: true}
"""
# network, routing, rule, virtual channels: which of them Dally & Seitz's rings, or their absence, decide
ACYCLIC = {
    ("torus(k=4, n=2)", "dimension_order", "dateline", 1): False,
    ("torus(k=4, n=2)", "dimension_order", "dateline", 2): True,
    ("torus(k=4, n=2)", "dimension_order", "dateline", 3): True,
    ("torus(k=4, n=2)", "dimension_order", "none", 3): False,
    ("mesh(k=3, n=2)", "dimension_order", "none", 1): True,
    ("rtt(a=3)", "routing_record", "dateline", 2): True,
}


def test_rows_are_those_asked_for_and_known(rings: Run):
    rings.config.write_text(CONFIG)
    rings.here("points")
    rows = computed(rings, "deadlock", workers=0)
    names = [(row["topology"], row["routing"], row["vc_rule"], row["virtual_channels"]) for row in rows]
    first = [
        (network, routing, rule, many)
        for network in ("torus(k=4, n=2)", "mesh(k=3, n=2)")
        for routing in ("dimension_order", "adaptive")
        for rule in ("dateline", "none")
        for many in (1, 3)
        if (routing, many) != ("adaptive", 1)
    ]
    second = [
        ("torus(k=4, n=2)", "dimension_order"),
        ("torus(k=4, n=2)", "routing_record"),
        ("mesh(k=3, n=2)", "dimension_order"),
    ]
    assert names == [*first, *((*pair, "dateline", 2) for pair in [*second, ("rtt(a=3)", "routing_record")])]
    found = {name: row["acyclic"] for name, row in zip(names, rows)}
    assert {name: found[name] for name in ACYCLIC} == ACYCLIC
    assert read_manifest(rings.folder)["tables"]["deadlock"]["rows"] == len(rows)
    assert computed(rings, "deadlock", workers=2) == rows


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (
            "{routing: dimension_order, vc_rule: datelines}",
            "3:48: deadlock[0].vc_rule: unknown rule 'datelines' (did you mean 'dateline'",
        ),
        ("{routing: dimensions, vc_rule: none}", "3:22: deadlock[0].routing: unknown routing 'dimensions'"),
        ("{routing: routing_record, vc_rule: none, families: [mesh]}", "routing routing_record on mesh(k=3, n=2)"),
        ("{routing: minimal, vc_rule: dateline}", "(skip_unsuitable: true leaves such networks out)"),
        (
            "{routing: routing_record, vc_rule: none, families: [mesh], skip_unsuitable: true}",
            "expected at least one network, got none",
        ),
        ("{routing: minimal, vc_rule: none, virtual_channels: 17}", "virtual_channels"),
        (
            "{routing: adaptive, vc_rule: none, virtual_channels: 1}",
            "virtual_channels=1: expected 2 or more with adaptive routing",
        ),
    ],
)
def test_what_cannot_be_analysed_is_refused_where_it_stands(tmp_path: Path, entry: str, says: str):
    assert says in refused_at_its_line(tmp_path, '["torus(k=4, n=2)", "mesh(k=3, n=2)"]', "deadlock", entry)


def test_more_points_than_the_limit_are_refused(tmp_path: Path):
    assert "16 points of deadlock" in refused_as_too_many(tmp_path, CONFIG, 12)


def test_theorem_1_is_asked_for_with_its_paper(tmp_path: Path):
    path = tmp_path / "my.yaml"
    path.write_text("sweep: my\npapers: [R05]\n")
    asked = {point for point in requested_points(load(path)) if point.stage == "deadlock"}
    assert asked == {
        Point("deadlock", f"{name}(m=4, n=4, levels=2, q={q})", DeadlockRequest("hierarchical", rule, 2))
        for name in ("mh3dt", "h3dt")
        for q in (0, 2)
        for rule in ("r05_wrap", "r05_phases")
    }
