"""A batch that computes nothing, in a module of its own because every worker imports it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from torusweep.run.driver import BatchOptions, BatchResult
from torusweep.sweeps.points import Point

NAP = 2.0  # seconds, as long as batches are by default


def sleeping(points: Sequence[Point], keys: Sequence[str], options: BatchOptions) -> BatchResult:
    """In the place of `run_batch`."""
    time.sleep(NAP)
    return BatchResult("", len(points), NAP, [])
