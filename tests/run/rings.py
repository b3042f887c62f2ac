"""A small sweep in a folder of its own, run as a person runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from torusweep.cli.run import run_step
from torusweep.run.workflow import SNAKEFILE

from tests.run import forks
from tests.run.faulty_worker import made_up_rows

PRELOAD = Path(__file__).parent / "faulty_worker.py"
RINGS = "sweep: rings\ntopologies:\n  - {family: ring, k: {from: 3, to: 42}}\ncluster: {batch_seconds: 0.01}\n"
COMMAND = (sys.executable, "-c", "from torusweep.cli import main; main()")


class Run:
    """The sweep `rings` (40 networks) in a folder. `fault` is what its Dask workers do wrong (faulty_worker.py)."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "results" / "rings"
        self.config = home / "rings.yaml"
        self.config.write_text(RINGS)
        self.environment: dict[str, str] = {}  # variables of what is started
        self._started: list[subprocess.Popen[str]] = []

    def with_settings(self, settings: str) -> None:
        """More in the cluster section, '' for no more."""
        section = "cluster: {"
        assert section in RINGS
        self.config.write_text(RINGS.replace(section, f"{section}{settings}, ") if settings else RINGS)

    def start(
        self, *arguments: str, fault: str = "", command: tuple[str, ...] = COMMAND, **environment: str
    ) -> subprocess.Popen[str]:
        """`torusweep ARGUMENTS` (or another command's), in a process group of its own, as a shell starts it."""
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=self.home,
            env={**os.environ, **self._faulty(fault), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )
        self._started.append(process)
        return process

    def call(self, *arguments: str, fault: str = "", **environment: str) -> tuple[int, str]:
        """Exit status, and all that was said."""
        process = self.start(*arguments, fault=fault, **environment)
        said = process.communicate(timeout=280)[0]
        return process.returncode, said

    def forked(self, *arguments: str, fault: str = "", **environment: str) -> tuple[int, str]:
        """As `call`, in a fork of a process that has loaded what a run imports: where starting is not the point."""
        return forks.called("torusweep", *arguments, home=self.home, **{**self._faulty(fault), **environment})

    def snakemake(self, *options: str) -> tuple[int, str]:
        """Snakemake with our Snakefile, in a fork."""
        return forks.called("snakemake", "--snakefile", str(SNAKEFILE), *options, home=self.home)

    def _faulty(self, fault: str) -> dict[str, str]:
        return {"DASK_DISTRIBUTED__WORKER__PRELOAD": f'["{PRELOAD}"]', "FAULT": fault, **self.environment}

    def step(self, name: str, *options: str, fault: str = "", **environment: str) -> tuple[int, str]:
        return self.forked("step", name, str(self.config), str(self.folder), *options, fault=fault, **environment)

    def here(self, name: str, **overrides: object) -> int:
        """A step in this very process."""
        return run_step(name, self.config, self.folder, overrides)

    def shards(self) -> list[Path]:
        return sorted(self.folder.glob("shards/*.parquet"))

    def forget(self) -> None:
        """Remove what was computed."""
        for path in [*self.shards(), self.folder / "static.parquet"]:
            path.unlink(missing_ok=True)

    def alone(self) -> bytes:
        """The stage's table, which this process makes by itself; its shards are forgotten."""
        self.here("points")
        assert self.here("static", workers=0) == 0
        content = self.static()
        self.forget()
        return content

    def finish(self) -> None:
        """What is left of the stage, in this process, with rows as the workers make them up."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)
            assert self.here("static", workers=0) == 0

    def static(self) -> bytes:
        return (self.folder / "static.parquet").read_bytes()

    def failed(self) -> dict[str, str]:
        manifest = json.loads((self.folder / "manifest.json").read_bytes())
        return {failure["topology"]: failure["reason"] for failure in manifest["failed"]}

    def end(self) -> None:
        for process in self._started:
            if process.poll() is None:
                for child in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
                    with suppress(psutil.NoSuchProcess):  # it ended by itself
                        child.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def until(condition: Callable[[], object], seconds: float = 120) -> None:
    """Wait for a condition, which a test waits for instead of for a time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that do not end by themselves."""
    return psutil.wait_procs(processes, timeout=60)[1]


def told(said: str) -> list[str]:
    """What was said, without the lines that come every five seconds, on a slow machine alone."""
    return [line for line in said.splitlines() if "points/s" not in line]
