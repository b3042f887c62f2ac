"""The stages' tables: the rows asked for and known, the same bytes whoever computes them, and nothing computed twice.

`ASKED` has a row for each stage. What is refused is in tests/refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.networks.families import build
from torusweep.questions.cost.model import MODELS
from torusweep.questions.cost.record import cost_record
from torusweep.questions.how import How
from torusweep.questions.stage import LazyNetwork, attempt
from torusweep.stages import STAGES
from torusweep.sweeps.points import Point, keyed, rows_of_many
from torusweep.tables.columns import arrow_schema
from torusweep.tables.parquet import parquet
from torusweep.tables.store import read_manifest

from tests.run.elsewhere import Elsewhere
from tests.run.rings import Run

TORUS, MESH, RING = "torus(k=4, n=2)", "mesh(k=3, n=2)", "ring(k=8)"
Rows = dict[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Asked:
    """A stage's section of a sweep, and what its table has.

    named    columns that tell its rows apart
    rows     (what `named` says of a row), in the table's order; None: in any order, or told by `known`
    known    (name of a row, column, value): by hand, or by a source; values that are no text are compared approximately
    more     what else is true of them
    """

    networks: tuple[str, ...]
    section: str
    named: tuple[str, ...]
    known: dict[tuple[Any, ...], dict[str, Any]]
    rows: list[tuple[Any, ...]] | None = None
    more: Callable[[Rows], None] = lambda rows: None


# --- availability ---------------------------------------------------------------------------------


def _as_many_as_asked(rows: Rows) -> None:
    assert len(rows) == 2 * 3 * 4 + 2 * 2 + 2 * 2


AVAILABILITY = Asked(
    (RING, TORUS),
    """
  - {failures: [0, 1, 2], measures: [connectivity, distances]}
  - {fails: [routers, cubes], failures: 1, measures: connectivity, families: [torus]}
  - {probability: [0.01, 0.1], draws: 100, seed: 7, families: [torus], measures: [connectivity]}
""",
    ("topology", "fails", "failures", "probability", "measure"),
    {
        (RING, "links", 1, None, "diameter"): {"mean": 7},
        (RING, "links", 2, None, "connected"): {"mean": 0},
        (RING, "links", 2, None, "diameter"): {"mean": None},
        (RING, "links", 0, None, "mean_distance"): {"mean": 2},
        (TORUS, "cubes", 1, None, "largest_component"): {"mean": 0},
        (TORUS, "routers", 1, None, "largest_component"): {"mean": 15 / 16},
        (TORUS, "links", None, 0.1, "connected"): {"draws": 100, "seed": 7, "parts": 32},
    },
    more=_as_many_as_asked,
)


# --- collectives ----------------------------------------------------------------------------------

FAULTY = "faulty(ring(k=8), links=2, seed=1)"


def _only_what_suits(rows: Rows) -> None:
    assert not any(key[0] == MESH and key[2] == "halving_doubling" for key in rows)
    assert "Hamiltonian cycle" in rows[MESH, "all_gather", "rings"]["method"]
    parts = [row for key, row in rows.items() if key[0] == FAULTY]
    assert len(parts) == 6
    assert all(row["optimum"] is None and "2 parts" in row["method"] for row in parts)


COLLECTIVES = Asked(
    (RING, MESH, FAULTY),
    """
  - {operation: [all_gather, all-reduce], algorithm: [optimum, ring, rings]}
  - {operation: all_gather, algorithm: all, nodes: 9, skip_unsuitable: true}
