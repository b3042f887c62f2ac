"""Launches of a call, and how often the host waits for the device in it, counted on a stand-in of an H200.

    python -m benchmarks.gpu_counts

Needs no GPU, but the project's extra `test`: the kernels run on the CPU, for minutes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
from torusweep.networks.families import build
from torusweep_kernels import backend
from torusweep_kernels.walks import Searches, shortest_walks

from benchmarks.gpu_cases import distance, loads, network
from benchmarks.gpu_jobs import cells
from benchmarks.gpu_launches import watched
from tests.kernels import fake_cupy

H200 = {"multiprocessors": 132, "cache": 60 * 2**20, "memory": 139 * 2**30}
ROUND = 1 << 20  # packets
READS = ("get", "__int__", "__float__")  # of an array on the device, for which the host waits


@contextmanager
def stand_in(folder: Path) -> Iterator[list[str]]:
    """Receives an element for each time that the host waits for results."""
    waits: list[str] = []
    with patch.dict(sys.modules, cupy=fake_cupy.module(folder, **H200)):
        backend.gpu_count.cache_clear()
        for name in READS:
            plain = getattr(fake_cupy.DeviceArray, name)

            def counted(array: np.ndarray, plain: Callable[..., object] = plain, name: str = name) -> object:
                waits.append(name)
                return plain(array)

            setattr(fake_cupy.DeviceArray, name, counted)
        yield waits


def rounds_of_walks(number: int) -> Callable[[str, int | None], None]:
    """The rounds of an experiment in torus(k=16, n=3)."""

    def run(name: str, threads: int | None) -> None:
        ports, searches = build("torus(k=16, n=3)").ports, Searches()
        for done in range(number):
            start, destination = np.random.default_rng(done).integers(0, len(ports), (2, ROUND), np.int32)
            shortest_walks(ports, start, destination, first=done * ROUND, backend=name, searches=searches)

    return run


def main() -> None:
    print(cells("call", "launches", "waits"), cells("---", "--:", "--:"), sep="\n")
    cases = (distance("torus(k=16, n=3)"), distance("torus(k=32, n=3)"), loads("torus(k=16, n=3)", "paths"))
    routers = network((8, 8), 0.3, 500, 64), network((16, 16, 16), 0.05, 200, 1)
    calls = {f"{case.kernel}, {case.name}": case.run for case in (*cases, *routers)}
    calls |= {f"walks, torus(k=16, n=3), {number} rounds": rounds_of_walks(number) for number in (1, 3)}
    with tempfile.TemporaryDirectory() as folder, stand_in(Path(folder)) as waits:
        for name, run in calls.items():
            waits.clear()
            with watched() as launches:
                run("cupy", None)
            number = ", ".join(f"{kernel} {count:,}" for kernel, count in launches.counts().items())
            print(cells(name, number, len(waits)), flush=True)


if __name__ == "__main__":
    main()
