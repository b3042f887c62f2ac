"""The simulation table: what is asked, several rows per point, the same whoever computes them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.questions.stage import Network, Options, attempt
from torusweep.stages import STAGES
from torusweep.sweep.points import Point, keyed, rows_of_many
from torusweep.tables.columns import arrow_schema
from torusweep.tables.parquet import parquet
from torusweep.tables.store import read_manifest

from tests.run.asking import computed, refused_as_too_many, refused_at_its_line
from tests.run.rings import Run

CONFIG = """
sweep: rings
topologies: ["torus(k=4, n=2)", "mesh(k=3, n=2)"]
simulation:
  - {loads: [0.1, 0.3], seeds: [1, 2], cycles: 600, virtual_channels: [2, 4]}
  - {loads: 0.2, traffic: [transpose, tornado], topologies: "torus(n=2, k=4)", cycles: 600, \
saturation_precision: 0.25, router: bluegene}
"""


def test_rows_are_those_asked_for(rings: Run):
    rings.config.write_text(CONFIG)
    rings.here("points")
    rows = computed(rings, "simulation", workers=0)
    found = [(row["topology"], row["virtual_channels"], row["traffic"], row["offered_load"]) for row in rows]
    networks = ("torus(k=4, n=2)", "mesh(k=3, n=2)")
    first = [(network, many, "uniform", offered) for network in networks for many in (2, 4) for offered in (0.1, 0.3)]
    assert found == [*first, *(("torus(k=4, n=2)", 3, pattern, 0.2) for pattern in ("transpose", "tornado"))]
    assert all((row["simulated_saturation"] is None) == (row["router"] == "default") for row in rows)
    assert read_manifest(rings.folder)["tables"]["simulation"]["rows"] == len(rows)
    assert computed(rings, "simulation", workers=2) == rows
    # what is done is not computed again, and a shard's several rows of a point stay together
    before = rings.shards()
    assert rings.here("simulation", workers=0) == 0
    assert rings.shards() == before
    assert pq.read_table(rings.folder / "simulation.parquet").to_pylist() == rows


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{loads: 0.1, vc_rule: datelines}", "unknown rule 'datelines' (did you mean 'dateline'"),
        ("{loads: 0.1, router: fast}", "unknown router 'fast'"),
        ("{cycles: 100}", "expected loads, a precision of saturation or a workload"),
        ("{loads: 0}", "simulation[0].loads: expected loads above 0, got loads = 0; choose a higher one"),
        ("{loads: [0.1, -0.0]}", "simulation[0].loads: expected loads above 0"),
        ("{loads: {from: 0, to: 1, count: 3}}", "simulation[0].loads: expected loads above 0, got from 0"),
        (
            "{loads: [0.1, 50]}",
            "simulation[0].loads: load=50: expected at most a packet per terminal and cycle, got 3.125",
        ),
        (
            "{loads: [0.1, 50], router: bluegene, families: [torus]}",
            "simulation[0].loads: load=50: expected at most a packet per terminal",
        ),
        (
            "{loads: 0.6, injection: bursts(peak=0.5), skip_unsuitable: true}",
            "simulation[0].loads: load=0.6: expected at most 0.495",
        ),
        ("{loads: 0.1, virtual_channels: [2, 17]}", "virtual_channels[1]: expected a whole number 1 … 16, got 17"),
        ("{loads: 0.1, warm_up: 10000}", "warm_up=10000"),
        ("{loads: 0.1, routing: routing_record, families: [mesh]}", "(skip_unsuitable: true leaves such networks out)"),
        (
            "{loads: 0.1, routing: routing_record, families: [mesh], skip_unsuitable: true}",
            "expected at least one network, got none",
        ),
        ("{loads: 0.1, switching: wormhole, vc_rule: bubble}", "rule bubble: expected switching"),
        ("{loads: 0.1, seeds: [3, 3]}", "all different"),
        ("{loads: 0.1, topologies: 'ring(k=4)'}", "topologies: expected networks of the sweep, got ring(k=4); add it"),
        (
            "{loads: 0.1, topologies: 'torus(k=4, n=2)', families: [mesh]}",
            "topologies: expected networks of the sweep and the families chosen",
        ),
        ("{loads: 0.1, load: 0.2}", "load"),
        ("{workload: cg, loads: 0.1}", "workload=cg: expected neither loads nor a precision"),
        ("{workload: gg}", "unknown workload 'gg'"),
        ("{workload: cg(tasks=32)}", "tasks=32: expected 2 … 16"),
        ("{workload: cg, traffic: tornado}", "traffic=tornado: expected without a workload"),
        ("{loads: 0.1, placement: random}", "placement=random: expected with a workload only"),
        ("{workload: cg, placement: worst}", "placement"),
        ("{loads: 0.1, injection: burst}", "unknown injection 'burst' (did you mean 'bursts'"),
    ],
)
def test_what_cannot_be_simulated_is_refused_where_it_stands(tmp_path: Path, entry: str, says: str):
    assert says in refused_at_its_line(tmp_path, '["torus(k=4, n=2)", "mesh(k=4, n=2)"]', "simulation", entry)


def test_workloads_are_points_of_their_own(rings: Run, tmp_path: Path):
    """Anew where their file changes; the rest stays."""
    path = tmp_path / "w.csv"
    path.write_text("message,source,destination,flits\na,0,1,16\n")
    entry = f"""{{workload: [ring_all_reduce, '{path}'], placement: [consecutive, random], seeds: [1, 2]}}"""
    rings.config.write_text(f'sweep: rings\ntopologies: ["ring(k=4)"]\nsimulation: [{entry}]\n')
    rings.here("points")
    rows = computed(rings, "simulation", workers=0)
    assert [(row["workload"], row["placement"]) for row in rows] == [
        (workload, placement)
        for workload in ("ring_all_reduce", f'file(path="{path}")')
        for placement in ("consecutive", "random")
    ]
    assert all(row["delivery_time"] > 0 for row in rows)
    path.write_text("message,source,destination,flits\na,0,1,32\n")
    (rings.folder / "points.parquet").unlink()
    rings.here("points")
    again = computed(rings, "simulation", workers=0)
    assert again[:2] == rows[:2]
    assert again[2]["delivery_time"] > rows[2]["delivery_time"]


def test_more_points_than_the_limit_are_refused(tmp_path: Path):
    assert "4 points of simulation" in refused_as_too_many(tmp_path, CONFIG, 3)


def test_an_unproved_rule_fails_where_it_is_simulated(rings: Run):
    rings.config.write_text(
        'sweep: rings\ntopologies: ["ring(k=4)"]\nsimulation: [{loads: 0.1, cycles: 200, vc_rule: none}]\n'
    )
    rings.here("points")
    assert rings.here("static", workers=0) == rings.here("simulation", workers=0) == 0
    (failure,) = [entry for entry in read_manifest(rings.folder)["failed"] if entry["stage"] == "simulation"]
    assert "choose rule dateline" in failure["reason"]


MIXTURE = """
sweep: rings
topologies: ["torus(k=4, n=2)", "mesh(k=4, n=2)", "ring(k=5)", "faulty(torus(k=4, n=2), links=2, seed=1)"]
simulation:
  - {loads: [0.1, 0.3], cycles: 400, traffic: [uniform, bit_reversal, neighbour], nodes: {from: 16, to: 16},
     packet_flits: [4, 8]}
  - {loads: 0.2, seeds: [1, 2], cycles: 400, vc_rule: none, topologies: ["torus(k=4, n=2)", "mesh(k=4, n=2)"]}
  - {saturation_precision: 0.3, cycles: 400, traffic: [uniform, tornado], families: [torus, ring]}
