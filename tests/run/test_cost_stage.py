"""The table of costs: what is asked, a user's file of prices, what is refused before anything is computed."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from torusweep.answers.pareto import front_of
from torusweep.answers.query import query
from torusweep.costs import MODELS, cost_model
from torusweep.networks.families import build
from torusweep.stages.cost import cost_record
from torusweep.sweeps.configuration import load
from torusweep.sweeps.requested_points import requested_points

from tests.run.asking import computed, refused_at_its_line
from tests.run.rings import Run

CONFIG = """
sweep: rings
topologies: ["ring(k=8)", "mesh(k=3, n=2)", "dragonfly(a=4, p=2, h=2)"]
cost:
  - {model: [2014-besta, MINE]}
  - {families: [mesh], packing: "straight(block=[3, 1])"}
"""


def test_rows_are_those_asked_for_and_known(rings: Run, tmp_path: Path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(MODELS["2014-besta"].read_text().replace("per_port: 350.4", "per_port: 700.8"))
    rings.config.write_text(CONFIG.replace("MINE", str(mine)))
    rings.here("points")
    rows = computed(rings, "cost", workers=0)
    found = {(row["topology"], row["cost_model"], row["packing"]): row for row in rows}
    assert len(found) == len(rows) == 7
    for (topology, model, packing), row in found.items():
        automatic = packing != "straight(block=[3, 1])"
        assert row == cost_record(build(topology), model, "automatic" if automatic else packing)
    ring = {model: row["router_cost"] for (topology, model, _), row in found.items() if topology == "ring(k=8)"}
    assert ring == {
        "2014-besta": pytest.approx(8 * (350.4 * 3 - 892.3)),
        str(mine): pytest.approx(8 * (700.8 * 3 - 892.3)),
    }


def test_a_point_is_another_one_when_its_file_changes(tmp_path: Path):
    """Shards are named by what they depend on: the prices in a user's file, too."""
    mine, path = tmp_path / "mine.yaml", tmp_path / "my.yaml"
    path.write_text(f'sweep: my\ntopologies: ["ring(k=8)"]\ncost: [{{model: {mine}}}]\n')
    keys = []
    for price in ("350.4", "350.4", "1"):
        mine.write_text(MODELS["2014-besta"].read_text().replace("350.4", price))
        assert cost_model(str(mine)).router.per_port == float(price)
        keys += [point.key for point in requested_points(load(path)) if point.stage == "cost"]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    ("networks", "entry", "says"),
    [
        ('["ring(k=4)"]', "{model: 2014-bista}", "cost[0].model: unknown cost model '2014-bista' (did you mean"),
        ('["ring(k=4)"]', "{model: none.yaml}", "cost[0].model: none.yaml: expected a cost model, got: No such file"),
        ('["ring(k=4)"]', "{packing: foldd}", "cost[0].packing: unknown placement 'foldd' (did you mean 'folded'?)"),
        ('["ring(k=4)"]', '{packing: "folded(block=[3])"}', "expected sides that divide [4], got 3 for 4"),
        ('["torus(k=4, n=3)"]', "{packing: folded}", "expected cabinets on a floor, got a placement in space"),
        (
            '["cube_pod(x=[1, 0], y=[0, 1], z=[0, 1])"]',
            "{}",
            "expected a cost model with circuit_switch, got 2014-besta; choose 2023-circuits",
        ),
    ],
)
def test_what_cannot_be_priced_is_refused_where_it_stands(tmp_path: Path, networks: str, entry: str, says: str):
    assert says in refused_at_its_line(tmp_path, networks, "cost", entry)


def test_the_networks_are_compared_at_equal_cost(rings: Run):
    """Table, front and query of a sweep that has loads and costs."""
    config = 'sweep: rings\ntopologies: ["ring(k=8)", "torus(k=4, n=2)", "dragonfly(a=4, p=2, h=2)"]\n'
    config += "loads: [{routing: [minimal, dimension_order, by_group], traffic: uniform, skip_unsuitable: true}]\n"
    rings.config.write_text(config + "cost: [{model: [2014-besta, 2008-kim]}]\n")
    for step in ("points", "static", "loads", "cost", "equal_cost"):
        assert rings.here(step, **({} if step in ("points", "equal_cost") else {"workers": 0})) == 0
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
