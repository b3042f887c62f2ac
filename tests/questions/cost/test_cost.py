"""The table `cost` against a plain loop over networkx edges, and figures by hand."""

from __future__ import annotations

from collections import Counter

import networkx
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.cost.model import MODELS, cost_model
from torusweep.questions.cost.packing import AUTOMATIC, pack
from torusweep.questions.cost.record import cost_record

from tests.questions.cost.plain import besta, graph_of

NETWORKS = (
    "torus(radices=[4, 4, 6])",
    "mesh(k=6, n=2)",
    "ring(k=20)",
    "torus(k=6, n=2, directed=true)",
    "dragonfly(a=4, p=2, h=2)",
    "dragonfly(a=12, p=2, h=1, groups=5)",
    "megafly(leaves=2, spines=2, p=2, h=2)",
    "hyperx(radices=[4, 4], terminals=3, widths=[1, 2])",
    "fat_tree(k=3, n=3)",
    "fat_tree(k=2, n=5)",
    "xgft(down=[5], up=[1])",
    "xgft(down=[4, 4, 4], up=[1, 4, 2])",
    "slim_fly(q=5, terminals=4)",
    "jellyfish(switches=20, ports=8, degree=5)",
    "kautz(d=3, k=3)",
    "hamming_mesh(board=[2, 2], boards=[3, 3])",
    "rtt(a=4)",
    "faulty(torus(k=5, n=2), links=3, seed=1)",
    "faulty(torus(k=5, n=2), nodes=3, seed=1)",
    "with_links(dragonfly(a=4, p=2, h=2), bandwidths=[1, 2.5], latencies=[1, 10])",
)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> str:
    """The model 2014-besta with racks of 8 routers and 16 terminals, so that small networks have several; a file."""
    text = MODELS["2014-besta"].read_text()
    shrunk = text.replace("routers: 32\n", "routers: 8\n").replace("terminals: 128\n", "terminals: 16\n")
    assert shrunk.count(": 8\n") == shrunk.count(": 16\n") == 1
    path = tmp_path_factory.mktemp("models") / "small.yaml"
    path.write_text(shrunk)
    return str(path)


@pytest.mark.parametrize("spelling", NETWORKS)
def test_a_record_is_what_a_loop_over_the_edges_adds_up(spelling: str, small: str):
    topology = build(spelling)
    placed = pack(topology, AUTOMATIC, cost_model(small).racks)
    floor = [(*place, 0)[:2] for place in placed.positions.tolist()]
    graph, terminals = graph_of(topology), Counter(topology.terminals.tolist())
    expected = besta(graph, terminals, placed.cabinet.tolist(), floor)
    record = cost_record(topology, small, AUTOMATIC)
    for name, value in expected.items():
        assert record[name] == pytest.approx(value, rel=1e-12), name
    count = len(topology.terminals)
    assert record["cost_per_terminal"] == pytest.approx(expected["total_cost"] / count, rel=1e-12)
    assert record["watts_per_terminal"] == pytest.approx(expected["watts"] / count, rel=1e-12)
    hops = dict(networkx.all_pairs_shortest_path_length(graph))
    mean = sum(hops[one][other] * terminals[one] * terminals[other] for one in terminals for other in terminals)
    mean /= count * (count - 1)  # pairs of distinct terminals; two of one router are 0 apart
    assert record["energy_per_bit"] == pytest.approx((mean + 1) * 2 * 2.8 / 40 * 1000, rel=1e-12)
    assert (record["terminals"], record["currency"], record["estimates"]) == (count, "USD", "racks")
    assert record["terminal_cables"] == record["circuit_ports"] == record["circuit_cost"] == 0


@pytest.mark.parametrize("spelling", NETWORKS)
def test_a_cabinet_holds_no_more_than_it_has_room_for(spelling: str, small: str):
    topology = build(spelling)
    placed = pack(topology, AUTOMATIC, cost_model(small).racks)
    routers, terminals = Counter(placed.cabinet.tolist()), Counter(placed.cabinet[topology.terminals].tolist())
    assert max(routers.values()) <= 8
    assert max(terminals.values()) <= 16
    places = list(map(tuple, placed.positions.tolist()))
    assert len(set(places)) == len(places) > max(routers)


