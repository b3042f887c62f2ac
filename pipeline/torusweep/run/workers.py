"""Who computes: this process, local processes, one worker a GPU, Slurm, or an existing scheduler.

The only room, with torusweep.run.tasks and torusweep.run.forked, that knows Dask. The sweep sees `Workers`: places to fill, tasks to
submit, and what became of them.

Local workers are reached over the loopback address only, through TLS with certificates that live as
long as the run: without it any other user of the machine could have his code run by our workers.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import importlib.util
import logging
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from torusweep_kernels.backend import gpu_count, resolve

from torusweep.errors import BadInput
from torusweep.run import forking
from torusweep.run.tasks import InProcess, Workers

CONNECT_SECONDS = 5
LEAST_MEMORY = (
    1.1  # times what a worker takes when it is started, that it must be allowed: at 0.95 of its limit it is stopped
)
JOIN_SECONDS = {"local": 120, "scheduler": 60, "slurm": 600}
# that we have open at once: pipes and sockets of a local worker (11, as counted), connections to one elsewhere (2), all others
FILES_PER_WORKER, FILES_PER_GUEST, FILES = 12, 3, 64
# what Dask looks at for people who look at it: nobody does, and each time a computing thread gives way to the one that looks
UNWATCHED = {
    "distributed.worker.profile.enabled": False,  # one part in twenty of small points
    "distributed.admin.tick.interval": "1s",  # every scheduler, nanny and worker at its own loop, else 50 times a second: one part in forty
    "distributed.admin.system-monitor.interval": "10s",
}


@contextlib.contextmanager
def connect(settings: Any, *, backend: str, tasks: int) -> Iterator[InProcess | Workers]:
    """The workers that a sweep's `cluster` section asks for, ready and checked, for the length of a `with` block.

    settings  the configuration's cluster section (torusweep.sweep.configuration)
    tasks     at most so many tasks will come: no more local workers are started
    Raises BadInput in one line where no worker can be had, or where one runs other code than ours.
    """
    if not settings.scheduler and not settings.slurm and settings.workers == 0:
        yield InProcess()
        return
    forked = not settings.scheduler and not settings.slurm and forking.ready()
    import dask
    from distributed import Client
    from distributed.utils import silence_logging_cmgr

    with contextlib.ExitStack() as stack:
        stack.enter_context(silence_logging_cmgr(logging.CRITICAL))  # what goes wrong is said once, in one line, by us
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="torusweep-", ignore_cleanup_errors=True))
        method = {"distributed.worker.multiprocessing-method": "forkserver" if forked else "spawn"}
        stack.enter_context(dask.config.set({**_manners(settings), **method, "temporary-directory": folder}))
        if settings.scheduler:
            description = f"the Dask scheduler {settings.scheduler}"
            client = stack.enter_context(_join(settings))
            _wait_for_workers(
                client, 1, JOIN_SECONDS["scheduler"], "start workers with 'dask worker ADDRESS', or check their log"
            )
            _check_code(client, settings.scheduler)
        elif settings.slurm:
            if shutil.which("sbatch") is None:
                raise BadInput(
                    "cluster.slurm: expected the command 'sbatch' on the PATH, found none; run on a machine that submits Slurm jobs"
                )
            # the home folder is the one that clusters share
            jobs = slurm_cluster(
                settings.slurm, stack.enter_context(tempfile.TemporaryDirectory(prefix=".torusweep-", dir=Path.home()))
            )
            stack.enter_context(contextlib.closing(jobs))
            _open_files(FILES_PER_GUEST * settings.slurm.jobs * settings.slurm.cores)
            jobs.scale(jobs=settings.slurm.jobs)
            description = f"{settings.slurm.jobs} Slurm jobs"
            client = stack.enter_context(Client(jobs))
            _wait_for_workers(client, 1, JOIN_SECONDS["slurm"], "ask 'squeue --me' why the jobs do not start")
            _check_code(client, "Slurm")
            client.run(
                atexit.register, gc.freeze
            )  # they end without a last look through all that they imported, a second
        else:
            stack.enter_context(forking.environment(forking.BORN_WITH))  # for what takes a dead one's place, too
            cluster, count = _local(settings, backend, tasks, folder, stack)
            description = f"{count} local worker{'s' * (count > 1)}"
            client = stack.enter_context(Client(cluster, set_as_default=False))
            _wait_for_workers(
                client, count, JOIN_SECONDS["local"], "ask for fewer with --workers, or for none with --workers 0"
            )
        yield Workers(client, description)


def _manners(settings: Any) -> dict[str, Any]:
    """Dask's configuration of the schedulers and workers that we start."""
    return {
        "distributed.scheduler.allowed-failures": 0,  # a death is reported at once, so that the sweep can split the batch
        "distributed.scheduler.worker-ttl": settings.worker_ttl_seconds
        / 2,  # looked for as often: twice that, at the latest
        # a nanny whose worker died and is not back by then is dismissed for good; on a busy machine the 15 s of Dask are too few
        "distributed.deploy.lost-worker-timeout": 600,
        **UNWATCHED,
        "distributed.nanny.pre-spawn-environ": {},  # theirs is forking.BORN_WITH
        # memory is the nanny's business: a paused worker would wait for ever for memory that its libraries keep
        **{f"distributed.worker.memory.{level}": False for level in ("target", "spill", "pause")},
    }