""",
    ("topology", "operation", "algorithm"),
    {  # by hand: a ring of both directions; a mesh, whose corner has two channels, and without a Hamiltonian cycle
        (RING, "all_gather", "optimum"): {"cycles": 7 / 16, "bus_bandwidth": 2, "optimum_share": 1, "cut_nodes": [0]},
        (RING, "all_gather", "ring"): {"cycles": 7 / 16},
        (RING, "all_gather", "rings"): {"cycles": 7 / 16},
        (RING, "all_reduce", "optimum"): {"cycles": 7 / 8},
        (RING, "all_reduce", "ring"): {"cycles": 7 / 8},
        (RING, "all_reduce", "rings"): {"cycles": 7 / 8},
        (MESH, "all_gather", "optimum"): {"cycles": 4 / 9},
        (MESH, "all_gather", "rings"): {"cycles": None, "optimum": 4 / 9},
        (MESH, "all_gather", "trees"): {"cycles": 4 / 9},
        (MESH, "all_gather", "by_dimension"): {"cycles": 8 / 9},
        (MESH, "all_reduce", "optimum"): {"cycles": 8 / 12},
    },
    more=_only_what_suits,
)


# --- cost -----------------------------------------------------------------------------------------


def _costs_of_each_network_alone(rows: Rows) -> None:
    assert len(rows) == 7
    for (topology, model, packing), row in rows.items():
        assert row == cost_record(build(topology), model, packing if packing.endswith("[3, 1])") else "automatic")
    prices = [row["router_cost"] for (topology, *_), row in rows.items() if topology == RING]
    assert prices == pytest.approx(
        [8 * (price * 3 - 892.3) for price in (350.4, 700.8)]
    )  # 3 ports; the user's is twice


COST = Asked(
    (RING, MESH, "dragonfly(a=4, p=2, h=2)"),
    """
  - {model: [2014-besta, MINE]}
  - {families: [mesh], packing: "straight(block=[3, 1])"}
""",
    ("topology", "cost_model", "packing"),
    {},
    more=_costs_of_each_network_alone,
)


# --- deadlock -------------------------------------------------------------------------------------

DEADLOCK = Asked(
    (TORUS, MESH, "rtt(a=3)"),
    """
  - {routing: [dimension-order, adaptive], vc_rule: [dateline, none], virtual_channels: [1, 3],
     families: [torus, mesh], skip_unsuitable: true}
  - {routing: [dimension_order, routing_record], vc_rule: dateline, virtual_channels: 2, skip_unsuitable: true}
""",
    ("topology", "routing", "vc_rule", "virtual_channels"),
    {  # which of them Dally & Seitz's rings, or their absence, decide
        (TORUS, "dimension_order", "dateline", 1): {"acyclic": False},
        (TORUS, "dimension_order", "dateline", 2): {"acyclic": True},
        (TORUS, "dimension_order", "dateline", 3): {"acyclic": True},
        (TORUS, "dimension_order", "none", 3): {"acyclic": False},
        (MESH, "dimension_order", "none", 1): {"acyclic": True},
        ("rtt(a=3)", "routing_record", "dateline", 2): {"acyclic": True},
    },
    [
        *(
            (network, routing, rule, many)
            for network in (TORUS, MESH)
            for routing in ("dimension_order", "adaptive")
            for rule in ("dateline", "none")
            for many in (1, 3)
            if (routing, many) != ("adaptive", 1)
        ),
        (TORUS, "dimension_order", "dateline", 2),
        (TORUS, "routing_record", "dateline", 2),
        (MESH, "dimension_order", "dateline", 2),
        ("rtt(a=3)", "routing_record", "dateline", 2),
    ],
)


# --- layout ---------------------------------------------------------------------------------------

LONGEST = {  # by hand
    (TORUS, "straight"): 3,
    (TORUS, "folded(block=[2, 2])"): 1,
    ("rtt(a=4)", "straight"): 7,
    ("rtt(a=4)", "trellis"): 3,
    ("rtt(a=4)", "folded(block=[2, 2])"): 4,  # 4 × 2 cabinets: (0, 1) and (2, 0), which is folded to place 3
    ("ring(k=6)", "straight"): 5,
    (TORUS, "folded"): 2,
    ("ring(k=6)", "folded"): 2,
}
LAYOUT = Asked(
    (TORUS, "rtt(a=4)", "ring(k=6)"),
    """
  - {placement: [straight, trellis, "folded( block=[2,2] )"], skip_unsuitable: true}
  - {placement: folded, nodes: {to: 20}}
