"""Start and connect workers, which share the GPUs: local processes, Slurm jobs, or those of an existing Dask scheduler.

Only this module, torusweep.run.slurm and torusweep.run.tasks import Dask. The driver sees only `Workers`: places for
tasks, tasks to submit, and their outcomes.

Every connection is encrypted with certificates that are made for this run. Local workers listen on the loopback
address only; otherwise another user of the machine could run code in our workers.
"""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import logging
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
import psutil
from distributed import Client, Nanny, Scheduler
from distributed.deploy.spec import SpecCluster
from distributed.security import Security
from distributed.utils import silence_logging_cmgr
from torusweep_kernels.backend import resolve

from torusweep.errors import BadInput
from torusweep.run.consent import trusted
from torusweep.run.slurm import LOOPBACK, START_SECONDS, refusal, submitted, wait_for_worker
from torusweep.run.tasks import Patience, Workers, code_version
from torusweep.sweeps.forecast import usable_cores

RENEWALS = 3  # times that Slurm jobs are submitted again when all workers are gone
CONNECT_SECONDS = 5
LEAST_MEMORY = 1.1  # times what a worker takes when it starts, that it must be allowed: at 0.95 of it, it is stopped
JOIN_SECONDS = {"local": 120, "scheduler": 60}
# files open at once: pipes and sockets of a local worker (11, as counted), connections to one elsewhere (2), all others
FILES_PER_WORKER, FILES_PER_GUEST, FILES = 12, 3, 64
# Dask's profiler and monitors interrupt the workers, and nobody looks at what they find
UNWATCHED = {
    "distributed.worker.profile.enabled": False,  # 5 % of the time of small points
    "distributed.admin.tick.interval": "1s",  # of every event loop; by default 20 ms, 2.5 % of the time
    "distributed.admin.system-monitor.interval": "10s",
}
# The environment of workers. BLAS with more threads than cores oversubscribes them; Dask has glibc return every freed
# page at once, which costs a third of a worker's time, so these are glibc's own limits; workers bring their
# certificates, and Tornado would load the system's; and they import nothing from the working directory.
ENVIRONMENT = {
    **dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"], "1"),
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
    "SSL_CERT_FILE": os.devnull,
    "PYTHONSAFEPATH": "1",
}


@contextlib.contextmanager
def connect(settings: Any, *, backend: str, tasks: int) -> Iterator[Workers]:
    """Start or join the workers that a `cluster` section requests, and check them; end them after the `with` block.

    settings  the configuration's cluster section (torusweep.sweeps.configuration)
    tasks     largest number of tasks, which also limits the number of local workers
    Raises BadInput in one line if no worker can be had, or if a worker runs other code.
    """
    # Dask's client abandons requests to lost workers, which asyncio reports when they are collected, even at exit
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        stack.enter_context(silence_logging_cmgr(logging.CRITICAL))  # what goes wrong is said once, in one line, by us
        folder = str(stack.enter_context(private_folder(Path(tempfile.gettempdir()))))
        stack.enter_context(dask.config.set({**_configuration(settings), "temporary-directory": folder}))
        patience = Patience(settings.worker_ttl_seconds)
        if settings.scheduler:
            description = f"the Dask scheduler {settings.scheduler}"
            client = stack.enter_context(_join(settings))
            started = f'dask worker {settings.scheduler} --nworkers -1 --nthreads 1 --name "$(hostname)-$$"'
            advice = f"start workers with {started} and the scheduler's TLS files, or check their log"
            _wait_for_workers(client, 1, JOIN_SECONDS["scheduler"], advice)
            _check_code(client, settings.scheduler)
        elif settings.slurm:
            count = settings.slurm.jobs
            description = f"{count} Slurm jobs"
            home = stack.enter_context(private_folder(Path.home()))  # which the nodes of clusters share
            jobs = stack.enter_context(contextlib.closing(submitted(settings, home, of_jobs())))
            _open_files(FILES_PER_GUEST * count * settings.slurm.cores)
            client = stack.enter_context(Client(jobs))
            wait_for_worker(client, jobs, count)
            _check_code(client, "Slurm")
            patience = Patience(
                settings.worker_ttl_seconds,
                lambda: jobs.scale(jobs=len(jobs.worker_spec) + count),
                (START_SECONDS,) * RENEWALS,
                lambda: refusal(jobs, count),
            )
        else:
            stack.enter_context(_environment())
            resolve(backend)  # refused before any worker starts
            cluster, count = _local(settings, tasks, folder, stack)
            description = f"{count} local worker{'s' * (count > 1)}"
            client = stack.enter_context(Client(cluster, set_as_default=False))
            advice = "ask for fewer with --workers, or for none with --workers 0"
            _wait_for_workers(client, count, JOIN_SECONDS["local"], advice)
            patience = Patience(max(settings.worker_ttl_seconds, JOIN_SECONDS["local"]))  # nannies start them again
        yield Workers(client, description, patience)