# --- local -------------------------------------------------------------------------------------


def local_workers(settings: Any, backend: str, tasks: int, devices: list[str] | None = None) -> list[dict[str, str]]:
    """The environment of each local worker: as many as cores (or the setting), or one per GPU.

    devices  GPUs, as CUDA_VISIBLE_DEVICES names them; found where None
    """
    on_gpu = resolve(backend) == "cupy" if devices is None else bool(devices)
    if on_gpu:
        found = visible_gpus() if devices is None else devices
        asked = len(found) if settings.workers == "auto" else settings.workers
        chosen = found[: max(1, min(asked, tasks))]
        return [{"CUDA_VISIBLE_DEVICES": device, **_threads(len(chosen))} for device in chosen]
    cores, most = len(os.sched_getaffinity(0)), _most_workers()
    asked = min(cores, most) if settings.workers == "auto" else settings.workers
    count = max(1, min(asked, tasks))
    if count > most:
        raise BadInput(
            f"cluster.workers: expected {most} or fewer, for which this process may have enough files open ({FILES_PER_WORKER} each), got {count};"
            " ask for fewer with --workers, or have the limit raised that 'ulimit -Hn' shows"
        )
    return [_threads(count) for _ in range(count)]


def _most_workers() -> int:
    """Local workers for which this process may have enough files open; at least one."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return sys.maxsize if hard == resource.RLIM_INFINITY else max(1, (hard - FILES) // FILES_PER_WORKER)


def _open_files(of_workers: int) -> None:
    """Let this process have so many files open, and all others, or as many as it may: 81 local workers want more than the customary 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES + of_workers
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (needed if hard == resource.RLIM_INFINITY else min(needed, hard), hard)
        )


