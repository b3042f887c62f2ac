"""What can be known about the loads' GPU code without a GPU: widths, launches, errors; that it compiles is tested for
all sources."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from torusweep_kernels import backend
from torusweep_kernels.loads import SPLITS, Channels, gpu, minimal_loads, network, reference
from torusweep_kernels.loads.order import order

from tests.kernels import oracle

AsCupy = Callable[..., ModuleType]


def torus() -> np.ndarray:
    """256 nodes, with 7 channels each: loads are no whole numbers."""
    return np.concatenate([oracle.torus(16, 16), np.random.default_rng(1).integers(0, 256, (256, 3))], axis=1)


@pytest.mark.parametrize(
    ("device", "lanes"),
    [
        ({"cache": 2**30}, 256),  # no more lanes than roots
        ({"cache": 2**10}, 32),  # not below 32 for the cache's sake
        ({"cache": 2**19}, 71),  # as the cache holds: blocks end within shares
        ({"cache": 2**30, "free": 2 * 5 * 36 * 256}, 5),  # as half of the free memory holds
        ({"cache": 2**30, "free": 1}, 1),
        ({"cache": 2**30, "multiprocessors": 132}, 256),  # more threads than nodes and lanes
    ],
)
def test_widths_and_launches(
    device: dict[str, int], lanes: int, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = minimal_loads(torus(), np.arange(256), backend="numba")
    used = []
    make_room = gpu.Network.make_room
    monkeypatch.setattr(gpu.Network, "make_room", lambda self, lanes: used.append(lanes) or make_room(self, lanes))
    as_cupy(**device)
    found = minimal_loads(torus(), np.arange(256), backend="cupy")
    assert found.load.tolist() == expected.load.tolist()
    assert found[1:4] == expected[1:4]
    assert used == [lanes]


@pytest.mark.parametrize("backend_name", ["numba", "cupy"])
def test_channels_are_derived_and_copied_once(
    backend_name: str, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_cupy()
    derived, copied = [], []
    derive, copy = network.derived, gpu.Network.on_device
    monkeypatch.setattr(network, "derived", lambda task: derived.append(1) or derive(task))
    monkeypatch.setattr(gpu.Network, "on_device", lambda self, side: copied.append(1) or copy(self, side))
    kept, links = Channels(), np.random.default_rng(2).integers(1, 4, torus().shape)
    turned = np.roll(torus(), 1, axis=0)
    calls: list[dict[str, Any]] = [
        *({"ports": torus(), "roots": roots} for roots in (np.arange(0, 100), np.arange(100, 256))),
        *({"ports": turned}, {"ports": turned, "split": "next-hops"}, {"ports": torus(), "capacity": links}),
        *({"ports": torus(), "capacity": links % 3 + 1}, {"ports": torus()}),
    ]
    for call in calls:
        how = {"roots": np.arange(256), "backend": backend_name} | call
        found, alone = minimal_loads(**how, channels=kept), minimal_loads(**how)
        assert found.load.tobytes() == alone.load.tobytes()
        assert found[1:4] == alone[1:4]
    others = 6  # networks, each unlike the one before
    assert len(derived) == others + len(calls)
    assert len(copied) == (2 * (others + len(calls)) if backend_name == "cupy" else 0)


@pytest.mark.parametrize("length", [1, 15, 16, 17, 32, 33])
def test_as_many_levels_as_are_launched_at_once(length: int, as_cupy: AsCupy) -> None:
    as_cupy()
    line = np.append(np.arange(1, length + 1), -1)[:, None]  # the last of length + 1 nodes is `length` links away
    found = minimal_loads(line, np.zeros(1), backend="cupy")
    assert found.load[:, 0].tolist() == list(range(length, -1, -1))


@pytest.mark.parametrize("split", SPLITS)
def test_reference_runs_in_cupy_too(split: str, as_cupy: AsCupy) -> None:
    expected = minimal_loads(torus(), np.arange(256), split=split, backend="numpy")
    ports, roots = torus().astype(np.int32), np.arange(256, dtype=np.int32)
    task = network.Task(
        ports,
        roots,
        np.ones(256),
        network.Ways(split == "next-hops", split == "next-hops"),
        np.ones(256),
        None,
        order(ports, roots),
    )
    load, _, totals = reference.loads(task, xp=as_cupy())
    assert load.reshape(ports.shape).tolist() == expected.load.tolist()
    assert totals.hops.sum() == expected.hops


def test_out_of_memory(as_cupy: AsCupy) -> None:
    as_cupy(memory=2**12)
    with pytest.raises(
        backend.GpuOutOfMemory,
        match=r"torusweep_kernels.loads: expected enough GPU memory, got: .*; make the work smaller",
    ):
        minimal_loads(oracle.torus(40, 40), np.arange(1600), backend="cupy")


def test_source_that_does_not_compile(as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text('extern "C" __global__ void reach(int* here) { undeclared = 1; }')
    monkeypatch.setattr(gpu, "SOURCE", source)
    as_cupy()
    with pytest.raises(
        backend.KernelCompileError, match=r"(?s)torusweep_kernels.loads: NVRTC could not compile.*undeclared"
    ):
        minimal_loads(oracle.torus(4), np.arange(4), backend="cupy")


@pytest.mark.gpu
@pytest.mark.skipif(not backend.gpu_count(), reason="needs a GPU that CuPy can use; none found here")
@pytest.mark.parametrize("split", SPLITS)
def test_a_real_gpu_gives_the_same_bits(split: str) -> None:
    rng = np.random.default_rng(1)
    nodes, roots = 2000, 3000
    task: dict[str, Any] = {
        "ports": rng.integers(-1, nodes, (nodes, 3)),
        "roots": rng.integers(0, nodes, roots),
        "weights": rng.random(roots),
    }
    task |= {"demand": rng.random((roots, nodes)), "capacity": rng.integers(1, 4, (nodes, 3))}
    here, there = (minimal_loads(**task, split=split, backend=name) for name in ("numba", "cupy"))
    assert here.load.tolist() == there.load.tolist()
    assert here[1:4] == there[1:4]
