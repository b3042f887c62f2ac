"""The loads table: what is asked, the same bytes however it was computed, nothing computed twice, failures named."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from torusweep.answers.query import query
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.stages import STAGES
from torusweep.stages.all_columns import schema_of
from torusweep.stages.loads import exact_loads
from torusweep.stages.loads.stage import LoadsRequest
from torusweep.sweeps.configuration import load
from torusweep.sweeps.expansion import expand, expand_stage
from torusweep.sweeps.points import Point
from torusweep.tables.store import open_table, read_manifest, read_shards
from torusweep.traffic import PATTERNS, SYMMETRIC, traffic

from tests.run.rings import Run

NETWORKS = '["torus(k=4, n=2)", "mesh(k=3, n=2)", "pruned_xy(k=4)", "directed_torus(k=4, n=3)", "hypercube(n=4)"]'
CONFIG = f"""
sweep: rings
topologies: {NETWORKS}
loads:
  - {{traffic: [uniform, nearest_neighbour], routing: [minimal, minimal_ecmp], skip_unsuitable: true}}
  - {{traffic: [bit_reversal, "hot_spot(percent=20)"], families: [torus, mesh, hypercube], \
nodes: {{to: 16}}, skip_unsuitable: true}}
"""
PLAIN = {"DASK_DISTRIBUTED__WORKER__PRELOAD": "[]"}


def computed(run: Run, **how: object) -> bytes:
    """loads.parquet, computed in this process from nothing."""
    for path in run.shards():
        path.unlink()
    assert run.here("static", **how) == run.here("loads", **how) == 0
    return (run.folder / "loads.parquet").read_bytes()


def rows(table: bytes) -> list[dict[str, object]]:
    return pq.read_table(io.BytesIO(table)).to_pylist()


def test_the_table_is_the_same_bytes_whatever_way_it_was_computed(rings: Run):
    rings.config.write_text(CONFIG)
    rings.here("points")
    reference = computed(rings, workers=0, backend="numba")
    assert computed(rings, workers=0, backend="numpy") == reference, "NumPy"
    for workers in ("1", "4"):
        for path in rings.shards():
            path.unlink()
        assert rings.here("static", workers=0) == 0
        status, said = rings.step("loads", "--workers", workers, **PLAIN)
        assert status == 0, said
        assert (rings.folder / "loads.parquet").read_bytes() == reference, f"{workers} workers"
    long = rows(computed(rings, workers=0, symmetry="off"))
    assert [_names(row) for row in long] == [_names(row) for row in rows(reference)]
    for mine, other in zip(rows(reference), long, strict=True):
        for column, value in mine.items():
            if isinstance(value, float):
                assert math.isclose(value, other[column], rel_tol=1e-12), (mine["topology"], column)


def _names(row: dict[str, object]) -> tuple[object, ...]:
    return row["topology"], row["routing"], row["traffic"]


def test_rows_are_those_asked_for_and_join_static(rings: Run):
    rings.config.write_text(CONFIG)
    rings.here("points")
    found = [_names(row) for row in rows(computed(rings, workers=0))]
    joined = ("torus(k=4, n=2)", "mesh(k=3, n=2)", "directed_torus(k=4, n=3)", "hypercube(n=4)")
    first = [
        (network, routing, pattern)
        for network in (*joined[:2], "pruned_xy(k=4)", *joined[2:])
        for pattern in ("uniform", "nearest_neighbour")
        for routing in ("minimal", "minimal_ecmp")
        if (network, pattern) != ("pruned_xy(k=4)", "uniform")  # two components
    ]
    second = [
        ("torus(k=4, n=2)", "minimal", "bit_reversal"),
        ("torus(k=4, n=2)", "minimal", "hot_spot(percent=20)"),
        ("mesh(k=3, n=2)", "minimal", "hot_spot(percent=20)"),  # nine nodes: no bit_reversal
        ("hypercube(n=4)", "minimal", "bit_reversal"),
        ("hypercube(n=4)", "minimal", "hot_spot(percent=20)"),
    ]
    assert found == first + second
    joined_rows = "SELECT topology, nodes, saturation_load FROM static JOIN loads USING (topology)"
    answer = query(
        f"{joined_rows} WHERE traffic = 'uniform' AND routing = 'minimal' ORDER BY ALL", rings.folder
    ).to_pylist()
    assert [(row["topology"], row["nodes"]) for row in answer] == [
        ("directed_torus(k=4, n=3)", 64),
        ("hypercube(n=4)", 16),
        ("mesh(k=3, n=2)", 9),
        ("torus(k=4, n=2)", 16),
    ]
    # balanced networks saturate at degree / mean distance: 3 / (63/16), 4/2, 4/2
    assert [row["saturation_load"] for row in answer if not row["topology"].startswith("mesh")] == pytest.approx(
        [16 / 21, 2, 2]
    )


def test_adding_traffic_computes_only_what_is_new_and_leaving_it_out_takes_the_table_away(rings: Run, tmp_path: Path):
    rings.config.write_text(CONFIG)
    rings.here("points")
    computed(rings, workers=0)
    before = set(rings.shards())
    demand = tmp_path / "demand.csv"
    demand.write_text("source,destination,demand\n0,1,1\n")
    more = CONFIG + f"  - {{traffic: 'demand(path=\"{demand}\")', families: [torus]}}\n"
    rings.config.write_text(more)
    assert rings.here("points") == rings.here("static", workers=0) == rings.here("loads", workers=0) == 0
    (added,) = set(rings.shards()) - before
    assert [row["traffic"] for row in pq.read_table(added).to_pylist()] == [f'demand(path="{demand}")']
    assert open_table(rings.folder / "loads.parquet").num_rows == 18 + 5 + 1

    demand.write_text("source,destination,demand\n0,2,1\n")  # the same name, other contents
    with pytest.raises(BadInput, match="was made by other code or from other files"):
        rings.here("loads", workers=0)
    rings.here("points")
    rings.here("static", workers=0)
    assert rings.here("loads", workers=0) == 0
    assert len(set(rings.shards()) - before) == 2
    manifest = read_manifest(rings.folder)
    assert set(manifest["stage"]) == {"static", "loads"}
    assert [
        sum(shard["rows"] for shard in manifest["shards"] if shard["stage"] == stage) for stage in ("static", "loads")
    ] == [5, 24]
    assert len(read_shards(rings.folder, "static", schema_of("static")).whole) == 1
    assert read_shards(rings.folder, "loads", schema_of("loads")).complaints == []

    rings.config.write_text(f"sweep: rings\ntopologies: {NETWORKS}\n")
    assert rings.here("points") == rings.here("static", workers=0) == 0
    assert not (rings.folder / "loads.parquet").exists()
    assert query("SELECT count(*) AS n FROM static", rings.folder).to_pylist() == [{"n": 5}]


def test_a_load_that_fails_is_named_and_tried_again(
    rings: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    rings.config.write_text(
        f"sweep: rings\ntopologies: {NETWORKS}\nloads: [{{traffic: uniform, families: [torus, mesh]}}]\n"
    )
    rings.here("points")
    with monkeypatch.context() as patch:
        patch.setattr("torusweep.stages.loads.stage.exact_loads", _fails_on_meshes)
        computed(rings, workers=0)
    said = "mesh(k=3, n=2) under minimal, uniform failed: ZeroDivisionError: made up"
    assert said in capsys.readouterr().out
    assert rings.failed() == {"mesh(k=3, n=2)": "ZeroDivisionError: made up"}
    rings.here("verification")
    capsys.readouterr()
    assert rings.here("check") == 1
    assert said in capsys.readouterr().out
    assert rings.here("loads", workers=0) == 0
    assert rings.failed() == {}
    assert rings.here("check") == 0


def _fails_on_meshes(topology, **how):
    if topology.family == "mesh":
        raise ZeroDivisionError("made up")
    return exact_loads(topology, **how)


def test_the_whole_pipeline_declares_the_table_and_keeps_it(rings: Run):
    rings.config.write_text(CONFIG)
    status, said = rings.call("run", "rings.yaml", "--workers", "0", **PLAIN)
    assert status == 0, said
    assert "28 points, about " in said
    assert "loads.parquet   23 rows" in said
    assert (rings.folder / "report.html").exists()
    tables = json.loads((rings.folder / "manifest.json").read_bytes())["tables"]
    assert set(tables) == {"points", "static", "loads", "distances", "verification"}
    made = (rings.folder / "loads.parquet").stat().st_mtime_ns
    status, said = rings.call("run", "rings.yaml")
    assert status == 0
    assert "Nothing to be done" in said
    assert (rings.folder / "loads.parquet").stat().st_mtime_ns == made


# --- what a configuration may ask ---------------------------------------------------------------


def expanded(path: Path, expected: list[tuple[str, LoadsRequest]] | None = None) -> list[Point]:
    sweep = load(path)
    return expand_stage(sweep, STAGES["loads"], expand(sweep), expected=expected or [])


HEAD = f"sweep: rings\ntopologies: {NETWORKS}\n"
REFUSED = [
    ("loads: [{traffic: unifrom}]", "3:19: loads[0].traffic: unknown traffic 'unifrom' (did you mean 'uniform'?)"),
    (
        "loads: [{traffic: hot_spot(nod=3)}]",
        "3:19: loads[0].traffic: hot_spot(nod=3): unknown parameter 'nod' (did you mean 'node'?)",
    ),
    (
        "loads: [{traffic: uniform, routing: minimum}]",
        "3:37: loads[0].routing: unknown routing 'minimum' (did you mean 'minimal'",
    ),
    ("loads: [{traffic: uniform, routing: []}]", "3:37: loads[0].routing: expected"),
    ("loads: [{traffic: 3}]", "3:19: loads[0].traffic: expected text or a list"),
    ("loads: [{traffic: uniform, family: torus}]", "3:28: loads[0]: unknown key 'family' (did you mean 'families'?)"),
    (
        "loads: [{traffic: uniform, families: [toruss]}]",
        "3:9: loads[0]: families: unknown family 'toruss' (did you mean 'torus'?)",
    ),
    ("loads: [{traffic: uniform, families: [ring]}]", "3:9: loads[0]: expected at least one network, got none"),
    ("loads: [{traffic: uniform, nodes: {from: 100}}]", "3:35: loads[0].nodes: missing key 'to'"),
    (
        "loads: [{traffic: uniform, nodes: {from: 100, to: 200}}]",
        "3:9: loads[0]: expected at least one network, got none",
    ),
    (
        "loads: [{traffic: bit_reversal}]",
        "3:9: loads[0]: traffic bit_reversal on mesh(k=3, n=2): terminals=9: expected a power of 2",
    ),
    (
        "loads: [{traffic: bit_reversal, families: [mesh], skip_unsuitable: true}]",
        "3:9: loads[0]: expected at least one network, got none",
    ),
    (
        "loads: [{traffic: uniform}]",
        "3:9: loads[0]: traffic uniform on pruned_xy(k=4): expected a network that joins all",
    ),
    (
        "loads: [{traffic: 'demand(path=\"nowhere.csv\")', families: [torus]}]",
        '3:9: loads[0]: traffic demand(path="nowhere.csv") on torus(k=4, n=2)',
    ),
]


@pytest.mark.parametrize(("line", "says"), REFUSED, ids=[row[0] for row in REFUSED])
def test_loads_that_cannot_be_computed_are_refused_where_they_stand(tmp_path: Path, line: str, says: str):
    path = tmp_path / "my.yaml"
    path.write_text(f"{HEAD}{line}\n")
    with pytest.raises(BadInput) as caught:
        expanded(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{says}")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("line", "limits", "says"),
    [
        (
            "loads: [{traffic: [uniform, hot_region], routing: [minimal, minimal_ecmp], families: [torus, mesh]}]",
            "points: 7",
            "8 points of loads",
        ),
        (
            "loads: [{traffic: hot_region, families: [torus]}]",
            "memory_gib: 0.01",
            ": expected at most 0.0 GiB of memory, got about 0.1 GiB; choose fewer nodes",
        ),
    ],
)
def test_too_much_is_refused_before_it_is_built(tmp_path: Path, line: str, limits: str, says: str):
    path = tmp_path / "my.yaml"
    networks = HEAD.replace("torus(k=4, n=2)", "torus(k=64, n=2)") if "memory" in limits else HEAD
    path.write_text(f"{networks}{line}\nlimits: {{{limits}}}\n")
    with pytest.raises(Refused) as caught:
        expanded(path)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{path}:3:9: loads[0]: ")


def test_the_papers_loads_come_last_and_once(tmp_path: Path):
    path = tmp_path / "my.yaml"
    path.write_text(HEAD + "loads: [{traffic: [uniform, 'uniform'], families: [torus, hypercube]}]\n")
    paper = [(name, LoadsRequest("minimal", "uniform")) for name in ("rtt(a=4)", "torus(k=4, n=2)")]
    found = expanded(path, paper)
    assert [point.topology for point in found] == ["torus(k=4, n=2)", "hypercube(n=4)", "rtt(a=4)"]
    assert {(point.stage, point.request) for point in found} == {("loads", LoadsRequest("minimal", "uniform"))}


def test_symmetric_patterns_are_those_that_say_so():
    topology = build("torus(k=4, n=2)")
    others = {"demand", "group_shift"}  # which need a file, or groups
    assert {name for name in PATTERNS if name not in others and traffic(name, topology)[1].symmetric} == set(SYMMETRIC)


def test_costs_grow_with_the_network_and_without_symmetry():
    chain = [
        ("ring(k=4)", "uniform"),
        ("torus(k=16, n=3)", "uniform"),
        ("torus(k=16, n=3)", "transpose"),
        ("torus(k=32, n=3)", "transpose"),
    ]
    costs = [Point("loads", topology, LoadsRequest("minimal", pattern)).seconds for topology, pattern in chain]
    assert costs == sorted(costs)
    faulty = Point("loads", "faulty(torus(k=16, n=3), links=1, seed=1)", LoadsRequest("minimal", "uniform"))
    assert faulty.seconds > costs[1]
