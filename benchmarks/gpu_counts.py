"""Launches of a call, how often the host waits for the device, and what is copied, counted on a stand-in of an H200.

    python -m benchmarks.gpu_counts

Needs no GPU, but the project's extra `test`: the kernels run on the CPU, for minutes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from torusweep.questions.how import How
from torusweep.questions.simulation.parameters import Parameters, RunRequest
from torusweep.questions.simulation.stage import SimulationRequest
from torusweep.questions.stage import LazyNetwork
from torusweep.stages import STAGES
from torusweep_kernels import backend

from benchmarks.gpu_cases import distance, loads, network, random_walks
from benchmarks.gpu_jobs import cells
from benchmarks.gpu_launches import watched
from tests.kernels import fake_cupy

H200 = {"multiprocessors": 132, "cache": 60 * 2**20, "memory": 139 * 2**30}
ROUND = 1 << 20  # packets
TO, FROM = "to the device", "from it"
PATTERNS = "uniform", "transpose", "tornado", "bit_complement"
READS = ("get", "__int__", "__float__")  # of an array on the device, for which the host waits


@contextmanager
def stand_in(folder: Path) -> Iterator[list[tuple[str, int]]]:
    """Receives (TO or FROM, bytes) of each copy; the host waits for those from the device."""
    copies: list[tuple[str, int]] = []
    cupy = fake_cupy.module(folder, **H200)
    asarray = cupy.asarray

    def counted_copy(array: Any) -> Any:
        copies.append((TO, np.asarray(array).nbytes))
        return asarray(array)

    cupy.asarray = counted_copy
    with patch.dict(sys.modules, cupy=cupy):
        backend.gpu_count.cache_clear()
        for name in READS:
            plain = getattr(fake_cupy.DeviceArray, name)

            def counted(array: np.ndarray, plain: Callable[..., object] = plain) -> object:
                copies.append((FROM, array.nbytes))
                return plain(array)

            setattr(fake_cupy.DeviceArray, name, counted)
        yield copies


def simulations(spelling: str, number: int) -> dict[str, Callable[[str, int | None], None]]:
    """So many points of a network, that differ in traffic and seed: each alone, and together, as a sweep's batch."""
    stage, points = STAGES["simulation"], []
    for seed in range(number):
        parameters = Parameters(traffic=PATTERNS[seed % len(PATTERNS)], cycles=500, warm_up=100)
        request = RunRequest(parameters, (0.1,), (seed,)).canonical()
        points.append((LazyNetwork(spelling), SimulationRequest(str(request.parameters.traffic), request.spelled())))

    def one_by_one(name: str, threads: int | None) -> None:
        for point in points:
            stage.rows(*point, How(name, threads=threads))

    def together(name: str, threads: int | None) -> None:
        assert not any(isinstance(rows, Exception) for rows in stage.rows_of_many(points, How(name)))

    called = f"simulation, {number} points of {spelling}"
    return {f"{called}, one by one": one_by_one, f"{called}, together": together}


def main() -> None:
    print(
        cells("call", "launches", "waits", "bytes to the device", "bytes from it"), cells("---", *["--:"] * 4), sep="\n"
    )
    cases = (distance("torus(k=16, n=3)"), distance("torus(k=32, n=3)"), loads("torus(k=16, n=3)", "paths"))
    routers = network((8, 8), 0.3, 500, 64), network((16, 16, 16), 0.05, 200, 1)
    calls = {f"{case.kernel}, {case.name}": case.run for case in (*cases, *routers)}
    for number in (1, 3):
        case = random_walks("torus(k=16, n=3)", number * ROUND, "paths", number)
        calls[f"walks, torus(k=16, n=3), {number} round{'s' * (number > 1)}"] = case.run
    calls |= simulations("torus(k=8, n=2)", 32)
    with tempfile.TemporaryDirectory() as folder, stand_in(Path(folder)) as copies:
        for name, run in calls.items():
            copies.clear()
            with watched() as launches:
                run("cupy", None)
            number = ", ".join(f"{kernel} {count:,}" for kernel, count in launches.counts().items())
            copied = (f"{sum(size for way, size in copies if way == one):,}" for one in (TO, FROM))
            print(cells(name, number, sum(way == FROM for way, _ in copies), *copied), flush=True)


if __name__ == "__main__":
    main()
