"""The disk that a sweep will take is known before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from torusweep.errors import Refused
from torusweep.questions.static.stage import StaticRequest
from torusweep.sweeps.forecast import disk_bytes
from torusweep.sweeps.points import Point, estimates
from torusweep.tables import store

from tests.run.rings import RINGS, Run

SWEEP = """
sweep: rings
topologies: [{family: torus, k: {from: 3, to: 9}, n: 2}, {family: mesh, k: {from: 3, to: 9}, n: 2}, pruned_xy(k=4)]
loads: [{traffic: [uniform, tornado], routing: [minimal, dimension_order], skip_unsuitable: true}]
layout: [{placement: [straight, folded], skip_unsuitable: true}]
cluster: {workers: 0, batch_seconds: 0.01}
"""


def test_what_is_predicted_is_enough_and_not_far_too_much(rings: Run):
    from torusweep.sweeps.configuration import load
    from torusweep.sweeps.requested_points import requested_points

    rings.config.write_text(SWEEP)
    predicted = disk_bytes(estimates(requested_points(load(rings.config))), 0.01)
    for step in ("points", "static", "loads", "layout", "distances", "verification", "report"):
        assert rings.here(step) == 0
    taken = sum(path.stat().st_size for path in rings.folder.rglob("*") if path.is_file())
    assert taken <= predicted <= 8 * taken


def test_more_points_and_shorter_batches_take_more():
    points = estimates(Point("static", f"ring(k={k})", StaticRequest()) for k in range(3, 1003))
    half = dict(list(points.items())[:500])
    assert disk_bytes(half, 2.0) < disk_bytes(points, 2.0) < disk_bytes(points, 0.01)


def test_a_disk_without_room_is_refused_with_both_numbers(tmp_path: Path):
    with pytest.raises(
        Refused, match=r"the sweep's 7 points need about 976,562,500 MiB of disk, .* has [\d,]+ MiB free; make room"
    ):
        store.check_room(tmp_path / "not" / "there", 1024 * 10**12, "the sweep's 7 points")


def test_what_is_there_already_needs_no_room_again(rings: Run):
    rings.config.write_text(RINGS)
    rings.here("points")
    there = (rings.folder / "points.parquet").stat().st_size
    free = 10**18
    with pytest.raises(Refused, match="need about"):
        store.check_room(rings.folder, free + there, "they")
    store.check_room(rings.folder, there, "they")
