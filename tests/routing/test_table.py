"""Routing tables: reading, checks, loads, samples, and every routing of ours as a table, against plain loops."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from scipy.sparse import csr_array
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.questions.loads.bounds import bounds_of
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import sampled_loads
from torusweep.routing import GivenRouting, TableRouting, files_of, routing
from torusweep.routing.tables.as_table import rows_of, table_of
from torusweep.routing.tables.columns import columns_of, rows_of_table
from torusweep.routing.tables.objects import routing_of, table_from, table_from_function
from torusweep.routing.tables.rows import table_routing
from torusweep.traffic import GivenTraffic, traffic
from torusweep.traffic.matrix import from_pairs

from tests.routing.cases import CASES, HIERARCHIES, PRUNED
from tests.routing.plain_routes import Hops, routes_between, walks


def exact_table_loads(table: TableRouting, demand: np.ndarray) -> np.ndarray:
    """Loads as fractions, each rounded once: packets of every pair, followed one by one."""
    topology = table.topology
    load = [[Fraction(0)] * topology.ports.shape[1] for _ in range(topology.nodes)]
    for source, destination in np.argwhere(demand > 0).tolist():
        for hops, share in walks(table, source, destination).items():
            for node, port in hops:
                load[node][port] += share * Fraction(float(demand[source, destination]))
    return np.array([[float(number) for number in row] for row in load])


def demands(topology: Topology, pattern: str) -> np.ndarray:
    return traffic(pattern, topology)[1].rows(np.arange(topology.nodes))


def same(one: TableRouting, other: TableRouting) -> bool:
    names = ("first", "at", "rows", "port", "kind", "next", "weight", "entry_pair", "entry")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def read_back(table: TableRouting, folder: Path, suffix: str) -> TableRouting:
    """The table, written to a file and read from there."""
    columns, path = columns_of(table.topology, rows_of(table)), folder / f"routes{suffix}"
    if suffix == ".csv":
        pyarrow.csv.write_csv(columns, path)
    else:
        pyarrow.parquet.write_table(columns, path)
    form = routing(f'table(path="{path}")', table.topology)[1]
    assert isinstance(form, TableRouting)
    return form


SMALL = [(name, network) for name, network in CASES if network not in (*HIERARCHIES, *PRUNED)]


@pytest.mark.parametrize(("name", "network"), SMALL)
def test_a_routing_as_a_table_has_the_same_routes(name: str, network: str):
    topology = build(network)
    form = routing(name, topology)[1]
    table = table_of(form)
    for source in range(0, topology.nodes, 1 + topology.nodes // 5):
        for destination in range(topology.nodes):
            wanted: dict[Hops, float] = {}
            for share, hops in routes_between(form, source, destination):
                wanted[tuple(hops)] = wanted.get(tuple(hops), 0.0) + share
            found = walks(table, source, destination)
            assert found.keys() == wanted.keys()
            for hops, share in found.items():
                assert float(share) == pytest.approx(wanted[hops], rel=1e-12)


LARGE = [
    pytest.param(*case, marks=pytest.mark.slow) if case[0] not in ("hierarchical(tie=sign)", "clustering") else case
    for case in CASES
    if case not in SMALL and "k=6" not in case[1]
]


@pytest.mark.parametrize(("name", "network"), [*SMALL, *LARGE])
def test_a_table_read_back_has_the_same_loads_to_the_last_bit(name: str, network: str, tmp_path: Path):
    topology = build(network)
    table = table_of(routing(name, topology)[1])
    suffix = (".csv", ".parquet")[topology.nodes % 2]
    again = read_back(table, tmp_path, suffix)
    assert same(table, again)
    for pattern in ("uniform", "hot_spot(node=1, percent=20)") if topology.nodes < 100 else ("uniform",):
        found = exact_loads(topology, routing=GivenRouting("mine", again), traffic=pattern)
        for how in ({"as_table": True}, {}, {"use_symmetry": False}):
            own = exact_loads(topology, routing=name, traffic=pattern, **how)
            assert np.array_equal(found.load, own.load)
            assert found.mean_hops == own.mean_hops
            assert found.stretch == pytest.approx(own.stretch, rel=1e-13)


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("minimal", "faulty(torus(k=3, n=2), links=3, seed=2)"),
        ("up_down", "torus(k=3, n=2)"),
        ("dimension_order(tie=split)", "torus(radices=[4, 3])"),
        ("romm", "mesh(k=3, n=2)"),
        ("valiant", "torus(k=3, n=2)"),
    ],
)
def test_loads_of_a_table_are_rounded_once(name: str, network: str):
    topology = build(network)
    table = table_of(routing(name, topology)[1])
    for pattern in ("uniform", "random_permutation(seed=3)", "hot_spot(node=1, percent=20)"):
        expected = exact_table_loads(table, demands(topology, pattern))
        found = exact_loads(topology, routing=GivenRouting("mine", table), traffic=pattern)
        assert np.array_equal(found.load, expected)
        assert np.array_equal(exact_loads(topology, routing=name, traffic=pattern).load, expected)
        assert np.array_equal(exact_loads(topology, routing=name, traffic=pattern, use_symmetry=False).load, expected)


@pytest.mark.parametrize("name", ["minimal", "dimension_order(tie=split)", "romm", "valiant"])
def test_loads_of_demands_that_all_differ_are_rounded_once(name: str):
    topology = build("torus(radices=[4, 3])")
    table = table_of(routing(name, topology)[1])
    demand = np.random.default_rng(5).random((12, 12)) ** 8  # from 1e-9 to 1
    given = GivenTraffic("mine", from_pairs(csr_array(demand)))
    expected = exact_table_loads(table, given.traffic.rows(np.arange(12)))
    for routed in (name, GivenRouting("mine", table)):
        assert np.array_equal(exact_loads(topology, routing=routed, traffic=given).load, expected)


def test_loads_of_more_paths_than_whole_numbers_of_float64():
    """58!/(29!)² = 3·10¹⁶ paths between corners: their rounded numbers are the weights of the routing on both ways."""
    topology = build("mesh(k=30, n=2)")
    assert np.array_equal(exact_loads(topology).load, exact_loads(topology, as_table=True, traffic="uniform").load)


def test_the_order_of_rows_and_spare_rows_do_not_matter():
    topology = build("torus(radices=[5, 3])")
    table = table_of(routing("minimal", topology)[1])
    columns = columns_of(topology, rows_of(table))
    mixed = columns.take(np.random.default_rng(1).permutation(len(columns)))
    assert same(table, table_routing(topology, rows_of_table(topology, mixed)))
    # rows for a state in which no packet ever is
    states = {"state": pa.array([0] * len(mixed) + [7]), "next_state": pa.array([0] * (len(mixed) + 1))}
    spare = {name: pa.concat_arrays([mixed[name].combine_chunks(), pa.array([value], mixed[name].type)])
             for name, value in (("at", 0), ("destination", 2), ("to", 1), ("share", 1.0))}  # fmt: skip
    assert same(table, table_from(topology, {**spare, **states}))


def test_samples_follow_the_table():
    topology = build("torus(k=4, n=2)")
    table = GivenRouting("mine", table_of(routing("valiant", topology)[1]))
    loads = exact_loads(topology, routing=table, traffic="hot_spot(node=1, percent=20)")
    sampled = sampled_loads(topology, routing=table, traffic="hot_spot(node=1, percent=20)", packets=200_000)
    np.testing.assert_allclose(sampled.load, loads.load, rtol=0.05)
    assert sampled.mean_hops == pytest.approx(loads.mean_hops, rel=0.01)
    assert not np.array_equal(sampled.load, loads.load)


def test_the_worst_permutation_is_that_of_the_routing():
    topology = build("torus(k=4, n=2)")
    for name in ("dimension_order", "valiant"):
        own = bounds_of(exact_loads(topology, routing=name))
        table = GivenRouting("mine", table_of(routing(name, topology)[1]))
        found = bounds_of(exact_loads(topology, routing=table), routing=table)
        assert found.worst_case_saturation_load == pytest.approx(own.worst_case_saturation_load, rel=1e-12)


# --- what users bring ---------------------------------------------------------------------------

RING = {"at": [0, 1, 2, 0, 1, 2], "destination": [1, 2, 0, 2, 0, 1], "to": [1, 2, 0, 1, 2, 0]}  # always upwards


def clockwise(at: int, destination: int) -> int:
    return (at + 1) % 3


def test_tables_frames_matrices_and_functions_are_the_same_routing():
    topology = build("ring(k=3)")
    matrix = np.array([[at if at == to else (at + 1) % 3 for to in range(3)] for at in range(3)])
    ports = [int(np.flatnonzero(topology.ports[at] == to)[0]) for at, to in zip(RING["at"], RING["to"])]
    with_ports = {"at": RING["at"], "destination": RING["destination"], "port": ports}
    table = table_from(topology, RING)
    for given in (pa.table(RING), with_ports, matrix, matrix.astype(float), np.where(np.eye(3) > 0, -1, matrix)):
        assert same(table, table_from(topology, given))
    assert same(table, table_from_function(topology, clockwise))
    given = routing_of(topology, clockwise)
    assert isinstance(given, GivenRouting)
    assert given.name == "clockwise"
    # uniform: each node sends 1/3 one hop and 1/3 two hops
    loads = exact_loads(topology, routing=given)
    assert loads.mean_hops == 1
    assert loads.load.max() == 1
    assert loads.stretch == 1.5
    assert routing_of(topology, "minimal") == "minimal"


def test_a_matrix_in_a_file(tmp_path: Path):
    path = tmp_path / "next.csv"
    path.write_text("0,1,1\n2,-1,2\n0,0,2\n")
    topology = build("ring(k=3)")
    name, form = routing(f'table(path="{path}")', topology)
    assert name == f'table(path="{path}")'
    assert same(form, table_from(topology, RING))
    assert files_of(name) == [path]
    assert files_of("minimal") == []


def test_shares_and_the_node_that_a_packet_comes_from():
    """0 → 2 over 1 or, three times as often, over 3; at 1, packets from 0 go on to 2, those injected there go round."""
    topology = build("ring(k=4)")
    rows = [
        *((0, 2, 1, None, 1.0), (0, 2, 3, None, 3.0), (3, 2, 2, 0, 1.0), (1, 2, 2, 0, 1.0)),
        *((1, 2, 0, None, 1.0), (0, 2, 3, 1, 1.0), (3, 2, 2, None, 1.0)),
    ]
    others = [(at, to, (at + 1) % 4, None, 1.0) for at in range(4) for to in range(4) if to not in (at, 2)]
    others += [(at, to, (at + 1) % 4, (at - 1) % 4, 1.0) for at in range(4) for to in range(4) if to not in (at, 2)]
    columns = [list(column) for column in zip(*rows, *others)]
    table = table_from(topology, dict(zip(("at", "destination", "to", "from", "share"), columns)))
    found = {tuple(node for node, _ in hops): share for hops, share in walks(table, 0, 2).items()}
    assert found == {(0, 1): Fraction(1, 4), (0, 3): Fraction(3, 4)}
    assert {tuple(node for node, _ in hops) for hops in walks(table, 1, 2)} == {(1, 0, 3)}


def rows_with(change: dict[str, Any]) -> dict[str, list[Any]]:
    """The ring's table with a column more, or one changed."""
    return {**{name: list(column) for name, column in RING.items()}, **change}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (rows_with({"to": [1, 2, 0, 1, 2, 9]}), r"to: expected numbers of nodes, 0 … 3, got 9 in row 6"),
        ({"at": [0], "destination": [1]}, r"expected the columns at, destination, to"),
        (
            {"at": [0], "destination": [1], "to": [2]},
            r"to: expected a neighbour of 0, got 2 in row 1, towards 1; its 2 links lead",
        ),
        ({"at": [0], "destination": [1], "port": [5]}, r"port: expected a port of 0, got 5 in row 1"),
        ({"at": [0], "destination": [1], "to": [1], "port": [0]}, r"expected one column to or port"),
        ({"at": [0, 0], "destination": [1, 1], "to": [1, 1]}, r"got row 1 again in row 2: at 0 towards 1"),
        ({"at": [1], "destination": [1], "to": [2]}, r"at: expected a node other than the destination"),
        ({"at": [0], "destination": [1], "to": [1], "share": [0.0]}, r"share: expected positive numbers.*in row 1"),
        ({"at": [0], "destination": [1], "to": [1], "share": [float("nan")]}, r"share: expected positive.*got nan"),
        ({"at": [0], "destination": [1], "to": [1], "share": [float("inf")]}, r"share: expected positive.*got inf"),
        ({"at": [0], "destination": [1], "to": [1], "state": [0]}, r"expected a column next_state beside state"),
        ({"at": [0], "destination": [1], "to": [1], "virtual_channel": [16]}, r"virtual_channel: expected .*0 … 15"),
        ({"at": [0], "destination": [1], "to": [1], "from": [2]}, r"from: expected a node with a link"),
        ({"at": [0], "destination": [1], "to": [1], "input_port": [4]}, r"input_port: expected a port"),
        ({"at": [0], "destination": [1, 2], "to": [1]}, r"expected a table with the columns"),
        ({"at": ["a"], "destination": [1], "to": [1]}, r"at: expected whole numbers"),
        ({"at": [None], "destination": [1], "to": [1]}, r"at: expected a number in every row"),
        ([[0, 1], [1, 0]], r"expected a matrix of 4 × 4 next nodes"),
        (np.full((4, 4), 0.5), r"next node: expected -1 or numbers of nodes"),
        (np.array([[0, 1, 2, 3]] * 4), r"next node: expected a neighbour of ., got . in row ., column ."),
        (17, r"expected a spelling, a table .* got int"),
        (lambda at, to: (at + 2) % 4, r"expected a neighbour of . towards 0, got"),
        (lambda at, to: [], r"expected a node or a list"),
        (lambda at, to: [((at + 1) % 4, -1)], r"expected a node or a list"),
        (lambda at, to: [((at + 1) % 4, 10**400)], r"expected a node or a list"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(given: Any, words: str):
    topology = build("ring(k=4)")
    with pytest.raises(BadInput, match=words) as refusal:
        routing_of(topology, given)
    assert "\n" not in str(refusal.value)


def test_a_stuck_packet_is_named_with_its_way():
    topology = build("mesh(k=3, n=1)")  # 0 – 1 – 2; only 0 and 2 have rows for packets that come through
    rows = {"at": [0, 0, 1, 1, 2, 2, 1], "destination": [1, 2, 0, 2, 0, 1, 0],
            "to": [1, 1, 0, 2, 1, 1, 0], "from": [None, None, None, None, None, None, 2]}  # fmt: skip
    with pytest.raises(BadInput, match=r"a packet from 0 to 2 gets stuck at 1, .*\(0 → 1\); add a row at 1 towards 2"):
        table_from(topology, rows)


def test_a_loop_is_named():
    topology = build("ring(k=6)")

    def back_and_forth(at: int, destination: int) -> int:
        return (at - 1) % 6 if at == (destination + 3) % 6 else (at + 1) % 6

    with pytest.raises(BadInput, match=r"expected no loop, got at 2 → 3 → 2 towards 0"):
        table_from_function(topology, back_and_forth)
    with pytest.raises(BadInput, match=r"expected no loop, got at"):  # of positive probability only
        table_from_function(topology, lambda at, to: [((at + 1) % 6, 0.999), ((at - 1) % 6, 0.001)])


def test_a_loop_of_nodes_with_different_states_is_none():
    """A packet may pass a node twice, in different states."""
    topology = build("ring(k=3)")
    rows = {"at": [0, 1, 0], "destination": [2, 2, 2], "to": [1, 0, 2], "state": [0, 5, 6], "next_state": [5, 6, 0]}
    rest = {(at, to): (at - 1) % 3 for at in range(3) for to in range(3) if to not in (at, 2)}
    rest[1, 2] = 2
    for (at, to), head in rest.items():
        for name, value in zip(("at", "destination", "to", "state", "next_state"), (at, to, head, 0, 0)):
            rows[name].append(value)
    found = walks(table_from(topology, rows), 0, 2)
    assert [[node for node, _ in hops] for hops in found] == [[0, 1, 0]]


def test_a_file_is_read_with_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    topology = build("ring(k=3)")
    for name, words in (("none.csv", "none.csv: no such file"), ("wrong.txt", "expected a suffix")):
        path = tmp_path / name
        if name == "wrong.txt":
            path.write_text("at,destination,to\n")
        with pytest.raises(BadInput, match=words):
            routing(f'table(path="{path}")', topology)
    path = tmp_path / "large.csv"
    path.write_text("at,destination,to\n" + "0,1,1\n" * 1000)
    monkeypatch.setattr("torusweep.routing.tables.columns.default_memory", lambda: 1000)
    with pytest.raises(Refused, match="more than this machine's memory"):
        routing(f'table(path="{path}")', topology)


def test_a_routing_of_another_network_is_refused():
    given = routing_of(build("ring(k=3)"), clockwise)
    with pytest.raises(BadInput, match=r"expected a routing of this network, got one of ring\(k=3\)"):
        exact_loads(build("ring(k=4)"), routing=given)


@pytest.mark.parametrize("network", ["torus(k=10, n=3)", "torus(k=40, n=3)"])
def test_too_many_routes_are_refused(network: str):
    with pytest.raises(Refused, match="routes between all terminals to list"):
        table_of(routing("valiant", build(network))[1])
