"""A worker of another version of the code (row 28 of the table of faults)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from torusweep import __version__
from torusweep.run.tasks import code_version

from tests.run.elsewhere import Elsewhere
from tests.run.rings import Run

ROOT = Path(__file__).parents[2]


@pytest.mark.faults
def test_a_worker_of_another_version_is_found_out_before_work(rings: Run, tmp_path: Path):  # 28
    other = tmp_path / "other"
    for package in ("kernels", "pipeline"):
        shutil.copytree(ROOT / package, other / package, ignore=shutil.ignore_patterns("__pycache__"))
    changed = other / "pipeline" / "torusweep" / "networks" / "topology.py"
    changed.write_text(changed.read_text() + "\nANOTHER_VERSION = True\n")
    there = Elsewhere(tmp_path)
    try:
        there.worker(PYTHONPATH=f"{other / 'kernels'}:{other / 'pipeline'}")
        rings.config.write_text(there.config())
        rings.here("points")
        status, said = rings.step("static")
    finally:
        there.end()
    assert (status, said.count("\n")) == (2, 1), said
    ours = code_version()
    assert f"this is {ours}; install the same version on both" in said
    theirs = said.partition("runs torusweep ")[2].partition(", this is")[0]
    assert theirs.startswith(f"{__version__} (code ")
    assert theirs != ours
    assert rings.shards() == []
