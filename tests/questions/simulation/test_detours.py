"""Packets that choose between a minimal route and a detour: the routes against plain walks, the choice by what networks
then carry."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.questions.simulation.packets import route_words
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records
from torusweep.questions.simulation.routes import ALL_HOPS, Choosing, ChosenRoutes, choosing_routes, routes_of
from torusweep.questions.simulation.setup import set_up
from torusweep.routing.groups import by_group

# ugal has one detour, progressive one for each hop within the source's group, and one before it
NETWORKS = {
    "dragonfly(a=4, p=2, h=2)": 2,
    "dragonfly(a=6, p=1, h=1, local=[2, 3])": 3,
    "dragonfly(a=4, p=1, h=2, groups=4)": 2,
    "megafly(leaves=3, spines=2, p=2, h=2)": 2,
    "dragonfly(a=2, p=1, h=1, groups=2)": 0,
}
PACKETS = 600


def drawn(spelling: str, counted: int | None, *, later: bool = True) -> tuple[Topology, Any, Any, ChosenRoutes]:
    topology = build(spelling)
    source, destination = np.random.default_rng(3).choice(topology.terminals, (2, PACKETS)).astype(np.int32)
    choosing = Choosing(by_group(topology), "local", 0, later, counted)
    return topology, source, destination, choosing_routes(choosing, source, destination, words)


def words(purpose: int) -> np.ndarray:
    return route_words(np.arange(PACKETS), purpose, 5, "numba")


def walked(topology: Topology, node: int, found: ChosenRoutes, row: int) -> list[tuple[int, int, bool]]:
    """(node, phase of the next hop, whether that leads to another group) of every hop; then the last node."""
    steps = []
    for port, hops, phase in zip(found.direction[row], found.hops[row], found.phase[row]):
        if hops:
            assert hops == 1
            steps.append((node, int(phase), bool(topology.link_class[node, port] == 1)))
            node = int(topology.ports[node, port])
    return [*steps, (node, -1, False)]


def with_one_hop_between_groups(topology: Topology) -> networkx.DiGraph:
    """Nodes (router, whether it is behind the hop between groups)."""
    graph = networkx.DiGraph()
    for node in range(topology.nodes):
        for port, there in enumerate(topology.ports[node].tolist()):
            if there >= 0 and topology.link_class[node, port] == 1:
                graph.add_edge((node, False), (there, True))
            elif there >= 0:
                graph.add_edges_from([((node, False), (there, False)), ((node, True), (there, True))])
    return graph


@pytest.mark.parametrize("spelling", NETWORKS)
def test_detours_are_two_shortest_ways_by_a_third_group(spelling: str) -> None:
    topology, source, destination, found = drawn(spelling, None)
    assert found.detour.shape == (PACKETS, NETWORKS[spelling])
    graph, size = with_one_hop_between_groups(topology), topology.plan.structure.size
    away = dict(networkx.all_pairs_shortest_path_length(graph))

    def nearest(start: int, ends: list[int]) -> int:
        lengths = [away[start, False].get((end, True), 99) for end in ends]
        return min([*lengths, *(away[start, False].get((end, False), 99) for end in ends)])

    for packet in range(PACKETS):
        start, end = int(source[packet]), int(destination[packet])
        own = walked(topology, start, found, found.row[packet])
        assert own[-1][0] == end
        assert len(own) - 1 == nearest(start, [end])
        inside = [node for node, _, _ in own if node // size == start // size]
        for k, row in enumerate(found.detour[packet].tolist()):
            chooses = start // size != end // size and k < len(inside)
            assert (row >= 0) == chooses
            if not chooses:
                continue
            way = walked(topology, inside[k], found, row)
            between = [i for i, (_, _, leaves) in enumerate(way) if leaves]
            assert len(between) == 2
            middle = way[between[0] + 1][0]
            assert middle // size not in (start // size, end // size)
            assert way[-1][0] == end
            group = [router for router in range(topology.nodes) if router // size == middle // size]
            assert between[0] + 1 == nearest(inside[k], group)
            assert len(way) - 1 - (between[0] + 1) == nearest(middle, [end])


@pytest.mark.parametrize("counted", [None, ALL_HOPS, 0, 1])
@pytest.mark.parametrize("spelling", ["dragonfly(a=4, p=2, h=2)", "megafly(leaves=3, spines=2, p=2, h=2)"])
def test_phases_are_the_numbers_of_hops_counted_before(spelling: str, counted: int | None) -> None:
    topology, source, _, found = drawn(spelling, counted)
    adds = {None: lambda _: 0, ALL_HOPS: lambda _: 1, 0: lambda leaves: not leaves, 1: lambda leaves: leaves}[counted]
    for packet in range(PACKETS):
        own = walked(topology, int(source[packet]), found, found.row[packet])
        before = np.cumsum([0, *(adds(leaves) for *_, leaves in own)])
        assert [phase for _, phase, _ in own[:-1]] == before[: len(own) - 1].tolist()
        for k, row in enumerate(found.detour[packet].tolist()):
            if row >= 0:
                way = walked(topology, own[k][0], found, row)
                count = before[k] + np.cumsum([0, *(adds(leaves) for *_, leaves in way)])
                assert [phase for _, phase, _ in way[:-1]] == count[: len(way) - 1].tolist()


def test_minimal_routes_are_those_of_by_group_and_ugal_has_the_first_detour_alone() -> None:
    topology, source, destination, found = drawn("dragonfly(a=4, p=2, h=2)", 1)
    plain = routes_of(by_group(topology), source, destination, words)
    longest = plain.hops.shape[1]
    assert np.array_equal(found.hops[found.row][:, :longest], plain.hops[plain.row])
    assert np.array_equal(found.direction[found.row][:, :longest], plain.direction[plain.row])
    *_, once = drawn("dragonfly(a=4, p=2, h=2)", 1, later=False)
    hops = [np.where(some.detour[:, 0] < 0, 0, some.hops[some.detour[:, 0]].sum(axis=1)) for some in (found, once)]
    assert once.detour.shape[1] == 1
    assert np.array_equal(*hops)


def test_groups_between_are_drawn_uniformly() -> None:
    topology, many = build("dragonfly(a=2, p=1, h=2)"), 6000
    source, destination = np.full(many, 0, np.int32), np.full(many, 5, np.int32)
    choosing = Choosing(by_group(topology), "local", 0, False, 1)
    found = choosing_routes(choosing, source, destination, lambda purpose: route_words(np.arange(many), purpose, 1))
    middle: Counter[int] = Counter()
    for row, times in Counter(found.detour[:, 0].tolist()).items():
        way = walked(topology, 0, found, row)
        middle[way[[leaves for *_, leaves in way].index(True) + 1][0] // 2] += times
    assert sorted(middle) == [1, 3, 4]
    assert all(abs(times - many / 3) < 5 * (many * 2 / 9) ** 0.5 for times in middle.values())


# --- what networks carry ---------------------------------------------------------------------------

ROUTER: dict[str, Any] = {"packet_flits": 4, "virtual_channels": 10, "buffer_flits": 16, "input_speedup": 10}
RULES = {"by_group": "class_hops", "valiant_by_group": "class_hops", "ugal": "class_hops",
         "ugal(view=global)": "class_hops", "progressive": "hops"}  # fmt: skip


@pytest.fixture(scope="module")
def small() -> Topology:
    return build("dragonfly(a=4, p=2, h=2)")


def row_of(topology: Topology, routing: str, traffic: str, load: float) -> dict[str, Any]:
    parameters = Parameters(
        routing=routing, vc_rule=RULES.get(routing, "hops"), traffic=traffic, cycles=3000, warm_up=1000, **ROUTER
    )
    (row,) = simulation_records(topology, parameters, loads=[load])
    return row


def test_the_worst_case_saturates_minimal_at_one_over_ap_and_others_at_several_times_that(small: Topology) -> None:
    """1/(a p) = 1/8 (Kim et al. 2008); the others near 1/2: Valiant's bound of the channels is 7/16."""
    accepted = {routing: row_of(small, routing, "group_shift", 0.5)["accepted_load"] for routing in RULES}
    assert accepted["by_group"] == pytest.approx(1 / 8, rel=0.02)
    assert 0.9 * 7 / 16 < accepted["valiant_by_group"] <= 7 / 16
    assert all(accepted[routing] > 0.42 for routing in ("ugal", "ugal(view=global)", "progressive"))


