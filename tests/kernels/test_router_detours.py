"""Packets that choose between two routes: decisions computed by hand, random networks against plain Python, the GPU's
code through the shim."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep_kernels.router import Batch, Detours, Router, Simulated, Wiring, simulate, state_bytes
from torusweep_kernels.router.checks import checked
from torusweep_kernels.router.state import state_of

from tests.kernels.router_cases import batch, both, with_detours, with_messages
from tests.kernels.router_on_gpu import MANNERS, SLOW, compared
from tests.kernels.router_oracle import Network

AsCupy = Callable[..., ModuleType]
SLOWLY = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

# --- by hand ------------------------------------------------------------------------------------
# Node 0 has a direct channel to node 1 (direction 0) and one to node 2 (direction 1), which leads on to node 1; node 3
# leads to node 0 (direction 0 at nodes 2 and 3). Rows: 0 the direct hop, 1 by way of node 2 (two hops), 2 from node 3
# by node 0 directly, 3 the way to node 2 alone, 4 as row 0 in the other class, 5 as row 1 beginning with the direct
# channel's direction: 0 → 1 → 4 → 1, which is the same first channel.

DIRECT, AROUND, FROM_3, TO_2, OTHER_CLASS, LOOP = range(6)


def diamond(vcs: int = 2) -> tuple[Wiring, tuple[np.ndarray, ...]]:
    to = np.array([[1, 2], [4, -1], [1, -1], [0, -1], [1, -1]], np.int32)
    port_of = np.where(to >= 0, np.arange(2), -1).astype(np.int8)
    rows = [[(0, 1, 0)], [(1, 1, 0), (0, 1, 1)], [(0, 2, 0)], [(1, 1, 0)], [(0, 1, 1)], [(0, 3, 1)]]
    whole = np.array([row + [(0, 0, 0)] * (2 - len(row)) for row in rows])
    no, classes = np.zeros(port_of.shape, bool), np.array([[0, 0], [1, 1]], np.int8)
    wiring = Wiring(to, port_of, no, np.ones(to.shape, np.int16), classes, "run", np.array([1, vcs - 1]))
    return wiring, (whole[..., 0], whole[..., 1], whole[..., 2])


def sent(packets: list[tuple[int, int, int, int, int]], row: list[list[int]], **known: Any) -> Simulated:
    """Packets (time, source, destination, row, length) and their detours, in order of source and time; buffers of 4."""
    wiring, routes = diamond()
    choosing = batch(5, [packets])._replace(detours=Detours(np.array(row), **known))
    return both(wiring, Router(2, 4, credit_delay=20), routes, choosing, cycles=200)


def by_way_of_2(found: Simulated) -> int:
    return int(found.flits[0, 0, 1])


# A packet of f flits sent over 0 → 1 in cycles 0 … f − 1 has f flits outstanding in cycle 10: no credit is back before
# 2 + 20. So a packet that decides in cycle 10 compares f · 1 hop with 0 · 2 hops.
@pytest.mark.parametrize(("flits", "threshold", "around"), [
    (0, 0, False), (1, 0, True), (3, 0, True), (3, 2, True), (3, 3, False), (0, -1, True),
])  # fmt: skip
@pytest.mark.parametrize("view", ["local", "global"])
def test_an_empty_detour_is_taken_where_the_first_channel_is_occupied(
    view: str, flits: int, threshold: int, around: bool
) -> None:
    before = [(0, 0, 1, DIRECT, flits)] if flits else []
    found = sent([*before, (10, 0, 1, DIRECT, 1)], [[-1]] * len(before) + [[AROUND]], view=view, threshold=threshold)
    assert by_way_of_2(found) == around


# Two flits on 0 → 1 and one on 0 → 2: q · h is 2 · 1 against 1 · 2, equal; with three, 3 against 2.
@pytest.mark.parametrize(("flits", "around"), [(2, 0), (3, 1)])
def test_local_occupancy_counts_by_the_hops_of_the_route(flits: int, around: int) -> None:
    packets = [(0, 0, 1, DIRECT, flits), (0, 0, 2, TO_2, 1), (10, 0, 1, DIRECT, 1)]
    assert by_way_of_2(sent(packets, [[-1], [-1], [AROUND]])) == 1 + around


# Three flits on 2 → 1, which node 0 does not see, and two on 0 → 1.
@pytest.mark.parametrize(("view", "around"), [("local", 1), ("global", 0)])
def test_only_the_global_view_knows_the_channels_behind_the_first(view: str, around: int) -> None:
    packets = [(0, 0, 1, DIRECT, 2), (10, 0, 1, DIRECT, 1), (0, 2, 1, DIRECT, 3)]
    assert by_way_of_2(sent(packets, [[-1], [AROUND], [-1]], view=view)) == around


# A packet of 6 flits in front of an injection VC occupies 6 flits of 0 → 1 from the end of its first cycle on, sent or
# not: the buffer has room for 4.
@pytest.mark.parametrize(("threshold", "around"), [(5, 1), (6, 0)])
@pytest.mark.parametrize("time", [0, 5, 9])
@pytest.mark.parametrize("view", ["local", "global"])
def test_flits_that_a_front_is_still_to_send_count(view: str, time: int, threshold: int, around: int) -> None:
    packets = [(time, 0, 1, DIRECT, 6), (10, 0, 1, DIRECT, 1)]
    assert by_way_of_2(sent(packets, [[-1], [AROUND]], view=view, threshold=threshold)) == around


@pytest.mark.parametrize(("time", "around"), [(9, 1), (10, 0)])
@pytest.mark.parametrize("view", ["local", "global"])
def test_a_packet_knows_the_end_of_the_last_cycle(view: str, time: int, around: int) -> None:
    packets = [(time, 0, 1, DIRECT, 1), (10, 0, 1, DIRECT, 1)]
    assert by_way_of_2(sent(packets, [[-1], [AROUND]], view=view)) == around


# Where both routes begin with 0 → 1, each counts the VCs of its own class: VC 0 has the flits of row 0, VC 1 none.
@pytest.mark.parametrize(("before", "loops"), [(DIRECT, 1), (OTHER_CLASS, 0)])
def test_on_a_shared_first_channel_each_route_counts_its_own_virtual_channels(before: int, loops: int) -> None:
    found = sent([(0, 0, 1, before, 3), (10, 0, 1, DIRECT, 1)], [[-1], [LOOP]])
    assert found.flits[0, 4, 0] == loops


# Row 2 comes from node 3 through node 0. Its packet chooses at node 0, after one hop; −1 at the source.
@pytest.mark.parametrize(("flits", "around"), [(0, 0), (2, 1)])
def test_a_packet_chooses_after_a_hop(flits: int, around: int) -> None:
    before = [(0, 0, 1, DIRECT, flits)] if flits else []
    found = sent([*before, (10, 3, 1, FROM_3, 1)], [[-1, -1]] * len(before) + [[-1, AROUND]])
    assert by_way_of_2(found) == around


def test_once_on_a_detour_a_packet_chooses_no_more() -> None:
    """At the source it takes row 2 instead of row 2; after one hop it would have taken row 1, had it not chosen."""
    packets = [(0, 0, 1, DIRECT, 3), (10, 3, 1, FROM_3, 1)]
    detours = [[-1, -1], [FROM_3, AROUND]]
    assert [by_way_of_2(sent(packets, detours, threshold=threshold)) for threshold in (-1, 0)] == [0, 1]


# --- against plain Python, numba, and CUDA's source ------------------------------------------------


@SLOWLY
@given(st.integers(0, 10**6), st.booleans())
def test_like_plain_python_on_random_networks(seed: int, messages: bool) -> None:
    wiring, router, routes, packets = with_detours(seed)
    if messages:
        packets = with_messages(seed, len(wiring.to), packets)
    found = both(wiring, router, routes, packets, cycles=250, measure_from=0, stall=1000)
    for experiment in range(2):
        plain = Network(wiring, router, routes, packets, experiment)
        ran = plain.run(250)
        begin, end = packets.first[experiment, [0, -1]]
        for name in ("entered", "delivered"):
            assert [getattr(packet, name) for packet in plain.packets] == getattr(found, name)[begin:end].tolist()
        assert found.ran[experiment] == ran
        for (node, port), channel in plain.channels.items():
            assert found.flits[experiment, node, port] == channel.flits


def test_random_networks_have_detours_that_are_taken_at_the_source_and_later() -> None:
    after: list[int] = []
    for seed in range(40):
        wiring, router, routes, packets = with_detours(seed)
        plain = Network(wiring, router, routes, packets, 0)
        plain.run(250)
        after += [packet.decided for packet in plain.packets if packet.delivered >= 0 or packet.decided >= 0]
    taken = np.bincount(np.array(after) + 1, minlength=4)
    assert (taken[:3] > 30).all(), taken


@settings(SLOW, max_examples=15)
@given(st.integers(0, 10**6), st.booleans())
def test_the_gpus_code_on_random_networks(as_cupy: AsCupy, seed: int, messages: bool) -> None:
    wiring, router, routes, packets = with_detours(seed)
    if messages:
        packets = with_messages(seed, len(wiring.to), packets)
    compared(as_cupy, wiring, router, routes, packets, cycles=250, than="numba")


@settings(SLOW, max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([1, 40]))
def test_the_same_deadlocks(as_cupy: AsCupy, seed: int, stall: int) -> None:
    found = compared(as_cupy, *with_detours(seed), cycles=400, stall=stall, manners=list(MANNERS)[:2])
    assert (found.stalled < 400).all()


@SLOWLY
@given(st.integers(0, 10**6), st.sampled_from([1, 7]))
def test_a_deadlock_is_found_where_nothing_moves_any_more_and_nowhere_else(seed: int, stall: int) -> None:
    wiring, router, routes, packets = with_detours(seed)
    found = both(wiring, router, routes, packets, cycles=600, stall=stall)
    for experiment in range(2):
        plain = Network(wiring, router, routes, packets, experiment)
        plain.run(600)
        stuck = any(packet.delivered < 0 and packet not in plain.gone for packet in plain.packets)
        assert (found.stalled[experiment] >= 0) == stuck


@settings(SLOWLY, max_examples=10)
@given(st.integers(0, 10**6))
def test_packets_without_a_detour_move_as_in_a_batch_without_detours(seed: int) -> None:
    wiring, router, routes, packets = with_detours(seed)
    assert packets.detours is not None
    none = packets.detours._replace(row=np.full_like(packets.detours.row, -1))
    one, other = (
        simulate(wiring, router, *routes, some, cycles=250, backend="numba")
        for some in (packets._replace(detours=None), packets._replace(detours=none))
    )
    assert all(np.array_equal(a, b) for a, b in zip(one[:7], other[:7]))


def test_state_bytes_are_those_of_the_arrays() -> None:
    wiring, routes = diamond()
    packets = batch(5, [[(0, 0, 1, DIRECT, 2)]])._replace(detours=Detours(np.array([[AROUND]]), "global"))
    task = checked(wiring, Router(2, 4), *routes, packets, 10, 0, 10, None)
    state = state_of(task, task.experiments[0])
    known = state_bytes(wiring, Router(2, 4), packets=1, runs=2, shortest=2, detours=1)
    assert known == sum(array.nbytes for array in state)


# --- refusals ------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Detours, str]] = {
    "rows that do not exist": (Detours(np.array([[6]])), "row of detours"),
    "another number of packets": (Detours(np.array([[0], [0]])), "shape"),
    "no choice": (Detours(np.zeros((1, 0), int)), "shape"),
    "an unknown view": (Detours(np.array([[1]]), "far"), "view of local, global"),
    "a detour elsewhere": (Detours(np.array([[TO_2]])), "lead to their packets' destinations"),
    "a choice at the destination": (Detours(np.array([[-1, AROUND]])), "before the destination"),
    "a threshold that is too large": (Detours(np.array([[1]]), "local", 2**31), "threshold"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_detours_that_cannot_work_are_refused(case: str) -> None:
    (detours, reason), (wiring, routes) = REFUSED[case], diamond()
    packets = batch(5, [[(0, 0, 1, DIRECT, 1)]])._replace(detours=detours)
    with pytest.raises(ValueError, match=reason):
        simulate(wiring, Router(2, 4), *routes, packets, cycles=10)


def test_adaptive_routers_take_no_detours() -> None:
    wiring, routes = diamond()
    packets: Batch = batch(5, [[(0, 0, 1, DIRECT, 1)]])._replace(detours=Detours(np.array([[AROUND]])))
    one = wiring._replace(shares=np.array([1]), classes=np.zeros((2, 2), np.int8))
    with pytest.raises(ValueError, match="no detours with adaptive"):
        simulate(one, Router(2, 4, adaptive=True, escape=1), *routes, packets, cycles=10)
