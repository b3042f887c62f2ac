"""Launches and memory of the simulation's GPU code, without a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torusweep_kernels import backend, cuda
from torusweep_kernels.router import Router, gpu, simulate, state_bytes
from torusweep_kernels.router.checks import checked

from tests.kernels.router_cases import Routes, batch, random_case, same, torus_wiring, uniform, with_messages
from tests.kernels.router_on_gpu import AsCupy, played


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
