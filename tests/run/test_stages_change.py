"""Tables of a sweep that changes, whose points fail, or that is made of other tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from torusweep.all_columns import schema_of
from torusweep.answers.choices import front_of
from torusweep.answers.query import query
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.static.record import static_record
from torusweep.stages import STAGES
from torusweep.tables.shards import read_shards
from torusweep.tables.store import open_table, read_manifest

from tests.run.rings import Run
from tests.run.test_stages import LOADED, LOADS, SCREEN, TORUS

NETWORKS = f"sweep: rings\ntopologies: {list(LOADED)}\n"
CONFIG = f"{NETWORKS}loads:{LOADS.section}"


def make(run: Run, config: str, *steps: str, **how: object) -> None:
    """Steps in this process; those of stages compute there, too."""
    run.config.write_text(config)
    for step in ("points", *steps):
        assert run.here(step, **({"workers": 0, **how} if step in STAGES else {})) == 0


# --- loads ----------------------------------------------------------------------------------------


def test_without_symmetry_the_loads_are_the_same_and_join_static(rings: Run):
    make(rings, CONFIG, "static", "loads")
    reference = pq.read_table(rings.folder / "loads.parquet").to_pylist()
    for path in rings.shards():
        path.unlink()
    make(rings, CONFIG, "static", "loads", symmetry="off")
    long = pq.read_table(rings.folder / "loads.parquet").to_pylist()
    for mine, other in zip(reference, long, strict=True):
        assert all(mine[name] == other[name] for name in LOADS.named)
        for column, value in mine.items():
            if isinstance(value, float):
                assert math.isclose(value, other[column], rel_tol=1e-12), (mine["topology"], column)
    joined = "SELECT topology, nodes, saturation_load FROM static JOIN loads USING (topology)"
    answer = query(f"{joined} WHERE traffic = 'uniform' AND routing = 'minimal' ORDER BY ALL", rings.folder).to_pylist()
    assert [(row["topology"], row["nodes"]) for row in answer] == [
        ("directed_torus(k=4, n=3)", 64),
        ("hypercube(n=4)", 16),
        ("mesh(k=3, n=2)", 9),
        (TORUS, 16),
    ]
    # balanced networks saturate at degree / mean distance: 3 / (63/16), 4/2, 4/2
    assert [answer[i]["saturation_load"] for i in (0, 1, 3)] == pytest.approx([16 / 21, 2, 2])


def test_adding_traffic_computes_only_what_is_new_and_leaving_it_out_takes_the_table_away(rings: Run, tmp_path: Path):
    make(rings, CONFIG, "static", "loads")
    before = set(rings.shards())
    demand = tmp_path / "demand.csv"
    demand.write_text("source,destination,demand\n0,1,1\n")
    more = CONFIG + f"  - {{traffic: 'demand(path=\"{demand}\")', families: [torus]}}\n"
    make(rings, more, "static", "loads")
    (added,) = set(rings.shards()) - before
    assert [row["traffic"] for row in pq.read_table(added).to_pylist()] == [f'demand(path="{demand}")']
    assert open_table(rings.folder / "loads.parquet").num_rows == 18 + 5 + 1

    demand.write_text("source,destination,demand\n0,2,1\n")  # the same name, other contents
    with pytest.raises(BadInput, match="was made by other code or from other files"):
        rings.here("loads", workers=0)
    make(rings, more, "static", "loads")
    assert len(set(rings.shards()) - before) == 2
    manifest = read_manifest(rings.folder)
    assert set(manifest["stage"]) == {"static", "loads"}
    assert [
        sum(shard["rows"] for shard in manifest["shards"] if shard["stage"] == stage) for stage in ("static", "loads")
    ] == [5, 24]
    assert len(read_shards(rings.folder, "static", schema_of("static")).whole) == 1
    assert read_shards(rings.folder, "loads", schema_of("loads")).complaints == []

    make(rings, NETWORKS, "static")
    assert not (rings.folder / "loads.parquet").exists()
    assert query("SELECT count(*) AS n FROM static", rings.folder).to_pylist() == [{"n": 5}]


def test_a_load_that_fails_is_named_and_tried_again(
    rings: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with monkeypatch.context() as patch:
        patch.setattr("torusweep.questions.loads.stage.exact_loads", _fails_on_meshes)
        make(rings, f"{NETWORKS}loads: [{{traffic: uniform, families: [torus, mesh]}}]\n", "static", "loads")
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


# --- tables made of others ------------------------------------------------------------------------


def test_the_networks_are_compared_at_equal_cost(rings: Run):
    """Table, front and query of a sweep that has loads and costs."""
    config = 'sweep: rings\ntopologies: ["ring(k=8)", "torus(k=4, n=2)", "dragonfly(a=4, p=2, h=2)"]\n'
    config += "loads: [{routing: [minimal, dimension_order, by_group], traffic: uniform, skip_unsuitable: true}]\n"
    make(rings, f"{config}cost: [{{model: [2014-besta, 2023-circuits]}}]\n", "static", "loads", "cost", "equal_cost")
    rows = pq.read_table(rings.folder / "equal_cost.parquet").to_pylist()
    assert len(rows) == 6
    found = {row["topology"]: row for row in rows if row["cost_model"] == "2014-besta"}
    dragonfly = found["dragonfly(a=4, p=2, h=2)"]
    assert dragonfly["routing"] == "by_group"
    assert dragonfly["saturation_per_cost"] == pytest.approx(dragonfly["throughput"] / dragonfly["cost_per_terminal"])
    assert found["ring(k=8)"]["throughput"] == 1.0  # 8/k of one flit a channel
    best = front_of(
        rings.folder,
        minimise=["cost_per_terminal", "equal_cost.latency"],
        maximise=["throughput"],
        where="cost_model = '2014-besta'",
    ).to_pylist()
    assert {row["topology"] for row in best} == {name for name, row in found.items() if row["on_front"]}
    query_rows = query(
        "SELECT topology, total_cost, cost, saturation_load FROM cost JOIN static USING (topology) JOIN loads"
        " USING (topology) WHERE cost_model = '2014-besta' AND routing = 'minimal' AND traffic = 'uniform'",
        rings.folder,
    ).to_pylist()
    assert len(query_rows) == 3


def test_the_table_best_has_the_winners(rings: Run):
    """Beside a plain search of the table `screen`."""
    config = f"sweep: rings\ntopologies: {list(SCREEN.networks)}\nscreen:{SCREEN.section}"
    make(rings, config, "static", "screen", "derived")
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


# --- simulation -----------------------------------------------------------------------------------


def test_workloads_are_points_of_their_own(rings: Run, tmp_path: Path):
    """Anew where their file changes; the rest stays."""
    path = tmp_path / "w.csv"
    path.write_text("message,source,destination,flits\na,0,1,16\n")
    entry = f"""{{workload: [ring_all_reduce, '{path}'], placement: [consecutive, random], seeds: [1, 2]}}"""

    def computed() -> list[dict[str, Any]]:
        config = f'sweep: rings\ntopologies: ["ring(k=4)"]\nsimulation: [{entry}]\n'
        make(rings, config, "static", "simulation")
        return pq.read_table(rings.folder / "simulation.parquet").to_pylist()

    rows = computed()
    assert [(row["workload"], row["placement"]) for row in rows] == [
        (workload, placement)
        for workload in ("ring_all_reduce", f'file(path="{path}")')
        for placement in ("consecutive", "random")
    ]
    assert all(row["delivery_time"] > 0 for row in rows)
    path.write_text("message,source,destination,flits\na,0,1,32\n")
    (rings.folder / "points.parquet").unlink()
    for shard in rings.shards():
        shard.unlink()
    again = computed()
    assert again[:2] == rows[:2]
    assert again[2]["delivery_time"] > rows[2]["delivery_time"]
