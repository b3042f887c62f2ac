"""The machine of a benchmark: its description, and the times of two loops, which are recorded with the figures."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

import numpy as np
from torusweep.tables.provenance import software
from torusweep_kernels.backend import device_name, gpu_count

TABLE = 1 << 22  # int32: 16 MiB
GATHERS = 1 << 24


def described() -> dict[str, str]:
    """The machine, its load, versions, and seconds of the calibration loops."""
    made = software()
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "",
    )
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": made["commit"],
        "cpu": f"{model or platform.processor()}, {len(os.sched_getaffinity(0))} cores",
        "gpu": device_name("cupy") if gpu_count() else "none",
        "python": made["python"],
        "packages": ", ".join(f"{name} {version}" for name, version in made["packages"].items()),
        "load before": f"{os.getloadavg()[0]:.1f}",
        "plain Python loop": f"{plain_loop():.3f} s",
        "random gathers": f"{random_gathers():.3g} a second",
    }


def plain_loop() -> float:
    """CPU seconds of five million additions in plain Python."""
    begin = time.process_time()
    total = 0
    for i in range(5_000_000):
        total += i & 3
    return time.process_time() - begin


def random_gathers() -> float:
    """Numbers gathered per second, in random order, from 16 MiB by one thread: what a walk does at every hop."""
    rng = np.random.default_rng(1)
    table, places = rng.integers(0, 1 << 30, TABLE, np.int32), rng.integers(0, TABLE, GATHERS)
    found = np.empty(GATHERS, np.int32)
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        np.take(table, places, mode="clip", out=found)
        seconds.append(time.process_time() - begin)
    return GATHERS / min(seconds)
