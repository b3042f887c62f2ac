"""The simulation's GPU code without a GPU, in several manners, beside the CPU's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from torusweep_kernels.router import Batch, Router, Simulated, Wiring, gpu, simulate

from tests.kernels.router_cases import same

AsCupy = Callable[..., ModuleType]
SLOW = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
# as they are, in shared memory; several blocks an experiment, all at the same time, from the last thread on; blocks
# smaller than the network, in the device's memory; short windows, each with a copy of the state
MANNERS: dict[str, dict[str, int]] = {
    "a block an experiment": {},
    "all blocks all experiments": {"THREADS": 1, "SHARED_THREADS": 3, "multiprocessors": 9, "backwards": 1},
    "threads of several nodes": {"THREADS": 2, "IN_SHARED": 0, "backwards": 1},
    "short windows": {"WINDOW": 7},
}


@contextmanager
def played(as_cupy: AsCupy, **manner: int) -> Iterator[None]:
    """A GPU of that manner, and blocks and windows of those sizes."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("THREADS", "SHARED_THREADS", "WINDOW", "IN_SHARED"):
            patch.setattr(gpu, name, manner.pop(name, getattr(gpu, name)))
        as_cupy(**manner)
        yield


def compared(
    as_cupy: AsCupy,
    wiring: Wiring,
    router: Router,
    routes: Any,
    packets: Batch,
    *,
    manners: Any = MANNERS,
    than: str = "numpy",
    **options: Any,
) -> Simulated:
    """The outcome on the CPU, after the GPU code's has been found equal in every manner."""
    expected = simulate(wiring, router, *routes, packets, backend=than, **options)
    for manner in manners:
        with played(as_cupy, **MANNERS[manner]):
            same(expected, simulate(wiring, router, *routes, packets, backend="cupy", **options))
    return expected
