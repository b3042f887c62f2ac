"""Which backend runs, and what is said where it cannot."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

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
