"""What can be known about the loads' GPU code without a GPU: widths, launches, errors; that it compiles is tested for
all sources."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from torusweep_kernels import backend
from torusweep_kernels.loads import SPLITS, Channels, gpu, minimal_loads, network
from torusweep_kernels.loads.reference import order

from benchmarks.gpu_launches import watched
from tests.kernels import oracle

AsCupy = Callable[..., ModuleType]


def torus() -> np.ndarray:
    """256 nodes, with 7 channels each: loads are no whole numbers."""
    return np.concatenate([oracle.torus(16, 16), np.random.default_rng(1).integers(0, 256, (256, 3))], axis=1)


ROW = (8 + 8 + 3 * 2) * 256 + 8 * 7 * 256 // 16  # bytes of a lane; 16 roots have a sum of each channel
DISTANCES = 2 * 256 + 256 // 8 + 12  # bytes that a block shares at least


@pytest.mark.parametrize(
    ("device", "rows", "lanes"),
    [
        ({}, 2**30, 256),  # no more lanes than roots
        ({}, 71 * ROW, 64),  # as `rows` holds, the same number for each of 32 blocks
        ({"registers": 168}, 71 * ROW, 60),  # of 12 blocks: launches end within shares
        ({}, 1, 32),  # one for each block at least
        ({"multiprocessors": 132}, 71 * ROW, 256),
        ({"free": 2 * 31 * ROW}, 71 * ROW, 31),  # fewer than blocks
        ({"free": 2 * 5 * ROW}, 2**30, 5),  # as half of the free memory holds
        ({"free": 1}, 2**30, 1),
        ({"multiprocessors": 132}, 2**30, 256),  # room for more blocks than lanes
        ({"registers": 128}, 2**30, 256),
    ],
)
def test_widths_and_launches(
    device: dict[str, int], rows: int, lanes: int, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = minimal_loads(torus(), np.arange(256), backend="numba")
    used = []
    make_room = gpu.Network.make_room
    monkeypatch.setattr(gpu, "ROWS", rows)
    monkeypatch.setattr(gpu.Network, "make_room", lambda self, lanes: used.append(lanes) or make_room(self, lanes))
    as_cupy(**device)
    found = minimal_loads(torus(), np.arange(256), backend="cupy")
    assert found.load.tolist() == expected.load.tolist()
    assert found[1:4] == expected[1:4]
    assert used == [lanes]


def test_launches_do_not_grow_with_levels_or_roots(as_cupy: AsCupy) -> None:
    as_cupy()
    for ports in (oracle.torus(64), oracle.torus(16, 16)):
        with watched() as launches:
            minimal_loads(ports, np.arange(len(ports)), backend="cupy")
        assert launches.counts() == {"search": 1, "total_up": 1, "add_up": 1, "add_shares": 1}


@pytest.mark.parametrize(
    ("shared", "gathered", "index"),
    [
        (227 * 2**10, True, np.uint16),
        (2 * (8 * 256 + DISTANCES) + 1024, True, np.uint16),  # two blocks, each of which takes 1,024 bytes more
        (2 * (8 * 256 + DISTANCES) + 1023, False, np.uint16),
        (DISTANCES, False, np.uint16),
        (DISTANCES - 1, False, np.int32),
    ],
)
def test_what_a_block_shares(shared: int, gathered: bool, index: Any, as_cupy: AsCupy) -> None:
    as_cupy(shared=shared)
    ports, roots = torus().astype(np.int32), np.arange(256, dtype=np.int32)
    how = network.Ways(False, False)
    task = network.Task(ports, roots, np.ones(256), how, np.ones(256), None, order(ports, roots))
    found = gpu.Network(task)
    assert (found.gathered, found.index) == (gathered, index)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("constants", [{}, {"GATHERING": 10**9}, {"MOST_NARROW": 0}, {"OF_THREAD": 1}])
def test_what_a_block_shares_changes_nothing(
    constants: dict[str, int], split: str, exact: bool, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in constants.items():
        monkeypatch.setattr(gpu, name, value)
    rng = np.random.default_rng(3)
    task: dict[str, Any] = {"ports": torus(), "roots": rng.integers(0, 256, 40), "weights": rng.random(40)}
    task |= {"demand": rng.random((40, 256)), "capacity": rng.integers(1, 4, (256, 7)), "exact": exact}
    as_cupy(backwards=True)
    here, there = (minimal_loads(**task, split=split, backend=name) for name in ("numpy", "cupy"))
    assert there.load.tolist() == here.load.tolist()
    assert there[1:4] == here[1:4]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("roots", [8, 9, 40, 1100])  # shares of 1, 16, 16 and 32
@pytest.mark.parametrize("lanes", [1, 3, 16, 31, 33])
def test_shares_that_launches_divide(
    roots: int, lanes: int, exact: bool, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(roots)
    task: dict[str, Any] = {"ports": rng.integers(-1, 30, (30, 2)), "roots": rng.integers(0, 30, roots)}
    task |= {"weights": rng.random(roots), "demand": rng.random(30), "exact": exact}
    as_cupy()
    monkeypatch.setattr(gpu.Network, "lanes", lambda self: lanes)
    here, there = (minimal_loads(**task, backend=name) for name in ("numpy", "cupy"))
    assert there.load.tolist() == here.load.tolist()
    assert there[1:4] == here[1:4]


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


@pytest.mark.parametrize("length", [0, 1, 15, gpu.MOST_NARROW - 1, gpu.MOST_NARROW, 200_000])
def test_as_many_levels_as_nodes(length: int, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    as_cupy()
    monkeypatch.setattr(gpu, "MOST_THREADS", 32)
    monkeypatch.setattr(gpu, "ALONE", 32)
    line = np.append(np.arange(1, length + 1), -1)[:, None]  # the last of length + 1 nodes is `length` links away
    found = minimal_loads(line, np.zeros(1), backend="cupy")
    assert found.load[:, 0].tolist() == list(range(length, -1, -1))
    assert found.hops == length * (length + 1) / 2


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
