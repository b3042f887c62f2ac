"""The wheel and the source distribution, built once, and the wheel installed where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.packaging import release

REPOSITORY = "https://example.org/somebody/torusweep"  # reserved for examples


class Distributions(NamedTuple):
    """What a release publishes."""

    sdist: Path
    wheel: Path


class Installed:
    """The wheel in a folder of its own, and an empty folder to work in."""

    def __init__(self, site: Path, work: Path) -> None:
        self.site, self.work = site, work
        self.environment = {**os.environ, "PYTHONPATH": str(site), "PATH": f"{site / 'bin'}:{os.environ['PATH']}"}

    def torusweep(self, *arguments: str) -> str:
        return call(self.site / "bin" / "torusweep", *arguments, cwd=self.work, env=self.environment)

    def python(self, code: str) -> str:
        return call(sys.executable, "-P", "-c", code, cwd=self.work, env=self.environment)


def call(*command: str | Path, **where: object) -> str:
    """What a command prints. A command that fails fails the test, with what it printed."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **where)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    sources = release.copy_sources(tmp_path_factory.mktemp("sources"))
    release.enter_addresses(sources, REPOSITORY)
    return Distributions(*release.build(sources, tmp_path_factory.mktemp("built")))


@pytest.fixture(scope="session")
def installed(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Dependencies are those of this environment; torusweep itself is the wheel's."""
    site = tmp_path_factory.mktemp("site")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    call(*pip, "install", "--no-index", "--no-deps", "--target", site, distributions.wheel, cwd=site)
    return Installed(site, tmp_path_factory.mktemp("work"))