""",
    ("topology", "placement"),
    {name: {"wire_length_max": longest} for name, longest in LONGEST.items()},
    list(LONGEST),
)


# --- loads ----------------------------------------------------------------------------------------

LOADED = (TORUS, MESH, "pruned_xy(k=4)", "directed_torus(k=4, n=3)", "hypercube(n=4)")
LOADS = Asked(
    LOADED,
    """
  - {traffic: [uniform, nearest_neighbour], routing: [minimal, minimal_ecmp], skip_unsuitable: true}
  - {traffic: [bit_reversal, "hot_spot(percent=20)"], families: [torus, mesh, hypercube],
     nodes: {to: 16}, skip_unsuitable: true}
""",
    ("topology", "routing", "traffic"),
    {  # balanced networks saturate at degree / mean distance
        ("directed_torus(k=4, n=3)", "minimal", "uniform"): {"saturation_load": 3 / (63 / 16)},
        ("hypercube(n=4)", "minimal", "uniform"): {"saturation_load": 4 / 2},
        (TORUS, "minimal", "uniform"): {"saturation_load": 4 / 2},
    },
    [
        *(
            (network, routing, pattern)
            for network in LOADED
            for pattern in ("uniform", "nearest_neighbour")
            for routing in ("minimal", "minimal_ecmp")
            if (network, pattern) != ("pruned_xy(k=4)", "uniform")  # two components
        ),
        (TORUS, "minimal", "bit_reversal"),
        (TORUS, "minimal", "hot_spot(percent=20)"),
        (MESH, "minimal", "hot_spot(percent=20)"),  # nine nodes: no bit_reversal
        ("hypercube(n=4)", "minimal", "bit_reversal"),
        ("hypercube(n=4)", "minimal", "hot_spot(percent=20)"),
    ],
)


# --- screen ---------------------------------------------------------------------------------------

SCREEN = Asked(
    ("mesh(k=4, n=2)", "rtt(a=4)"),
    """
  - {family: lattices, dimensions: [1, 2, 3], nodes: {from: 1, to: 32}}
  - {family: circulants, steps: [1, 2], nodes: {from: 4, to: 16}}
  - {families: all}
""",
    ("topology",),
    {("mesh(k=4, n=2)",): {"diameter": 6}},
)


# --- simulation -----------------------------------------------------------------------------------


def _saturation_where_it_is_sought(rows: Rows) -> None:
    assert all((row["simulated_saturation"] is None) == (row["router"] == "default") for row in rows.values())


SIMULATION = Asked(
    (TORUS, MESH),
    """
  - {loads: [0.1, 0.3], seeds: [1, 2], cycles: 600, virtual_channels: [2, 4]}
  - {loads: 0.2, traffic: [transpose, tornado], topologies: "torus(n=2, k=4)", cycles: 600,
     saturation_precision: 0.25, router: bluegene}
""",
    ("topology", "virtual_channels", "traffic", "offered_load"),
    {},
    [
        *(
            (network, many, "uniform", offered)
            for network in (TORUS, MESH)
            for many in (2, 4)
            for offered in (0.1, 0.3)
        ),
        *((TORUS, 3, pattern, 0.2) for pattern in ("transpose", "tornado")),
    ],
    _saturation_where_it_is_sought,
)

ASKED = {
    "availability": AVAILABILITY,
    "collectives": COLLECTIVES,
    "cost": COST,
    "deadlock": DEADLOCK,
    "layout": LAYOUT,
    "loads": LOADS,
    "screen": SCREEN,
    "simulation": SIMULATION,
}
DERIVED = {"screen": "best"}  # tables made of a stage's


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    """A scheduler with two workers, which all stages share: they import what they need once."""
    there = Elsewhere(tmp_path_factory.mktemp("elsewhere"))
    try:
        for _ in range(2):
            there.worker()
        yield there
    finally:
        there.end()


@pytest.mark.parametrize("stage", ASKED)
def test_rows_are_those_asked_for_and_known_whoever_computes_them(rings: Run, elsewhere: Elsewhere, stage: str):
    asked = ASKED[stage]
    mine = rings.home / "mine.yaml"
    mine.write_text(MODELS["2014-besta"].read_text().replace("per_port: 350.4", "per_port: 700.8"))
    sweep = f"sweep: rings\ntopologies: {list(asked.networks)}\n{stage}:{asked.section.replace('MINE', str(mine))}"
    rings.config.write_text(f"{sweep}cluster: {{batch_seconds: 0.01}}\n")

    def computed(**how: object) -> list[bytes]:
        """The stage's table, and those made of it, from nothing."""
        for path in rings.shards():
            path.unlink()
        assert rings.here("points") == rings.here("static", **how) == rings.here(stage, **how) == 0
        assert stage not in DERIVED or rings.here("derived") == 0
        return [(rings.folder / f"{name}.parquet").read_bytes() for name in (stage, DERIVED.get(stage, stage))]

    tables = computed(workers=0, backend="numba")
    table = pq.read_table(rings.folder / f"{stage}.parquet").to_pylist()
    rows = {tuple(row[name] for name in asked.named): row for row in table}
    assert len(rows) == len(table) == read_manifest(rings.folder)["tables"][stage]["rows"]
    assert asked.rows in (None, list(rows))
    for name, values in asked.known.items():
        for column, value in values.items():
            expected = pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
            assert rows[name][column] == expected, (name, column)
    asked.more(rows)

    shards = rings.shards()
    assert rings.here(stage, workers=0) == 0
    assert rings.shards() == shards, "nothing is left to compute"
    if stage in ("loads", "screen"):
        assert computed(workers=0, backend="numpy") == tables, "NumPy"
    rings.config.write_text(f"{sweep}cluster: {elsewhere.cluster}\n")
    assert computed(backend="auto") == tables, "two workers"


