"""A results folder is copied and shared: nothing in its manifest becomes an option, a path, code or HTML."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.command_line import settled, torusweep
from tests.run.rings import Run

HOSTILE: tuple[Any, ...] = (
    "--snakefile=/tmp/evil.smk",
    "--delete-all-output",
    "../../evil",
    "/etc/passwd",
    "<script>evil()</script>",
    "$(touch evil)",
    None,
    -1,
    1e999,
    True,
    [],
    ["--snakefile=/tmp/evil.smk"],
    {},
    {"../evil": {"sha256": "0" * 64, "rows": 1}},
)
FAILED = {"stage": "static", "topology": "ring(k=5)", "point": "ring(k=5)", "reason": "made up"}


@pytest.fixture
def finished(rings: Run) -> Run:
    rings.config.write_text("sweep: rings\ntopologies: [ring(k=5), ring(k=8)]\n")
    for step in ("points", "static", "distances", "verification"):
        assert rings.here(step, workers=0) == 0
    return rings


def replaced(value: Any, wrong: Any) -> Iterator[Any]:
    """The manifest with each of its values and keys in turn replaced by a wrong one."""
    yield wrong
    if isinstance(value, dict):
        for key, inner in value.items():
            for other in replaced(inner, wrong):
                yield {**value, key: other}
            if isinstance(wrong, str):
                yield {(wrong if name == key else name): inner for name, inner in value.items()}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            for other in replaced(inner, wrong):
                yield [*value[:index], other, *value[index + 1 :]]


def everything(home: Path) -> set[Path]:
    return {path for path in home.rglob("*") if ".manifest" not in path.name and path.suffix != ".html"}


@pytest.mark.parametrize("wrong", HOSTILE, ids=repr)
def test_a_hostile_value_anywhere_is_one_line_or_harmless(
    finished: Run, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished.home)
    path = finished.folder / "manifest.json"
    good = json.loads(path.read_bytes())
    good["shards"], good["failed"] = good["shards"][:1], [FAILED]
    good["software"]["packages"] = {"numpy": "2"}
    before = everything(finished.home)
    for number, hostile in enumerate(replaced(copy.deepcopy(good), wrong)):
        path.write_text(json.dumps(hostile))
        settled(torusweep("verify", "--results", str(finished.folder)))
        if number % 10 == 0 and settled(torusweep("report", "--results", str(finished.folder), "-o", "page.html")):
            assert "<script>evil" not in Path("page.html").read_text()
        assert everything(finished.home) == before


@pytest.mark.faults
def test_a_failed_stage_is_no_option_of_snakemake(finished: Run) -> None:
    evil = finished.home / "evil.smk"
    evil.write_text(f"open({str(finished.home / 'owned')!r}, 'w')\nrule all:\n")
    path = finished.folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    for stage in (f"--snakefile={evil}", "--delete-all-output", "points"):
        path.write_text(json.dumps({**manifest, "failed": [{**FAILED, "stage": stage}]}))
        status, said = finished.forked("run", "rings.yaml", "--workers", "0")
        assert not (finished.home / "owned").exists()
        assert (finished.folder / "static.parquet").exists()
        assert "Traceback" not in said
        if status:
            assert ("ring(k=5) failed: made up" if stage == "points" else "manifest.json is damaged: delete it") in said
