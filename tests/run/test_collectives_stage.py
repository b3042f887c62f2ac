"""The table of collectives: what is asked, what is refused before anything is computed, what has no answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from torusweep.sweeps.configuration import load
from torusweep.sweeps.requested_points import requested_points

from tests.run.asking import computed, refused_at_its_line
from tests.run.rings import Run

CONFIG = """
sweep: rings
topologies: ["ring(k=8)", "mesh(k=3, n=2)", "faulty(ring(k=8), links=2, seed=1)"]
collectives:
  - {operation: [all_gather, all-reduce], algorithm: [optimum, ring, rings]}
  - {operation: all_gather, algorithm: all, nodes: 9, skip_unsuitable: true}
"""
CYCLES = {  # by hand: a ring of both directions; a mesh, whose corner has two channels, and without a Hamiltonian cycle
    ("ring(k=8)", "all_gather", "optimum"): 7 / 16,
    ("ring(k=8)", "all_gather", "ring"): 7 / 16,
    ("ring(k=8)", "all_gather", "rings"): 7 / 16,
    ("ring(k=8)", "all_reduce", "optimum"): 7 / 8,
    ("ring(k=8)", "all_reduce", "ring"): 7 / 8,
    ("ring(k=8)", "all_reduce", "rings"): 7 / 8,
    ("mesh(k=3, n=2)", "all_gather", "optimum"): 4 / 9,
    ("mesh(k=3, n=2)", "all_gather", "rings"): None,
    ("mesh(k=3, n=2)", "all_gather", "trees"): 4 / 9,
    ("mesh(k=3, n=2)", "all_gather", "by_dimension"): 8 / 9,
    ("mesh(k=3, n=2)", "all_reduce", "optimum"): 8 / 12,
}


def test_rows_are_those_asked_for_and_known(rings: Run):
    rings.config.write_text(CONFIG)
    rings.here("points")
    rows = computed(rings, "collectives", workers=0)
    found = {(row["topology"], row["operation"], row["algorithm"]): row for row in rows}
    assert len(found) == len(rows)
    for key, cycles in CYCLES.items():
        assert found[key]["cycles"] == (None if cycles is None else pytest.approx(cycles)), key
    assert not any(key[0].startswith("mesh") and key[2] == "halving_doubling" for key in found)
    refused = found["mesh(k=3, n=2)", "all_gather", "rings"]
    assert "Hamiltonian cycle" in refused["method"]
    assert refused["optimum"] == pytest.approx(4 / 9)
    parts = [row for row in rows if row["topology"].startswith("faulty")]
    assert len(parts) == 6
    assert all(row["optimum"] is None and "2 parts" in row["method"] for row in parts)
    best = found["ring(k=8)", "all_gather", "optimum"]
    assert (best["bus_bandwidth"], best["optimum_share"], best["cut_nodes"]) == (pytest.approx(2), 1, [0])


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{operation: all_gathr}", "operation: unknown operation 'all_gathr' (did you mean 'all_gather'?)"),
        ("{operation: broadcast, algorithm: ring}", "collectives[0].algorithm: algorithm ring computes all_gather"),
        ("{operation: all_gather, algorithm: bucket}", "expected a lattice, or a product of rings and lines"),
        (
            "{operation: all_gather, algorithm: halving_doubling}",
            "expected a power of 2 nodes, got 24; choose algorithm trees or direct",
        ),
    ],
)
def test_what_cannot_be_computed_is_refused_where_it_stands(tmp_path: Path, entry: str, says: str):
    assert says in refused_at_its_line(tmp_path, '["ccc(n=3)"]', "collectives", entry)


def test_all_algorithms_of_an_operation(tmp_path: Path):
    path = tmp_path / "my.yaml"
    path.write_text(
        'sweep: my\ntopologies: ["torus(k=4, n=2)"]\ncollectives: [{operation: broadcast, algorithm: all}]\n'
    )
    asked = [point.request.algorithm for point in requested_points(load(path)) if point.stage == "collectives"]
    assert asked == ["optimum", "direct", "tree", "trees"]
