"""The simulation's GPU code without a GPU: router.cu through the shim, threads from the first and from the last on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep_kernels import backend
from torusweep_kernels.router import SWITCHINGS, Batch, Router, Wiring, simulate

from tests.kernels.router_cases import (
    FREE,
    SATURATED,
    Routes,
    batch,
    random_case,
    ring_packets,
    same,
    torus_wiring,
    uniform,
    with_messages,
)
from tests.kernels.router_on_gpu import MANNERS, SLOW, AsCupy, compared
from tests.kernels.router_traces import CONFLICTS, MESSAGES, SEVERAL_A_CYCLE, line, on_line, waiting


@settings(SLOW, max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([0, 60]))
def test_like_numba_on_random_networks(as_cupy: AsCupy, seed: int, measure_from: int) -> None:
    compared(as_cupy, *random_case(seed), cycles=250, measure_from=measure_from, than="numba")


@settings(SLOW, max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([1, 40]))
def test_the_same_deadlocks(as_cupy: AsCupy, seed: int, stall: int) -> None:
    compared(as_cupy, *random_case(seed), cycles=400, stall=stall, than="numba", manners=list(MANNERS)[:2])


@settings(SLOW, max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from(["messages", "queue"]))
def test_messages_and_queues_on_random_networks(as_cupy: AsCupy, seed: int, what: str) -> None:
    wiring, router, routes, packets = random_case(seed)
    if what == "messages":
        packets = with_messages(seed, len(wiring.to), packets)
    else:
        router = router._replace(source_queue=seed % 3)
    compared(as_cupy, wiring, router, routes, packets, cycles=400, stall=100, than="numba")


@pytest.mark.parametrize("cycles", [6, 500])
@pytest.mark.parametrize("name", MESSAGES)
def test_messages_as_traced_by_hand(name: str, cycles: int, as_cupy: AsCupy) -> None:
    router, messages, generated, _ = MESSAGES[name]
    wiring, routes = line(4, router.virtual_channels)
    found = compared(as_cupy, wiring, router, routes, waiting(8, [messages, messages[:1]]), cycles=cycles)
    assert found.generated[:-1].tolist() == [cycle if cycle < cycles else -1 for cycle in generated]


@pytest.mark.parametrize("waits", [((5, [0]), (3, [1])), ((3, [1]), (5, [0]))])
def test_messages_that_became_free_apart_and_are_generated_together(waits: Any, as_cupy: AsCupy) -> None:
    """Deliveries in 5 and 7 free two messages of node 1, both for cycle 10: the lower number goes first, flits in 10,
    11, 12, then 13."""
    (one, first), (other, second) = waits
    messages: list[Any] = [
        (0, 1, 1, [3], 0, []),
        (2, 3, 1, [5], 0, []),
        (1, 2, 1, [3], one, first),
        (1, 2, 1, [1], other, second),
    ]
    wiring, routes = line(4, 1)
    found = compared(as_cupy, wiring, Router(1, 8), routes, waiting(8, [messages]), cycles=100)
    assert found.generated.tolist() == [0, 0, 10, 10]
    assert found.delivered.tolist() == [5, 15, 16, 7]  # by node


def test_steps_alone(as_cupy: AsCupy) -> None:
    """Of computation; delays that add up to more than 32 bits hold."""
    wiring, routes = line(4, 1)
    messages: list[Any] = [(0, 0, 0, [], 3, []), *((0, 0, 0, [], 2**29, [g]) for g in range(6)), (0, 0, 0, [], 4, [0])]
    found = compared(as_cupy, wiring, Router(1, 8), routes, waiting(8, [messages]), cycles=20, than="numba")
    assert found.generated.tolist() == [3, -1, -1, -1, -1, -1, -1, 7]
    assert found.ran.tolist() == [20]


def test_a_delivery_sets_off_a_tree_of_steps(as_cupy: AsCupy) -> None:
    """Each of 15 steps sets off two more, each of the last ones a packet of another node, in the cycle in which the
    first packet is known."""
    wiring, routes = line(4, 1)
    messages: list[Any] = [
        (0, 1, 1, [1], 0, []),
        (0, 0, 0, [], 0, [0]),
        *((0, 0, 0, [], 0, [g // 2]) for g in range(2, 16)),
    ]
    messages += [(g % 3, g % 3 + 1, 1, [2], 0, [g // 2]) for g in range(16, 32)]
    found = compared(as_cupy, wiring, Router(1, 8), routes, waiting(8, [messages]), cycles=200)
    assert found.generated.tolist() == [0] + [3] * 31


@pytest.mark.parametrize("name", CONFLICTS)
def test_conflicts_as_traced_by_hand(name: str, as_cupy: AsCupy) -> None:
    router, nodes, packets, entered, delivered = CONFLICTS[name]
    wiring, routes, on = on_line(nodes, router.virtual_channels, packets)
    found = compared(as_cupy, wiring, router, routes, on, cycles=500)
    assert (found.entered.tolist(), found.delivered.tolist()) == (entered, delivered)


@pytest.mark.parametrize("name", SEVERAL_A_CYCLE)
def test_several_flits_a_cycle_as_traced_by_hand(name: str, as_cupy: AsCupy) -> None:
    router, capacity, packets, entered, delivered = SEVERAL_A_CYCLE[name]
    wiring, routes, on = on_line(3, router.virtual_channels, packets, capacity)
    found = compared(as_cupy, wiring, router, routes, on, cycles=500)
    assert (found.entered.tolist(), found.delivered.tolist()) == (entered, delivered)


def test_transit_first_where_two_are_ejected(as_cupy: AsCupy) -> None:
    """Round robin goes on where it stood before the cycle, for the second ejected, too."""
    rng = np.random.default_rng(1)
    routes, wiring = Routes(4), torus_wiring(4, vcs=2)
    router = Router(2, 8, transit_first=True, injection_flits=3, ejection_flits=2)
    some = [(int(t), int(s), int(s), 0, 3) for t, s in rng.integers(0, [60, 4], (60, 2))] + [
        (int(t), int(s), int(s + 1) % 4, 1, 3) for t, s in rng.integers(0, [60, 4], (40, 2))
    ]
    compared(as_cupy, wiring, router, routes.arrays, batch(4, [some]), cycles=400)


@pytest.mark.parametrize("name", SATURATED)
def test_floods(name: str, as_cupy: AsCupy) -> None:
    wiring, router = SATURATED[name]
    routes = Routes(4, 4)
    packets = uniform(routes, 3.0, 300, 5, [1, 2])
    found = compared(
        as_cupy,
        wiring,
        router,
        routes.arrays,
        packets,
        cycles=10**6,
        stall=100,
        than="numba",
        manners=list(MANNERS)[:2],
    )
    assert (found.delivered >= 0).all()


@pytest.mark.parametrize("name", FREE)
def test_rings_with_a_rule(name: str, as_cupy: AsCupy) -> None:
    wiring, router = FREE[name]
    compared(as_cupy, wiring, router, Routes(6).arrays, ring_packets(6, 6), cycles=10**6, stall=50)


@pytest.mark.parametrize("switching", SWITCHINGS)
def test_a_ring_that_deadlocks(switching: str, as_cupy: AsCupy) -> None:
    wiring, router = torus_wiring(6, dateline=False, vcs=1), Router(1, {"wormhole": 2}.get(switching, 6), switching)
    found = compared(as_cupy, wiring, router, Routes(6).arrays, ring_packets(6, 6), cycles=10**6, stall=50)
    assert len(found.waiting[0]) == 6
    assert found.ran[0] == 100


def test_nothing_to_do(as_cupy: AsCupy) -> None:
    wiring, routes = torus_wiring(4, 4), Routes(4, 4).arrays
    for packets in (
        batch(16, [[], []]),
        batch(16, [[], [(0, 3, 3, 0, 2)], []]),
        Batch(np.zeros((0, 17), int), *(np.zeros(0, int) for _ in range(4))),
    ):
        compared(as_cupy, wiring, Router(2, 4), routes, packets, cycles=10)


def test_a_network_without_channels(as_cupy: AsCupy) -> None:
    none = np.zeros((2, 0))
    wiring = Wiring(
        none.astype(np.int32),
        none.astype(np.int8),
        none > 0,
        none.astype(np.int16),
        np.zeros((1, 2), np.int8),
        "run",
        np.array([1]),
    )
    routes = np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int16), np.zeros((1, 1), np.int8)
    compared(
        as_cupy,
        wiring,
        Router(1, 4),
        routes,
        batch(2, [[(0, 1, 1, 0, 3), (1, 1, 1, 0, 2)]]),
        cycles=50,
        stall=2,
        than="numba",
    )


@pytest.mark.gpu
@pytest.mark.skipif(not backend.gpu_count(), reason="needs a GPU that CuPy can use; none found here")
@pytest.mark.parametrize("name", SATURATED)
@pytest.mark.parametrize("radices", [(8, 8), (32, 32)])
def test_a_real_gpu_gives_the_same(name: str, radices: tuple[int, int]) -> None:
    wiring, router = SATURATED[name]
    own = router.escape if router.adaptive else None
    wiring = torus_wiring(*radices, vcs=router.virtual_channels, dateline=len(wiring.shares) > 1, escape=own)._replace(
        balanced=wiring.balanced
    )
    routes = Routes(*radices)
    packets = uniform(routes, 0.7, 1000, 5, [1, 2, 3])
    here, there = (
        simulate(wiring, router, *routes.arrays, packets, cycles=1500, stall=100, backend=name)
        for name in ("numba", "cupy")
    )
    same(here, there)
