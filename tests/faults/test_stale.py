"""Nothing stale is complete: configurations and files that change while they are computed, and kills meanwhile.

What is called complete must be, to the byte, what an undisturbed run makes of the configuration that the folder holds.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from torusweep.errors import BadInput
from torusweep.run import steps
from torusweep.sweeps import points
from torusweep.tables import current, store

from tests.faults.test_files import disk
from tests.run.rings import Run

A, B = (
    f"sweep: rings\ntopologies:\n  - {{family: ring, k: {{from: {first}, to: 9}}}}\ncluster: {{batch_seconds: 0.01}}\n"
    for first in (3, 4)
)
STEPS = ("points", "static", "derived", "check")
# of the runs below most is spent on starting Python: the command, Snakemake, the step that computes, the page
RUN = "run", "rings.yaml", "--workers", "0", "--backend", "numpy"
EDITS, KILLS, DISKS, SEED = 20, 60, 20, 52


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def computed(run: Run, steps: tuple[str, ...] = STEPS) -> None:
    """The steps in this process, as far as they get."""
    for step in steps:
        assert run.here(step, workers=0) == 0


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of undisturbed runs, by the text of their configuration."""
    made = {}
    for number, text in enumerate((A, B)):
        run = Run(tmp_path_factory.mktemp(f"clean{number}"))
        run.config.write_text(text)
        computed(run)
        made[text] = run.folder
    return made


def is_right(folder: Path, clean: dict[str, Path]) -> bool:
    """Whether a folder is called complete; then its tables must be those of the configuration that it holds."""
    if not current.is_complete(folder):
        return False
    text = (folder / current.CONFIGURATION).read_text()
    assert store.read_manifest(folder)["config"]["text"] == text
    store.check_tables(folder)
    assert tables(folder) == tables(clean[text])
    return True


class Killed(BaseException):
    """Stands in for SIGKILL: nothing of ours catches it."""


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], contextlib.AbstractContextManager[list[int]]]:
    """Kills this process at its n-th change of a folder: before a file has its name, or is removed."""

    @contextlib.contextmanager
    def killed(number: int) -> Iterator[list[int]]:
        changes = [0]

        def counted(change: Callable[..., None]) -> Callable[..., None]:
            def call(*arguments: object, **more: object) -> None:
                changes[0] += 1
                if changes[0] > number:
                    raise Killed
                change(*arguments, **more)

            return call

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", counted(os.replace))
            patch.setattr(Path, "unlink", counted(Path.unlink))
            with contextlib.suppress(Killed):
                yield changes

    return killed


def test_a_kill_at_any_change_of_the_folder(rings: Run, clean: dict[str, Path], at):
    """A folder of A becomes one of B: whatever it is called on the way is true, and the next run ends it."""
    rings.config.write_text(B)
    shutil.copytree(clean[A], rings.folder)
    assert is_right(rings.folder, clean)
    ended = 0
    for number in range(0, 100, 3):
        shutil.rmtree(rings.folder)
        shutil.copytree(clean[A], rings.folder)
        with at(number) as changes:
            computed(rings)
        ended += is_right(rings.folder, clean) and (rings.folder / current.CONFIGURATION).read_text() == B
        if changes[0] <= number:
            break
    assert ended
    assert number > 12, "it was killed on the way"


def test_a_table_of_another_configuration_is_never_entered(rings: Run):
    """Two that write into one folder, as plain Snakemake from two places would."""
    rings.config.write_text(A)
    computed(rings, ("points", "static"))
    before = rings.home / "before.yaml"
    before.write_text(A)
    rings.config.write_text(B)
    computed(rings, ("points",))
    assert store.read_manifest(rings.folder)["tables"].keys() == {"points"}
    rings.config = before
    for step in ("static", "derived", "verification", "report", "check"):
        with pytest.raises(BadInput, match="has the points of another configuration than the one that is read"):
            rings.here(step, workers=0)


NAME = 'graph(path="ring.edges")'
GRAPHS = 'sweep: rings\ntopologies: [graph(path="ring.edges"), ring(k=4)]\ncluster: {workers: 0}\n'


