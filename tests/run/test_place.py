"""The folder in which Snakemake runs, the records of earlier runs, and paths that mean the same there."""

from __future__ import annotations

import json
import os
import shutil
import stat
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from torusweep.errors import BadInput, located
from torusweep.run import place
from torusweep.run.place import SnakemakeOption

from tests.run.rings import Run

RECORD = {
    "rule": "stage",
    "input": ["results/rings/points.parquet", "rings.yaml"],
    "params": ["'digest'"],
    "code": "shell\n\twords",
    "record_format_version": 6,
    "endtime": 1.5,
    "input_checksums": {"rings.yaml": "sha256:12"},
    "conda_env": "of no use",
}


def write(folder: Path, key: str, content: str) -> None:
    """A record as Snakemake 9 writes it: its name in base64, in folders of 254 characters that begin with @."""
    name = urlsafe_b64encode(key.encode()).decode()
    parts = [name[start : start + 254] for start in range(0, len(name), 254)]
    path = folder.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's working folder, with a sweep's folder that has a table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/rings").mkdir(parents=True)
    (tmp_path / "results/rings/static.parquet").touch()
    return tmp_path


def taken(home: Path) -> dict[str, Any] | None:
    """The record of the table in a new place."""
    folder = home / "results/rings"
    with place.new_place(folder, Path("results/rings")) as made:
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
        assert made.parent == folder
        return place.record_of(made / place.RECORDS, str(folder / "static.parquet"))


@pytest.mark.parametrize("deep", ["", "/".join(["a" * 100] * 5)])
def test_records_of_an_earlier_version_are_taken_over_with_the_names_of_now(home: Path, deep: str):
    called = Path(deep, "results/rings")
    folder = home / called
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "static.parquet").touch()
    record = RECORD | {"input": [str(called / "points.parquet"), "rings.yaml"]}
    write(home / ".snakemake/metadata", str(called / "static.parquet"), json.dumps(record))
    write(home / ".snakemake/incomplete", str(called / "static.parquet"), "{}")
    for _ in range(2):  # the second place takes it from the first
        with place.new_place(folder, called) as made:
            found = place.record_of(made / place.RECORDS, str(folder / "static.parquet"))
            begun = [path for path in (made / place.BEGUN).rglob("*") if path.is_file()]
        assert found is not None
        assert found["input"] == sorted([str(folder / "points.parquet"), str(home / "rings.yaml")])
        assert found["input_checksums"] == {str(home / "rings.yaml"): "sha256:12"}
        assert {name: found[name] for name in ("rule", "params", "code", "endtime")} == {
            name: RECORD[name] for name in ("rule", "params", "code", "endtime")
        }
        assert "conda_env" not in found
        assert [json.loads(path.read_text()) for path in begun] == [{"external_jobid": None}]


def test_records_follow_a_folder_that_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first, second = tmp_path / "first", tmp_path / "second"
    (first / "results/rings").mkdir(parents=True)
    (first / "rings.yaml").touch()
    (first / "results/rings/static.parquet").touch()
    write(first / ".snakemake/metadata", "results/rings/static.parquet", json.dumps(RECORD))
    monkeypatch.chdir(first)
    assert taken(first) is not None
    shutil.move(first, second)
    monkeypatch.chdir(second)
    assert (taken(second) or {})["input"] == [
        str(second / name) for name in ("results/rings/points.parquet", "rings.yaml")
    ]


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("{", None),
        ("[" * 100_000, None),
        ("[1]", None),
        ("{}", None),
        (json.dumps(RECORD | {"record_format_version": True}), None),
        (json.dumps(RECORD | {"code": "\x1b]0;title\x07"}), ["input", "params", "rule"]),
        (json.dumps(RECORD | {"params": ["x", 1]}), ["code", "input", "rule"]),
        (json.dumps(RECORD | {"input": "rings.yaml"}), ["code", "params", "rule"]),
        (json.dumps(RECORD | {"input_checksums": {"a": ["b"]}}), ["code", "input", "params", "rule"]),
    ],
)
def test_of_a_record_only_what_fits_is_kept(home: Path, content: str, kept: list[str] | None):
    write(home / ".snakemake/metadata", "results/rings/static.parquet", content)
    found = taken(home)
    of_interest = {"code", "input", "params", "rule"}
    assert (None if found is None else sorted(found.keys() & of_interest)) == kept
    assert kept is None or "a" not in (found or {})["input_checksums"]


def test_pipes_links_and_vast_files_are_no_records(home: Path, monkeypatch: pytest.MonkeyPatch):
    records = home / ".snakemake/metadata"
    key = "results/rings/static.parquet"
    write(records, key, json.dumps(RECORD))
    (path,) = records.iterdir()
    path.rename(home / "record")
    path.symlink_to(home / "record")
    assert place.record_of(records, key) is None
    path.unlink()
    os.mkfifo(path)
    assert place.record_of(records, key) is None
    path.unlink()
    (home / "record").rename(path)
    assert place.record_of(records, key) is not None
    monkeypatch.setattr(place, "MOST_BYTES", 10)
    assert place.record_of(records, key) is None


