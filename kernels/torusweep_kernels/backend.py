"""The choice of array library and device. Only this module looks for a GPU.

`LARGE` in the `__init__.py` of a kernel's folder is the size from which `auto` uses a GPU.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from types import ModuleType
from typing import Any

import numpy as np

BACKENDS = ("auto", "numpy", "numba", "cupy")


class BackendUnavailable(Exception):
    """The requested backend cannot run here; the message says why and what to do."""


class GpuOutOfMemory(MemoryError):
    """The GPU's memory is too small even for the smallest block of a kernel."""


class GpuLost(RuntimeError):
    """CUDA failed for another reason than memory. Such errors last: this process cannot use its GPU any more."""


class KernelCompileError(Exception):
    """NVRTC could not compile a kernel; the message names the kernel and contains the compiler's log."""


@cache
def gpu_count() -> int:
    """Number of GPUs that CuPy can use; 0 without CuPy, driver or device."""
    try:
        return int(importlib.import_module("cupy").cuda.runtime.getDeviceCount())
    except Exception:  # ImportError, or a missing or incompatible driver: no usable GPU
        return 0


def share_gpus(worker: int) -> None:
    """Make kernels of this process use GPU number `worker` modulo the number of GPUs, not CuPy's current device."""
    _worker[:] = [worker]


_worker: list[int] = []


def gpu_number() -> int | None:
    """The GPU that `share_gpus` gave to this process; None for CuPy's current device."""
    return _worker[0] % gpu_count() if _worker and gpu_count() else None


@contextmanager
def resolved_backends() -> Iterator[set[str]]:
    """Yield a set that collects the backends of kernels called in the `with` block, in any thread."""
    found: set[str] = set()
    _observers.append(found)
    try:
        yield found
    finally:
        _observers[:] = [other for other in _observers if other is not found]


_observers: list[set[str]] = []


def backends_run(backend: str, resolved: set[str]) -> set[str]:
    """The backends of calls with `backend`, given those that they resolved to."""
    return (resolved or {"numba"}) if backend == "auto" else {backend}


def backend_of_calls(backend: str) -> str:
    """The backend to call kernels of this process with: auto only if there is a GPU for which each call decides.

    Raises as `resolve`.
    """
    return "auto" if backend == "auto" and gpu_count() else resolve(backend)


def resolve(backend: str, *, large: bool = False) -> str:
    """The backend of one call of a kernel: auto becomes cupy for a large call where there is a GPU, otherwise numba.

    large  whether a GPU would be faster than a core, despite milliseconds of transfers and launches, and other
           processes that may share it

    Raises BackendUnavailable for cupy without a GPU, ValueError for an unknown name.
    """
    if backend not in BACKENDS:
        raise ValueError(f"expected a backend of {', '.join(BACKENDS)}, got {backend!r}")
    if backend == "auto":
        backend = "cupy" if large and gpu_count() else "numba"
    if backend == "numba":
        _listen()
    if backend == "cupy" and not gpu_count():
        raise BackendUnavailable(
            "backend cupy: expected a GPU that CuPy can use, found none;"
            " install the project's extra gpu12 or gpu13, or use --backend auto, which falls back to the CPU"
        )
    for observer in _observers:
        observer.add(backend)
    return backend


def when_compiling(tell: Callable[[], None]) -> None:
    """Call `tell` once, when Numba first compiles a function that is not in its cache, which takes seconds."""
    _waiting[:] = [tell]


@cache
def numba() -> Any:
    """Numba, which obeys its environment variables and no file of the working folder.

    Numba reads `.numba_config.yaml` there when it is imported, and again for each function that it compiles; the file
    may name a cache, whose pickles are then loaded. It reads none if it finds no reader of YAML when it is imported.
    If the program has imported Numba before, nothing changes.
    """
    yaml = sys.modules.get("yaml")
    sys.modules["yaml"] = None  # type: ignore[assignment]  # Python's way to say that there is none
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = importlib.import_module("numba")
    finally:
        del sys.modules["yaml"]
        if yaml is not None:
            sys.modules["yaml"] = yaml
    warnings.filterwarnings("ignore", "A Numba config file is found but YAML")
    return made


_waiting: list[Callable[[], None]] = []
_one_at_a_time = Lock()  # several threads may begin with a kernel


def _listen() -> None:
    """Numba is imported anyway from here on."""
    with _one_at_a_time:
        if not _waiting:
            return
        event = numba().core.event
        tell = _waiting.pop()

        class Once(event.Listener):  # type: ignore[name-defined, misc]  # a module imported by name
            def on_start(self, _: Any) -> None:
                event.unregister("numba:compile", self)
                tell()

            def on_end(self, _: Any) -> None:
                """Numba's interface requires this method."""

        event.register("numba:compile", Once())


def array_module(backend: str) -> ModuleType | Any:
    """NumPy, or CuPy for the backend cupy: the library in which reference kernels run."""
    return importlib.import_module("cupy" if backend == "cupy" else "numpy")


def implementation(package: str, backend: str) -> ModuleType:
    """The module of a kernel package for a resolved backend. Others are not imported: CuPy may be missing."""
    names = {"numba": "cpu", "cupy": "gpu", "numpy": "reference"}
    return importlib.import_module(f"{package}.{names[backend]}")


def host(array: Any) -> np.ndarray:
    """A NumPy or CuPy array as a NumPy array."""
    return array.get() if hasattr(array, "get") else array


def backends_and_device(ran: set[str]) -> tuple[str, str]:
    """The backends and devices that computed, such as ("cupy, numba", "NVIDIA H200")."""
    return ", ".join(sorted(ran)), device_name("cupy" if "cupy" in ran else "numba")


def device_name(backend: str) -> str:
    """Name of the device that a resolved backend uses, for the manifest."""
    if backend != "cupy":
        return "cpu"
    cupy = importlib.import_module("cupy")
    number = gpu_number()
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id if number is None else number)
    return properties["name"].decode()
