"""Faults of disks, folders and files: full, read-only, damaged, moved, or dated by a wrong clock.

Rows 14-21, 24 and 25 of the table of faults.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.command_line import settled, torusweep
from tests.run.rings import Run, until


@contextlib.contextmanager
def disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own of so many bytes, mounted at a folder."""
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def whole(run: Run) -> bool:
    """Whether every shard is what its name says, and nothing half-written lies beside it."""
    names = [path.name for path in (run.folder / "shards").iterdir()]
    digests = [f"{hashlib.sha256((run.folder / 'shards' / name).read_bytes()).hexdigest()}.parquet" for name in names]
    return names == digests


@pytest.mark.faults
def test_a_disk_that_fills_up_in_the_middle(many: Run, clean_many: bytes):  # 14
    with disk(many.home / "results", "24m") as results:
        many.here("points")
        driver = many.start("step", "static", str(many.config), str(many.folder), "--workers", "2", fault="slow 0.05")
        until(many.shards)
        with contextlib.suppress(OSError), (results / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(4096))
        said = driver.communicate(timeout=280)[0]
        assert driver.returncode == 2, said
        assert "No space left on device; make room" in said.splitlines()[-1]
        assert whole(many)
        kept = many.shards()
        status, said = many.forked("run", "rings.yaml")
        assert (status, said.count("\n")) == (2, 1), said
        assert "points need about" in said
        assert "MiB of disk" in said
        (results / "ballast").unlink()
        many.finish()
        assert many.static() == clean_many
        assert set(kept) < set(many.shards())


@pytest.mark.faults
def test_a_disk_that_fills_up_under_a_run(many: Run, clean_many: bytes):
    """Snakemake's log and records are on it, too: what it says of them is no traceback."""
    with disk(many.home / "results", "24m") as results:
        run = many.start("run", "rings.yaml", "--workers", "2", fault="slow 0.05")
        until(many.shards)
        with contextlib.suppress(OSError), (results / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(4096))
        said = run.communicate(timeout=280)[0]
        assert run.returncode == 1, said
        assert "No space left on device; make room" in said
        assert "Traceback" not in said
        assert "Logging error" not in said
        (results / "ballast").unlink()
        status, said = many.forked("run", "rings.yaml", "--workers", "1")
        assert status == 0, said
        assert many.static() == clean_many


def test_a_folder_that_cannot_be_written(rings: Run):  # 15
    with disk(rings.home / "results", "16m") as results:
        subprocess.run(["mount", "-o", "remount,ro", str(results)], check=True)
        status, said = rings.forked("run", "rings.yaml")
        assert (status, said.count("\n")) == (2, 1), said
        assert "cannot write in results/rings: Read-only file system; choose another folder with --results" in said


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "a bit": lambda content: content[:1000] + bytes([content[1000] ^ 1]) + content[1001:],
    "something else": lambda content: b"no shard at all",
}


