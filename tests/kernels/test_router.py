"""Flit by flit: latencies by formula, conflicts traced by hand, random networks against plain Python, and the two
backends against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep_kernels.router import SWITCHINGS, Batch, Router, Wiring, simulate, state_bytes
from torusweep_kernels.router.checks import checked
from torusweep_kernels.router.state import state_of

from tests.kernels.router_cases import Routes, batch, both, random_case, torus_wiring, uniform
from tests.kernels.router_oracle import Network
from tests.kernels.router_traces import CONFLICTS, SEVERAL_A_CYCLE, on_line

# --- a lone packet ------------------------------------------------------------------------------

DELAYS = [(0, 0, 1, 1, 1), (1, 1, 1, 1, 1), (2, 3, 0, 4, 2), (0, 1, 2, 1, 0)]  # route, VC, switch, credit, channel


@pytest.mark.parametrize("delays", DELAYS)
@pytest.mark.parametrize("switching", SWITCHINGS)
def test_latency_of_a_lone_packet_is_the_pipelines_sum(switching: str, delays: tuple[int, ...]) -> None:
    route, vc, switch, credit, channel = delays
    routes, flits, generated = Routes(5, 4), 7, 3
    wiring = torus_wiring(5, 4, delay=channel)
    router = Router(2, 16, switching, route, vc, switch, credit)
    for destination in range(20):
        found = both(
            wiring, router, routes.arrays, batch(20, [[(generated, 0, destination, destination, flits)]]), cycles=300
        )
        hops = int(routes.hops[destination].sum())
        serial = (flits - 1) * (max(hops, 1) if switching == "store-and-forward" else 1)
        assert found.entered.tolist() == [generated + route + vc]
        assert (found.delivered - generated).tolist() == [(hops + 1) * (route + vc + switch) + hops * channel + serial]
        assert found.flits.sum() == hops * flits


def test_channels_have_delays_of_their_own() -> None:
    wiring = torus_wiring(5, 4)
    delay = np.arange(80, dtype=np.int16).reshape(20, 4)
    found = both(
        wiring._replace(delay=delay), Router(2, 200), Routes(5, 4).arrays, batch(20, [[(0, 0, 6, 6, 2)]]), cycles=300
    )  # 0 → 1 → 6
    assert found.delivered.tolist() == [3 + delay[0, 0] + delay[1, 2] + 1]


# --- conflicts traced by hand -------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFLICTS)
def test_conflicts_as_traced_by_hand(name: str) -> None:
    router, nodes, packets, entered, delivered = CONFLICTS[name]
    wiring, routes, on = on_line(nodes, router.virtual_channels, packets)
    found = both(wiring, router, routes, on, cycles=500)
    assert (found.entered.tolist(), found.delivered.tolist()) == (entered, delivered)


@pytest.mark.parametrize("name", SEVERAL_A_CYCLE)
def test_several_flits_a_cycle_as_traced_by_hand(name: str) -> None:
    router, capacity, packets, entered, delivered = SEVERAL_A_CYCLE[name]
    wiring, routes, on = on_line(3, router.virtual_channels, packets, capacity)
    found = both(wiring, router, routes, on, cycles=500)
    assert (found.entered.tolist(), found.delivered.tolist()) == (entered, delivered)


def test_a_channel_carries_its_capacity_and_no_more() -> None:
    """Three senders of 300 flits each over one channel of three VCs: 1, 2, 3 flits a cycle."""
    to = np.full((5, 1), -1, np.int32)
    to[:3, 0], to[3, 0] = 3, 4
    port_of = np.tile(np.minimum(to, 0), (1, 2))
    wiring = Wiring(
        to, port_of, np.zeros((5, 2), bool), np.ones((5, 1), int), np.zeros((1, 2), int), "run", np.array([3])
    )
    routes = np.zeros((1, 1), int), np.full((1, 1), 2), np.zeros((1, 1), int)
    packets = batch(5, [[(0, s, 4, 0, 300) for s in range(3)]])
    for capacity in (1, 2, 3):
        found = both(
            wiring._replace(capacity=np.full((5, 1), capacity)),
            Router(3, 8, ejection_flits=3),
            routes,
            packets,
            cycles=1200,
        )
        # the heads leave in 0, get VCs in 2, 3, 4, and are delivered three cycles after the last flit is sent
        sent = found.delivered.max() - 3 - 2 + 1
        assert found.flits[0, 3, 0] == 900
        assert 900 <= sent * capacity <= 900 + 3 * capacity


# --- random networks ----------------------------------------------------------------------------


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6))
def test_like_plain_python_on_random_networks(seed: int) -> None:
    wiring, router, routes, packets = random_case(seed)
    found = both(wiring, router, routes, packets, cycles=250, measure_from=0, stall=1000)
    begin = 0
    for experiment in range(2):
        plain = Network(wiring, router, routes, packets, experiment)
        ran = plain.run(250)
        own = slice(begin, begin + len(plain.packets))
        begin = own.stop
        assert found.entered[own].tolist() == [packet.entered for packet in plain.packets]
        assert found.delivered[own].tolist() == [packet.delivered for packet in plain.packets]
        assert found.ran[experiment] == ran
        for (node, port), channel in plain.channels.items():
            assert found.flits[experiment, node, port] == channel.flits
        assert found.occupancy[experiment] == pytest.approx(
            np.array(plain.stored) / max(1, ran) / max(1, len(plain.channels))
        )


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([1, 40]))
def test_deadlock_is_found_where_nothing_moves_any_more_and_nowhere_else(seed: int, stall: int) -> None:
    """Searched for in every cycle, too, with flits and credits under way."""
    wiring, router, routes, packets = random_case(seed)
    found = both(wiring, router, routes, packets, cycles=800, stall=stall)
    for experiment in range(2):
        plain = Network(wiring, router, routes, packets, experiment)
        done = plain.run(int(found.ran[experiment])) if found.stalled[experiment] >= 0 else plain.run(800)
        waiting = found.waiting[experiment]
        if found.stalled[experiment] < 0:
            assert waiting == []
            assert all(packet.delivered >= 0 for packet in plain.packets)
            continue
        places = [plain.channels[u, p] for u, p, _ in waiting]
        fronts = [plain.forward[channel.there, channel.place, v] for channel, (_, _, v) in zip(places, waiting)]
        for t in range(done, done + 150):
            plain.cycle(t)
        assert [plain.forward[channel.there, channel.place, v] for channel, (_, _, v) in zip(places, waiting)] == fronts
        assert [places[i - 1].there for i in range(len(places))] == [channel.node for channel in places]


# --- what must not matter -----------------------------------------------------------------------


def test_threads_and_neighbours_in_a_batch_do_not_matter() -> None:
    routes, wiring, router = Routes(4, 4), torus_wiring(4, 4), Router(2, 4)
    loads = [uniform(routes, load, 300, 5, [7]) for load in (0.1, 0.4, 1.0)]
    alone = [simulate(wiring, router, *routes.arrays, packets, cycles=350, backend="numba") for packets in loads]
    begin = np.cumsum([0, *(len(packets.time) for packets in loads)])
    first = np.concatenate([packets.first + start for packets, start in zip(loads, begin)])
    together = Batch(first, *(np.concatenate(columns) for columns in zip(*(packets[1:5] for packets in loads))))
    for threads in (1, 2, 3):
        found = simulate(wiring, router, *routes.arrays, together, cycles=350, backend="numba", threads=threads)
        for i, one in enumerate(alone):
            own = slice(begin[i], begin[i + 1])
            assert found.entered[own].tolist() == one.entered.tolist()
            assert found.delivered[own].tolist() == one.delivered.tolist()
            assert found.flits[i].tolist() == one.flits[0].tolist()
            assert found.occupancy[i].tolist() == one.occupancy[0].tolist()


def test_what_comes_later_does_not_matter_now() -> None:
    routes, wiring, router = Routes(4, 4), torus_wiring(4, 4), Router(2, 4)
    packets = uniform(routes, 0.5, 400, 5, [3])
    short, long = (
        simulate(wiring, router, *routes.arrays, packets, cycles=cycles, backend="numba") for cycles in (200, 500)
    )
    seen = (long.delivered >= 0) & (long.delivered <= 200)
    assert np.flatnonzero(short.delivered >= 0).tolist() == np.flatnonzero(seen).tolist()
    assert short.delivered[seen].tolist() == long.delivered[seen].tolist()


def test_measuring_from_a_cycle_on_leaves_out_what_was_before() -> None:
    routes, wiring, router = Routes(4, 4), torus_wiring(4, 4), Router(2, 4)
    packets = uniform(routes, 0.5, 300, 5, [3])
    whole, late = (both(wiring, router, routes.arrays, packets, cycles=300, measure_from=cycle) for cycle in (0, 120))
    early = both(wiring, router, routes.arrays, packets, cycles=120)
    assert (whole.flits - late.flits).tolist() == early.flits.tolist()
    assert (300 * whole.occupancy - 180 * late.occupancy)[0] == pytest.approx(120 * early.occupancy[0])


def test_nothing_to_do() -> None:
    for packets in (batch(16, [[], []]), Batch(np.zeros((0, 17), int), *(np.zeros(0, int) for _ in range(4)))):
        found = both(torus_wiring(4, 4), Router(2, 4), Routes(4, 4).arrays, packets, cycles=10)
        assert found.ran.tolist() == [0] * len(packets.first)
        assert found.flits.shape == (len(packets.first), 16, 4)
        assert not found.flits.any()
        assert found.waiting == [[]] * len(packets.first)


def test_a_network_without_channels() -> None:
    """Packets to their own nodes: two VCs of node 0 take turns, the first sends in 0, 2, 4, 5 and the second in 1, 3;
    node 2's in 5, 6, 7."""
    none = np.zeros((3, 0), int)
    wiring = Wiring(none, none, none.astype(bool), none, np.zeros((1, 2), int), "run", np.array([2]))
    routes = np.zeros((1, 1), int), np.zeros((1, 1), int), np.zeros((1, 1), int)
    found = both(
        wiring, Router(2, 4), routes, batch(3, [[(0, 0, 0, 0, 4), (0, 0, 0, 0, 2), (5, 2, 2, 0, 3)]]), cycles=50
    )
    assert (found.entered.tolist(), found.delivered.tolist()) == ([0, 1, 5], [5 + 1, 3 + 1, 7 + 1])
    assert found.flits.shape == (1, 3, 0)


