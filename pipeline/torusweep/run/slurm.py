"""Dask workers as Slurm jobs: what is submitted, and why it does not start."""

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

from dask_jobqueue.slurm import SLURMCluster
from distributed import Client
from distributed.security import Security

from torusweep.counts import counted
from torusweep.errors import BadInput

START_SECONDS = 600  # in which Slurm must start a job
SQUEUE_SECONDS = 60  # between questions to Slurm why its jobs wait
RENEWALS = 3  # times that jobs are submitted again when all workers are gone
LOOPBACK = "127.0.0.1:0"
ROLES = ("client", "scheduler", "worker")


def submitted(slurm: Any, folder: Path, environment: Mapping[str, str]) -> SLURMCluster:
    """The jobs that a configuration asks for (cluster.slurm), submitted; `slurm_cluster` says what they are.

    Raises BadInput where this machine submits no Slurm jobs.
    """
    if shutil.which("sbatch") is None:
        raise BadInput(
            "cluster.slurm: expected the command 'sbatch' on the PATH, found none;"
            " run on a machine that submits Slurm jobs"
        )
    jobs = slurm_cluster(slurm, folder, environment)
    jobs.scale(jobs=slurm.jobs)
    return jobs


def slurm_cluster(slurm: Any, folder: Path, environment: Mapping[str, str]) -> SLURMCluster:
    """A dask-jobqueue cluster, not scaled yet: `job_script()` shows what it would submit.

    folder        for this run's certificates, readable by us alone and seen by every node
    environment   variables of the workers
    """
    return SLURMCluster(
        cores=slurm.cores,
        processes=slurm.cores,
        memory=slurm.memory.replace(" ", ""),
        walltime=slurm.walltime,
        queue=slurm.queue,
        account=slurm.account,
        interface=slurm.interface,
        job_extra_directives=list(slurm.directives),
        job_script_prologue=["export " + " ".join(f"{name}={value}" for name, value in environment.items())],
        worker_extra_args=["--no-dashboard", "--dashboard-address", LOOPBACK],
        python=sys.executable,
        job_name="torusweep",
        protocol="tls://",
        security=_certificates(folder),
        scheduler_options={"dashboard": False, "dashboard_address": LOOPBACK},
        config_name=None,
    )


def wait_for_worker(client: Client, jobs: SLURMCluster) -> None:
    """Wait for the first worker, and say at most once a minute why Slurm does not start the jobs.

    Raises BadInput with Slurm's reason where none starts within START_SECONDS.
    """
    waiting = ""
    for _ in range(START_SECONDS // SQUEUE_SECONDS):
        with contextlib.suppress(TimeoutError):
            client.wait_for_workers(1, timeout=SQUEUE_SECONDS)
            return
        waiting = _why_waiting([str(job.job_id) for job in jobs.workers.values()])
        print(f"waiting for Slurm: {waiting}", flush=True)
    raise BadInput(
        f"cluster.slurm: expected a worker within {START_SECONDS} s, got none; {waiting};"
        " change cluster.slurm, or ask for fewer or smaller jobs"
    )


def _why_waiting(jobs: Sequence[str]) -> str:
    """States of Slurm jobs with squeue's reasons, as in '2 jobs PENDING (PartitionDown)'."""
    command = ["squeue", "--noheader", "--format=%T (%r)", f"--jobs={','.join(jobs)}"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=SQUEUE_SECONDS).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "squeue does not answer"
    states = Counter(line.strip() for line in said.splitlines() if line.strip())
    return ", ".join(f"{counted(count, 'job')} {state}" for state, count in states.items()) or "no job is in the queue"


def _certificates(folder: Path) -> Security:
    """Certificates of this run only, in files that nodes read."""
    made = Security.temporary()
    files = {}
    for name in ("tls_ca_file", *(f"tls_{role}_{part}" for role in ROLES for part in ("key", "cert"))):
        files[name] = str(folder / f"{name}.pem")
        with open(files[name], "x", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(getattr(made, name))
    return Security(**files, require_encryption=True)