MIXTURE = """
sweep: rings
topologies: ["torus(k=4, n=2)", "mesh(k=4, n=2)", "ring(k=5)", "faulty(torus(k=4, n=2), links=2, seed=1)"]
simulation:
  - {loads: [0.1, 0.3], cycles: 400, traffic: [uniform, bit_reversal, neighbour], nodes: {from: 16, to: 16},
     packet_flits: [4, 8]}
  - {loads: 0.2, seeds: [1, 2], cycles: 400, vc_rule: none, topologies: ["torus(k=4, n=2)", "mesh(k=4, n=2)"]}
  - {saturation_precision: 0.3, cycles: 400, traffic: [uniform, tornado], families: [torus, ring]}
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_has_the_rows_of_each_point_alone(
    rings: Run, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch, workers: int
):
    """To the byte, in both tables; the point that fails, an unproved rule in the midst of others, fails alone."""
    cluster = elsewhere.cluster if workers else "{batch_seconds: 0.01}"
    rings.config.write_text(f"{MIXTURE}cluster: {cluster.replace('seconds: 0.01', 'seconds: 10')}\n")
    assert rings.here("points") == 0
    points = [Point.of_record(row) for row in pq.read_table(rings.folder / "points.parquet").to_pylist()]
    batches: list[int] = []

    def kept(batch: list[Point], options: How) -> list[pa.Table | Exception]:
        batches.append(len(batch))
        return rows_of_many(batch, options)

    monkeypatch.setattr("torusweep.run.driver.rows_of_many", kept)
    for stage in ("static", "simulation"):
        assert rings.here(stage, **({} if workers else {"workers": 0})) == 0
        own = [point for point in points if point.stage == stage]
        alone = {point: attempt(row_alone, point) for point in own}
        refused = [point for point, rows in alone.items() if isinstance(rows, Exception)]
        assert [point.topology for point in refused] == ["torus(k=4, n=2)"] * (stage == "simulation")
        expected = pa.concat_tables([rows for rows in alone.values() if isinstance(rows, pa.Table)])
        expected = expected.drop(["key", "member"])
        found = pq.read_table(rings.folder / f"{stage}.parquet")
        one, other = (table.cast(arrow_schema(STAGES[stage].columns)).combine_chunks() for table in (found, expected))
        assert parquet(one, {}) == parquet(other, {})
    (failure,) = read_manifest(rings.folder)["failed"]
    assert "choose rule dateline" in failure["reason"]
    if not workers:  # else they are elsewhere
        assert max(batches) > 5


def row_alone(point: Point) -> pa.Table:
    return keyed(point, STAGES[point.stage].rows(LazyNetwork(point.topology), point.request, How("numba", threads=1)))