def test_groups_of_a_dragonfly_stand_together():
    """The model's racks have room for 32 routers of 4 terminals: four groups of 8; for 3 of 42: a group has 3 racks."""
    racks = cost_model("2014-besta").racks
    placed = pack(build("dragonfly(a=8, p=4, h=4)"), AUTOMATIC, racks)
    assert placed.cabinet.tolist() == [router // 32 for router in range(264)]
    large = build("dragonfly(a=9, p=42, h=1, groups=4)")
    placed = pack(large, AUTOMATIC, racks)
    assert placed.cabinet.tolist() == [router // 3 for router in range(36)]
    rows = [place[1] for place in placed.positions.tolist()]
    assert all(len(set(rows[3 * group : 3 * group + 3])) == 1 for group in range(4))


def test_a_torus_is_cut_into_blocks_and_its_rings_of_cabinets_are_folded():
    placed = pack(build("torus(radices=[8, 8, 8])"), AUTOMATIC, cost_model("2014-besta").racks)
    assert placed.spelling == "folded(dimensions=2, block=[2, 4, 4])"
    first = [placed.cabinet[node] for node in range(8)]  # a ring along x, two nodes a cabinet
    assert [placed.positions[cabinet].tolist() for cabinet in first] == [
        [0, 0],
        [0, 0],
        [2, 0],
        [2, 0],
        [3, 0],
        [3, 0],
        [1, 0],
        [1, 0],
    ]


def test_pods_of_a_tree_stand_together():
    """4 pods of 4 leaves and 4 switches, 8 roots; racks of 8 routers, or 16 terminals: 4 leaves, or 8 others."""
    tree = build("xgft(down=[4, 4, 4], up=[1, 4, 2])")
    racks = cost_model("2014-besta").racks.model_copy(update={"routers": 8, "terminals": 16})
    placed = pack(tree, AUTOMATIC, racks)
    assert placed.spelling == "pods"
    leaves = [2 * (leaf // 4) for leaf in range(16)]
    assert placed.cabinet.tolist() == [*leaves, *(cabinet + 1 for cabinet in leaves), *[8] * 8]
    large = racks.model_copy(update={"terminals": 32})  # two pods share a rack of 8 leaves, and one of 8 switches
    shared = [2 * (leaf // 8) for leaf in range(16)]
    assert pack(tree, AUTOMATIC, large).cabinet.tolist() == [*shared, *(cabinet + 1 for cabinet in shared), *[4] * 8]


def test_switches_without_terminals_have_cabinets_of_their_own():
    """36 accelerators of one terminal: 8 to a cabinet at most; then 12 switches."""
    mesh = build("hamming_mesh(board=[2, 2], boards=[3, 3])")
    racks = cost_model("2014-besta").racks.model_copy(update={"routers": 8, "terminals": 16})
    cabinets = pack(mesh, AUTOMATIC, racks).cabinet
    assert sorted(Counter(cabinets[:36].tolist()).values()) == [7, 7, 7, 7, 8]
    assert sorted(Counter(cabinets[36:].tolist()).values()) == [6, 6]
    assert set(cabinets[:36]).isdisjoint(cabinets[36:])


def test_a_placement_may_be_given():
    """Slim Fly's layout of the paper: two groups of q routers to a cabinet, 2q cables between any two cabinets."""
    topology = build("slim_fly(q=5, terminals=4)")
    record = cost_record(topology, "2014-besta", "straight(dimensions=2, block=[5, 1, 2])")
    assert record["cabinets"] == 5
    placed = pack(topology, record["packing"], cost_model("2014-besta").racks)
    pairs = Counter(
        tuple(sorted((placed.cabinet[one], placed.cabinet[other])))
        for one, other in graph_of(topology).edges()
        if placed.cabinet[one] != placed.cabinet[other]
    )
    assert set(pairs.values()) == {10}
    assert len(pairs) == 10


def test_a_placement_in_space_is_refused():
    with pytest.raises(BadInput, match="cabinets on a floor, got a placement in space; add dimensions=2"):
        cost_record(build("torus(k=4, n=3)"), "2014-besta", "folded(block=[2, 2, 2])")


def test_groups_of_boardfly_are_joined_by_circuit_switches():
    """Of 4 groups of 32 chips, each with 64 optical ports; 21 whole rounds lead to the other 3 groups."""
    record = cost_record(build("boardfly(groups=4)"), "2023-circuits", AUTOMATIC)
    assert record["circuit_ports"] == 4 * 3 * 21
    assert record["circuit_cost"] == 4 * 3 * 21 * 300
    with pytest.raises(BadInput, match="got a cost model without circuit_switch"):
        cost_record(build("boardfly(groups=4)"), "2014-besta", AUTOMATIC)


def test_faces_of_cubes_are_joined_by_circuit_switches():
    """Every + face of a cube of 4³ has 16 links in each of three directions: 2 ports each."""
    record = cost_record(build("cube_pod(x=[1, 2, 0], y=[0, 1, 2], z=[0, 2, 1])"), "2023-circuits", AUTOMATIC)
    assert record["circuit_ports"] == 2 * 3 * 3 * 16
    assert (record["optical_cables"], record["electrical_cables"]) == (144, 3 * 3 * 48)
    assert record["cabinets"] == 3
    assert record["circuit_cost"] == 288 * 300
    assert record["watts"] == pytest.approx(192 * 7 * 4 + 144 * 16 + 288 * 0.8)
    with pytest.raises(BadInput, match="got a cost model without circuit_switch; choose a model that has it"):
        cost_record(build("cube_pod(x=[1, 0], y=[0, 1], z=[0, 1])"), "2014-besta", AUTOMATIC)


def test_large_networks_are_priced_without_their_distances():
    record = cost_record(build("ring(k=300000)"), "2014-besta", AUTOMATIC)
    assert record["energy_per_bit"] is None
    assert record["electrical_cables"] + record["optical_cables"] == 300_000
    assert record["router_cost"] == pytest.approx(300_000 * (350.4 * 3 - 892.3))