def test_uniform_traffic_goes_the_minimal_way(small: Topology) -> None:
    latency = {routing: row_of(small, routing, "uniform", 0.3)["total_latency"] for routing in RULES}
    for routing in ("ugal", "ugal(view=global)", "progressive"):
        assert latency[routing] - latency["by_group"] < 0.4 * (latency["valiant_by_group"] - latency["by_group"])


@pytest.mark.parametrize("routing", ["ugal(threshold=100000)", "progressive(threshold=100000)"])
def test_a_threshold_keeps_packets_on_the_minimal_way(small: Topology, routing: str) -> None:
    row = row_of(small, routing, "group_shift", 0.5)
    assert row["accepted_load"] == pytest.approx(1 / 8, rel=0.02)


@pytest.mark.parametrize("routing", ["ugal", "progressive", "ugal(view=global, threshold=2)"])
@pytest.mark.parametrize("spelling", ["dragonfly(a=4, p=2, h=2)", "megafly(leaves=2, spines=2, p=2, h=1)"])
def test_a_rule_that_is_proved_free_of_deadlock_is_found(spelling: str, routing: str) -> None:
    """Without a rule; and everything is delivered."""
    parameters = Parameters(routing=routing)
    assert set_up(build(spelling), parameters).parameters.vc_rule in ("hops", "class_hops")
    (row,) = simulation_records(build(spelling), parameters, packets_each=20)
    assert row["deadlocked"] is False
    assert row["delivery_time"] is not None


def test_a_router_injects_and_ejects_a_flit_a_cycle_for_each_of_its_terminals() -> None:
    """A HyperX of side 2 and 4 terminals saturates at 2/4; one flit a cycle and router would be a load of 1/4."""
    topology = build("hyperx(radices=[2, 2], terminals=4)")
    parameters = Parameters(routing="dimension_order", traffic="uniform", cycles=4000, warm_up=1000, input_speedup=2)
    (row,) = simulation_records(topology, parameters, loads=[0.4])
    assert row["accepted_load"] == pytest.approx(0.4, abs=0.03)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"routing": "ugal(view=far)"}, "view"),
        ({"routing": "ugal", "vc_rule": "none"}, "rule none with"),
        ({"routing": "ugal", "vc_rule": "class_hops", "virtual_channels": 2}, "not proved deadlock-free"),
        ({"routing": "progressive", "vc_rule": "class_hops", "virtual_channels": 8}, "not proved deadlock-free"),
    ],
)
def test_what_may_deadlock_is_refused(small: Topology, parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        set_up(small, Parameters(**parameters))


def test_other_networks_are_refused() -> None:
    with pytest.raises(BadInput, match="expected a dragonfly or megafly"):
        set_up(build("torus(k=4, n=2)"), Parameters(routing="ugal"))
