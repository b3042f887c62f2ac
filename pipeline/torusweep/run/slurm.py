"""Submit Slurm jobs that are Dask workers, and find out why Slurm refuses or does not start them."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dask_jobqueue.slurm import SLURMCluster, SLURMJob
from distributed import Client, Status
from distributed.security import Security

from torusweep.errors import BadInput, one_line
from torusweep.quantities import counted
from torusweep.run.parts import gpu_options

START_SECONDS = 600  # in which Slurm must start a job
SQUEUE_SECONDS = 60  # between questions to Slurm why its jobs wait
REPLY_SECONDS = 60  # in which it must answer one
LOOPBACK = "127.0.0.1:0"
ROLES = ("client", "scheduler", "worker")
REFUSED = "sbatch refused: "  # with its words after it; torusweep.run.child listens for them


def submitted(settings: Any, folder: Path, environment: Mapping[str, str]) -> SLURMCluster:
    """Submit the Slurm jobs that the cluster section requests. Raises BadInput if the command sbatch is missing."""
    if shutil.which("sbatch") is None:
        raise BadInput(
            "cluster.slurm: expected the command 'sbatch' on the PATH, found none;"
            " run on a machine that submits Slurm jobs"
        )
    jobs = slurm_cluster(settings, folder, environment)
    jobs.scale(jobs=settings.slurm.jobs)
    return jobs


class SubmittedJob(SLURMJob):
    """A job that keeps sbatch's message if Slurm refuses the job, where Dask would print a traceback and wait."""

    refusal = ""

    async def start(self) -> None:
        try:
            await super().start()  # type: ignore[no-untyped-call]  # Dask's, without types
        except (RuntimeError, ValueError, OSError) as error:  # sbatch fails, names no job, or cannot be called
            said = str(error).rpartition("stderr:\n")[2].replace("sbatch: error: ", "")
            self.refusal = one_line(said) or "it says nothing"
            self.status = Status.running  # as Dask expects it of a job that was started


def refusal(jobs: SLURMCluster, count: int) -> str:
    """Return why Slurm refused all of the newest `count` jobs; '' if it accepted one, or has not answered."""
    said = [getattr(jobs.workers.get(name), "refusal", "") for name in list(jobs.worker_spec)[-count:]]
    return said[0] if said and all(said) else ""


def slurm_cluster(settings: Any, folder: Path, environment: Mapping[str, str]) -> SLURMCluster:
    """Return a dask-jobqueue cluster without jobs; its `job_script()` shows the script that it would submit.

    folder        folder for this run's certificates; only this user can read it, and every node sees it
    environment   environment variables of the workers
    """
    slurm = settings.slurm
    gpus = [f"--{name}={value}" for name, value in gpu_options(settings, "").items()]
    return SLURMCluster(
        cores=slurm.cores,
        processes=slurm.cores,
        memory=slurm.memory.replace(" ", ""),
        walltime=slurm.walltime,
        queue=slurm.queue,
        account=slurm.account,
        interface=slurm.interface,
        job_extra_directives=[*gpus, *slurm.directives],
        job_script_prologue=["export " + " ".join(f"{name}={value}" for name, value in environment.items())],
        worker_extra_args=["--no-dashboard", "--dashboard-address", LOOPBACK],
        python=sys.executable,
        job_name="torusweep",
        protocol="tls://",
        security=_certificates(folder),
        scheduler_options={"dashboard": False, "dashboard_address": LOOPBACK},
        config_name=None,
        job_cls=SubmittedJob,  # type: ignore[arg-type]  # declared as a job, and used as its class
    )


def wait_for_worker(client: Client, jobs: SLURMCluster, count: int) -> None:
    """Wait for the first worker of `count` jobs. At most once a minute, print why Slurm does not start them.

    Raises BadInput with Slurm's message if Slurm refuses all jobs, or starts none within START_SECONDS.
    """
    waiting = ""
    for second in range(1, START_SECONDS + 1):
        with contextlib.suppress(TimeoutError):
            client.wait_for_workers(1, timeout=1)
            return
        words = refusal(jobs, count)
        if words:
            raise BadInput(f"cluster.slurm: {REFUSED}{words}; change cluster.slurm")
        if second % SQUEUE_SECONDS == 0:
            waiting = _why_waiting([str(job.job_id) for job in jobs.workers.values() if not job.refusal])
            refused = {f"; {REFUSED}{job.refusal}" for job in jobs.workers.values() if job.refusal}
            waiting += "".join(sorted(refused))
            print(f"waiting for Slurm: {waiting}", flush=True)
    raise BadInput(
        f"cluster.slurm: expected a worker within {START_SECONDS} s, got none; {waiting};"
        " change cluster.slurm, or ask for fewer or smaller jobs"
    )


def _why_waiting(jobs: Sequence[str]) -> str:
    """Return the states of Slurm jobs with squeue's reasons, such as '2 jobs PENDING (PartitionDown)'."""
    command = ["squeue", "--noheader", "--format=%T (%r)", f"--jobs={','.join(jobs)}"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=REPLY_SECONDS).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "squeue does not answer"
    states = Counter(line.strip() for line in said.splitlines() if line.strip())
    return ", ".join(f"{counted(count, 'job')} {state}" for state, count in states.items()) or "no job is in the queue"


def _certificates(folder: Path) -> Security:
    """Make TLS certificates for this run alone, and write them to files that the nodes read."""
    made = Security.temporary()
    files = {}
    for name in ("tls_ca_file", *(f"tls_{role}_{part}" for role in ROLES for part in ("key", "cert"))):
        files[name] = str(folder / f"{name}.pem")
        with open(files[name], "x", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(getattr(made, name))
    return Security(**files, require_encryption=True)
