"""A wheel, installed where there is no checkout, does what the documentation says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("README.md", "LICENSE", "pyproject.toml", "Snakefile", "kernels", "pipeline")
# two networks, every stage, and the paper that needs the least: its expected numbers are package data
SMALL = """\
sweep: small
papers: [P98]
topologies:
  - {family: torus, k: [3, 4], n: 2}
loads:
  - {routing: minimal, traffic: uniform, nodes: {to: 16}}
deadlock:
  - {routing: dimension_order, vc_rule: dateline, virtual_channels: 2, nodes: {to: 16}, skip_unsuitable: true}
layout:
  - {placement: straight, nodes: {to: 16}, skip_unsuitable: true}
simulation:
  - {loads: [0.1], cycles: 200, nodes: {to: 16}, skip_unsuitable: true}
"""


def call(*command: str | Path, **where: object) -> str:
    """What a command prints. A command that fails fails the test, with what it printed."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **where)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, of a copy of the sources: building writes beside them."""
    copy = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(
                path, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        else:
            shutil.copy(path, copy / name)
    built = tmp_path_factory.mktemp("sdist")
    call(sys.executable, "-c", f"from setuptools.build_meta import build_sdist; build_sdist({str(built)!r})", cwd=copy)
    return next(built.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution without an index."""
    built = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    call(*pip, "wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", built, sdist, cwd=built)
    return next(built.glob("*.whl"))


class Installed:
    """The wheel in a folder of its own, and an empty folder to work in."""

    def __init__(self, site: Path, work: Path) -> None:
        self.site, self.work = site, work
        self.environment = {**os.environ, "PYTHONPATH": str(site), "PATH": f"{site / 'bin'}:{os.environ['PATH']}"}

    def torusweep(self, *arguments: str) -> str:
        return call(self.site / "bin" / "torusweep", *arguments, cwd=self.work, env=self.environment)

    def python(self, code: str) -> str:
        return call(sys.executable, "-P", "-c", code, cwd=self.work, env=self.environment)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Dependencies are those of this environment; torusweep itself is the wheel's, with a sweep that it has run."""
    site = tmp_path_factory.mktemp("site")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    call(*pip, "install", "--no-index", "--no-deps", "--target", site, wheel, cwd=site)
    here = Installed(site, tmp_path_factory.mktemp("work"))
    (here.work / "small.yaml").write_text(SMALL)
    here.torusweep("run", "small.yaml", "--backend", "numpy")  # Numba would compile everything for this folder
    return here


def test_the_wheel_holds_every_source(wheel: Path):
    """Everything in the two packages is there, and nothing else."""
    sources = {
        str(path.relative_to(root))
        for root in (ROOT / "kernels", ROOT / "pipeline")
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.parts[-2].endswith(".egg-info")
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == sources


def test_the_source_distribution_holds_what_a_person_reads(sdist: Path):
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert names >= {"README.md", "LICENSE", "pyproject.toml"}


def test_the_installed_package_is_the_wheels(installed: Installed):
    places = installed.python(
        "import torusweep, torusweep_kernels as k; print(torusweep.__file__, k.__file__, sep='\\n')"
    )
    assert all(Path(place).is_relative_to(installed.site) for place in places.split())


def test_a_sweep_runs(installed: Installed):
    results = installed.work / "results" / "small"
    made = {path.name for path in results.iterdir()}
    assert made >= {"report.html", "manifest.json", "verification.parquet", "simulation.parquet", "layout.parquet"}
    failed = json.loads((results / "manifest.json").read_text())["failed"]
    assert failed == []


def test_commands_answer(installed: Installed):
    assert json.loads(installed.torusweep("describe", "torus(k=4, n=2)", "--json"))["diameter"] == 4
    loads = json.loads(installed.torusweep("loads", "torus(k=4, n=2)", "--json", "--backend", "numpy"))
    assert loads["saturation_load"] == pytest.approx(2)
    assert '"torus"' in installed.torusweep("topologies", "--json")
    rows = installed.torusweep("query", "SELECT count(*) AS networks FROM static", "--results", "results/small")
    assert "networks" in rows
    verified = installed.torusweep("query", "SELECT DISTINCT paper FROM verification", "--results", "results/small")
    assert "P98" in verified
    (installed.work / "results" / "small" / "report.html").unlink()
    installed.torusweep("report", "--results", "results/small")
    assert (installed.work / "results" / "small" / "report.html").stat().st_size > 100_000


def test_the_public_interface_is_documented_by_examples_that_hold(installed: Installed):
    code = "import doctest, torusweep; print(doctest.testmod(torusweep))"
    assert "failed=0" in installed.python(code)
    public = installed.python(
        "import torusweep; print(*(f'{n}:{bool(getattr(torusweep, n).__doc__)}' for n in torusweep.__all__))"
    )
    assert "False" not in public


def test_importing_the_package_imports_no_libraries(installed: Installed):
    heavy = "import sys, torusweep; print(*({'numpy', 'numba', 'pyarrow', 'dask'} & set(sys.modules)))"
    assert installed.python(heavy).strip() == ""
