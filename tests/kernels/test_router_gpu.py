"""The simulation's GPU code without a GPU: router.cu through the shim, threads from the first and from the last on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep_kernels import backend, cuda
from torusweep_kernels.router import SWITCHINGS, Batch, Router, Simulated, Wiring, gpu, simulate, state_bytes
from torusweep_kernels.router.checks import checked

from tests.kernels.router_cases import (
    FREE,
    SATURATED,
    Routes,
    batch,
    line,
    random_case,
    ring_packets,
    same,
    torus_wiring,
    uniform,
    with_messages,
)
from tests.kernels.test_router import SEVERAL, TRACES
from tests.kernels.test_router_messages import TRACES as MESSAGE_TRACES
from tests.kernels.test_router_messages import waiting

AsCupy = Callable[..., ModuleType]
SLOW = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
# as they are; several blocks an experiment, a launch a cycle, from the last thread on; blocks smaller than the network;
# short windows
MANNERS: dict[str, dict[str, int]] = {
    "a block an experiment": {},
    "all blocks all experiments": {"THREADS": 1, "SHARED_THREADS": 3, "multiprocessors": 9, "backwards": 1},
    "threads of several nodes": {"THREADS": 2, "backwards": 1},
    "short windows": {"WINDOW": 7},
}


@contextmanager
def played(as_cupy: AsCupy, **manner: int) -> Iterator[None]:
    """A GPU of that manner, and blocks and windows of those sizes."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("THREADS", "SHARED_THREADS", "WINDOW"):
            patch.setattr(gpu, name, manner.pop(name, getattr(gpu, name)))
        as_cupy(**manner)
        yield


def compared(
    as_cupy: AsCupy,
    wiring: Wiring,
    router: Router,
    routes: Any,
    packets: Batch,
    *,
    manners: Any = MANNERS,
    than: str = "numpy",
    **options: Any,
) -> Simulated:
    """The outcome on the CPU, after the GPU code's has been found equal in every manner."""
    expected = simulate(wiring, router, *routes, packets, backend=than, **options)
    for manner in manners:
        with played(as_cupy, **MANNERS[manner]):
            same(expected, simulate(wiring, router, *routes, packets, backend="cupy", **options))
    return expected


# --- the same as on the CPU ----------------------------------------------------------------------


@settings(SLOW, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([0, 60]))
def test_like_numba_on_random_networks(as_cupy: AsCupy, seed: int, measure_from: int) -> None:
    compared(as_cupy, *random_case(seed), cycles=250, measure_from=measure_from, than="numba")


@settings(SLOW, max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([1, 40]))
def test_the_same_deadlocks(as_cupy: AsCupy, seed: int, stall: int) -> None:
    compared(as_cupy, *random_case(seed), cycles=400, stall=stall, than="numba", manners=list(MANNERS)[:2])


@settings(SLOW, max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(["messages", "queue"]))
def test_messages_and_queues_on_random_networks(as_cupy: AsCupy, seed: int, what: str) -> None:
    wiring, router, routes, packets = random_case(seed)
    if what == "messages":
        packets = with_messages(seed, len(wiring.to), packets)
    else:
        router = router._replace(source_queue=seed % 3)
    compared(as_cupy, wiring, router, routes, packets, cycles=400, stall=100, than="numba")


@pytest.mark.parametrize("cycles", [6, 500])
@pytest.mark.parametrize("name", MESSAGE_TRACES)
def test_messages_as_traced_by_hand(name: str, cycles: int, as_cupy: AsCupy) -> None:
    router, messages, generated, _ = MESSAGE_TRACES[name]
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


@pytest.mark.parametrize("name", TRACES)
def test_conflicts_as_traced_by_hand(name: str, as_cupy: AsCupy) -> None:
    router, nodes, packets, entered, delivered = TRACES[name]
    wiring, routes = line(nodes, router.virtual_channels)
    rows = [
        (t, s, (s + h if s < nodes else s - nodes + h), h if s < nodes else 100 + h, length)
        for t, s, h, length in packets
    ]
    found = compared(as_cupy, wiring, router, routes, batch(2 * nodes, [rows]), cycles=500)
    assert (found.entered.tolist(), found.delivered.tolist()) == (entered, delivered)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_flits_a_cycle_as_traced_by_hand(name: str, as_cupy: AsCupy) -> None:
    router, capacity, packets, entered, delivered = SEVERAL[name]
    wiring, routes = line(3, router.virtual_channels, capacity=np.tile([capacity, 1], (6, 1)))
    rows = [(t, s, (s + h if s < 3 else s - 3 + h), h if s < 3 else 100 + h, length) for t, s, h, length in packets]
    found = compared(as_cupy, wiring, router, routes, batch(6, [rows]), cycles=500)
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


