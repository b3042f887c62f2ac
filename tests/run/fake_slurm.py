"""Slurm's commands made up: sbatch runs the job's script here, scancel kills it."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

SBATCH = """#!/bin/bash
cp "${@: -1}" "$(dirname "$0")/job-$$.sh"
setsid bash "$(dirname "$0")/job-$$.sh" > "$(dirname "$0")/job-$$.log" 2>&1 < /dev/null &
echo $! >> "$(dirname "$0")/jobs"
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/bash
kill -KILL -- "-$1" 2> /dev/null
"""


class FakeSlurm:
    """A folder of commands for the front of PATH."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        for name, content in (("sbatch", SBATCH), ("scancel", SCANCEL)):
            (folder / name).write_text(content)
            (folder / name).chmod(0o755)
        self.path = f"{folder}:{os.environ['PATH']}"

    def jobs(self) -> list[int]:
        """Process groups of all jobs that were submitted."""
        file = self.folder / "jobs"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def cancel(self) -> None:
        for job in self.jobs():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job, signal.SIGKILL)