def visible_gpus() -> list[str]:
    """This process's GPUs, as CUDA_VISIBLE_DEVICES names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return [name.strip() for name in named.split(",") if name.strip()][: gpu_count()] or [
        str(index) for index in range(gpu_count())
    ]


def threads_of_worker() -> int | None:
    """Threads that a task may use where it runs; None = all: it runs in no worker, so there is nobody to share with."""
    named = os.environ.get("NUMBA_NUM_THREADS")
    if named or "distributed" not in sys.modules:
        return int(named) if named else None
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return None
    return 1


def _threads(workers: int) -> dict[str, str]:
    """Our kernels' threads: one a worker; where there are fewer workers than cores, they share the cores out."""
    return {"NUMBA_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // workers))}


def _local(settings: Any, backend: str, tasks: int, folder: str, stack: contextlib.ExitStack) -> tuple[Any, int]:
    import distributed.utils
    from distributed import Nanny, Scheduler
    from distributed.deploy.spec import SpecCluster
    from distributed.security import Security

    distributed.utils._forkserver_preload_set = (
        True  # or Dask imports pandas and more, here too, to have workers forked with them
    )
    environments = local_workers(settings, backend, tasks)
    _open_files(FILES_PER_WORKER * len(environments))
    security = Security.temporary()
    loopback = {
        "host": "127.0.0.1",
        "protocol": "tls://",
        "security": security,
        "dashboard": False,
        "dashboard_address": "127.0.0.1:0",
    }
    memory = "auto" if settings.memory_per_worker_gib is None else int(settings.memory_per_worker_gib * 2**30)
    if memory != "auto":
        importlib.import_module(
            "torusweep.sweep.evaluate"
        )  # a worker imports what we do, and that; or is as large as what both of us are forked from
        own = psutil.Process(os.getppid() if forking.shared() else None).memory_info().rss
        if memory < LEAST_MEMORY * own:
            raise BadInput(
                f"cluster.memory_per_worker_gib: expected {LEAST_MEMORY * own / 2**30:.2f} or more, since a worker takes {own / 2**30:.2f} GiB"
                f" before it computes anything, got {settings.memory_per_worker_gib:g}; allow more, or compute with --workers 0"
            )
    common = {**loopback, "nthreads": 1, "local_directory": folder, "memory_limit": memory, "silence_logs": 50}
    workers = {index: {"cls": Nanny, "options": {**common, "env": env}} for index, env in enumerate(environments)}
    scheduler = {"cls": Scheduler, "options": {**loopback, "port": 0}}
    try:
        with forking.signals_blocked():
            cluster = stack.enter_context(
                SpecCluster(workers, scheduler, security=security, silence_logs=50, name="torusweep")
            )
    except (RuntimeError, OSError) as error:
        reason = str(error.__cause__ or error)
        raise BadInput(
            f"cannot start {len(workers)} local workers: {reason}; fewer need less memory (--workers), 0 computes in this process"
        ) from None
    return cluster, len(workers)


# --- elsewhere ---------------------------------------------------------------------------------


def slurm_cluster(slurm: Any, certificates: str) -> Any:
    """A dask-jobqueue cluster, not scaled yet: `job_script()` shows what it would submit.

    certificates  folder for this run's keys, readable by us alone and seen by every node
    """
    from dask_jobqueue import SLURMCluster
    from distributed.security import Security

    unwatched = {
        f"DASK_{name}".upper().replace(".", "__").replace("-", "_"): str(value) for name, value in UNWATCHED.items()
    }
    born_with = {
        "NUMBA_NUM_THREADS": "1",
        **forking.ONE_THREAD,
        **forking.MALLOC,
        **forking.NO_CERTIFICATES,
        **unwatched,
    }
    return SLURMCluster(
        cores=slurm.cores,
        processes=slurm.cores,
        memory=slurm.memory.replace(" ", ""),
        walltime=slurm.walltime,
        queue=slurm.queue,
        account=slurm.account,
        interface=slurm.interface,
        job_extra_directives=list(slurm.directives),
        job_script_prologue=["export " + " ".join(f"{name}={value}" for name, value in born_with.items())],
        python=sys.executable,
        job_name="torusweep",
        # certificates of this run only, in a folder that nodes and this machine share
        protocol="tls://",
        security=Security.temporary(),
        shared_temp_directory=certificates,
        scheduler_options={"dashboard": False, "dashboard_address": ":0"},  # no port is asked for, 8787 neither
        config_name=None,
    )


def _join(settings: Any) -> Any:
    from distributed import Client
    from distributed.security import Security

    tls = settings.tls
    security = None
    if tls is not None:
        security = Security(
            tls_ca_file=str(tls.ca), tls_client_cert=str(tls.cert), tls_client_key=str(tls.key), require_encryption=True
        )
    try:
        return Client(settings.scheduler, security=security, timeout=CONNECT_SECONDS, set_as_default=False)
    except (
        OSError,
        TypeError,
        ValueError,
    ) as error:  # TimeoutError and TLS errors are OSErrors; a tls:// address without certificates a TypeError
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


def _check_code(client: Any, address: str) -> None:
    """Every worker elsewhere must run our very code, at once and not at its first batch, which looks again: another version's numbers do not mix."""
    present = client.run(importlib.util.find_spec, "pipeline", on_error="return")
    for worker, spec in present.items():
        if spec is None or isinstance(spec, BaseException):
            raise BadInput(f"{address}: worker {worker} has no torusweep; install version {code_version()} there")
    for worker, theirs in client.run(code_version, on_error="return").items():
        if theirs != code_version():
            raise BadInput(
                f"{address}: worker {worker} runs torusweep {theirs}, this is {code_version()}; install the same version on both"
            )


def code_version() -> str:
    """Version and code digest of this process, as 0.1.0 (code 1a2b3c4d); a second digest where a second stage computes."""
    from importlib.metadata import version

    from torusweep.sweep.points import stage_digest
    from torusweep.tables.store import STAGES

    codes = dict.fromkeys(stage_digest(stage)[:12] for stage in STAGES)
    return f"{version('torusweep')} (code {', '.join(codes)})"