# --- launches and memory ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("manner", "grid", "block", "launches"),
    [
        ({}, 2, 32, 3),  # 16 nodes fill half a warp; two experiments, in windows of 100 cycles
        (
            {"THREADS": 8},
            2,
            32,
            3,
        ),  # fewer multiprocessors than experiments: each has its block, of a whole warp at least
        (
            {"THREADS": 8, "SHARED_THREADS": 5, "multiprocessors": 3},
            8,
            5,
            300,
        ),  # four blocks for each, a launch a cycle
        ({"WINDOW": 30}, 2, 32, 12),  # 30, 30, 30, 10 cycles
    ],
)
def test_launches(
    manner: dict[str, int], grid: int, block: int, launches: int, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes, made = Routes(4, 4), []
    kernels = cuda.Gpu.kernels

    def counted(gpu: cuda.Gpu, *names: Any) -> list[Any]:
        (kernel,) = kernels(gpu, *names)
        return [lambda *launch: made.append((launch[0][0], launch[1][0])) or kernel(*launch)]

    monkeypatch.setattr(cuda.Gpu, "kernels", counted)
    packets = uniform(routes, 0.9, 300, 5, [1, 2])
    with played(as_cupy, **manner):
        found = simulate(
            torus_wiring(4, 4), Router(2, 4), *routes.arrays, packets, cycles=300, stall=100, backend="cupy"
        )
    assert found.ran.tolist() == [300, 300]
    assert made == [(grid, block)] * launches


def test_experiments_that_do_not_fit_together_run_one_after_another(
    as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes, wiring, router, made = Routes(4, 4), torus_wiring(4, 4), Router(2, 4), []
    packets = uniform(routes, 0.4, 100, 5, [1, 2, 3, 4, 5])
    most = max(np.diff(packets.first[:, [0, -1]]).ravel())
    one = state_bytes(wiring, router, packets=int(most), runs=2, shortest=5, backend="cupy")
    monkeypatch.setattr(
        gpu, "Round", lambda network, some, Round=gpu.Round: made.append(len(some)) or Round(network, some)
    )
    expected = simulate(wiring, router, *routes.arrays, packets, cycles=150, backend="numba")
    for free, rounds in ((2 * 5 * one, [5]), (2 * 2 * one, [2, 2, 1]), (1, [1, 1, 1, 1, 1])):
        made.clear()
        as_cupy(free=free)
        same(expected, simulate(wiring, router, *routes.arrays, packets, cycles=150, backend="cupy"))
        assert made == rounds


def test_rounds_are_halved_until_they_fit(as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU that has less room than it said."""
    routes, wiring, router, made = Routes(4, 4), torus_wiring(4, 4), Router(2, 4), []
    packets = uniform(routes, 0.4, 100, 5, [1, 2, 3, 4, 5])
    monkeypatch.setattr(
        gpu, "Round", lambda network, some, Round=gpu.Round: made.append(len(some)) or Round(network, some)
    )
    largest = 6 * 16 * 2 * 8 * 4  # bytes: records of an experiment's input VCs, the largest of its arrays
    as_cupy(memory=3 * largest - 1, free=2**30)
    found = simulate(wiring, router, *routes.arrays, packets, cycles=150, backend="cupy")
    same(simulate(wiring, router, *routes.arrays, packets, cycles=150, backend="numba"), found)
    assert made == [5, 2, 2, 1]


@pytest.mark.parametrize("seed", range(5))
def test_memory_is_told_before_it_is_taken(seed: int, as_cupy: AsCupy) -> None:
    wiring, router, routes, packets = random_case(seed)
    task = checked(wiring, router, *routes, with_messages(seed, len(wiring.to), packets), 10, 0, 10, None)
    as_cupy()
    network = gpu.Network(task)
    for experiment in task.experiments:
        assert experiment.messages is not None
        held = gpu.Round(network, [experiment])
        sizes = {
            "messages": len(experiment.messages.begin),
            "waits": len(experiment.messages.successor),
            "shortest": experiment.shortest,
        }
        told = state_bytes(
            wiring, router, packets=experiment.end - experiment.begin, runs=routes[1].shape[1], backend="cupy", **sizes
        )
        assert told == sum(array.nbytes for array in (*held.of_experiment.values(), *held.of_packets.values()))


def test_out_of_memory(as_cupy: AsCupy) -> None:
    as_cupy(memory=2**10)
    with pytest.raises(
        backend.GpuOutOfMemory,
        match=r"torusweep_kernels.router: expected enough GPU memory, got: .*; make the work smaller",
    ):
        simulate(
            torus_wiring(4, 4),
            Router(2, 4),
            *Routes(4, 4).arrays,
            batch(16, [[(0, 0, 5, 5, 3)]]),
            cycles=10,
            backend="cupy",
        )


def test_source_that_does_not_compile(as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text(cuda.cuda_source(gpu.SOURCE).replace("router.cycle()", "router.undeclared()"))
    monkeypatch.setattr(gpu, "SOURCE", source)
    as_cupy()
    with pytest.raises(
        backend.KernelCompileError, match=r"(?s)torusweep_kernels.router: NVRTC could not compile.*undeclared"
    ):
        simulate(
            torus_wiring(4, 4),
            Router(2, 4),
            *Routes(4, 4).arrays,
            batch(16, [[(0, 0, 5, 5, 3)]]),
            cycles=10,
            backend="cupy",
        )


PASSED_ON = """
extern "C" __global__ void pass_on(int* first, int* second, int rounds) {
    const int self = threadIdx.x, next = (self + 1) % blockDim.x;
    for (int round = 0; round < rounds; ++round) {
        second[self] = first[next];
        if (!__syncthreads_or(self == 3 && round < 2)) return;
        first[self] = second[self];
        __syncthreads_or(0);
    }
}
"""


@pytest.mark.parametrize("backwards", [False, True])
def test_the_stand_ins_threads_wait_for_each_other(backwards: bool, as_cupy: AsCupy) -> None:
    """Five numbers move on by a place in every round, of which the third ends behind its first barrier."""
    cupy = as_cupy(backwards=backwards)
    kernel = cupy.RawModule(code=PASSED_ON, options=()).get_function("pass_on")
    first, second = cupy.arange(5, dtype=np.int32), cupy.zeros(5, np.int32)
    kernel((1,), (5,), (first, second, np.int32(9)))
    assert first.get().tolist() == [2, 3, 4, 0, 1]
    assert second.get().tolist() == [3, 4, 0, 1, 2]


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
