"""What the Snakefile knows of its sweep."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.exceptions import WorkflowError
from torusweep.run import place, workflow

PAPERS = "sweep: some\ntopologies: ['ring(k=5)']\npapers: [P04]\nloads: [{traffic: [uniform]}]\n"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "some.yaml"
    path.write_text(PAPERS)
    return path


def of(*configs: Path, nodes: int | None = None, **given: Any) -> workflow.RequestedSweep:
    settings = SimpleNamespace(configfiles=list(configs), config=given)
    here = {"resource_settings": SimpleNamespace(nodes=nodes), "remote_exec": False, "subprocess_exec": False}
    here["modifier"] = SimpleNamespace(is_main_snakefile=lambda: True)
    return workflow.requested_sweep(SimpleNamespace(config_settings=settings, **here), {})


def test_the_rules_know_the_sweep(config: Path):
    given = {"results": "else where", "symmetry": True, "workers": 3}
    sweep = of(config, **given)
    assert given == {"results": "else where", "symmetry": True, "workers": 3}, "Snakemake's own"
    assert (sweep.config, sweep.folder) == ("else where/some/sweep.yaml", Path("else where/some"))
    assert sweep.options == "--symmetry on --workers 3"
    assert "loads" in sweep.stages
    assert "simulation" not in sweep.stages
    assert sweep.derived == ["distances", "verification"]
    assert sweep.code.keys() == {*sweep.stages, "tables"}
    assert [Path(name).name for name in sweep.files] == ["p04.csv"]
    assert sweep.tables(["static"]) == [Path("else where/some/static.parquet")]


def test_tables_of_another_configuration_without_a_record_are_said(config: Path, capfd: pytest.CaptureFixture[str]):
    """Plain Snakemake takes them for made; `torusweep run` forces them."""
    folder = Path("results/some")
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"tables": {}, "config": {"sha256": "another"}}')
    of(config)
    assert "of which Snakemake knows nothing: --forcerun points" in capfd.readouterr().out
    place._write(Path(place.RECORDS), "results/some/points.parquet", {"record_format_version": 6})
    of(config)
    assert capfd.readouterr().out == ""


def test_verification_comes_after_all_tables_that_it_compares():
    papers = Path(__file__).parents[2] / "config" / "papers"
    assert of(papers / "dally-1990.yaml").derived == ["distances", "latency", "verification"]


def test_what_is_wrong_is_one_line(config: Path):
    with pytest.raises(WorkflowError, match=r"expected one --configfile, got 2: some.yaml, some.yaml"):
        of(config, config)
    with pytest.raises(WorkflowError, match=r"--config: unknown key 'bakend' \(did you mean 'backend'\?\)"):
        of(config, bakend="numpy")
    with pytest.raises(WorkflowError, match=r"config/default.yaml: no such file"):
        of()
