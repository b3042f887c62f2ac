"""Launches of kernels, counted and timed one by one, while a `with` block runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from torusweep_kernels import cuda
from torusweep_kernels.backend import array_module


class Launches:
    """events: kernel's name → (begin, end) of each launch, as events of CUDA."""

    def __init__(self) -> None:
        self.cupy = array_module("cupy")
        self.events: dict[str, list[tuple[Any, Any]]] = {}

    def counts(self) -> dict[str, int]:
        return {name: len(pairs) for name, pairs in self.events.items()}

    def seconds_of_each(self) -> dict[str, float]:
        """What the launches of each kernel took on the device, together. Waits for the device."""
        self.cupy.cuda.runtime.deviceSynchronize()
        elapsed = self.cupy.cuda.get_elapsed_time  # milliseconds
        return {name: sum(elapsed(*pair) for pair in pairs) / 1e3 for name, pairs in self.events.items()}


class Watched:
    """A kernel whose launches are recorded; its attributes are the kernel's."""

    def __init__(self, kernel: Any, name: str, launches: Launches) -> None:
        vars(self).update(kernel=kernel, name=name, launches=launches)

    def __call__(self, *arguments: Any, **options: Any) -> None:
        event = self.launches.cupy.cuda.Event
        begin, end = event(), event()
        begin.record()
        self.kernel(*arguments, **options)
        end.record()
        self.launches.events.setdefault(self.name, []).append((begin, end))

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self.kernel, attribute)

    def __setattr__(self, attribute: str, value: Any) -> None:
        setattr(self.kernel, attribute, value)


@contextmanager
def watched() -> Iterator[Launches]:
    """The launches of all kernels of this process, of all packages."""
    launches, kernels = Launches(), cuda.Gpu.kernels

    def wrapped(gpu: cuda.Gpu, source: Any, *names: str, **how: Any) -> list[Any]:
        return [Watched(kernel, name, launches) for kernel, name in zip(kernels(gpu, source, *names, **how), names)]

    with patch.object(cuda.Gpu, "kernels", wrapped):
        yield launches