def test_a_place_whose_run_was_killed_stays_without_its_records(home: Path):
    """Jobs that it left in a cluster's queue begin there."""
    folder = home / "results/rings"
    with place.new_place(folder, Path("results/rings"), queued=True) as first:
        pass
    with place.new_place(folder, Path("results/rings"), queued=True) as second:
        assert not first.exists()
    (second / place.ENDED).unlink()
    with place.new_place(folder, Path("results/rings")) as third:
        assert (third / place.ENDED).exists(), "no queue has a job of it: a kill leaves nothing that stays"
        assert [path.name for path in second.iterdir()] == [place.OF]
    (folder / ".run-link").symlink_to(home)
    with place.new_place(folder, Path("results/rings")):
        assert not third.exists()
        assert (folder / "static.parquet").exists()


OPTIONS = [
    SnakemakeOption(["--dry-run", "-n"], 0, "", ""),
    SnakemakeOption(["--report"], 1, "report.html", "path"),
    SnakemakeOption(["--jobs", "-j"], 1, "", ""),
    SnakemakeOption(["--profile"], 1, "", ""),
    SnakemakeOption(["--forcerun", "-R"], 1 << 30, "", "target"),
    SnakemakeOption(["--cleanup-metadata"], 1 << 30, "", "path"),
]


@pytest.mark.parametrize(
    ("words", "absolute"),
    [
        ("-n", "-n"),
        ("--report -n", "--report HERE/report.html -n"),
        ("--report", "--report HERE/report.html"),
        ("--repo=a.zip -n", "--repo=HERE/a.zip -n"),
        ("--report a.zip", "--report HERE/a.zip"),
        ("--jobs 3 results/rings/static.parquet", "--jobs 3 HERE/results/rings/static.parquet"),
        ("-R stage results/x.parquet", "-R stage HERE/results/x.parquet"),
        ("--forcerun=stage", "--forcerun=stage"),
        ("--cleanup-metadata a /b", "--cleanup-metadata HERE/a /b"),
        ("--profile mine", "--profile mine"),
        ("--profile ./mine", "--profile HERE/mine"),
        ("--unknown a/b", "--unknown HERE/a/b"),
    ],
)
def test_paths_among_options_are_absolute(home: Path, words: str, absolute: str):
    made = place.with_absolute_paths(words.split(), OPTIONS)
    assert " ".join(made) == absolute.replace("HERE", str(home))


def test_a_profile_without_a_folder_in_its_name_is_none_of_the_working_folder(home: Path):
    (home / "slurm").mkdir()
    with pytest.raises(BadInput, match=r"--profile: expected the name of a profile of yours, or a path, got slurm"):
        place.with_absolute_paths(["--profile", "slurm"], OPTIONS)


def test_the_environment_says_where_relative_paths_begin(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", f":sources:{home}:")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "cache")
    made = place.environment()
    assert made["PYTHONPATH"] == f"{home / 'sources'}:{home}"
    assert made["NUMBA_CACHE_DIR"] == str(home / "cache")
    assert made["PYTHONSAFEPATH"] == "1"
    assert located("a.edges") == Path("a.edges")
    monkeypatch.setenv(place.FOLDER, made[place.FOLDER])
    monkeypatch.chdir("results")
    assert (located("a.edges"), located("/a.edges"), located("")) == (home / "a.edges", Path("/a.edges"), home)


@pytest.mark.faults
def test_what_snakemake_made_in_the_working_folder_is_kept(rings: Run):
    """Its records say what the configuration was: a newer time alone makes nothing again. Other code does."""
    status, said = rings.snakemake("--configfile", "rings.yaml", "--cores", "1", "--force-use-threads")
    assert status == 0, said
    made = {path.name: path.stat().st_mtime_ns for path in rings.folder.glob("[!.]*.*")}
    rings.config.touch()
    for _ in range(2):
        status, said = rings.forked("run", "rings.yaml")
        assert "Nothing to be done" in said
        assert made == {path.name: path.stat().st_mtime_ns for path in rings.folder.glob("[!.]*.*")}
    (earlier,) = place.earlier_places(rings.folder)
    key = str(rings.folder / "static.parquet")
    record = place.record_of(earlier / place.RECORDS, key)
    assert record is not None
    write(earlier / place.RECORDS, key, json.dumps(record | {"params": ["'other code'"]}))
    shards = rings.shards()
    status, said = rings.forked("run", "rings.yaml", "--workers", "0")
    assert status == 0, said
    assert (rings.folder / "static.parquet").stat().st_mtime_ns != made["static.parquet"]
    assert rings.shards() == shards, "nothing is computed twice"
