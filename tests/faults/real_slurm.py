"""A Slurm of two nodes on this machine, without accounting: Debian's munge, slurmctld and two slurmd."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psutil

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "squeue", "scancel", "sinfo", "srun")
CONFIG = Path("/etc/slurm/slurm.conf")  # jobs look for it there: SLURM_CONF does not reach them
GPUS = CONFIG.with_name("gres.conf")  # devices that are none: Slurm counts them
NODES = ("n1", "n2")
CARDS = """\
NodeName=n1 Name=gpu Type=a100 File=/dev/null
NodeName=n1 Name=gpu Type=a100 File=/dev/zero
NodeName=n2 Name=gpu Type=v100 File=/dev/null
"""
SETTINGS = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmdParameters=config_overrides
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
MinJobAge=3600
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
NodeName=DEFAULT CPUs=2 RealMemory={memory} State=UNKNOWN
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=16818 Gres=gpu:a100:2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=16819 Gres=gpu:v100:1
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
PartitionName=whole Nodes=n1,n2 OverSubscribe=EXCLUSIVE MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    """What is missing for a Slurm on this machine; '' where nothing is."""
    missing = [name for name in (*DAEMONS, *CLIENTS) if shutil.which(name) is None]
    if missing:
        return f"no {', '.join(missing)}: apt-get install munge slurmctld slurmd slurm-client"
    if os.getuid() != 0:
        return "Slurm's daemons need root"
    return f"{CONFIG} is there: this machine belongs to a cluster" if CONFIG.exists() else ""


class RealSlurm:
    """The daemons, in a folder that munge accepts: of root, and closed to others' writing."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/var/lib"))
        self.folder.chmod(0o755)
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        CONFIG.parent.mkdir(exist_ok=True)
        GPUS.write_text(CARDS)
        CONFIG.write_text(
            SETTINGS.format(
                host=socket.gethostname().partition(".")[0],
                folder=self.folder,
                memory=psutil.virtual_memory().total // 2**20 // 2,
            )
        )
        files = {name: self.folder / f"munge.{name}" for name in ("socket", "pid", "log", "seed")}
        munged = ["munged", "--force", f"--key-file={key}", f"--socket={files['socket']}", f"--pid-file={files['pid']}"]
        try:
            subprocess.run([*munged, f"--log-file={files['log']}", f"--seed-file={files['seed']}"], check=True)
            for daemon in (["slurmctld"], *(["slurmd", "-N", node] for node in NODES)):
                subprocess.run(daemon, check=True)
            self._wait_until_idle()
        except BaseException:
            self.end()
            raise

    def _wait_until_idle(self) -> None:
        deadline = time.monotonic() + 120
        states = ["sinfo", "-h", "-N", "-p", "main", "-o", "%t"]
        while subprocess.run(states, capture_output=True, text=True).stdout.split() != ["idle"] * len(NODES):
            assert time.monotonic() < deadline, (self.folder / "slurmctld.log").read_text()
            time.sleep(0.2)

    def command(self, *arguments: str) -> str:
        """What one of Slurm's commands prints."""
        return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout

    def jobs(self, said: str) -> dict[str, dict[str, str]]:
        """What Slurm says of the jobs that a run submitted, by their comment; of several the last.

        said  by the run: only jobs with Snakemake's name of it are its own
        """
        name = said.partition("SLURM run ID: ")[2].split()[0]
        shown = [
            dict(word.partition("=")[::2] for word in line.split())
            for line in self.command("scontrol", "-o", "show", "jobs").splitlines()
        ]
        return {job["Comment"]: job for job in shown if job["JobName"] == name}

    def end(self) -> None:
        daemons = []
        for file in self.folder.glob("*.pid"):
            number = file.read_text().strip()
            if number and psutil.pid_exists(int(number)):
                daemons.append(psutil.Process(int(number)))
        for daemon in daemons:
            daemon.terminate()
        for daemon in psutil.wait_procs(daemons, timeout=10)[1]:
            daemon.kill()
        CONFIG.unlink()
        GPUS.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
