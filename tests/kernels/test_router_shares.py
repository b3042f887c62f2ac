"""One network on several threads: what a share does touches nothing that another one touches in the same cycle, and no
flit knows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep_kernels.router import Router, cpu, simulate
from torusweep_kernels.router.checks import checked
from torusweep_kernels.router.cycle import run
from torusweep_kernels.router.outcome import Outcome
from torusweep_kernels.router.records import LEFT
from torusweep_kernels.router.state import State, constants_of, state_of

from tests.kernels.router_cases import Routes, random_case, torus_wiring, uniform, with_detours


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6))
def test_shares_touch_different_bytes_in_a_cycle_and_read_none_of_each_others(seed: int) -> None:
    """Each share alone from the same state changes other bytes than the rest; all changes together are what one share
    after another makes."""
    wiring, router, routes, packets = (with_detours if seed % 2 else random_case)(seed)
    rng = np.random.default_rng(seed)
    if rng.random() < 0.3:
        router = router._replace(source_queue=int(rng.integers(0, 3)))
    if rng.random() < 0.3:
        router, wiring = router._replace(switch_delay=0), wiring._replace(delay=np.maximum(wiring.delay, 1))
    task = checked(wiring, router, *routes, packets, 120, 0, 1000, None)
    shares = int(rng.integers(2, task.nodes + 1))
    fixed, live = (make(task, task.experiments[0], shares) for make in (constants_of, state_of))
    for t in range(120):
        before, owner = [as_bytes(array) for array in live], [np.full(array.nbytes, -1) for array in live]
        together = [old.copy() for old in before]
        for share in range(shares):
            alone = State(
                *(np.frombuffer(bytearray(array.tobytes()), array.dtype).reshape(array.shape) for array in live)
            )
            run(fixed, alone, share, t, t + 1)
            for name, array, old, whose, merged in zip(State._fields, alone, before, owner, together):
                changed = np.flatnonzero(as_bytes(array) != old)
                assert (whose[changed] == -1).all(), f"{name}, cycle {t}: shares {share} and {whose[changed].max()}"
                whose[changed], merged[changed] = share, as_bytes(array)[changed]
        for share in rng.permutation(shares).tolist():
            run(fixed, live, share, t, t + 1)
        for name, array, merged in zip(State._fields, live, together):
            assert (as_bytes(array) == merged).all(), f"{name}, cycle {t}: a share reads what another one writes"
        if live.number[:, LEFT].sum() == 0:
            break


def as_bytes(array: np.ndarray) -> np.ndarray:
    return np.frombuffer(array.tobytes(), np.uint8)


@pytest.mark.timeout(60, method="thread")  # compiled code that waits for ever hears no signal
@pytest.mark.parametrize("threads", [2, 3, 5, 16])
@pytest.mark.parametrize(
    "changes", [{}, {"adaptive": True, "escape": 2}, {"switching": "virtual-cut-through", "bubble": True}], ids=str
)
def test_how_many_threads_a_network_has_does_not_matter(changes: dict[str, Any], threads: int) -> None:
    """More than there are cores, too; saturated, so that packets stand across the borders of shares."""
    routes, router = Routes(9, 7), Router(4, 12, **changes)
    wiring, packets = torus_wiring(9, 7, vcs=4, escape=router.escape), uniform(routes, 0.9, 400, 5, [3])
    task = checked(wiring, router, *routes.arrays, packets, 600, 100, 600, None)
    alone, together = (cpu.outcome(task, task.experiments[0], shares, lambda more: None) for shares in (1, threads))
    for name, a, b in zip(Outcome._fields, alone, together):
        assert np.array_equal(a, b), name


@pytest.mark.timeout(60, method="thread")
def test_a_thread_without_a_core_keeps_nobody_waiting() -> None:
    """One alone runs the shares of all."""
    routes, wiring = Routes(8, 8), torus_wiring(8, 8)
    packets = uniform(routes, 0.5, 200, 5, [3])
    task = checked(wiring, Router(2, 4), *routes.arrays, packets, 300, 0, 100, None)
    told: list[float] = []

    def second_alone(function: Any, shares: Sequence[int], threads: int) -> list[int]:
        return [function(shares[1])]

    with patch.object(cpu, "in_threads", second_alone):
        found = cpu.outcome(task, task.experiments[0], 4, told.append)
    expected = simulate(wiring, Router(2, 4), *routes.arrays, packets, cycles=300, stall=100, backend="numpy")
    assert found.delivered.tolist() == expected.delivered.tolist()
    assert found.flits.tolist() == expected.flits.ravel().tolist()
    assert sum(told) == pytest.approx(1.0)


def test_large_networks_are_shared_out_among_the_threads_that_experiments_leave() -> None:
    routes, wiring = Routes(16, 16), torus_wiring(16, 16)
    for seeds, threads, expected in [([1], 1, 1), ([1], 2, 2), ([1], 9, 2), ([1, 2], 2, 1), ([1, 2], 5, 2)]:
        packets = uniform(routes, 0.1, 20, 5, seeds)
        with patch.object(cpu, "outcome", wraps=cpu.outcome) as outcome:
            simulate(wiring, Router(2, 4), *routes.arrays, packets, cycles=50, backend="numba", threads=threads)
        assert {call.args[2] for call in outcome.call_args_list} == {expected}


def test_shares_take_little_memory_of_their_own() -> None:
    """Wheels are as long as the channels between two shares need, however many shares and however long the delays."""
    routes, wiring = Routes(16, 16), torus_wiring(16, 16, delay=100)
    packets = uniform(routes, 0.1, 20, 5, [1])
    task = checked(wiring, Router(2, 4, credit_delay=100), *routes.arrays, packets, 10, 0, 10, None)
    one, many = (sum(array.nbytes for array in state_of(task, task.experiments[0], shares)) for shares in (1, 64))
    assert many < 2 * one
