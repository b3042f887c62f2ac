"""Which array library computes, and on which device. The only place that looks for a GPU."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

Result = TypeVar("Result")

BACKENDS = ("auto", "numpy", "numba", "cupy")


class BackendUnavailable(Exception):
    """The backend asked for cannot run here; the message says why and what to do."""


class GpuOutOfMemory(MemoryError):
    """The GPU's memory cannot hold even the least that a kernel needs at once."""


class KernelCompileError(Exception):
    """NVRTC refused a kernel's source; the message names the kernel and holds the compiler's log."""


def cuda_source(source: Path) -> str:
    """A .cu file's text with its folder's headers, or this one's, in place of their #include lines.

    So NVRTC needs no search path, and CuPy, which keys its cache by the text, compiles anew when a header changes.
    """

    def header(line: re.Match[str]) -> str:
        own = source.with_name(line[1])
        return (own if own.exists() else Path(__file__).with_name(line[1])).read_text()

    return re.sub(r'^#include "(\w+\.cuh)"$', header, source.read_text(), flags=re.MULTILINE)


@contextmanager
def gpu_errors(kernel: str) -> Iterator[None]:
    """CuPy's errors under our names, so that callers need not import CuPy to tell them apart."""
    cupy = importlib.import_module("cupy")
    try:
        yield
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise GpuOutOfMemory(
            f"{kernel}: expected enough GPU memory, got: {error}; make the work smaller, or use --backend numba"
        ) from error
    except cupy.cuda.compiler.CompileException as error:
        raise KernelCompileError(f"{kernel}: NVRTC could not compile its CUDA source:\n{error}") from error


def halved(width: int, run: Callable[[int], Result]) -> Result:
    """run(width), and where the GPU's memory turns out too small for it, since others may use it too, with half the width, down to 1."""
    cupy = importlib.import_module("cupy")
    while True:
        try:
            return run(width)
        except cupy.cuda.memory.OutOfMemoryError:
            if width == 1:
                raise
        width //= 2
        cupy.get_default_memory_pool().free_all_blocks()


@cache
def gpu_count() -> int:
    """GPUs that CuPy can use; 0 where there is no CuPy, no driver or no device."""
    try:
        return int(importlib.import_module("cupy").cuda.runtime.getDeviceCount())
    except Exception:  # ImportError, a missing driver, an incompatible one: all mean none
        return 0


def resolve(backend: str) -> str:
    """The backend that will run: auto becomes cupy where a GPU is, numba elsewhere.

    Raises BackendUnavailable for cupy without a GPU, ValueError for an unknown name.
    """
    if backend not in BACKENDS:
        raise ValueError(f"expected a backend of {', '.join(BACKENDS)}, got {backend!r}")
    if backend == "auto":
        backend = "cupy" if gpu_count() else "numba"
    if backend == "numba":
        _listen()
    if backend == "cupy" and not gpu_count():
        raise BackendUnavailable(
            "backend cupy: expected a GPU that CuPy can use, found none;"
            " install the project's extra gpu12 or gpu13, or use --backend auto, which falls back to the CPU"
        )
    return backend


def when_compiling(tell: Callable[[], None]) -> None:
    """Have `tell` called once, when Numba first compiles what its cache on disk does not have, which takes seconds."""
    _waiting[:] = [tell]


_waiting: list[Callable[[], None]] = []


def _listen() -> None:
    """Numba is imported anyway from here on."""
    if not _waiting:
        return
    event = importlib.import_module("numba.core.event")
    tell = _waiting.pop()

    class Once(event.Listener):  # type: ignore[name-defined]
        def on_start(self, _: Any) -> None:
            event.unregister("numba:compile", self)
            tell()

        def on_end(self, _: Any) -> None:
            """Numba wants one."""

    event.register("numba:compile", Once())


def array_module(backend: str) -> ModuleType | Any:
    """NumPy, or CuPy for the backend cupy: the library in which reference kernels run."""
    return importlib.import_module("cupy" if backend == "cupy" else "numpy")


def device_name(backend: str) -> str:
    """The device that a resolved backend computes on, for the manifest."""
    if backend != "cupy":
        return "cpu"
    cupy = importlib.import_module("cupy")
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return properties["name"].decode()