@pytest.mark.faults
def test_damaged_shards_are_computed_again(rings: Run, clean: bytes):  # 17, 18, 19
    rings.with_settings("workers: 1")
    rings.here("points")
    rings.finish()
    shards = rings.shards()
    hurt = dict(zip(DAMAGE, shards, strict=False))
    for damage, path in hurt.items():
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    (rings.folder / "shards" / ".writing-half").write_bytes(b"half")  # 16
    (rings.folder / "static.parquet").unlink()
    status, said = rings.step("static")
    assert status == 0, said
    assert all(
        f"{path.resolve()} was damaged: removed, its points are computed again" in said for path in hurt.values()
    )
    assert rings.static() == clean
    assert whole(rings)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A sweep of which all is done."""
    run = Run(tmp_path_factory.mktemp("made"))
    run.config.write_text("sweep: rings\ntopologies: [ring(k=5), ring(k=8)]\n")
    for step in ("points", "static", "loads", "distances", "verification", "report", "check"):
        assert run.here(step, workers=0) == 0
    return run


@pytest.fixture
def finished(made: Run, rings: Run) -> Run:
    """A copy of it, to be altered."""
    shutil.copy(made.config, rings.config)
    shutil.copytree(made.folder, rings.folder)
    return rings


@pytest.mark.parametrize(
    ("table", "command"),
    [
        ("static", ("query", "SELECT sum(nodes) FROM static")),
        ("static", ("report",)),
        ("verification", ("verify",)),
        ("distances", ("query", "SELECT sum(pairs) FROM distances")),
        ("manifest", ("query", "SELECT sum(nodes) FROM static")),
        ("manifest", ("report",)),
        ("manifest", ("verify",)),
    ],
)
def test_what_was_altered_is_refused_by_name(finished: Run, table: str, command: tuple[str, ...]):  # 20, 21
    where = "--results", str(finished.folder)
    path = finished.folder / ("manifest.json" if table == "manifest" else f"{table}.parquet")
    content = path.read_bytes()
    path.write_bytes(DAMAGE["truncated" if table == "manifest" else "a bit"](content))
    said = torusweep(*command, *where)
    assert not settled(said)
    assert str(path) in said.err
    assert "was altered" in said.err or "is damaged" in said.err


@pytest.mark.faults
def test_a_run_says_what_to_delete_and_mends_the_rest(rings: Run):  # 20, 21
    assert rings.forked("run", "rings.yaml", "--workers", "0")[0] == 0
    made = {path.name: path.read_bytes() for path in rings.folder.glob("*.parquet")}
    shards = rings.shards()
    for names in (["manifest.json"], ["static.parquet", "distances.parquet"]):
        hurt = [rings.folder / name for name in names]
        for path in hurt:
            path.write_bytes(DAMAGE["truncated"](path.read_bytes()))
        (rings.folder / "report.html").unlink()
        status, said = rings.forked("run", "rings.yaml", "--workers", "0")
        while status:
            assert "delete it and run the sweep again" in said
            (path,) = [path for path in hurt if f"{os.path.relpath(path, rings.home)} " in said]
            hurt.remove(path)
            path.unlink()
            status, said = rings.forked("run", "rings.yaml", "--workers", "0")
        assert {path.name: path.read_bytes() for path in rings.folder.glob("*.parquet")} == made, names
    assert rings.shards() == shards, "nothing was computed again"


@pytest.mark.faults
def test_a_folder_that_moved_goes_on(rings: Run, clean: bytes):  # 24
    rings.here("points")
    driver = rings.start("step", "static", str(rings.config), str(rings.folder), "--workers", "2", fault="slow 0.05")
    until(lambda: len(rings.shards()) > 2)
    driver.kill()
    driver.communicate()
    kept = {path.name for path in rings.shards()}
    shutil.move(rings.home / "results", rings.home / "elsewhere")
    rings.folder = rings.home / "elsewhere" / "rings"
    rings.finish()
    assert rings.static() == clean
    assert kept < {path.name for path in rings.shards()}, "what was computed is used"


@pytest.mark.faults
@pytest.mark.parametrize("year", [1980, 2100])
def test_clocks_do_not_matter(rings: Run, clean: bytes, year: int):  # 25
    rings.here("points")
    driver = rings.start("step", "static", str(rings.config), str(rings.folder), "--workers", "2", fault="slow 0.05")
    until(lambda: len(rings.shards()) > 2)
    driver.kill()
    driver.communicate()
    kept = rings.shards()
    then = (year - 1970) * 365.25 * 86400

    def of_then(*paths: Path) -> None:
        for path in paths:
            os.utime(path, (then, then))

    of_then(*kept, rings.folder / "points.parquet", rings.config)
    status, said = rings.forked("run", "rings.yaml", "--workers", "1")
    assert status == 0, said
    assert rings.static() == clean
    assert set(kept) < set(rings.shards())
    shards = rings.shards()
    of_then(*(path for path in rings.folder.iterdir() if path.is_file()))
    status, said = rings.forked("run", "rings.yaml", "--workers", "0")
    assert status == 0, said
    assert rings.static() == clean
    assert rings.shards() == shards, "nothing was computed again"
