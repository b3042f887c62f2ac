"""Which backend runs, and what is said where it cannot."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from torusweep_kernels import backend


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
    assert [backend.resolve(name) for name in ("auto", "cupy", "numba", "numpy")] == ["cupy", "cupy", "numba", "numpy"]
    assert backend.array_module("cupy") is cupy
    assert backend.device_name("cupy") == "a processor that plays a GPU"


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match="expected a backend of auto, numpy, numba, cupy, got 'cuda'"):
        backend.resolve("cuda")


def test_threads_that_begin_together_listen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of them is still importing Numba's events while the others come."""
    registered: list[str] = []
    events = SimpleNamespace(Listener=object, register=lambda kind, _: registered.append(kind))

    def slow(_: str) -> SimpleNamespace:
        time.sleep(0.05)
        return events

    monkeypatch.setattr(backend.importlib, "import_module", slow)
    backend.when_compiling(lambda: None)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: backend.resolve("numba"), range(4))) == ["numba"] * 4
    assert registered == ["numba:compile"]
