"""`torusweep plan` and `torusweep run --dry-run`: what a sweep will take, without computing or writing anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from torusweep.cli import torusweep

CONFIG = "sweep: few\ntopologies: ['ring(k=4)', {family: torus, k: [3, 4], n: 2}]\nlayout: [{placement: straight}]\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "few.yaml"
    path.write_text(CONFIG)
    return path


def test_the_answer_comes_first(config: Path):
    said = CliRunner().invoke(torusweep, ["plan", str(config), "--workers", "2"]).output.splitlines()
    assert said[0].startswith("few: 6 points, about ")
    assert " on 2 workers" in said[0]
    assert [line.split()[:2] for line in said[3:5]] == [["static", "3"], ["layout", "3"]]
    assert "most expensive points:" in said


def test_json_has_the_same(config: Path):
    found = json.loads(CliRunner().invoke(torusweep, ["plan", str(config), "--json"]).output)
    assert found["points"] == 6
    assert [stage["points"] for stage in found["stages"]] == [3, 3]
    assert len(found["expensive"]) == 5


def test_a_dry_run_speaks_of_the_sweep_and_writes_nothing(config: Path, tmp_path: Path):
    results = tmp_path / "results"
    done = CliRunner().invoke(torusweep, ["run", str(config), "--results", str(results), "--dry-run"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("few: 6 points, about ")
    assert "a run would make: sweep.yaml, points.parquet" in done.output
    assert "Snakemake" not in done.output
    assert not results.exists()


def test_a_wrong_configuration_is_refused(config: Path):
    config.write_text(CONFIG.replace("ring", "rinq"))
    assert CliRunner().invoke(torusweep, ["plan", str(config)]).exit_code != 0