cluster: {batch_seconds: 10}
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_has_the_rows_of_each_point_alone(rings: Run, monkeypatch: pytest.MonkeyPatch, workers: int):
    """To the byte, in both tables; the point that fails, in the midst of others, fails alone."""
    rings.config.write_text(MIXTURE)
    assert rings.here("points") == 0
    points = [Point.of_record(row) for row in pq.read_table(rings.folder / "points.parquet").to_pylist()]
    batches: list[int] = []

    def kept(batch: list[Point], options: Options) -> list[pa.Table | Exception]:
        batches.append(len(batch))
        return rows_of_many(batch, options)

    monkeypatch.setattr("torusweep.run.driver.rows_of_many", kept)
    for stage in ("static", "simulation"):
        assert rings.here(stage, workers=workers) == 0
        own = [point for point in points if point.stage == stage]
        alone = {point: attempt(row_alone, point) for point in own}
        refused = [point for point, rows in alone.items() if isinstance(rows, Exception)]
        assert [point.topology for point in refused] == ["torus(k=4, n=2)"] * (stage == "simulation")
        expected = pa.concat_tables([rows for rows in alone.values() if isinstance(rows, pa.Table)]).drop(["key"])
        found = pq.read_table(rings.folder / f"{stage}.parquet")
        one, other = (table.cast(arrow_schema(STAGES[stage].columns)).combine_chunks() for table in (found, expected))
        assert parquet(one, {}) == parquet(other, {})
    (failure,) = read_manifest(rings.folder)["failed"]
    assert "choose rule dateline" in failure["reason"]
    if not workers:  # else they are elsewhere
        assert max(batches) > 5


def row_alone(point: Point) -> pa.Table:
    return keyed(point, STAGES[point.stage].rows(Network(point.topology), point.request, Options("numba", threads=1)))
