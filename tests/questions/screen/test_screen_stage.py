"""The stage `screen`: networks as in the other tables, whole design spaces, what a configuration may ask."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build, plan
from torusweep.networks.symmetry import is_automorphism
from torusweep.questions.how import How
from torusweep.questions.screen import bounds
from torusweep.questions.screen.lattices import circulant_count, lattice_count
from torusweep.questions.screen.spaces import space_of
from torusweep.questions.screen.stage import ScreenRequest
from torusweep.questions.stage import LazyNetwork
from torusweep.questions.static.record import static_record
from torusweep.stages import STAGES
from torusweep.sweeps.configuration import load
from torusweep.sweeps.forecast import forecast
from torusweep.sweeps.points import Point, estimates, keyed, rows_of_many
from torusweep.sweeps.requested_points import requested_points
from torusweep.tables.parquet import ROW_GROUP, parquet

from tests.records import loads_record

NETWORKS = [
    "mesh(k=4, n=2)",
    "pruned_torus(k=4, n=3)",
    "torus(k=3, n=2, directed=true)",
    "mh3dt(m=4, n=2, levels=2, q=0)",
    "rtt(a=3)",
    "hypercube(n=4)",
    "ccc(n=3)",
    "faulty(torus(k=4, n=2), links=5, seed=1)",
    "faulty(torus(k=4, n=2), nodes=3, seed=1)",
]


def screened(spelling: str, each: str | None = None) -> list[dict]:
    rows = STAGES["screen"].rows(LazyNetwork(spelling), ScreenRequest(each), How())
    return rows if isinstance(rows, list) else rows.to_pylist()


@pytest.mark.parametrize("spelling", NETWORKS)
def test_a_network_is_the_same_as_in_the_other_tables(spelling):
    (row,) = screened(spelling)
    static, loads = static_record(build(spelling)), loads_record(build(spelling))
    for name in (
        "topology",
        "nodes",
        "links",
        "connected",
        "diameter",
        "mean_distance",
        "mean_distance_distinct",
        "distance_histogram",
    ):
        assert row[name] == static[name], name
    assert row["degree"] == static["degree_max"]
    assert row["distance_sum"] == sum(d * pairs for d, pairs in enumerate(static["distance_histogram"]))
    assert row["saturation_load"] == loads["saturation_load"]
    assert row["max_channel_load"] == max(row["load"]) == loads["max_channel_load"]
    assert row["diameter_bound"] <= row["diameter"]
    assert row["mean_distance_bound"] <= row["mean_distance"]


def test_a_network_in_parts_has_no_loads():
    (row,) = screened("faulty(ring(k=8), links=2, seed=1)")
    assert not row["connected"]
    assert row["diameter"] >= 0
    assert [row[name] for name in ("load", "saturation_load", "diameter_bound", "mean_distance_bound")] == [None] * 4


def test_terminals_of_one_node_have_no_bound(tmp_path):
    """Two terminals of a node are 0 hops apart, so that the mean may be below that of any graph of so many nodes."""
    (tmp_path / "two.anynet").write_text("router 0 node 0 node 1 router 1\nrouter 1 node 2\n")
    (row,) = screened(f'graph(path="{tmp_path / "two.anynet"}")')
    assert row["distance_histogram"] == [5, 4]
    assert (row["diameter_bound"], row["mean_distance_bound"]) == (None, None)


NEVER = 10**9  # networks from which arrays are computed together


@pytest.fixture
def points(tmp_path) -> list[Point]:
    """Small networks, one with two terminals at a node, one in parts, a large one, spaces among them."""
    (tmp_path / "two.anynet").write_text("router 0 node 0 node 1 router 1\nrouter 1 node 2\n")
    spellings = [
        *NETWORKS,
        f'graph(path="{tmp_path / "two.anynet"}")',
        "lattices(dimensions=2, nodes=12)",
        "faulty(ring(k=8), links=2, seed=1)",
        "torus(k=17, n=3)",
        "circulants(steps=2, nodes=12)",
        "ring(k=2)",
    ]
    return [Point("screen", spelling, ScreenRequest("class" if space_of(spelling) else None)) for spelling in spellings]


def one_by_one(points: Sequence[Point], options: How) -> list[pa.Table]:
    stage = STAGES["screen"]
    return [keyed(point, stage.rows(LazyNetwork(point.topology), point.request, options)) for point in points]


@pytest.mark.parametrize("options", [How("numba"), How("numpy", threads=1), How("numba", False)])
@pytest.mark.parametrize("few", [4, NEVER])
def test_rows_of_many_are_those_of_each(points, options, few, monkeypatch):
    """To the byte, whether a batch is computed together or one by one."""
    monkeypatch.setattr("torusweep.questions.stage.FEW", few)
    found = rows_of_many(points, options)
    for point, rows, alone in zip(points, found, one_by_one(points, options), strict=True):
        assert isinstance(rows, pa.Table), (point, rows)
        assert parquet(rows, {}) == parquet(alone, {}), point


def test_symmetries_are_proved_once_for_a_row(monkeypatch):
    """They serve distances and loads."""
    proofs: list[np.ndarray] = []

    def proof(topology, image):
        proofs.append(image)
        return is_automorphism(topology, image)

    monkeypatch.setattr("torusweep.networks.symmetry.is_automorphism", proof)
    declared = len(plan("torus(radices=[6, 5])")[1].symmetries())
    for number in (1, 2):
        screened("torus(radices=[6, 5])")
        assert len(proofs) == number * declared > 0  # each network that is built has its own


@pytest.mark.parametrize("few", [4, NEVER])
def test_a_network_that_fails_fails_alone(points, monkeypatch, few):
    monkeypatch.setattr("torusweep.questions.stage.FEW", few)
    good = one_by_one(points, How("numba"))
    bad = {
        0: (Point("screen", 'graph(path="nowhere.edges")', ScreenRequest()), BadInput, "nowhere.edges"),
        5: (Point("screen", "torus(k=1, n=2)", ScreenRequest()), BadInput, "k=1"),
        9: (Point("screen", "torus(k=2000, n=3)", ScreenRequest()), Refused, "choose smaller parameters"),
    }
    mixed = list(points)
    for place, (point, *_) in bad.items():
        mixed.insert(place, point)

    found = rows_of_many(mixed, How("numba", memory=2**28))
    for place, (_, kind, said) in bad.items():
        assert isinstance(found[place], kind), found[place]
        assert said in str(found[place])
    assert [rows for rows in found if isinstance(rows, pa.Table)] == good


def test_the_bound_of_directed_graphs():
    assert bounds.moore_levels(8, 2, directed=True) == [1, 2, 4, 1]
    assert bounds.moore_levels(5, 1, directed=True) == [1, 1, 1, 1, 1]  # a directed ring
    assert bounds.moore_levels(8, 3) == [1, 3, 4]


def test_a_space_has_a_row_for_each_class_or_lattice():
    spelling = "lattices(dimensions=3, nodes=24)"
    classes, lattices = (screened(spelling, each) for each in ("class", "lattice"))
    assert sum(row["class_size"] for row in classes) == len(lattices) == lattice_count(24, 3)
    assert {row["class_size"] for row in lattices} == {None}
    assert len({row["topology"] for row in lattices}) == len(lattices)
    sums = np.unique([row["distance_sum"] for row in lattices], return_counts=True)
    weights = {int(total): 0 for total in sums[0]}
    for row in classes:
        weights[row["distance_sum"]] += row["class_size"]
    assert list(weights.values()) == sums[1].tolist()
    assert {row["topology"] for row in classes} <= {row["topology"] for row in lattices}


def test_a_space_of_circulants_has_rows_that_are_made_again_from_their_spellings():
    spelling = "circulants(steps=2, nodes=24)"
    classes, graphs = (screened(spelling, each) for each in ("class", "graph"))
    assert sum(row["class_size"] for row in classes) == len(graphs) == circulant_count(24, 2)
    for row in classes:
        (alone,) = screened(row["topology"])
        for name in ("topology", "nodes", "links", "degree", "diameter", "distance_histogram", "mean_distance_bound"):
            assert alone[name] == row[name], name
        assert alone["saturation_load"] == pytest.approx(row["saturation_load"], rel=1e-12)


def configured(folder: Path, entries: str) -> Path:
    path = folder / "screen.yaml"
    path.write_text(f"sweep: screen\nscreen:\n{entries}")
    return path


def test_spaces_are_counted_first(tmp_path):
    path = configured(tmp_path, "  - {family: lattices, dimensions: [2, 3], nodes: {from: 2, to: 40}, each: lattice}\n")
    points = requested_points(load(path))
    assert [str(point) for point in points[:2]] == [
        "lattices(dimensions=2, nodes=2) with a row for each lattice",
        "lattices(dimensions=2, nodes=3) with a row for each lattice",
    ]
    expected = sum(lattice_count(nodes, n) for nodes in range(2, 41) for n in (2, 3))
    (stage,) = forecast(estimates(points), load(path).cluster).stages
    assert (stage.points, stage.rows) == (78, expected)


def test_circulants_are_counted_first(tmp_path):
    path = configured(tmp_path, "  - {family: circulants, steps: [1, 2], nodes: {from: 4, to: 40}, each: graph}\n")
    points = requested_points(load(path))
    assert [str(point) for point in points[:2]] == [
        "circulants(steps=1, nodes=4) with a row for each graph",
        "circulants(steps=1, nodes=5) with a row for each graph",
    ]
    expected = sum(circulant_count(nodes, k) for nodes in range(4, 41) for k in (1, 2))
    (stage,) = forecast(estimates(points), load(path).cluster).stages
    assert (stage.points, stage.rows) == (74, expected)


def test_each_graph_of_lattices_is_each_lattice(tmp_path):
    entry = "  - {{family: lattices, dimensions: 2, nodes: 9, each: {}}}\n"
    paths = (configured(tmp_path, entry.format(each)) for each in ("lattice", "graph"))
    lattices, graphs = (requested_points(load(path)) for path in paths)
    assert lattices == graphs


def test_sizes_without_circulants_may_be_left_out(tmp_path):
    entry = "  - {family: circulants, steps: [2, 3], nodes: {from: 4, to: 7}, skip_unsuitable: true}\n"
    points = requested_points(load(configured(tmp_path, entry)))
    sizes = [(2, 4), (2, 5), (2, 6), (2, 7), (3, 6), (3, 7)]
    assert [point.topology for point in points] == [f"circulants(steps={k}, nodes={nodes})" for k, nodes in sizes]


@pytest.mark.parametrize(
    ("entry", "kind", "said"),
    [
        ("{family: lattices, nodes: 8}", BadInput, "expected dimensions and nodes of a design space, as in"),
        ("{family: lattices, dimensions: 2}", BadInput, "expected dimensions and nodes of a design space, as in"),
        ("{dimensions: 2}", BadInput, "expected dimensions with a design space only; add family: lattices"),
        ("{family: tori, dimensions: 2, nodes: 8}", BadInput, "lattices"),
        ("{family: lattices, dimensions: 6, nodes: 8}", BadInput, "dimensions"),
        ("{family: lattices, dimensions: 2, nodes: 8, families: [ring]}", BadInput, "write two entries"),
        ("{family: lattices, dimensions: 2, nodes: 0}", BadInput, "nodes=0: expected 1 … 65,536"),
        ("{family: lattices, dimensions: 3, nodes: 8192}", Refused, "178,940,587 lattices have 8,192 nodes"),
        ("{family: circulants, nodes: 8}", BadInput, "expected steps and nodes of a design space, as in"),
        ("{steps: 2}", BadInput, "expected steps with a design space only; add family: circulants"),
        ("{family: lattices, dimensions: 2, steps: 2, nodes: 8}", BadInput, "expected steps of circulants only"),
        ("{family: circulants, dimensions: 2, nodes: 8}", BadInput, "expected dimensions of lattices only"),
        ("{family: circulants, steps: 2, nodes: 8, each: lattice}", BadInput, "got each: lattice; write graph"),
        ("{family: circulants, steps: [2, 3], nodes: {from: 4, to: 9}}", BadInput, "expected 6 … 65,536 for 3 steps"),
        ("{family: circulants, steps: 4, nodes: 4096}", Refused, "circulants have 4,096 nodes and 4 steps"),
        ("{family: lattices, dimensions: 3, nodes: {from: 8, to: 200000}}", Refused, "limits.points is 100,000"),
    ],
)
def test_what_cannot_be_screened_is_one_line(tmp_path, entry, kind, said):
    with pytest.raises(kind) as refusal:
        requested_points(load(configured(tmp_path, f"  - {entry}\n")))
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).startswith(f"{tmp_path / 'screen.yaml'}:")


def test_row_groups_are_small_enough_to_be_skipped(tmp_path):
    rows = STAGES["screen"].rows(LazyNetwork("lattices(dimensions=3, nodes=64)"), ScreenRequest("class"), How())
    many = rows.take(np.resize(np.arange(rows.num_rows), ROW_GROUP + 1))
    path = tmp_path / "many.parquet"
    path.write_bytes(parquet(many, {}))
    assert pq.ParquetFile(path).num_row_groups == 2
