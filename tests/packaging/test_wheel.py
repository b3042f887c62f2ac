"""A wheel, installed where there is no checkout, does what the documentation says."""

from __future__ import annotations

import email
import json
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
import torusweep
from ruamel.yaml import YAML

from tests.packaging import release
from tests.packaging.conftest import REPOSITORY, Distributions, Installed

ROOT = Path(__file__).parents[2]
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


@pytest.fixture(scope="module", autouse=True)
def small(installed: Installed) -> None:
    """A sweep that the installed wheel has run."""
    (installed.work / "small.yaml").write_text(SMALL)
    installed.torusweep("run", "small.yaml", "--backend", "numpy")  # Numba would compile everything for this folder


def test_the_wheel_holds_every_source(distributions: Distributions):
    """Built from the source distribution, it holds everything in the two packages, and nothing else."""
    assert release.files_of_wheel(distributions.wheel) == release.files_of_packages()


def test_the_source_distribution_holds_what_is_needed_to_build_test_and_read(distributions: Distributions):
    held = release.files_of_sdist(distributions.sdist)
    folders = ("kernels", "pipeline", "config", "docs", "tests", "benchmarks", "requirements", "workflow")
    copied = {
        str(path.relative_to(ROOT))
        for name in folders
        for path in (ROOT / name).rglob("*")
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & {*path.parts} and ".egg-info" not in str(path)
    }
    assert held >= copied
    assert held >= {path for path in release.SOURCES if path not in folders}
    assert {name for name in held if name.partition("/")[0] not in folders and "/" in name} == {
        "results/README.md",
        *(name for name in held if name.startswith("torusweep.egg-info/")),
    }


def test_the_metadata_are_complete(distributions: Distributions):
    release.check_metadata(*distributions)
    with zipfile.ZipFile(distributions.wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    assert (metadata["Name"], metadata["Version"]) == ("torusweep", torusweep.__version__)
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"]
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    addresses = dict(line.split(", ") for line in metadata.get_all("Project-URL"))
    assert addresses.keys() == {"Repository", "Documentation", "Changelog", "Issues"}
    assert all(address.startswith(REPOSITORY) for address in addresses.values())
    with tarfile.open(distributions.sdist) as archive_of_sources:
        (info,) = [member for member in archive_of_sources.getnames() if re.fullmatch("[^/]+/PKG-INFO", member)]
        file = archive_of_sources.extractfile(info)
        assert file is not None
        of_sources = email.message_from_bytes(file.read())
    assert of_sources["Version"] == torusweep.__version__


def test_links_of_the_readme_lead_to_files_that_are_there(distributions: Distributions):
    """On a package index relative links lead nowhere."""
    with zipfile.ZipFile(distributions.wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        readme = str(email.message_from_bytes(archive.read(name)).get_payload())
    links = re.findall(r"\]\(([^)]+)\)", readme)
    tag = re.escape(f"v{torusweep.__version__}")
    assert len(links) > 10
    for link in links:
        place = re.fullmatch(rf"{re.escape(REPOSITORY)}/(blob|raw)/{tag}/([^#]+)(#.*)?", link)
        assert place, link
        assert (ROOT / place[2]).exists(), link


def test_the_citation_is_of_this_version():
    citation = YAML(typ="safe").load((ROOT / "CITATION.cff").read_text())
    assert citation.keys() >= {"cff-version", "message", "title", "authors", "type", "version", "license", "abstract"}
    assert citation["version"] == torusweep.__version__
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == "MIT"


def test_the_version_is_named(installed: Installed):
    assert installed.torusweep("--version") == f"torusweep {torusweep.__version__}\n"


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
