"""What the Snakefile is told at its top: by `torusweep run`, as long as it is true, or read off the configuration; the same either way."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.exceptions import WorkflowError
from torusweep.run import asked
from torusweep.run.asked import About
from torusweep.run.command import about
from torusweep.run.steps import STEPS
from torusweep.sweep.configuration import load
from torusweep.sweep.points_table import points_table, weighed_points
from torusweep.tables import store

from tests.run.rings import Run

PAPERS = "sweep: some\ntopologies: ['ring(k=5)']\npapers: [P04]\nloads: [{traffic: [uniform]}]\n"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "some.yaml"
    path.write_text(PAPERS)
    return path


@pytest.fixture
def told(config: Path) -> Iterator[About]:
    """By a run, which has left a draft."""
    asked.told.append(about(load(config))._replace(draft=".writing-points-1"))
    yield asked.told[0]
    asked.told.clear()


def of(config: Path, **given: Any) -> asked.Asked:
    return asked.asked(SimpleNamespace(config_settings=SimpleNamespace(configfiles=[config], config=given)))


def test_told_or_not_it_is_the_same(config: Path, told: About):
    given = {"results": "else where", "symmetry": True, "workers": 3}
    heard = of(config, **given)
    asked.told.clear()
    read = of(config, **given)
    assert heard._replace(points=read.points) == read
    assert (read.config, read.folder, read.options) == (
        "some.yaml",
        Path("else where/some"),
        "--symmetry on --workers 3",
    )
    assert "loads" in read.later
    assert "simulation" not in read.later
    assert [Path(name).name for name in read.inputs] == ["some.yaml", "p04.csv"]
    assert read.points == "torusweep step points some.yaml 'else where/some'"
    assert heard.points.startswith(f"[ 'else where/some/{told.draft}' -nt some.yaml ] && mv ")


def test_a_configuration_is_named_in_either_way(config: Path):
    given = {"config": "./some.yaml", "workers": 2}
    said = SimpleNamespace(configfiles=[], config=given)
    assert asked.asked(SimpleNamespace(config_settings=said)) == of(config, workers=2)
    assert given == {"config": "./some.yaml", "workers": 2}, "Snakemake's own"
    in_a_profile = SimpleNamespace(configfiles=[config.with_name("other.yaml")], config=given)
    assert asked.asked(SimpleNamespace(config_settings=in_a_profile)).config == "some.yaml", "the command line's"
    for wrong, says in (
        ({"config": None}, "expected a configuration file, got nothing"),
        ({"config": 5}, "5: expected a configuration file"),
    ):
        with pytest.raises(WorkflowError, match=says):
            asked.asked(SimpleNamespace(config_settings=SimpleNamespace(configfiles=[], config=wrong)))
    with pytest.raises(WorkflowError, match=r"expected one --configfile, got 2: some.yaml, some.yaml"):
        asked.asked(SimpleNamespace(config_settings=SimpleNamespace(configfiles=[config] * 2, config={})))


def test_a_configuration_that_was_told_of_is_not_read_again_unless_it_changed(
    config: Path, told: About, monkeypatch: pytest.MonkeyPatch
):
    read: list[str] = []
    monkeypatch.setattr("torusweep.sweep.configuration.load", lambda path: read.append(str(path)) or load(path))
    of(config)
    assert read == []
    config.write_text(PAPERS.replace("ring(k=5)", "ring(k=6)"))
    assert "mv" not in of(config).points, "the draft has other points"
    other = config.with_name("other.yaml")
    other.write_text(PAPERS.replace("some", "other"))
    assert of(other).folder == Path("results/other")
    assert read == ["some.yaml", "other.yaml"]


@pytest.mark.parametrize("then", ["taken", "gone", "edited"])
def test_the_draft_takes_its_place_and_where_it_is_gone_or_older_the_step_makes_the_table(
    then: str, config: Path, told: About
):
    """Older than the configuration: edited after Snakemake has read its file and asked."""
    folder = Path("results/some")
    folder.mkdir(parents=True)
    step = Path("torusweep")
    step.write_text('#!/bin/sh\nprintf "%s." "$@" > results/some/points.parquet\n')
    step.chmod(0o755)
    draft = folder / told.draft
    if then != "gone":
        draft.write_text("the draft")
        made = draft.stat().st_mtime
        os.utime(config, (made - 1, made - 1))
    command = of(config).points
    if then == "edited":
        os.utime(config, (made + 1, made + 1))
    subprocess.run(["bash", "-c", command], check=True, env=os.environ | {"PATH": f".:{os.environ['PATH']}"})
    assert (folder / "points.parquet").read_text() == (
        "the draft" if then == "taken" else "step.points.some.yaml.results/some."
    )
    assert draft.exists() == (then == "edited"), "which the run removes in the end"


def test_a_run_tells_and_leaves_a_draft(rings: Run):
    status, said = rings.call("run", "rings.yaml", "--dry-run", "--printshellcmds")
    assert status == 0, said
    assert f"[ results/rings/{store.TEMPORARY}points-" in said
    assert list(rings.folder.glob(f"{store.TEMPORARY}*")) == []


def test_a_draft_is_what_the_step_would_make_and_what_killed_runs_left_goes(config: Path):
    folder = Path("results/some")
    assert STEPS["points"](config, folder, {}) == 0
    (folder / f"{store.TEMPORARY}points-0").touch()
    with store.drafted_points(folder, points_table(weighed_points(load(config), folder))) as draft:
        assert [path.name for path in folder.glob(".*")] == [draft]
        assert (folder / draft).read_bytes() == (folder / "points.parquet").read_bytes()
    assert list(folder.glob(".*")) == []
