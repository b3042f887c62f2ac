"""The tables `screen` and `best` of a sweep: the same bytes however computed, the winners beside a plain search."""

from __future__ import annotations

import pytest
from torusweep.networks.families import build
from torusweep.stages.static import static_record
from torusweep.tables.store import open_table

from tests.run.rings import Run

CONFIG = """
sweep: rings
topologies: ["mesh(k=4, n=2)", "rtt(a=4)"]
screen:
  - {family: lattices, dimensions: [1, 2, 3], nodes: {from: 1, to: 32}}
  - {family: circulants, steps: [1, 2], nodes: {from: 4, to: 16}}
  - {families: all}
cluster: {batch_seconds: 0.01}
"""


def test_the_tables_are_the_same_bytes_on_any_workers(rings: Run):
    rings.config.write_text(CONFIG)
    rings.here("points")
    tables = []
    for workers, backend in ((0, "numba"), (0, "numpy"), (2, "auto")):
        for path in rings.shards():
            path.unlink()
        assert rings.here("static", workers=0) == rings.here("screen", workers=workers, backend=backend) == 0
        assert rings.here("derived") == 0
        tables.append([(rings.folder / f"{name}.parquet").read_bytes() for name in ("screen", "best")])
    assert tables[0] == tables[1] == tables[2]
    rings.here("screen", workers=0)  # nothing is left to compute
    assert (rings.folder / "screen.parquet").read_bytes() == tables[0][0]


def test_the_table_best_has_the_winners(rings: Run):
    """Beside a plain search of the table `screen`."""
    rings.config.write_text(CONFIG)
    for step in ("points", "static", "screen", "derived"):
        assert rings.here(step, **({} if step in ("points", "derived") else {"workers": 0})) == 0
    screen = [row for row in open_table(rings.folder / "screen.parquet").to_pylist() if "lattice(" in row["topology"]]
    best = open_table(rings.folder / "best.parquet").to_pylist()
    assert {(row["dimensions"], row["nodes"]) for row in best} == {
        (n, nodes) for n in (1, 2, 3) for nodes in range(1, 33)
    }
    for row in best:
        same = [other for other in screen if (other["dimensions"], other["nodes"]) == (row["dimensions"], row["nodes"])]
        means = [other["mean_distance"] for other in same]
        loads = [other["max_channel_load"] for other in same]
        if row["network"] == "least mean distance":
            assert row["mean_distance"] == min(means)
        elif row["network"] == "greatest saturation" and row["nodes"] > 1:
            assert row["saturation_load"] == pytest.approx(1 / min(loads), rel=1e-12)
        elif row["network"] == "bound of lattices":
            assert row["topology"] is None
            assert row["mean_distance"] <= min(means)
            assert row["diameter"] <= min(other["diameter"] for other in same)
            if row["nodes"] > 1:
                assert row["saturation_load"] >= 1 / min(loads) - 1e-12
    assert {row["network"] for row in best} >= {"cube", "square torus", "RTT", "PTT", "PDTT, the FCC lattice", "ring"}
    (torus,) = [row for row in best if row["topology"] == "torus(k=3, n=3)"]
    assert torus["mean_distance"] == pytest.approx(static_record(build("torus(k=3, n=3)"))["mean_distance"])
