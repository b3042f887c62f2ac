"""Launches and memory of the simulation's GPU code, without a GPU."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torusweep_kernels import cuda
from torusweep_kernels.router import Router, gpu, gpu_state, simulate, state_bytes
from torusweep_kernels.router.checks import checked

from tests.kernels import fake_cupy, nvrtc
from tests.kernels.router_cases import Routes, random_case, same, torus_wiring, uniform, with_messages
from tests.kernels.router_on_gpu import AsCupy, played

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("manner", "grid", "block", "launches", "kernel"),
    [
        ({}, 2, 32, 3, "shared"),  # 16 nodes fill half a warp; two experiments, in windows of 100 cycles
        ({"IN_SHARED": 0}, 2, 32, 3, "alone"),
        ({"shared": 13_312}, 2, 32, 3, "shared"),  # what a state takes
        ({"shared": 13_311}, 2, 32, 3, "alone"),
        # as many blocks at once as experiments: each has its block, of a whole warp at least
        ({"THREADS": 8, "SHARED_THREADS": 5, "multiprocessors": 3}, 2, 32, 3, "shared"),
        # two blocks for each have no more threads than its own block would
        ({"THREADS": 10, "SHARED_THREADS": 5, "multiprocessors": 2}, 2, 32, 3, "shared"),
        # four blocks for each, as its nodes need; three, as run at once
        ({"THREADS": 8, "SHARED_THREADS": 5, "multiprocessors": 10}, 8, 5, 3, "together"),
        ({"THREADS": 8, "SHARED_THREADS": 5, "multiprocessors": 7}, 6, 5, 3, "together"),
        # a multiprocessor runs eight warps of 255 registers a thread, four for each; of 32 registers 16, eight for each
        ({"THREADS": 8, "SHARED_THREADS": 1, "registers": 255}, 2, 32, 3, "shared"),
        ({"THREADS": 7, "SHARED_THREADS": 1, "registers": 32}, 16, 1, 3, "together"),
        ({"WINDOW": 30}, 2, 32, 12, "shared"),  # 30, 30, 30, 10 cycles
    ],
)
def test_launches(
    manner: dict[str, int],
    grid: int,
    block: int,
    launches: int,
    kernel: str,
    as_cupy: AsCupy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    routes, made = Routes(4, 4), []
    launch = fake_cupy.RawModule.launch

    def counted(
        module: fake_cupy.RawModule, name: str, grid: int, block: int, arguments: tuple[Any, ...], shared_words: int
    ) -> None:
        assert (shared_words > 0) == (name == "advance_in_shared")
        made.append((grid, block, "shared" if shared_words else "together" if module.cooperative else "alone"))
        assert len(arguments) == 6
        launch(module, name, grid, block, arguments, shared_words)

    monkeypatch.setattr(fake_cupy.RawModule, "launch", counted)
    packets = uniform(routes, 0.9, 300, 5, [1, 2])
    with played(as_cupy, **manner):
        found = simulate(
            torus_wiring(4, 4), Router(2, 4), *routes.arrays, packets, cycles=300, stall=100, backend="cupy"
        )
    assert found.ran.tolist() == [300, 300]
    assert made == [(grid, block, kernel)] * launches


@pytest.mark.parametrize(("registers", "blocks"), [(32, 32), (255, 8)])
def test_a_launch_of_fewer_blocks_than_asked_for_gives_the_same(
    registers: int, blocks: int, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CuPy makes a cooperative launch smaller where not all of its blocks run at once, and warns. 12 experiments then
    have two blocks each, or a block has one or two of them."""
    routes = Routes(4, 4)
    packets = uniform(routes, 0.9, 60, 5, list(range(12)))
    how: dict[str, Any] = {"cycles": 90, "stall": 50}
    case = torus_wiring(4, 4), Router(2, 4), *routes.arrays, packets
    expected = simulate(*case, **how, backend="numba")
    monkeypatch.setattr(gpu.Network, "at_once", lambda network: 2**20)
    with (
        played(as_cupy, THREADS=1, SHARED_THREADS=1, registers=registers),
        pytest.warns(UserWarning, match=f"The grid size will be reduced from 192 to {blocks}"),
    ):
        same(expected, simulate(*case, **how, backend="cupy"))