def test_injection_cannot_starve_a_ring_where_transit_goes_first() -> None:
    """Why throughput may fall beyond saturation: at every node injection gets its turn, and the ring fills up behind
    it."""
    routes = Routes(16, 16)
    accepted = {}
    for transit_first in (False, True):
        for load in (0.35, 0.5):
            packets = uniform(routes, load, 1600, 1, [1])
            wiring = torus_wiring(16, 16, vcs=4)._replace(balanced=True)
            found = simulate(
                wiring,
                Router(4, 16, transit_first=transit_first),
                *routes.arrays,
                packets,
                cycles=1600,
                backend="numba",
            )
            accepted[transit_first, load] = ((found.delivered >= 800) & (found.delivered < 1600)).sum() / 800 / 256
    assert accepted[False, 0.35] == pytest.approx(0.35, rel=0.02)
    assert accepted[False, 0.5] < 0.25
    assert accepted[True, 0.5] > 0.34


@pytest.mark.parametrize("seed", range(5))
def test_memory_is_told_before_it_is_taken(seed: int) -> None:
    wiring, router, routes, packets = random_case(seed)
    task = checked(wiring, router, *routes, packets, 10, 0, 10, None)
    for experiment in task.experiments:
        held = state_of(task, experiment)
        number = experiment.end - experiment.begin
        told = state_bytes(wiring, router, packets=number, runs=routes[1].shape[1], shortest=experiment.shortest)
        assert told == sum(array.nbytes for array in held)


