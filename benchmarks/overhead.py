"""A sweep's overhead relative to its records, from the seconds in its shards; and the driver's load with many workers.

A record's seconds cover all that makes a point's row: building the network, the kernels and the Python between them
and, in a worker's first batch, loading compiled code. The overhead is the rest: Snakemake, the start of every step,
reading and expanding the configuration, the cluster, the transfer of batches, shards, tables and the page. Sweeps that
are not counted run first, so that bytecode and compiled kernels exist before the others.

A worker more than there are cores computes nothing faster: beyond these, workers sleep for as long as their points
would take, and processes, scheduler, driver and messages are the real ones.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

from torusweep.all_columns import schema_of
from torusweep.questions.static.stage import StaticRequest
from torusweep.run import driver as sweep
from torusweep.run import workers as cluster
from torusweep.sweeps.configuration.schema import Cluster
from torusweep.sweeps.points import Point
from torusweep.tables.shards import read_shards

from benchmarks.race import Row
from benchmarks.sleeping_batch import NAP, sleeping

POINTS = (100, 1_000, 10_000)
SLEEPERS = (1, 2, 8, 32, 64, 128)
NAPS = 5  # batches a worker
LEAST = ("", ", 8 × 8 tori")  # sweeps beside which stands the least time that they could take


def networks(number: int) -> list[str]:
    """Small different networks: two-dimensional tori with every twist."""
    twisted = (
        f"lattice(matrix=[[{a}, {t}], [0, {b}]])"
        for size in itertools.count(3)
        for a, b in frames(size)
        for t in range(a)
    )
    return list(itertools.islice(twisted, number))


def frames(size: int) -> list[tuple[int, int]]:
    return [*((size, b) for b in range(3, size)), *((a, size) for a in range(3, size + 1))]


def in_a_line(number: int, torus: str = "torus(k=4, n=2)") -> str:
    """A sweep of small networks as a range: tori, each with two other links cut."""
    return f'  - {{family: faulty, topology: "{torus}", links: 2, seed: {{from: 0, to: {number - 1}}}}}\n'


def one_by_one(number: int) -> str:
    """A sweep of small networks as a list."""
    return "".join(f'  - "{name}"\n' for name in networks(number))


def sweeps(workers: Sequence[int] = (1, 2)) -> Iterator[Row]:
    """A row for each number of points and workers.

    ratio: wall time over the seconds of the records, divided evenly among the workers; 1 without overhead.
    """
    for many in workers:  # one worker has all threads, of two each has half: other searches, to be compiled before
        _swept(in_a_line(POINTS[0]), many)
    cases = [(points, many, in_a_line(points), "") for points, many in itertools.product(POINTS, workers)]
    cases += [(POINTS[-1], many, in_a_line(POINTS[-1], "torus(k=8, n=2)"), ", 8 × 8 tori") for many in workers]
    cases.append((POINTS[-1], workers[-1], in_a_line(POINTS[-1], "torus(k=8, n=3)"), ", 8³ tori"))
    cases += [(POINTS[-1], many, one_by_one(POINTS[-1]), ", other networks, listed") for many in workers]
    for points, many, written, how in cases:
        wall, records = _swept(written, many)
        yield row(
            "sweep", f"{many} worker{'s' * (many > 1)}{how}", points, wall, points, "points", wall / (records / many)
        )
        if many == 2 and points == POINTS[-1] and how in LEAST:
            wall, records = _swept(written, 0)
            yield {
                **row("sweep", f"2 workers{how}", points, wall, points, "points", wall / (records / 2)),
                "contender": "the least there could be",
            }


def _swept(topologies: str, workers: int) -> tuple[float, float]:
    """(wall time of a sweep, seconds of its records, all workers together).

    workers: 0 for two processes without Snakemake and Dask (lower_bound.py).
    """
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "small.yaml"
        config.write_text(f"sweep: small\ntopologies:\n{topologies}")
        command = [
            str(Path(sys.executable).parent / "torusweep"),
            "run",
            str(config),
            "--results",
            folder,
            "--workers",
            str(workers),
        ]
        if not workers:
            command = [
                sys.executable,
                "-m",
                "benchmarks.lower_bound",
                str(config),
                str(Path(folder) / "small"),
            ]
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        }  # or every step compiles all again
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment, cwd=Path(__file__).parent.parent)
        wall = time.perf_counter() - begin
        shards = read_shards(Path(folder) / "small", "static", schema_of("static")).whole
    return wall, sum(float(shard.origin["seconds"]) for shard in shards)


def scaling() -> Iterator[Row]:
    """Weak scaling: each number of sleepers has the same number of batches per sleeper.

    ratio: wall time, without the start of the workers, over the time of the naps alone.
    """
    options = sweep.BatchOptions("", "numba", True, None, "static", "", "")
    # multiprocessing would import the main module in every worker
    main = vars(sys.modules["__main__"])
    main.pop("__file__", None)
    main["__spec__"] = None
    with cluster.connect(Cluster(workers=1), backend=options.backend, tasks=1):
        pass  # what workers are forked from is there now
    for sleepers in SLEEPERS:
        points = [Point("static", name, StaticRequest()) for name in networks(sleepers * NAPS)]
        settings = Cluster(workers=sleepers, batch_seconds=NAP)
        begin = time.perf_counter()
        with cluster.connect(settings, backend=options.backend, tasks=len(points)) as workers:
            started = time.perf_counter() - begin
            with (
                patch.object(sweep, "run_batch", sleeping),
                patch.object(cluster, "connect", lambda *_, **__: nullcontext(workers)),
            ):
                begin = time.perf_counter()
                sweep.compute(dict.fromkeys(points, NAP), {}, options, settings)
                wall = time.perf_counter() - begin
        yield {
            **row("scheduler", f"{sleepers} sleeping", sleepers, wall, sleepers * NAPS, "batches", wall / (NAP * NAPS)),
            "note": f"there after {started:.1f} s",
        }


def row(benchmark: str, case: str, nodes: int, seconds: float, work: float, unit: str, ratio: float) -> Row:
    measured = {"seconds": seconds, "rate": work / seconds, "ratio": ratio, "ratio_low": ratio, "ratio_high": ratio}
    return {
        "benchmark": benchmark,
        "case": case,
        "nodes": nodes,
        "contender": "torusweep",
        "unit": f"{unit}/s",
        "note": "",
        **measured,
    }
