"""Flit by flit: latencies by formula, conflicts traced by hand, random networks against plain Python, and the two backends against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from network_cases import Routes, both, batch, torus_wiring, uniform
from network_oracle import Network

from kernels.network import MEMORIES, SWITCHINGS, Batch, Router, Simulated, Wiring, simulate
from kernels.routes import route_flows

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
        found = both(wiring, router, routes.arrays, batch(20, [[(generated, 0, destination, destination, flits)]]), cycles=300)
        hops = int(routes.hops[destination].sum())
        serial = (flits - 1) * (max(hops, 1) if switching == "store-and-forward" else 1)
        assert found.entered.tolist() == [generated + route + vc]
        assert (found.delivered - generated).tolist() == [(hops + 1) * (route + vc + switch) + hops * channel + serial]
        assert found.flits.sum() == hops * flits


def test_channels_have_delays_of_their_own() -> None:
    wiring = torus_wiring(5, 4)
    delay = np.arange(80, dtype=np.int16).reshape(20, 4)
    found = both(wiring._replace(delay=delay), Router(2, 200), Routes(5, 4).arrays, batch(20, [[(0, 0, 6, 6, 2)]]), cycles=300)  # 0 → 1 → 6
    assert found.delivered.tolist() == [3 + delay[0, 0] + delay[1, 2] + 1]


# --- conflicts traced by hand -------------------------------------------------------------------
# A line of nodes 0 → 1 → … of one direction, each also entered from a side node: node 10 + i leads to node i.


def line(nodes: int, vcs: int = 1, **changes: Any) -> tuple[Wiring, tuple[np.ndarray, ...]]:
    """Row h of the routes: h hops along the line; row 100 + h: first from a side node onto it."""
    to = np.full((2 * nodes, 2), -1, np.int32)
    to[: nodes - 1, 0] = np.arange(1, nodes)
    to[nodes:, 1] = np.arange(nodes)
    port_of = np.where(to >= 0, np.arange(2), -1).astype(np.int8)[:, [0, 0, 1, 1]]
    no = np.zeros(port_of.shape, bool)
    wiring = Wiring(to, port_of, no, np.ones(to.shape, np.int16), np.zeros((1, 2), np.int8), "run", np.array([vcs]))
    hops = np.zeros((200, 2), np.int16)
    hops[:100, 1] = hops[100:, 1] = np.arange(100)
    hops[100:, 0] = 1
    direction = np.tile(np.array([2, 0], np.int8), (200, 1))
    return wiring._replace(**changes), (direction, hops, np.zeros_like(direction))


def traced(router: Router, nodes: int, packets: list[tuple[int, int, int, int]], **options: Any) -> Simulated:
    """Packets (time, source, hops along the line, length); sources ≥ nodes are side nodes. In order of their sources."""
    wiring, routes = line(nodes, router.virtual_channels)
    rows = [(t, s, (s + h if s < nodes else s - nodes + h), h if s < nodes else 100 + h, length) for t, s, h, length in packets]
    return both(wiring, router, routes, batch(2 * nodes, [rows]), cycles=500, **options)


# One cycle through a router (switch_delay 1), one on the channel: a flit sent in t can be sent on in t + 2.
# A head that leaves in t has got its VC in the same t.
TRACES: dict[str, tuple[Router, int, list[tuple[int, int, int, int]], list[int], list[int]]] = {
    # Both want 1 → 2 with its one VC. The packet of node 1 holds it from cycle 0: flits in 0, 1, 2; its tail frees the VC for 3.
    # The other's head, sent in 0, is at node 1 in 2, gets the VC in 3, is at node 2 in 5 and ejected then; its tail two cycles behind.
    "two packets, one VC": (Router(1, 8), 3, [(0, 0, 2, 3), (0, 1, 1, 3)], [0, 0], [3 + 2 + 2 + 1, 2 + 2 + 1]),
    # With two VCs they share the channel: node 1's own packet sends in 0, 1, 2 (the other's head comes in 2, its port is lower,
    # but the last taken was injection, port 2, so that round robin gives 2 to port 0, 3 to injection, 4, 5 to the other).
    "two packets, two VCs": (Router(2, 8), 3, [(0, 0, 2, 3), (0, 1, 1, 3)], [0, 0], [5 + 2 + 1, 3 + 2 + 1]),
    # In-transit traffic first makes no difference to that; three flits of injection would wait until transit has a gap.
    "two packets, transit first": (
        Router(2, 8, transit_first=True), 3, [(0, 0, 2, 3), (0, 1, 1, 5)], [0, 0], [4 + 2 + 1, 7 + 2 + 1],
    ),  # own flits go in 0, 1; the other's in 2, 3, 4; own in 5, 6, 7
    # One flit of buffer: a flit sent in t reaches the buffer in t + 2, leaves it in t + 2, and its credit is back in t + 3.
    "one flit of buffer": (Router(1, 1), 3, [(0, 0, 2, 3)], [0], [2 * 3 + 4 + 1]),
    # A credit that takes 4 cycles instead of 1: one flit every 6 cycles.
    "slow credits": (Router(1, 1, credit_delay=4), 3, [(0, 0, 2, 3)], [0], [2 * 6 + 4 + 1]),
    # Ejection of one flit a cycle: two packets of 2 flits arrive at node 1 together (from 0, port 0; from side node 4, port 1), in cycle 2;
    # round robin alternates: 0's in 2 and 4, 4's in 3 and 5.
    "two packets to one node": (Router(1, 8), 3, [(0, 0, 1, 2), (0, 4, 0, 2)], [0, 0], [4 + 1, 5 + 1]),
    "two packets to one node, two flits a cycle": (Router(1, 8, ejection_flits=2), 3, [(0, 0, 1, 2), (0, 4, 0, 2)], [0, 0], [3 + 1, 3 + 1]),
    # Three packets for 1 → 2 with one VC: node 1's own in 0, 1; then round robin among input ports 0 (from 0) and 1 (from side node 4):
    # both are there in 2; last granted was injection, so port 0 (2, 3), then port 1 (4, 5).
    "three packets": (Router(1, 8), 3, [(0, 0, 2, 2), (0, 1, 1, 2), (0, 4, 1, 2)], [0, 0, 0], [3 + 3, 1 + 3, 5 + 3]),
    # Virtual cut-through with room for one packet of 2: the second packet of node 0 must wait until the first one's credits are back.
    # First: 0, 1; leaves node 1 in 2, 3; credits known in 3, 4. Second: VC in 4, flits 4, 5; at node 1 in 6, 7, ejected in 8, 9 at node 2.
    "cut-through waits for a whole packet's room": (Router(1, 2, "virtual-cut-through"), 3, [(0, 0, 2, 2), (0, 0, 2, 2)], [0, 4], [3 + 3, 7 + 3]),
    # Wormhole only waits for the VC, free in 2, and then for credits: flits 2? credits are 0 in 2 and 1 in 3, so 3, 4.
    "wormhole does not": (Router(1, 2), 3, [(0, 0, 2, 2), (0, 0, 2, 2)], [0, 3], [3 + 3, 6 + 3]),
    # One injection port, two packets of a node, two VCs: their flits take turns: 0, 2, 4 and 1, 3, 5.
    "injection VCs take turns": (Router(2, 8), 2, [(0, 0, 1, 3), (0, 0, 1, 3)], [0, 1], [4 + 3, 5 + 3]),
    # Blocked by a blocked packet: node 2's own packet of 6 holds 2 → 3 in 0 … 5. Node 1's (2 flits) is at node 2 in 2 and waits until 6: 6, 7.
    # Node 0's (2 flits) gets 1 → 2 in 2 when that one's tail has gone, and buffers at node 2 (room for 4) behind it: from 8 on.
    "a chain of waits": (Router(1, 4), 4, [(0, 0, 3, 2), (0, 1, 2, 2), (0, 2, 1, 6)], [0, 0, 0], [9 + 3, 7 + 3, 5 + 3]),
}  # fmt: skip


@pytest.mark.parametrize("name", TRACES)
def test_conflicts_as_traced_by_hand(name: str) -> None:
    router, nodes, packets, entered, delivered = TRACES[name]
    found = traced(router, nodes, packets)
    assert (found.entered.tolist(), found.delivered.tolist()) == (entered, delivered)


# --- random networks ----------------------------------------------------------------------------

DIRECTIONS = 4


def random_case(seed: int) -> tuple[Wiring, Router, tuple[np.ndarray, ...], Batch]:
    """A directed network of permutations, cut in places, with parallel channels and channels of several directions; random routes that lead on."""
    rng = np.random.default_rng(seed)
    nodes, ports, phases, runs = int(rng.integers(2, 9)), 3, 2, int(rng.integers(1, 5))
    to = np.stack([rng.permutation(nodes) for _ in range(ports)], axis=1).astype(np.int32)
    to[rng.random(to.shape) < 0.15] = -1
    port_of = rng.integers(0, ports, (nodes, DIRECTIONS))
    port_of = np.where(np.take_along_axis(to, port_of, axis=1) >= 0, port_of, -1).astype(np.int8)
    adaptive, switching = bool(rng.random() < 0.35), SWITCHINGS[rng.integers(3)]
    vcs = int(rng.integers(2, 6))
    escape = int(rng.integers(1, vcs)) if adaptive else vcs
    classes = int(rng.integers(1, min(escape, 3) + 1))
    shares = np.ones(classes, int)
    np.add.at(shares, rng.integers(0, classes, escape - classes), 1)
    wiring = Wiring(
        to,
        port_of,
        rng.random(port_of.shape) < 0.3,
        rng.integers(0, 4, to.shape).astype(np.int16),
        rng.integers(0, classes, (phases, 2)).astype(np.int8),
        MEMORIES[rng.integers(len(MEMORIES))],
        shares,
    )
    balanced = bool(rng.random() < 0.5) and wiring.memory in ("run", "axis") and not adaptive
    bubble = bool(rng.random() < 0.4) and switching != "wormhole"
    longest = int(rng.integers(1, 7))
    least = {"wormhole": 1}.get(switching, longest * (2 if bubble else 1))
    router = Router(
        vcs,
        least + int(rng.integers(0, 4)),
        switching,
        *(int(delay) for delay in rng.integers(0, 3, 2)),
        switch_delay=int(rng.integers(1, 3)),
        credit_delay=int(rng.integers(1, 4)),
        adaptive=adaptive,
        escape=escape if adaptive else None,
        bubble=bubble,
        transit_first=bool(rng.random() < 0.4),
        injection_flits=int(rng.integers(1, 3)),
        ejection_flits=int(rng.integers(1, 3)),
    )
    direction, hops = rng.integers(0, DIRECTIONS, (60, runs)), rng.integers(0, 4, (60, runs))
    phase = rng.integers(0, phases, (60, runs))
    packets: list[list[tuple[int, int, int, int, int]]] = [[], []]
    for own in packets:
        for _ in range(40):
            source, row = int(rng.integers(nodes)), int(rng.integers(60))
            end = arrival(to, port_of, source, direction[row], hops[row], every_order=adaptive)
            if end is not None:
                own.append((int(rng.integers(0, 25)), source, end, row, int(rng.integers(1, longest + 1))))
    return wiring._replace(balanced=balanced), router, (direction, hops, phase), batch(nodes, packets)


def arrival(to: np.ndarray, port_of: np.ndarray, node: int, direction: np.ndarray, hops: np.ndarray, every_order: bool) -> int | None:
    """Where a route leads; None where it does not lead on (in some order of its hops)."""
    ends = set()
    seen, states = set(), [(node, tuple(hops.tolist()))]
    while states:
        node, left = states.pop()
        if (node, left) in seen:
            continue
        seen.add((node, left))
        runs = [i for i, h in enumerate(left) if h][: None if every_order else 1]
        if not runs:
            ends.add(node)
        for i in runs:
            port = port_of[node, direction[i]]
            if port < 0:
                return None
            states.append((int(to[node, port]), tuple(h - (j == i) for j, h in enumerate(left))))
    return ends.pop() if len(ends) == 1 else None


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
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
        assert found.occupancy[experiment] == pytest.approx(np.array(plain.stored) / max(1, ran) / max(1, len(plain.channels)))