# --- what is refused ----------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "wiring": torus_wiring(4, 4),
    "router": Router(2, 4),
    "routes": Routes(4, 4).arrays,
    "batch": batch(16, [[(0, 0, 5, 5, 3)]]),
}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "cycles": ({"cycles": 0}, "cycles of 1"),
    "stall": ({"stall": 0}, "stall ≥ 1"),
    "threads": ({"threads": 0}, "threads ≥ 1"),
    "measure": ({"measure_from": -1}, "measure_from ≥ 0"),
    "no VC": ({"router": Router(0, 4)}, "virtual_channels of 1 … 16, got 0"),
    "no buffer": ({"router": Router(2, 0)}, "buffer_flits of 1"),
    "switching": (
        {"router": Router(2, 4, "circuit")},
        "switching of wormhole, virtual-cut-through, store-and-forward, got 'circuit'",
    ),
    "credit": ({"router": Router(2, 4, credit_delay=0)}, "credit_delay of 1"),
    "a packet larger than the buffer": (
        {"router": Router(2, 2, "virtual-cut-through")}, "buffer_flits ≥ 3, the longest packet",
    ),
    "no room for a bubble": (
        {"router": Router(2, 5, "virtual-cut-through", bubble=True)}, "buffer_flits ≥ 6, the two longest packets",
    ),
    "bubble and wormhole": ({"router": Router(2, 8, bubble=True)}, "with bubble, got wormhole"),
    "adaptive without VCs": ({"router": Router(2, 4, adaptive=True)}, "escape of 1 … 1 with adaptive, got 2"),
    "escape without adaptive": ({"router": Router(2, 4, escape=1)}, "escape of all 2"),
    "shares": ({"router": Router(3, 4)}, "shares that add up to the escape's 3 virtual channels, got 2"),
    "memory": ({"wiring": GOOD["wiring"]._replace(memory="forever")}, "memory of run, axis"),
    "balanced": ({"wiring": GOOD["wiring"]._replace(memory="path", balanced=True)}, "memory run or axis"),
    "nowhere": (
        {"wiring": GOOD["wiring"]._replace(to=np.full((16, 4), -1))}, "port_of that names ports with a channel",
    ),
    "no time": (
        {"router": Router(2, 4, switch_delay=0), "wiring": torus_wiring(4, 4, delay=0)},
        "switch_delay or every channel's delay ≥ 1",
    ),
    "astray": ({"batch": batch(16, [[(0, 0, 6, 5, 3)]])}, "packet 0 from node 0 by row 5 arrives at node 5, not 6"),
    "row": ({"batch": batch(16, [[(0, 0, 5, 16, 3)]])}, "row of 0 … 15"),
    "length": ({"batch": batch(16, [[(0, 0, 5, 5, 0)]])}, "length of 1"),
    "time falls": ({"batch": GOOD["batch"]._replace(first=np.array([[0] + [2] * 16]), **{
        "time": [1, 0], "row": [5, 5], "length": [1, 1], "destination": [5, 5]})}, "packet 1 before its predecessor"),
    "first": ({"batch": GOOD["batch"]._replace(first=np.array([[0] * 17]))}, "first that rises from 0 to 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    changes, words = REFUSED[name]
    given = GOOD | {"cycles": 10} | changes
    wiring, router, routes, packets = (given.pop(key) for key in ("wiring", "router", "routes", "batch"))
    with pytest.raises(ValueError, match=words) as refusal:
        simulate(wiring, router, *routes, packets, **given)
    assert "\n" not in str(refusal.value)
