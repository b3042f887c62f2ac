"""A GPU that has less room than it said: blocks are halved until they fit, with the same result (row 30 of the table of
faults). One without any room, and sources that do not compile, are refused by each kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from torusweep_kernels import backend, cuda
from torusweep_kernels.distance import all_pairs_distance
from torusweep_kernels.distance import gpu as distance_gpu
from torusweep_kernels.loads import gpu as loads_gpu
from torusweep_kernels.loads import minimal_loads
from torusweep_kernels.pairs import draw_pairs, pair_tables
from torusweep_kernels.pairs import gpu as pairs_gpu
from torusweep_kernels.router import Router, simulate
from torusweep_kernels.router import gpu as router_gpu
from torusweep_kernels.walks import gpu as walks_gpu
from torusweep_kernels.walks import shortest_walks

from tests.kernels import oracle
from tests.kernels.router_cases import Routes, batch, torus_wiring

NODES = 256
TORUS = np.concatenate([oracle.torus(16, 16), np.random.default_rng(1).integers(0, NODES, (NODES, 3))], axis=1)


def distances(backend: str) -> Any:
    return all_pairs_distance(TORUS, np.arange(NODES), np.arange(NODES) % 3, backend=backend).histogram


def loads(backend: str) -> Any:
    return minimal_loads(TORUS, np.arange(NODES), backend=backend).load


def walks(backend: str) -> Any:
    start, destination = np.random.default_rng(2).integers(0, NODES, (2, 5000))
    return shortest_walks(TORUS, start, destination, np.arange(5000) % 3, groups=3, seed=5, backend=backend).count


@pytest.mark.parametrize(
    ("kernel", "module", "memory", "widths"),
    [
        # bytes of the largest array at each width: distances 2·16·257 a piece of 128 sources; loads 8·256 a root; walks
        # 4·256·7 a destination
        (distances, distance_gpu, 8224 * 3, [4, 2]),
        (loads, loads_gpu, 2048 * 100, [256, 128, 64]),
        (walks, walks_gpu, 7168 * 100, [256, 128, 64]),
    ],
)
def test_blocks_are_halved_until_they_fit(
    kernel: Callable[[str], Any],
    module: ModuleType,
    memory: int,
    widths: list[int],
    as_cupy: Callable[..., ModuleType],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = []
    make_room = module.Network.make_room
    monkeypatch.setattr(
        module.Network, "make_room", lambda self, width, *rest: used.append(width) or make_room(self, width, *rest)
    )
    monkeypatch.setattr(cuda, "AHEAD", 2)  # counters of many levels would be larger than the blocks
    as_cupy(cache=2**30, memory=memory, free=2**30)
    assert kernel("cupy").tolist() == kernel("numpy").tolist()
    assert used == widths


def pairs(backend: str) -> Any:
    return draw_pairs(pair_tables(np.ones(NODES), np.ones(NODES), [], [], []), 0, 5000, 1, backend=backend)


def router(backend: str) -> Any:
    packets = batch(16, [[(0, 0, 5, 5, 3)]])
    return simulate(torus_wiring(4, 4), Router(2, 4), *Routes(4, 4).arrays, packets, cycles=10, backend=backend)


KERNELS = {
    "distance": (distances, distance_gpu),
    "loads": (loads, loads_gpu),
    "walks": (walks, walks_gpu),
    "pairs": (pairs, pairs_gpu),
    "router": (router, router_gpu),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_gpu_without_room(name: str, as_cupy: Callable[..., ModuleType]) -> None:
    as_cupy(memory=2**10)
    said = rf"torusweep_kernels.{name}: expected enough GPU memory, got: .*; make the work smaller"
    with pytest.raises(backend.GpuOutOfMemory, match=said):
        KERNELS[name][0]("cupy")


@pytest.mark.parametrize("name", KERNELS)
def test_a_source_that_does_not_compile(
    name: str, as_cupy: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel, module = KERNELS[name]
    source = tmp_path / "wrong.cu"
    source.write_text('extern "C" __global__ void wrong(int* here) { undeclared = 1; }')
    monkeypatch.setattr(module, "SOURCE", source)
    as_cupy()
    said = rf"(?s)torusweep_kernels.{name}: NVRTC could not compile.*undeclared"
    with pytest.raises(backend.KernelCompileError, match=said):
        kernel("cupy")
