"""The ten jobs of docs/jobs.md, run with an installed wheel.

    python -m tests.packaging.jobs

builds the wheel, installs it and the users' own libraries in a new environment, runs all jobs there, and prints what
they print and how long they take.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.packaging import release

DOCUMENT = release.ROOT / "docs" / "jobs.md"
YOURS = ("networkx", "pandas", "polars")  # libraries that the users of the jobs have
MOST_LINES = 6
MOST_COMMANDS = 2
MOST_SECONDS = 60.0
_JOB = re.compile(r"^## (\d+)\. ([^\n]+)\n\n```(python|sh)\n(.*?)```\n\n```text\n(.*?)```$", re.MULTILINE | re.DOTALL)


class Job(NamedTuple):
    """A question and its answer.

    language  python or sh
    code      all of it; in Python, the job itself stands below "# the job"
    said      what it prints; … stands for anything
    """

    number: int
    question: str
    language: str
    code: str
    said: str

    @property
    def lines(self) -> list[str]:
        """Those that count."""
        job = self.code.partition("# the job\n")[2] if self.language == "python" else self.code
        return [line for line in job.splitlines() if line.strip()]


class Outcome(NamedTuple):
    """How a job ended: exit status, what it said, seconds."""

    status: int
    said: str
    seconds: float


def jobs() -> list[Job]:
    """The jobs of the document, in order."""
    return [Job(int(found[1]), *found.groups()[1:]) for found in _JOB.finditer(DOCUMENT.read_text())]


def run(job: Job, python: str, work: Path, environment: Mapping[str, str]) -> Outcome:
    """Run a job in a folder."""
    command = [python, "-P", "-c", job.code] if job.language == "python" else ["sh", "-e", "-c", job.code]
    begin = time.monotonic()
    done = subprocess.run(command, cwd=work, env=dict(environment), capture_output=True, text=True)
    seconds = time.monotonic() - begin
    return Outcome(done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr, seconds)


def agrees(expected: str, said: str) -> bool:
    """Whether a job printed what the document says, in which … stands for anything."""
    pattern = ".*".join(map(re.escape, expected.split("…")))
    return bool(said.strip()) and re.fullmatch(pattern, said, re.DOTALL) is not None


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("sources", "work"):
            (place / name).mkdir()
        _, wheel = release.build(release.copy_sources(place / "sources"), place / "built")
        venv.create(place / "new", with_pip=True)
        python = str(place / "new" / "bin" / "python")
        subprocess.run([python, "-m", "pip", "--quiet", "install", str(wheel), *YOURS], check=True)
        environment = {**os.environ, "PATH": f"{place / 'new' / 'bin'}:{os.environ['PATH']}"}
        environment.pop("PYTHONPATH", None)
        failed = []
        for job in jobs():
            outcome = run(job, python, place / "work", environment)
            right = outcome.status == 0 and agrees(job.said, outcome.said)
            failed += [] if right and outcome.seconds < MOST_SECONDS else [job.number]
            print(f"({job.number}) {job.question}   [{outcome.seconds:.1f} s{'' if right else ', WRONG'}]")
            print(outcome.said, flush=True)
    sys.exit(f"jobs that failed: {failed}" if failed else 0)


if __name__ == "__main__":
    main()
