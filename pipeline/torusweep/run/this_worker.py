"""The Dask worker whose task this process runs, where it runs one; a process without Dask does not import it here."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import Any

from torusweep import __version__
from torusweep.run.tasks import GPU_LOST
from torusweep.stages import STAGES
from torusweep.sweeps.points import stage_digest

LAST_WORDS_SECONDS = 1.0  # in which the scheduler must hear why a worker ends itself


def _worker() -> Any | None:
    """Dask's worker, which another one replaces when it ends; None where this process is none."""
    if "distributed" not in sys.modules:  # which takes long to import, and a worker has imported
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


def is_worker() -> bool:
    """Whether this process is a worker."""
    return _worker() is not None


def threads_of_worker() -> int | None:
    """Threads that a task may use where it runs; None = all: it runs in no worker, so there is nobody to share with."""
    named = os.environ.get("NUMBA_NUM_THREADS")
    if named:
        return int(named)
    return 1 if is_worker() else None


def number_of_worker() -> int:
    """The number that ends a worker's name, as Dask names local workers and those of Slurm jobs and of `dask worker
    --name`; of a worker without a name, which Dask names by its address, its port. 0 where this is no worker.
    """
    worker = _worker()
    number = re.search(r"[0-9]+$", str(worker.name)) if worker is not None else None
    return int(number[0]) if number else 0


def end_worker(why: str) -> None:
    """End this worker's process, which cannot go on. Its nanny starts another; its batch is that of a dead worker.

    why  completes "a worker …"
    """
    worker = _worker()
    assert worker is not None
    worker.log_event(GPU_LOST, {"why": why})
    time.sleep(LAST_WORDS_SECONDS)
    os._exit(1)


def code_version() -> str:
    """Version and code digests of the stages in this process, as 0.1.0 (code 1a2b3c4d, …)."""
    codes = dict.fromkeys(stage_digest(stage)[:12] for stage in STAGES)
    return f"{__version__} (code {', '.join(codes)})"
