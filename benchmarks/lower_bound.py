"""`python lower_bound.py CONFIG FOLDER`: a sweep's static records on two cores with as little overhead as possible.

It uses neither Snakemake nor Dask, and no protection against faults. Each of two processes has half of the points.
The rest is the pipeline's own: records, shards, tables, page.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import sys
from pathlib import Path
from typing import Any

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before they are loaded
gc.set_threshold(50_000)  # as our own processes


def main(config: Path, folder: Path) -> None:
    """What `torusweep run` leaves in a folder, but for the log."""
    there, here = os.pipe()
    child = os.fork()
    if not child:
        os.close(here)
        importlib.import_module("torusweep.stages")  # while the points are written out
        with os.fdopen(there, "rb") as points:
            half(*pickle.load(points))
        os._exit(0)
    os.close(there)
    from torusweep.sweeps.configuration import load
    from torusweep.sweeps.requested_points import weighed_points

    sweep = load(config)
    requested = list(weighed_points(sweep, folder))
    folder.mkdir(parents=True)
    with os.fdopen(here, "wb") as points:
        pickle.dump((requested[::2], folder, sweep.digest), points)
    half(requested[1::2], folder, sweep.digest)
    if os.waitpid(child, 0)[1]:
        sys.exit("the other process failed")
    from torusweep.cli.run import run_step

    for name in ("points", "static", "distances", "verification", "report", "check"):  # static finds all records there
        run_step(name, config, folder, {})


def half(points: list[Any], folder: Path, digest: str) -> None:
    """Compute these points and leave their shard. digest: the configuration's."""
    from torusweep.run.driver import BatchOptions, run_batch
    from torusweep.sweeps.points import stage_digest

    code = stage_digest("static")
    run_batch(
        points, [point.key for point in points], BatchOptions(str(folder), "numba", True, None, "static", code, digest)
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