@contextlib.contextmanager
def private_folder(parent: Path) -> Iterator[Path]:
    """Make a folder that only this user can read, for a `with` block, and remove such folders of killed runs.

    The name has the machine's name and the process's number, by which a later run sees whether the process is gone.
    """
    ours = f".torusweep-{socket.gethostname()}-"
    for left in parent.glob(f"{glob.escape(ours)}*"):
        number = left.name.removeprefix(ours).partition("-")[0]
        with contextlib.suppress(OSError):
            if number.isdigit() and left.stat().st_uid == os.getuid() and not psutil.pid_exists(int(number)):
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{ours}{os.getpid()}-", dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def of_jobs() -> dict[str, str]:
    """Return the environment variables of workers that are jobs: one thread, ENVIRONMENT, and Dask's settings."""
    dasks = {
        f"DASK_{name}".upper().replace(".", "__").replace("-", "_"): str(value) for name, value in UNWATCHED.items()
    }
    return {"NUMBA_NUM_THREADS": "1", **ENVIRONMENT, **dasks}


def _configuration(settings: Any) -> dict[str, Any]:
    """Return the Dask configuration of the schedulers and workers that this process starts."""
    return {
        "distributed.scheduler.allowed-failures": 0,  # a death is reported at once, and the driver splits the batch
        "distributed.scheduler.worker-ttl": settings.worker_ttl_seconds / 2,  # checked as often: that long at most
        # after which a nanny without its worker is dismissed; on a busy machine a worker takes longer than Dask's 15 s
        "distributed.deploy.lost-worker-timeout": 600,
        "distributed.nanny.pre-spawn-environ": {},  # ENVIRONMENT instead: Dask lets variables win that are set
        **UNWATCHED,
        # the nanny stops a worker at its limit; a paused one would wait for memory that its libraries keep
        **{f"distributed.worker.memory.{level}": False for level in ("target", "spill", "pause")},
    }


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Set ENVIRONMENT for workers that a `with` block starts; Snakemake's makes libraries use all cores."""
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block Ctrl-C and SIGTERM in threads and processes that start in a `with` block, as a terminal signals all.

    A worker first finishes its batch. Then its nanny stops it, or the end of this process does.
    """
    resource_tracker.ensure_running()  # multiprocessing would start it with the first worker, and unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def local_workers(settings: Any, tasks: int) -> list[dict[str, str]]:
    """Return the environment of each local worker, one per core or as many as configured. They may share a GPU."""
    cores, most = usable_cores(settings), _most_workers()
    asked = min(cores, most) if settings.workers == "auto" else settings.workers
    count = max(1, min(asked, tasks))
    if count > most:
        raise BadInput(
            f"cluster.workers: expected {most} or fewer, for which this process may have enough files open"
            f" ({FILES_PER_WORKER} each), got {count};"
            " ask for fewer with --workers, or raise the limit that 'ulimit -Hn' shows"
        )
    # our kernels' threads: one a worker; where there are fewer workers than cores, they share the cores out
    return [{"NUMBA_NUM_THREADS": str(max(1, cores // count))} for _ in range(count)]


def _most_workers() -> int:
    """Return the number of local workers for which this process may open enough files; at least 1."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return sys.maxsize if hard == resource.RLIM_INFINITY else max(1, (hard - FILES) // FILES_PER_WORKER)