@pytest.fixture
def graph(rings: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(rings.home)
    rings.config.write_text(GRAPHS)
    path = rings.home / "ring.edges"
    path.write_text("0 1\n1 2\n2 0\n")
    return path


def test_a_row_of_a_file_that_changed_is_not_kept(rings: Run, graph: Path, monkeypatch: pytest.MonkeyPatch):
    """It changes when a row was computed and is not yet keyed, and back before the next run: that is right again."""
    text, keyed = graph.read_text(), points._keyed_together

    def edited(*given):
        graph.write_text("0 1\n1 2\n2 3\n")
        return keyed(*given)

    computed(rings, ("points",))
    with monkeypatch.context() as patch:
        patch.setattr(points, "_keyed_together", edited)
        assert rings.here("static", workers=0) == 0
    assert rings.failed() == {NAME: "a file that the point names changed while it was computed; run the sweep again"}
    for shard in rings.shards():
        assert pq.read_table(shard)["topology"].to_pylist() == ["ring(k=4)"]
    with pytest.raises(BadInput, match="from other files: delete it and run the sweep again"):
        rings.here("static", workers=0)
    graph.write_text(text)
    computed(rings, ("static", "derived", "verification", "report", "check"))
    assert store.open_table(rings.folder / "static.parquet")["links"].to_pylist() == [3, 4]


@pytest.mark.parametrize("step", ["points", "derived"])
def test_a_file_that_changes_during_a_short_step(rings: Run, graph: Path, monkeypatch: pytest.MonkeyPatch, step: str):
    computed(rings, STEPS[: STEPS.index(step)] if step == "points" else ("points", "static"))
    name = {"points": "points_table", "derived": "verification_rows"}[step]
    found = getattr(steps, name)

    def then_edited(*given):
        graph.write_text("0 1\n1 2\n2 3\n")
        return found(*given)

    monkeypatch.setattr(steps, name, then_edited)
    with pytest.raises(BadInput, match=r"ring\.edges changed while the sweep ran: nothing of it is kept"):
        rings.here(step)


def test_a_graph_of_the_same_size_and_time_is_read_again(rings: Run, graph: Path):
    computed(rings, ("points", "static"))
    status = graph.stat()
    graph.write_text("0 1\n1 2\n2 3\n")
    os.utime(graph, ns=(status.st_atime_ns, status.st_mtime_ns))
    computed(rings, ("points", "static"))
    assert store.open_table(rings.folder / "static.parquet")["nodes"].to_pylist() == [4, 4]


# --- the command, disturbed at random --------------------------------------------------------------------


def in_parts(first: int, part: int, whole: int) -> pytest.MarkDecorator:
    """A first part for `make test-faults`, and the rest for `make test-slow`, in parts that may run side by side."""
    parts = [pytest.param(first, SEED, marks=pytest.mark.faults)]
    for begin in range(first, whole, part):
        parts.append(pytest.param(min(part, whole - begin), SEED + begin, marks=pytest.mark.slow))
    return pytest.mark.parametrize(("count", "seed"), parts)


@pytest.fixture(scope="module")
def seconds(tmp_path_factory: pytest.TempPathFactory) -> float:
    """That a run takes on this machine, now."""
    run = Run(tmp_path_factory.mktemp("timed"))
    run.config.write_text(A)
    begin = time.monotonic()
    assert run.call(*RUN)[0] == 0
    return time.monotonic() - begin


def undisturbed(run: Run, text: str, clean: dict[str, Path]) -> None:
    """The next run of a configuration ends well, and makes its tables."""
    run.config.write_text(text)
    status, said = run.forked(*RUN)
    assert status == 0, said
    assert is_right(run.folder, clean)
    assert (run.folder / current.CONFIGURATION).read_text() == text


@in_parts(1, 4, EDITS)
def test_edits_at_any_moment(rings: Run, clean: dict[str, Path], seconds: float, count: int, seed: int):
    chance = random.Random(seed)
    for number in range(count):
        before, after = ((A, B), (B, A))[number % 2]
        rings.config.write_text(before)
        process = rings.start(*RUN)
        time.sleep(chance.uniform(0, seconds))
        # as editors do: in place, or by a new file of the same name; with an older time, as a copy that keeps it
        if chance.random() < 0.5:
            rings.config.write_text(after)
        else:
            new = rings.home / "new.yaml"
            new.write_text(after)
            os.utime(new, (0, 0))
            new.replace(rings.config)
        said = process.communicate(timeout=280)[0]
        assert process.returncode == 0, said
        assert is_right(rings.folder, clean)
        if chance.random() < 0.3:
            continue  # the next run is of what this one was of
        undisturbed(rings, after, clean)


@pytest.mark.slow
def test_an_edit_of_the_copy_itself(rings: Run, clean: dict[str, Path], seconds: float):
    """The folder's own file is run, and edited meanwhile."""
    chance = random.Random(SEED)
    undisturbed(rings, A, clean)
    copy = rings.folder / current.CONFIGURATION
    for after in (B, A, B, A):
        process = rings.start("run", str(copy), *RUN[2:])
        time.sleep(chance.uniform(0, seconds))
        copy.write_text(after)
        said = process.communicate(timeout=280)[0]
        assert process.returncode in (0, 1, 2), said
        assert not is_right(rings.folder, clean) or process.returncode == 0, said
        status, said = rings.forked("run", str(copy), *RUN[2:])
        assert status == 0, said
        assert copy.read_text() == after
        assert is_right(rings.folder, clean)


@in_parts(3, 19, KILLS)
def test_kills_while_the_configuration_changes(
    rings: Run, clean: dict[str, Path], seconds: float, count: int, seed: int
):
    chance = random.Random(seed)
    for number in range(1, count + 1):
        rings.config.write_text(chance.choice((A, B)))
        run = rings.start(*RUN)
        time.sleep(chance.uniform(0, seconds))
        rings.end()
        assert run.returncode in (0, -9)
        is_right(rings.folder, clean) if rings.folder.exists() else None
        if number % 10 == 0 or number == count:
            undisturbed(rings, chance.choice((A, B)), clean)


@in_parts(1, 5, DISKS)
def test_full_disks(rings: Run, clean: dict[str, Path], seconds: float, count: int, seed: int):
    chance = random.Random(seed)
    with disk(rings.home / "results", "24m") as results:
        for number in range(count):
            text = (A, B)[number % 2]
            rings.config.write_text(text)
            run = rings.start(*RUN)
            time.sleep(chance.uniform(0, seconds))
            with contextlib.suppress(OSError), (results / "ballast").open("wb", buffering=0) as ballast:
                while True:
                    ballast.write(bytes(4096))
            said = run.communicate(timeout=280)[0]
            assert run.returncode in (0, 1, 2), said
            assert "Traceback" not in said, said
            is_right(rings.folder, clean)
            (results / "ballast").unlink()
            undisturbed(rings, text, clean)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((0.3,), marks=pytest.mark.faults),
        pytest.param((0.0, 0.1, 0.5, 0.9), marks=pytest.mark.slow),
    ],
)
def test_two_runs_in_one_folder_of_two_configurations(
    rings: Run, clean: dict[str, Path], seconds: float, parts: tuple[float, ...]
):
    """The second begins when a part of the first one's time is over."""
    other = rings.home / "other.yaml"
    rings.config.write_text(A)
    other.write_text(B)
    for part in parts:
        first = rings.start(*RUN)
        time.sleep(part * seconds)
        second = rings.start("run", "other.yaml", *RUN[2:])
        said = [process.communicate(timeout=280)[0] for process in (first, second)]
        ended = [process.returncode for process in (first, second)]
        assert sorted(ended) in ([0, 0], [0, 2]), said
        assert all(status == 0 or "is in use by process" in words for status, words in zip(ended, said)), said
        assert is_right(rings.folder, clean)
        if ended[1] == 0:
            assert (rings.folder / current.CONFIGURATION).read_text() == B


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--dry-run",), ("--summary",), ("--until", "points")])
def test_less_than_a_run_calls_nothing_complete(rings: Run, clean: dict[str, Path], options: tuple[str, ...]):
    undisturbed(rings, A, clean)
    rings.config.write_text(B)
    status, said = rings.forked("run", "rings.yaml", *options)
    assert status == 0, said
    assert is_right(rings.folder, clean) == (options[0] != "--until")
    if options[0] == "--dry-run":
        assert "a run would make: " in said
        assert "static.parquet" in said
