"""Which backend runs, and what is said where it cannot."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from torusweep_kernels import backend, cuda, distance, loads, walks

from tests.kernels import fake_cupy


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if CuPy were not installed."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(backend, "gpu_count", lambda: 0)


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu() -> None:
    assert [backend.resolve(name) for name in ("auto", "numba", "numpy")] == ["numba", "numba", "numpy"]
    with pytest.raises(
        backend.BackendUnavailable,
        match=r"expected a GPU that CuPy can use, found none; install .* or use --backend auto",
    ):
        backend.resolve("cupy")
    assert backend.array_module("numba") is np
    assert backend.device_name("numba") == "cpu"


def test_probing_survives_a_missing_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)  # makes its import fail
    backend.gpu_count.cache_clear()
    assert backend.gpu_count() == 0
    backend.gpu_count.cache_clear()


def test_with_a_gpu(as_cupy: Callable[..., ModuleType]) -> None:
    cupy = as_cupy()
    names = "auto", "cupy", "numba", "numpy"
    assert [backend.resolve(name) for name in names] == ["numba", "cupy", "numba", "numpy"]
    assert [backend.resolve(name, large=True) for name in names] == ["cupy", "cupy", "numba", "numpy"]
    assert [backend.backend_of_calls(name) for name in names] == list(names)
    assert backend.array_module("cupy") is cupy
    assert backend.device_name("cupy") == "a processor that plays a GPU"


@pytest.mark.usefixtures("no_gpu")
def test_a_large_call_without_a_gpu() -> None:
    assert backend.resolve("auto", large=True) == "numba"
    assert backend.backend_of_calls("auto") == "numba"
    with pytest.raises(backend.BackendUnavailable, match="found none"):
        backend.backend_of_calls("cupy")


def test_processes_share_the_gpus(as_cupy: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker n has GPU n modulo their number; without a number it is CuPy's current one."""
    cupy = as_cupy(devices=3)
    monkeypatch.setattr(backend, "_worker", [])
    cupy.cuda.Device(2).use()
    assert (backend.gpu_number(), cuda.Gpu().number) == (None, 2)
    for worker, number in ((0, 0), (4, 1), (5, 2), (43127, 2)):
        backend.share_gpus(worker)
        assert (backend.gpu_number(), cuda.Gpu().number, cupy.cuda.Device().id) == (number, number, number)


def test_a_process_without_gpus_has_no_number(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_worker", [5])
    assert backend.gpu_number() is None


def test_what_kernels_ran_on_is_recorded_in_all_threads(as_cupy: Callable[..., ModuleType]) -> None:
    as_cupy()
    with backend.resolved_backends() as outer:
        with backend.resolved_backends() as inner, ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda large: backend.resolve("auto", large=large), [True, False]))
        backend.resolve("numpy")
    backend.resolve("cupy")
    assert (inner, outer) == ({"cupy", "numba"}, {"cupy", "numba", "numpy"})
    assert backend.backends_run("auto", inner) == {"cupy", "numba"}
    assert backend.backends_run("auto", set()) == {"numba"}
    assert backend.backends_run("cupy", inner) == {"cupy"}
    assert backend.backends_and_device({"cupy", "numba"}) == ("cupy, numba", "a processor that plays a GPU")
    assert backend.backends_and_device({"numpy"}) == ("numpy", "cpu")


def calls(size: int) -> dict[str, Callable[[], object]]:
    """Each kernel that chooses between CPU and GPU, with work of this size in the unit of its LARGE."""
    ring = np.array([[1, 2], [2, 0], [0, 1]], np.int32)
    nodes = np.resize(np.arange(3), size // 3).astype(np.int32)  # roots × 3 nodes
    packets = np.zeros(size, np.int32)
    return {
        "distance": lambda: distance.all_pairs_distance(ring, nodes, nodes),
        "loads": lambda: loads.minimal_loads(ring, nodes),
        "walks": lambda: walks.shortest_walks(ring, packets, packets + 1),
    }


@pytest.mark.parametrize("name", calls(3))
def test_auto_decides_call_by_call(
    name: str, as_cupy: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_cupy()
    module = {"distance": distance, "loads": loads, "walks": walks}[name]
    monkeypatch.setattr(module, "LARGE", 30)
    for size, expected in ((27, {"numba"}), (30, {"cupy"})):
        with backend.resolved_backends() as ran:
            calls(size)[name]()
        assert ran == expected, size


def test_a_matrix_of_demands_has_a_limit_of_its_own(
    as_cupy: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_cupy()
    monkeypatch.setattr(loads, "LARGE", 9)
    monkeypatch.setattr(loads, "LARGE_MATRIX", 10)
    ring, roots = np.array([[1, 2], [2, 0], [0, 1]], np.int32), np.arange(3, dtype=np.int32)
    for demand, expected in ((np.ones(3), {"cupy"}), (np.ones((3, 3)), {"numba"})):
        with backend.resolved_backends() as ran:
            loads.minimal_loads(ring, roots, demand=demand)
        assert ran == expected


ERRORS = {
    "pool": (fake_cupy.OutOfMemoryError("no room"), backend.GpuOutOfMemory),
    "runtime's memory": (fake_cupy.CUDARuntimeError(2), backend.GpuOutOfMemory),
    "driver's memory": (fake_cupy.CUDADriverError(2), backend.GpuOutOfMemory),
    "illegal address": (fake_cupy.CUDARuntimeError(700), backend.GpuLost),
    "launch failed": (fake_cupy.CUDADriverError(719), backend.GpuLost),
    "no headers": (RuntimeError("Failed to find CUDA headers. Please install them"), backend.KernelCompileError),
    "ours": (ValueError("a defect"), ValueError),
    "ours at run time": (RuntimeError("a defect"), RuntimeError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_cuda(name: str, as_cupy: Callable[..., ModuleType]) -> None:
    as_cupy()
    error, expected = ERRORS[name]
    with pytest.raises(expected) as raised, cuda.gpu_errors("a kernel"):
        raise error
    assert type(raised.value) is expected


@pytest.mark.parametrize(("name", "widths"), [("driver's memory", [8, 4, 2, 1]), ("illegal address", [8])])
def test_only_memory_is_tried_again_with_less(name: str, widths: list[int], as_cupy: Callable[..., ModuleType]) -> None:
    as_cupy()
    tried: list[int] = []

    def run(width: int) -> None:
        tried.append(width)
        raise ERRORS[name][0]

    with pytest.raises(fake_cupy.CudaError):
        cuda.halve_until_it_fits(8, run)
    assert tried == widths


@pytest.mark.skipif(
    not (Path("/dev/nvidia0").exists() and importlib.util.find_spec("cupy")), reason="no GPU, or no CuPy, here"
)
def test_a_gpu_that_is_there_is_found() -> None:
    """Else every test that needs one would be skipped."""
    backend.gpu_count.cache_clear()
    assert backend.gpu_count() > 0


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match="expected a backend of auto, numpy, numba, cupy, got 'cuda'"):
        backend.resolve("cuda")


def test_threads_that_begin_together_listen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of them is still importing Numba's events while the others come."""
    registered: list[str] = []
    events = SimpleNamespace(Listener=object, register=lambda kind, _: registered.append(kind))

    def slow() -> SimpleNamespace:
        time.sleep(0.05)
        return SimpleNamespace(core=SimpleNamespace(event=events))

    monkeypatch.setattr(backend, "numba", slow)
    backend.when_compiling(lambda: None)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: backend.resolve("numba"), range(4))) == ["numba"] * 4
    assert registered == ["numba:compile"]
