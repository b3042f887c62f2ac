"""Channels on which flits and credits take many cycles: closed forms of one packet, and the plain simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torusweep_kernels.router import Router, Wiring, simulate, state_bytes

from tests.kernels.router_cases import Routes, batch, both, same, torus_wiring, uniform
from tests.kernels.router_on_gpu import compared
from tests.kernels.router_oracle import Network

AsCupy = Any


def two_nodes(there: int, back: int) -> tuple[Wiring, tuple[np.ndarray, ...]]:
    """A channel from node 0 to node 1; row h of the routes: h hops."""
    to = np.array([[1], [-1]], np.int32)
    port_of = np.array([[0], [-1]], np.int8)
    delay = np.full((2, 1), there, np.int16)
    no, classes = np.zeros((2, 1), bool), np.zeros((1, 2), np.int8)
    wiring = Wiring(to, port_of, no, delay, classes, "run", np.array([1]), back=np.full_like(delay, back))
    routes = np.zeros((2, 1), np.int8), np.array([[0], [1]], np.int16), np.zeros((2, 1), np.int8)
    return wiring, routes


@pytest.mark.parametrize(("there", "back"), [(1, 0), (7, 6), (0, 5), (40, 0), (25, 24)])
@pytest.mark.parametrize("buffer", [1, 3, 8, 60])
@pytest.mark.parametrize(("route", "vc"), [(0, 0), (2, 1)])
def test_a_buffer_of_b_flits_sustains_b_flits_in_a_round_trip(there, back, buffer, route, vc):
    """A flit needs a credit: it leaves at the earliest a round trip after the one that was B before it.

    The round trip is switch and channel, and the credit from the cycle in which the flit leaves the buffer, which it
    does in that of its arrival, or behind its head, which waits there for its route.
    """
    switch, credit, flits = 1, 2, 120
    wiring, routes = two_nodes(there, back)
    router = Router(1, buffer, "wormhole", route, vc, switch, credit)
    found = both(wiring, router, routes, batch(2, [[(0, 0, 1, 1, flits)]]), cycles=20_000)
    leaves, gone = [], []  # of each flit: from node 0, and from the buffer at node 1
    for k in range(flits):
        earliest = route + vc if k == 0 else leaves[-1] + 1
        leaves.append(max(earliest, gone[k - buffer] + credit + back) if k >= buffer else earliest)
        arrives = leaves[-1] + switch + there
        gone.append(arrives + route + vc if k == 0 else max(arrives, gone[-1] + 1))
    assert found.delivered.tolist() == [gone[-1] + switch]
    round_trip = switch + there + credit + back
    if route == vc == 0:  # in closed form
        assert gone[-1] == max((flits - 1) // buffer * round_trip + (flits - 1) % buffer, flits - 1) + switch + there
    rate = (flits - buffer) / (leaves[-1] - leaves[buffer - 1])
    assert rate == pytest.approx(min(1, buffer / round_trip), rel=0.15)


def unequal(*radices: int, **more: Any) -> Wiring:
    """A torus whose channels differ: the first axis is short, the second long, some credits slower than flits."""
    wiring = torus_wiring(*radices, **more)
    delay = np.broadcast_to(np.array([1, 1, 9, 14], np.int16), wiring.to.shape).copy()
    back = np.broadcast_to(np.array([0, 0, 8, 33], np.int16), wiring.to.shape).copy()
    return wiring._replace(delay=delay, back=back)


@pytest.mark.parametrize("switching", ["wormhole", "virtual-cut-through", "store-and-forward"])
def test_unequal_channels_against_the_plain_simulator(switching):
    routes, wiring = Routes(4, 3), unequal(4, 3)
    router = Router(2, 6, switching, 1, 0, 1, 2)
    packets = uniform(routes, 0.6, 60, 4, [1, 2])
    found = both(wiring, router, routes.arrays, packets, cycles=5_000)
    for experiment in (0, 1):
        plain = Network(wiring, router, routes.arrays, packets, experiment)
        t = 0
        while any(packet.delivered < 0 for packet in plain.packets):
            plain.cycle(t)
            t += 1
        own = slice(packets.first[experiment, 0], packets.first[experiment, -1])
        assert found.delivered[own].tolist() == [packet.delivered for packet in plain.packets]
        assert found.entered[own].tolist() == [packet.entered for packet in plain.packets]


def test_unequal_channels_on_the_gpu(as_cupy):
    routes, wiring = Routes(4, 3), unequal(4, 3)
    compared(as_cupy, wiring, Router(2, 6), routes.arrays, uniform(routes, 0.5, 40, 4, [1, 2]), cycles=2_000)


def test_credits_of_zero_further_cycles_are_those_without():
    routes, wiring = Routes(4, 3), torus_wiring(4, 3)
    packets, router = uniform(routes, 0.6, 60, 4, [3]), Router(2, 4)
    plain = both(wiring, router, routes.arrays, packets, cycles=2_000)
    zero = wiring._replace(back=np.zeros(wiring.to.shape, np.int16))
    same(plain, both(zero, router, routes.arrays, packets, cycles=2_000))
    slower = both(wiring._replace(back=zero.back + np.int16(3)), router, routes.arrays, packets, cycles=2_000)
    same(slower, both(wiring, router._replace(credit_delay=4), routes.arrays, packets, cycles=2_000))


@pytest.mark.parametrize("change", [{"back": np.full((12, 4), -1)}, {"back": np.zeros((3, 4), int)}])
def test_wrong_credits_are_refused(change):
    routes, wiring = Routes(4, 3), torus_wiring(4, 3)
    with pytest.raises(ValueError, match="back of"):
        simulate(wiring._replace(**change), Router(2, 4), *routes.arrays, uniform(routes, 0.1, 9, 2, [1]), cycles=9)


@pytest.mark.parametrize("backend", ["numba", "cupy"])
def test_memory_covers_the_wheel_of_credits(backend):
    wiring, longer = torus_wiring(4, 3), unequal(4, 3)
    few, more = (state_bytes(one, Router(2, 6), packets=1, runs=2, backend=backend) for one in (wiring, longer))
    assert more > few
