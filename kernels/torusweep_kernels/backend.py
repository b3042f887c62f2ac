"""Choose the array library and the device of a kernel. No other module looks for a GPU.

`LARGE` in the `__init__.py` of a kernel's folder is the size from which the backend auto uses a GPU.
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
    """An error that says that the requested backend cannot run here. The message gives the reason and a remedy."""


class GpuOutOfMemory(MemoryError):
    """An error that says that the GPU's memory is too small even for the smallest block of a kernel."""


class GpuLost(RuntimeError):
    """An error of CUDA for another reason than memory. It lasts: this process cannot use its GPU again."""


class KernelCompileError(Exception):
    """An error of NVRTC, which could not compile a kernel. The message names the kernel and has the compiler's log."""


@cache
def gpu_count() -> int:
    """Return the number of GPUs that CuPy can use; 0 if CuPy, the driver or a device is missing."""
    try:
        return int(importlib.import_module("cupy").cuda.runtime.getDeviceCount())
    except Exception:  # ImportError, or a missing or incompatible driver: no usable GPU
        return 0


def share_gpus(worker: int) -> None:
    """Make this process's kernels use GPU number `worker` modulo the number of GPUs, not CuPy's current device."""
    _worker[:] = [worker]


_worker: list[int] = []


def gpu_number() -> int | None:
    """Return the number of the GPU that `share_gpus` chose for this process; None for CuPy's current device."""
    return _worker[0] % gpu_count() if _worker and gpu_count() else None


@contextmanager
def resolved_backends() -> Iterator[set[str]]:
    """Yield a set that collects the backends of all kernels called in the `with` block, in any thread."""
    found: set[str] = set()
    _observers.append(found)
    try:
        yield found
    finally:
        _observers[:] = [other for other in _observers if other is not found]


_observers: list[set[str]] = []


def backends_run(backend: str, resolved: set[str]) -> set[str]:
    """Return the backends that calls with `backend` used, given the set `resolved` from `resolved_backends`."""
    return (resolved or {"numba"}) if backend == "auto" else {backend}


def backend_of_calls(backend: str) -> str:
    """Return the backend to name in this process's kernel calls: auto is kept only if there is a GPU.

    Each call then decides by its size. Raises what `resolve` raises.
    """
    return "auto" if backend == "auto" and gpu_count() else resolve(backend)


def resolve(backend: str, *, large: bool = False) -> str:
    """Return the backend of one kernel call. auto becomes cupy for a large call if there is a GPU, otherwise numba.

    large  whether a GPU would be faster than a core, despite milliseconds of transfers and launches, and although other
           processes may share it

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


def resolve_on_cpu(backend: str) -> str:
    """Return the backend of a kernel without a GPU version: numba for cupy. Raises what `resolve` raises."""
    chosen = resolve(backend)
    return resolve("numba") if chosen == "cupy" else chosen


def when_compiling(tell: Callable[[], None]) -> None:
    """Set a function to call once, when Numba first compiles anything that is not in its cache, which takes seconds."""
    _waiting[:] = [tell]


@cache
def numba() -> Any:
    """Import Numba so that it obeys its environment variables, but no file of the working folder.

    On import, and again for each function that it compiles, Numba reads `.numba_config.yaml` in the working folder.
    That file may name a cache, whose pickles are then loaded. Numba reads no such file if it finds no YAML reader on
    import. If the program has imported Numba before, nothing changes.
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
    """Make Numba report its first compilation to the function given to `when_compiling`."""
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
                """Do nothing; Numba's interface requires this method."""

        event.register("numba:compile", Once())


def array_module(backend: str) -> ModuleType | Any:
    """Return the library in which reference kernels run: CuPy for the backend cupy, otherwise NumPy."""
    return importlib.import_module("cupy" if backend == "cupy" else "numpy")


def implementation(package: str, backend: str) -> ModuleType:
    """Import the module of a kernel package for a resolved backend, and no other, since CuPy may be missing."""
    names = {"numba": "cpu", "cupy": "gpu", "numpy": "reference"}
    return importlib.import_module(f"{package}.{names[backend]}")


def host(array: Any) -> np.ndarray:
    """Return a NumPy or CuPy array as a NumPy array."""
    return array.get() if hasattr(array, "get") else array


def backends_and_device(ran: set[str]) -> tuple[str, str]:
    """Return the names of the backends that ran and of the device, as in ("cupy, numba", "NVIDIA H200")."""
    return ", ".join(sorted(ran)), device_name("cupy" if "cupy" in ran else "numba")


def device_name(backend: str) -> str:
    """Return the name of the device that a resolved backend uses, for the manifest."""
    if backend != "cupy":
        return "cpu"
    cupy = importlib.import_module("cupy")
    number = gpu_number()
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id if number is None else number)
    return properties["name"].decode()