STRUCTS = "Vc", "Out", "Channel", "Node", "Packet", "Message", "Port", "Experiment", "Network", "Round"


@pytest.mark.parametrize("struct", STRUCTS)
def test_structs_have_the_layout_that_the_compilers_give_them(struct: str, as_cupy: AsCupy, tmp_path: Path) -> None:
    """C++ through the stand-in; and NVRTC, which refuses a false assertion."""
    ours = gpu_state.structure(struct)
    assert ours.names
    names, offsets = ours.names, [ours.fields[name][1] for name in ours.names] if ours.fields else []
    records = (gpu_state.SOURCE.parent / "records.cuh").read_text()
    stores = [f"found[{i}] = __builtin_offsetof({struct}, {name});" for i, name in enumerate(names)]
    code = f"""{records}
extern "C" __global__ void layout(int* found) {{ {" ".join(stores)} found[{len(names)}] = sizeof({struct}); }}"""
    cupy = as_cupy()
    found = cupy.zeros(len(names) + 1, np.int32)
    cupy.RawModule(code=code, options=()).get_function("layout")((1,), (1,), (found,))
    assert found.get().tolist() == [*offsets, ours.itemsize]
    for size in (ours.itemsize, ours.itemsize + 1):
        asserted = [
            f'static_assert(__builtin_offsetof({struct}, {name}) == {offset}, "");'
            for name, offset in zip(names, offsets, strict=True)
        ]
        source = tmp_path / "layout.cu"
        source.write_text("\n".join([records, *asserted, f'static_assert(sizeof({struct}) == {size}, "");']))
        log, machine_code = nvrtc.compile_for(13, 90, source, cuda.OPTIONS)
        assert bool(machine_code) == (size == ours.itemsize), log


def test_a_structs_fields_are_checked(as_cupy: AsCupy) -> None:
    cupy = as_cupy()
    numbers = dict.fromkeys(("undelivered", "longest", "arrived"), 1)
    with pytest.raises(ValueError, match="Experiment: expected undelivered, longest, arrived, begun, got undelivered"):
        gpu_state.filled("Experiment", numbers)
    with pytest.raises(OverflowError):
        gpu_state.filled("Experiment", numbers | {"begun": 2**31})
    network: dict[str, Any] = dict.fromkeys(gpu_state.structure("Network").names or (), 1)
    with pytest.raises(TypeError, match=r"Network\.far: expected an array of int, got int64"):
        gpu_state.filled("Network", network | {"far": cupy.zeros(3, np.int64)})


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
    task = checked(wiring, router, *routes.arrays, packets, 150, 0, 150, None)
    _, largest = gpu_state.parts(wiring, router, min(one.shortest for one in task.experiments))  # bytes of a state
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
        assert told == sum(array.nbytes for array in (held.state, *held.of_packets.values()))


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


MET = """
extern "C" __global__ void meet(int* arrived, int* found) {
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile int*)arrived < (int)gridDim.x) __nanosleep(20);
    }
    __syncthreads();
    found[blockIdx.x * blockDim.x + threadIdx.x] = *arrived;
}
"""
ALONE = """
import sys
from pathlib import Path
import numpy as np
from tests.kernels import fake_cupy
from tests.kernels.test_router_launches import MET
cupy = fake_cupy.module(Path(sys.argv[1]))
kernel = cupy.RawModule(code=MET, options=()).get_function("meet")
kernel((2,), (3,), (cupy.zeros(1, np.int32), cupy.zeros(6, np.int32)))
"""


@pytest.mark.parametrize("backwards", [False, True])
def test_the_stand_ins_blocks_wait_for_each_other_in_a_cooperative_launch(backwards: bool, as_cupy: AsCupy) -> None:
    cupy = as_cupy(backwards=backwards)
    kernel = cupy.RawModule(code=MET, options=(), enable_cooperative_groups=True).get_function("meet")
    arrived, found = cupy.zeros(1, np.int32), cupy.zeros(15, np.int32)
    kernel((5,), (3,), (arrived, found))
    assert found.get().tolist() == [5] * 15


def test_the_stand_ins_blocks_do_not_wait_for_each_other_in_another_launch(built: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ALONE, str(built)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == -signal.SIGABRT, done.stderr
    assert "3 of 3 threads sleep for ever" in done.stderr
