"""The pipeline on a GPU, beside Numba: rows of points, loads as a user asks for them, a whole sweep. Jobs of gpu_check.

They need the libraries of a sweep; where these are missing, the job says so.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.gpu_cases import Answer, Case
from benchmarks.gpu_ceilings import fact
from benchmarks.gpu_jobs import ROOT, Row

# points of every stage that uses a GPU, on networks of several kinds
ROWS = """\
sweep: rows
topologies:
  - torus(k=4, n=3)
  - mesh(k=5, n=2)
  - rtt(a=4)
  - ccc(n=3)
  - faulty(torus(k=6, n=2), links=3, nodes=1, seed=1)
  - dragonfly(a=4, p=2, h=2)
loads:
  - {routing: [minimal, minimal_ecmp], traffic: [uniform, hot_region], skip_unsuitable: true}
  - {routing: [minimal, dimension_order], traffic: hot_region, sample: {packets: 100000}, skip_unsuitable: true}
simulation:
  - {loads: [0.1, 0.3], traffic: [uniform, hot_region], cycles: 500, nodes: {to: 64}, skip_unsuitable: true}
  - {families: [torus], saturation_precision: 0.2, cycles: 500}
screen:
  - {family: lattices, dimensions: 2, nodes: {from: 30, to: 40}}
"""
STAGES = ("static", "loads", "simulation", "screen")
NETWORKS = 300  # of the sweep, which has three points of each
SWEEP = """\
sweep: mixed
topologies:
{topologies}loads:
  - {{routing: minimal, traffic: uniform}}
simulation:
  - {{loads: [0.1], cycles: 300, skip_unsuitable: true}}
"""


def alike(stage: str) -> Iterator[Row]:
    """Whether every point of the stage has the same rows, byte for byte, with the GPU and with Numba."""
    from torusweep.questions.how import How
    from torusweep.sweeps.configuration import load
    from torusweep.sweeps.points import rows_of_many
    from torusweep.sweeps.requested_points import requested_points
    from torusweep.tables.parquet import parquet

    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "rows.yaml"
        config.write_text(ROWS)
        points = [point for point in requested_points(load(config)) if point.stage == stage]

    def written(backend: str) -> list[bytes]:
        found = rows_of_many(points, How(backend))
        wrong = [error for error in found if isinstance(error, Exception)]
        if wrong:
            raise wrong[0]
        return [parquet(table, {}) for table in found if isinstance(table, pa.Table)]

    same = written("cupy") == written("numba")
    yield Row("compared", "pipeline", f"{stage}, {len(points)} points", same=same, beside="numba")


def exact(spelling: str) -> Case:
    """Exact loads of uniform traffic, without symmetry."""

    def run(backend: str, threads: int | None) -> Answer:
        from torusweep.networks.families import build
        from torusweep.questions.loads.exact import exact_loads

        return (exact_loads(build(spelling), use_symmetry=False, backend=backend, threads=threads).load,)

    return Case("pipeline", f"exact loads, {spelling}", run, "numba")


def sampled(spelling: str, packets: int) -> Case:
    """Loads of uniform traffic from so many random packets, with their error."""

    def run(backend: str, threads: int | None) -> Answer:
        from torusweep.networks.families import build
        from torusweep.questions.loads.monte_carlo import sampled_loads

        found = sampled_loads(build(spelling), packets=packets, backend=backend, threads=threads)
        assert found.estimate
        return found.load, np.array([found.estimate.stderr, found.estimate.low])

    return Case("pipeline", f"{packets:,} random packets, {spelling}", run, "numba")


def sweep(networks: int = NETWORKS, backends: tuple[str, ...] = ("auto", "numba")) -> Iterator[Row]:
    """A sweep of small networks through Snakemake and Dask, on all cores, with the GPU where `auto` chooses it."""
    from torusweep.networks.families import build  # missing libraries are missed before anything starts

    from benchmarks.overhead import networks as small

    names = small(networks)
    build(names[0])
    written = SWEEP.format(topologies="".join(f'  - "{name}"\n' for name in names))
    for backend in backends:
        with tempfile.TemporaryDirectory() as folder:
            config, command = Path(folder) / "mixed.yaml", Path(folder) / "torusweep"
            config.write_text(written)
            # the steps of a sweep call it by name, and where nothing can be installed there is no such program
            command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m torusweep "$@"\n')
            command.chmod(0o755)
            begin = time.perf_counter()
            done = subprocess.run(
                [command, "run", config, "--results", folder, "--backend", backend],
                cwd=ROOT,
                capture_output=True,
                text=True,
                env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
            )
            seconds = time.perf_counter() - begin
            if done.returncode:
                raise RuntimeError(f"{backend}: {' '.join((done.stdout + done.stderr).strip().splitlines()[-3:])}")
        yield fact(f"sweep of {networks:,} networks, three stages, {backend}", f"{seconds:.1f} s")
