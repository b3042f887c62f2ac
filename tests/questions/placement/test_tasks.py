"""Tasks on networks beside all permutations, plain loops over shortest paths, and known best placements."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise, permutations
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.networks.families import build

from tests.faults.command_line import torusweep
from tests.questions.static.networks import as_networkx

STAR = Path(__file__).parents[2] / "networks" / "cases" / "star.csv"


def routes(topology) -> tuple[dict, dict]:
    """{(terminal, terminal): hops} and {(terminal, terminal): {channel: share over its bandwidth}}, path by path."""
    graph = as_networkx(topology)
    width = {}
    for node, row in enumerate(topology.ports.tolist()):
        for port, head in enumerate(row):
            if head >= 0:
                width[node, head] = 1.0 if topology.bandwidth is None else float(topology.bandwidth[node, port])
    hops, shares = {}, {}
    for one, source in enumerate(topology.terminals.tolist()):
        for other, destination in enumerate(topology.terminals.tolist()):
            paths = list(nx.all_shortest_paths(graph, source, destination))
            hops[one, other] = len(paths[0]) - 1
            found = defaultdict(float)
            for path in paths:
                for channel in pairwise(path):
                    found[channel] += 1 / len(paths) / width[channel]
            shares[one, other] = found
    return hops, shares


def values(tables, matrix, place) -> tuple[float, float]:
    """(hops · demand, the busiest channel's load) of a placement."""
    hops, shares = tables
    total, loads = 0.0, defaultdict(float, {None: 0.0})
    for one, other in zip(*np.nonzero(matrix)):
        ends, amount = (int(place[one]), int(place[other])), matrix[one, other]
        total += amount * hops[ends]
        for channel, share in shares[ends].items():
            loads[channel] += amount * share
    return total, max(loads.values())


def drawn(tasks: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    matrix = random.integers(1, 9, (tasks, tasks)) * (random.random((tasks, tasks)) < 0.5).astype(float)
    np.fill_diagonal(matrix, 0)
    matrix[0, 1] = 5.0
    return matrix


SMALL = [
    ("mesh(k=3, n=2)", 4),
    ("ring(k=6)", 6),
    ("torus(radices=[5], directed=true)", 5),
    ("dragonfly(a=2, p=1, h=1)", 4),
    ("hyperx(radices=[2, 2], terminals=2)", 4),
    ("xgft(down=[3, 2], up=[1, 2])", 5),
    ("with_links(mesh(radices=[3, 2]), bandwidths=[1, 0.25])", 5),
    ("faulty(torus(k=3, n=2), nodes=2, seed=1)", 4),
]


@pytest.mark.parametrize("least", ["hops", "load"])
@pytest.mark.parametrize(("spelling", "tasks"), SMALL)
def test_all_permutations(spelling: str, tasks: int, least: str):
    network = ts.network(spelling)
    tables = routes(network.topology)
    for seed in range(3):
        matrix = drawn(tasks, seed)
        found = network.place(tasks=matrix, least=least, restarts=seed)
        ways = permutations(range(len(network.topology.terminals)), tasks)
        which = ["hops", "load"].index(least)
        best = min(values(tables, matrix, way)[which] for way in ways)
        assert found.value == pytest.approx(best)
        assert found.optimum == found.value
        assert values(tables, matrix, found.place) == pytest.approx((found.hops, found.load))
        assert found.value == pytest.approx((found.hops, found.load)[which])
        assert found.in_order == pytest.approx(values(tables, matrix, range(tasks))[which])
        assert found.bound <= best * (1 + 1e-9)
        assert len(set(found.place.tolist())) == tasks


def links_of(spelling: str, seed: int | None = None) -> np.ndarray:
    """A demand of 1 over each link of a network, whose nodes are numbered anew at random."""
    topology = build(spelling)
    matrix = np.zeros((topology.nodes, topology.nodes))
    tail, head, _ = topology.arcs
    matrix[tail, head] = 1
    order = np.random.default_rng(seed).permutation(topology.nodes)
    return matrix[np.ix_(order, order)]


@pytest.mark.parametrize(
    ("spelling", "tasks"),
    [
        ("ring(k=24)", "ring(k=24)"),
        ("torus(k=16, n=2)", "torus(k=16, n=2)"),
        ("torus(k=4, n=3)", "torus(k=4, n=3)"),
        ("torus(k=8, n=2)", "mesh(k=5, n=2)"),
        ("mesh(k=8, n=2)", "ring(k=16)"),
        ("hypercube(n=6)", "torus(k=8, n=2)"),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_tasks_that_are_neighbours_can_be(spelling: str, tasks: str, seed: int):
    """A hop for each unit of demand is a lower bound."""
    matrix = links_of(tasks, seed)
    found = ts.network(spelling).place(tasks=matrix)
    assert found.value == found.optimum == matrix.sum()
    assert found.mean_hops == 1


def test_what_is_not_proved_is_not_called_the_optimum():
    matrix = links_of("hypercube(n=6)", 0)
    found = ts.network("torus(k=8, n=2)").place(tasks=matrix, restarts=2)
    assert found.optimum is None
    assert "optimum" not in repr(found).split("\n")[0]
    assert found.bound < found.value < found.in_order
    tables = routes(build("torus(k=8, n=2)"))
    assert values(tables, matrix, found.place) == pytest.approx((found.hops, found.load))
    again = ts.network("torus(k=8, n=2)").place(tasks=matrix, restarts=2)
    assert np.array_equal(found.place, again.place)
    by_load = ts.network("torus(k=8, n=2)").place(tasks=matrix, restarts=1, least="load")
    assert by_load.value <= found.load * (1 + 1e-9)
    assert values(tables, matrix, by_load.place)[1] == pytest.approx(by_load.value)


def test_a_star_on_a_mesh(tmp_path: Path):
    said = torusweep(
        *("place", "mesh(k=3, n=2)", "--tasks", str(STAR), "--demand", str(tmp_path / "placed.csv")),
        *("-o", str(tmp_path / "devices.json")),
    )
    assert said.status == 0
    assert said.out.startswith("5 tasks on mesh(k=3, n=2): hops · demand 4, the optimum\n")
    assert "6, task i on terminal i" in said.out
    devices = json.loads((tmp_path / "devices.json").read_text())
    assert devices["tasks"] == [0, 1, 2, 3, 4]
    assert devices["devices"][0] == 4  # the middle, beside the others
    # what is written is the demand of the network: four links carry 1 of 4 units
    loads = ts.network("mesh(k=3, n=2)").loads(traffic=f'demand(path="{tmp_path / "placed.csv"}")')
    assert loads.mean_hops == pytest.approx(1)


def test_files_and_names(tmp_path: Path):
    """Tasks are called anything; terminals as the network's file calls them."""
    table = pa.table({"source": ["ps", "ps", "w2"], "destination": ["w1", "w2", "ps"], "demand": [1.0, 2.0, 3.0]})
    pa.csv.write_csv(table, tmp_path / "tasks.csv")
    pq.write_table(table, tmp_path / "tasks.parquet")
    np.savetxt(tmp_path / "matrix.csv", [[0, 1, 2], [0, 0, 0], [3, 0, 0]], delimiter=",")
    network = ts.network(nx.path_graph(["a", "b", "c"]))
    found = [network.place(tasks=tmp_path / name) for name in ("tasks.csv", "tasks.parquet", "matrix.csv")]
    for one in found:
        assert one.optimum == 6
        assert one.rows[0]["terminal"] == "b"
    assert [row["task"] for row in found[0].rows] == ["ps", "w1", "w2"]
    assert found[0].demand.column("source").to_pylist()[0] == "b"
    assert sorted(found[0].demand.column("demand").to_pylist()) == [1, 2, 3]


def test_axes_alone_are_a_job():
    network = ts.network("mesh(k=4, n=2)")
    operations = [{"axis": "tp", "operation": kind, "bytes": "64MiB"} for kind in ("all_gather", "reduce_scatter")]
    job = {
        "axes": {"tp": 4, "dp": 4},
        "operations": [*operations, {"axis": "dp", "operation": "all_reduce", "bytes": "64MiB"}],
    }
    alone = network.place(axes="tp=4,dp=4")
    assert alone.seconds == network.place(job).seconds == network.place(axes={"tp": 4, "dp": 4}).seconds
    said = torusweep("place", "mesh(k=4, n=2)", "--axes", "tp=4,dp=4")
    assert (
        said.err
        == "usual operations: tp all_gather, tp reduce_scatter, dp all_reduce, 64MiB each; a job names others\n"
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tasks": np.eye(3)}, "tasks: expected demand between two tasks, got none"),
        ({"tasks": np.ones((2, 3))}, r"tasks: expected a matrix \[n, n\]"),
        ({"tasks": -np.ones((2, 2))}, "demand: expected 0 or 1e-100"),
        ({"tasks": np.ones((17, 17))}, "expected at most 16, one for each terminal of torus"),
        ({"tasks": "none.csv"}, "tasks: none.csv: no such file; paths are relative"),
        ({"axes": "tp=16", "job": {}}, "expected one of job, axes and tasks, got job and axes"),
        ({"axes": "tp"}, "expected names with sizes, as tp=8,dp=16, got 'tp'"),
        ({"axes": "tp=4,tp=4"}, "expected each axis once"),
        ({"axes": "tp=4"}, "expected a product of 16"),
    ],
)
def test_what_cannot_be_placed_is_refused(given: dict, words: str):
    with pytest.raises(BadInput, match=words):
        ts.network("torus(k=4, n=2)").place(**given)


def test_demands_of_tasks_have_units_as_those_of_traffic_have(tmp_path):
    """They are bits a second: 10 GB/s are 80 Gb/s."""
    pairs = [("a", "b", 10.0), ("b", "c", 100.0), ("c", "a", 80.0)]
    plain, spelt = tmp_path / "plain.csv", tmp_path / "spelt.csv"
    plain.write_text("source,destination,demand\n" + "".join(f"{one},{two},{amount}\n" for one, two, amount in pairs))
    spelt.write_text("source,destination,demand\na,b,10 Gb/s\nb,c,100 Gb/s\nc,a,10 GB/s\n")
    network = ts.network("ring(k=8)")
    one, other = (network.place(tasks=str(path)) for path in (plain, spelt))
    assert other.value == pytest.approx(1e9 * one.value, rel=1e-12)
    assert [row["node"] for row in other.rows] == [row["node"] for row in one.rows]
