"""Tables that another version computed are read, and every reader says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torusweep as ts
from torusweep.stages import MODULES, STAGES
from torusweep.sweeps.points import stage_digest
from torusweep.tables import current, store
from torusweep.tables.keys import digest_of_code, sources_of

from tests.faults.command_line import torusweep

NOTE = "another version of torusweep computed static; 'torusweep run' computes them with this one"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("other_version")
    (home / "s.yaml").write_text("sweep: s\ntopologies: [ring(k=4)]\n")
    for step in ("points", "static", "derived"):
        assert torusweep("step", step, str(home / "s.yaml"), str(home / "s"), "--workers", "0").status == 0
    return home / "s"


@pytest.mark.parametrize("stage", STAGES)
def test_the_digest_is_that_of_keys(stage: str):
    assert digest_of_code(sources_of(MODULES.format(stage))) == stage_digest(stage)


def test_tables_of_this_version_have_no_note(folder: Path):
    assert current.notes_of(store.read_manifest(folder), MODULES) == []
    assert "note" not in torusweep("query", "SELECT nodes FROM static", "--results", str(folder)).err


def test_every_reader_says_so(folder: Path, tmp_path: Path):
    manifest = store.read_manifest(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest | {"stage": {"static": "0" * 64}}))
    where = "--results", str(folder)
    for command in (
        ("query", "SELECT nodes FROM static"),
        ("pareto", "--minimise", "diameter"),
        ("plot", "nodes", "diameter", "--output", str(tmp_path / "plot.svg")),
        ("report", "--output", str(tmp_path / "page.html")),
    ):
        said = torusweep(*command, *where)
        assert (said.status, said.err.count(NOTE)) == (0, 1), said
    assert NOTE.partition(";")[0] in (tmp_path / "page.html").read_text()
    assert NOTE in str(ts.results(folder))
    refused = torusweep("query", "SELECT nothing FROM static", *where)
    assert refused.status == 2
    assert NOTE not in refused.err
