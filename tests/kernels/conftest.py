"""A GPU that is none, for the host code of gpu.py and the text of .cu files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from torusweep_kernels import backend

from tests.kernels import fake_cupy


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kernels compiled as C++ are kept, by a digest of their source: for all sessions and all workers."""
    folder = tmp_path_factory.getbasetemp().parent / "cuda_shim"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def as_cupy(monkeypatch: pytest.MonkeyPatch, built: Path) -> Iterator[Callable[..., ModuleType]]:
    """as_cupy(multiprocessors=…, cache=…, memory=…) puts a fake CuPy with such a device in CuPy's place."""

    def put(**device: int) -> ModuleType:
        cupy = fake_cupy.module(built, **device)
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        forget()
        return cupy

    def forget() -> None:
        backend.gpu_count.cache_clear()

    yield put
    monkeypatch.undo()
    forget()