def _open_files(of_workers: int) -> None:
    """Raise the limit on open files to what the workers need, if allowed. The usual 1,024 suffice for 80 workers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES + of_workers
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (needed if hard == resource.RLIM_INFINITY else min(needed, hard), hard)
        )


def _local(settings: Any, tasks: int, folder: str, stack: contextlib.ExitStack) -> tuple[SpecCluster, int]:
    environments = local_workers(settings, tasks)
    _open_files(FILES_PER_WORKER * len(environments))
    security = Security.temporary()
    here = {"host": "127.0.0.1", "protocol": "tls://", "security": security}
    loopback = {**here, "dashboard": False, "dashboard_address": LOOPBACK}
    memory = "auto" if settings.memory_per_worker_gib is None else int(settings.memory_per_worker_gib * 2**30)
    own = psutil.Process().memory_info().rss  # a worker imports what we did
    if memory != "auto" and memory < LEAST_MEMORY * own:
        raise BadInput(
            f"cluster.memory_per_worker_gib: expected {LEAST_MEMORY * own / 2**30:.2f} or more, since a worker takes"
            f" {own / 2**30:.2f} GiB before it computes anything, got {settings.memory_per_worker_gib:g}; allow more,"
            " or compute with --workers 0"
        )
    common = {**loopback, "nthreads": 1, "local_directory": folder, "memory_limit": memory, "silence_logs": 50}
    workers = {index: {"cls": Nanny, "options": {**common, "env": env}} for index, env in enumerate(environments)}
    scheduler = {"cls": Scheduler, "options": {**loopback, "port": 0}}
    try:
        with _signals_blocked():
            cluster = SpecCluster(workers, scheduler, security=security, silence_logs=50, name="torusweep")
            stack.enter_context(cluster)
    except (RuntimeError, OSError) as error:
        reason = str(error.__cause__ or error)
        raise BadInput(
            f"cannot start {len(workers)} local workers: {reason}; fewer need less memory (--workers), 0 computes in"
            " this process"
        ) from None
    return cluster, len(workers)


def _join(settings: Any) -> Client:
    """Return a client of a Dask scheduler. Raises BadInput if the user does not trust it, or if it does not answer."""
    files = dict(zip(("tls_ca_file", "tls_client_cert", "tls_client_key"), trusted(settings.scheduler).files))
    security = Security(**files, require_encryption=True) if files else None
    try:
        return Client(settings.scheduler, security=security, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:  # TimeoutError and TLS errors are OSErrors
        reason = str(error).split("\n")[0] or type(error).__name__
        raise BadInput(
            f"cluster.scheduler: no Dask scheduler answers at {settings.scheduler} ({reason}); check that it runs there"
        ) from None


def _wait_for_workers(client: Any, count: int, seconds: float, advice: str) -> None:
    try:
        client.wait_for_workers(count, timeout=seconds)
    except TimeoutError:
        raise BadInput(
            f"cluster: expected {count} workers within {seconds:.0f} s, got {len(client.nthreads())}; {advice}"
        ) from None


def _check_code(client: Client, address: str) -> None:
    """Raise BadInput if a remote worker runs other code than this process: numbers of two versions must not mix."""
    present = client.run(importlib.util.find_spec, "torusweep", on_error="return")
    for worker, spec in present.items():
        if spec is None or isinstance(spec, BaseException):
            raise BadInput(f"{address}: worker {worker} has no torusweep; install version {code_version()} there")
    for worker, theirs in client.run(code_version, on_error="return").items():
        if theirs != code_version():
            raise BadInput(
                f"{address}: worker {worker} runs torusweep {theirs}, this is {code_version()};"
                " install the same version on both"
            )
