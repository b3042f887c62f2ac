"""The process that local workers are forked from: started, and what it is born with. It imports what they need (torusweep.run.forked).

This module imports little, so that `torusweep run` can start it before everything else.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from multiprocessing import forkserver, resource_tracker
from typing import Any

# Dask would have glibc return every freed page at once, and a third of a worker's time goes into getting them back: as glibc does by itself, at most
MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)}
# a worker's linear algebra keeps to its own core: more threads than cores wait for each other by turning round
ONE_THREAD = dict.fromkeys(
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"], "1"
)
# they bring the run's own, and Tornado would load the system's in each of them with the first connection, three hundredths of a second
NO_CERTIFICATES = {"SSL_CERT_FILE": os.devnull}
# the environment of local workers; of Dask, which would put it there itself, the seed, by which sets have one order in all of them
BORN_WITH = {
    **ONE_THREAD,
    **MALLOC,
    "PYTHONHASHSEED": "6640",
    "PYTHONSAFEPATH": "1",  # they import what we would, not what lies in the working directory
    **NO_CERTIFICATES,
}
SERVER: Any = forkserver._forkserver  # type: ignore[attr-defined]  # the standard library's, of this process
FEW_SECONDS = 3.0  # estimated; workers take longer to start than so little takes to compute in the step itself


def few(settings: Any, seconds: float) -> bool:
    """Whether points of so many estimated seconds are too few for workers that nobody asked for. settings: the configuration's cluster section."""
    return bool(settings.workers == "auto" and seconds < FEW_SECONDS)


def ready() -> bool:
    """Start the process that local workers are forked from, unless it is there; it imports what they need while we go on.

    False where it cannot be: it listens on a socket in the folder of temporary files, whose path may be too long for one.
    """
    try:
        with signals_blocked(), environment(BORN_WITH):
            forkserver.set_forkserver_preload(["torusweep.run.forked"])
            SERVER.ensure_running()
    except OSError:
        return False
    return True


def share() -> None:
    """Let workers be forked from the process that this one was forked from.

    CPython would start another one; and does where that one wants a key of whoever asks (3.14).
    """
    if hasattr(SERVER, "_forkserver_authkey"):
        return
    origin = os.getppid()

    def ensure_running() -> None:
        if os.getppid() != origin:  # it was killed
            del SERVER.ensure_running
            SERVER.ensure_running()

    SERVER.ensure_running = ensure_running


def shared() -> bool:
    """Whether workers are forked from the process that this one was forked from."""
    return "ensure_running" in vars(SERVER)


@contextlib.contextmanager
def signals_blocked() -> Iterator[None]:
    """Threads and processes started meanwhile never see Ctrl-C or SIGTERM, which terminals and batch systems send to all.

    A worker ends its batch first, and is stopped by its nanny, or by the end of this process.
    """
    resource_tracker.ensure_running()  # or multiprocessing starts it at the first worker, and unblocks these signals then
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Our environment with these variables, for what is started meanwhile: Snakemake has put all cores in some."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
