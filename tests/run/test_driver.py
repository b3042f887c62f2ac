"""The sweep's driver under faults: the table is always that of an undisturbed run (rows 1-3, 8, 11-14, 23)."""

from __future__ import annotations

import contextlib
import io
import math
import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.questions.how import How
from torusweep.questions.screen.stage import ScreenRequest
from torusweep.questions.static.stage import StaticRequest
from torusweep.run import driver as sweep
from torusweep.run.tasks import TaskOutcome
from torusweep.sweeps.batches import Batches
from torusweep.sweeps.points import Point, estimates
from torusweep.tables import store
from torusweep.tables.shards import read_shards
from torusweep_kernels.backend import GpuOutOfMemory

from tests.run.faulty_worker import made_up_rows
from tests.run.rings import Run, alive, until

SCHEMA = schema_of("static")


def topologies(table: bytes) -> list[str]:
    return pq.read_table(io.BytesIO(table)).column("topology").to_pylist()


def test_the_table_has_every_point_in_order(clean):
    assert topologies(clean) == [f"ring(k={k})" for k in range(3, 43)]


def test_workers_that_die_now_and_then_change_nothing_and_leave_nothing(
    rings: Run, clean: bytes, tmp_path: Path
):  # 1, 2
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    rings.here("points")
    status, said = rings.step("static", "--workers", "2", fault="kill-often 20", TMPDIR=str(scratch))
    assert status == 0, said
    assert rings.static() == clean
    assert rings.failed() == {}
    assert list(scratch.iterdir()) == []
    assert {path.name for path in rings.home.iterdir()} == {"results", "rings.yaml", "scratch"}


@pytest.mark.faults
def test_poisoned_points_are_named_and_the_rest_completes(
    rings: Run, clean: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):  # 3
    rings.here("points")
    status, said = rings.step("static", "--workers", "2", fault="kill ring(k=17); raise ring(k=9)")
    assert status == 0, said
    failed = rings.failed()
    assert set(failed) == {"ring(k=17)", "ring(k=9)"}
    assert "its worker died 3 times" in failed["ring(k=17)"]
    assert failed["ring(k=9)"] == "ZeroDivisionError: a made-up defect"
    assert topologies(rings.static()) == [name for name in topologies(clean) if name not in failed]
    assert all(f"{name} failed: {reason}" in said for name, reason in failed.items())
    rings.here("verification")
    capsys.readouterr()
    assert rings.here("check") == 1
    assert "2 points failed, 0 numbers are unexplained" in capsys.readouterr().out
    before = rings.shards()
    monkeypatch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)  # tried again, without their faults
    assert rings.here("static", workers=0) == 0
    assert (rings.static(), rings.failed()) == (clean, {})
    added = set(rings.shards()) - set(before)
    assert sum(pq.read_metadata(path).num_rows for path in added) == 2


class AnswersLost:
    """One worker that publishes its shards, and dies before anybody has its answers."""

    places, description = 1, "made up"

    def __init__(self) -> None:
        self.tasks: list[tuple[Any, ...]] = []

    def submit(self, *task: Any) -> int:
        self.tasks.append(task)
        return len(self.tasks) - 1

    def outcome(self, seconds: float) -> TaskOutcome:
        function, *arguments = self.tasks[-1]
        function(*arguments)
        return TaskOutcome(len(self.tasks) - 1, died="died")


def test_what_a_dead_worker_has_published_is_not_computed_again(
    rings: Run, clean: bytes, monkeypatch: pytest.MonkeyPatch
):
    rings.here("points")
    monkeypatch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)
    lost = AnswersLost()
    monkeypatch.setattr("torusweep.run.workers.connect", lambda *_, **__: contextlib.nullcontext(lost))
    assert rings.here("static", workers=1) == 0
    assert (rings.static(), rings.failed()) == (clean, {})
    computed = [point for _, points, *_ in lost.tasks for point in points]
    assert len(computed) == len(set(computed)) == 40


@pytest.mark.faults
def test_a_driver_killed_at_any_moment_and_resumed_gives_the_same_table(rings: Run, clean: bytes):  # 8, 16
    rings.here("points")
    for published in (1, 4):
        driver = rings.start(
            "step", "static", str(rings.config), str(rings.folder), "--workers", "2", fault="slow 0.05"
        )
        until(lambda: (rings.folder / ".lock").exists() and len(rings.shards()) >= published)  # noqa: B023
        workers = psutil.Process(driver.pid).children(recursive=True)
        os.kill(driver.pid, signal.SIGKILL)
        driver.communicate()
        assert alive(workers) == [], "workers of a dead driver stop"
    kept = rings.shards()
    assert len(kept) >= 4
    (rings.folder / "shards" / ".writing-half").write_bytes(b"half a shard")
    (rings.folder / "shards" / ("0" * 64 + ".parquet")).write_bytes(b"no shard")
    status, said = rings.step("static", "--workers", "1")
    assert status == 0, said
    assert rings.static() == clean
    assert set(kept) <= set(rings.shards()), "nothing was computed twice"
    points = [
        key
        for shard in read_shards(rings.folder, "static", SCHEMA).whole
        for key in shard.rows.column("key").to_pylist()
    ]
    assert len(points) == len(set(points)) == 40
    assert "damaged: removed" in said
    assert not list(rings.folder.glob("shards/.*"))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_signal_saves_what_runs(
    rings: Run, clean: bytes, number: int, status: int, monkeypatch: pytest.MonkeyPatch
):  # 12, 13
    rings.here("points")
    driver = rings.start("step", "static", str(rings.config), str(rings.folder), "--workers", "2", fault="slow 0.2")
    until(rings.shards)
    os.killpg(driver.pid, number)  # as a terminal does: the workers get it too
    said = driver.communicate(timeout=120)[0]
    assert driver.returncode == status, said
    assert "stopping: batches that run are finished" in said
    assert not (rings.folder / "static.parquet").exists()
    saved = rings.shards()
    assert len(saved) >= 2
    monkeypatch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)
    assert rings.here("static", workers=0) == 0
    assert rings.static() == clean
    assert set(saved) <= set(rings.shards())


@pytest.mark.faults
def test_two_signals_stop_at_once(rings: Run, tmp_path: Path):  # 12
    rings.here("points")
    driver = rings.start(
        "step", "static", str(rings.config), str(rings.folder), "--workers", "2", fault=f"hang {tmp_path / 'begun'}"
    )
    process = psutil.Process(driver.pid)
    until((tmp_path / "begun").exists)
    os.killpg(driver.pid, signal.SIGINT)
    said = ""
    assert driver.stdout is not None
    while "once more to stop at once" not in said:
        line = driver.stdout.readline()
        assert line, said
        said += line
    workers = process.children(recursive=True)
    os.killpg(driver.pid, signal.SIGINT)
    said = driver.communicate(timeout=120)[0]
    assert driver.returncode == 130
    assert "gave up" not in said, "as it does by itself, 20 s after the first"
    assert alive(workers) == []


def test_a_second_run_is_refused_at_once(rings: Run):  # 11
    rings.here("points")
    begun = rings.home / "begun"
    step = "step", "static", str(rings.config), str(rings.folder), "--workers", "1"
    driver = rings.start(*step, fault=f"hang {begun}")
    until(begun.exists)
    with pytest.raises(BadInput, match=f"in use by process {driver.pid}"):
        rings.here("static", workers=0)


def test_rows_of_another_sweep_or_code_are_never_mixed_in(rings: Run, monkeypatch: pytest.MonkeyPatch):  # 23
    monkeypatch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)
    rings.here("points")
    rings.here("static", workers=0)
    shards = rings.shards()
    rings.config.write_text("sweep: rings\ntopologies: [ring(k=5), ring(k=50), ring(k=4)]\n")
    rings.here("points")
    assert rings.here("static", workers=0) == 0
    assert topologies(rings.static()) == ["ring(k=5)", "ring(k=50)", "ring(k=4)"]
    assert set(shards) < set(rings.shards())
    assert len(rings.shards()) == len(shards) + 1, "one point was new"


@pytest.mark.parametrize(
    ("column", "altered"),
    [
        ("topology", "ring(k=8)"),
        ("topology", None),
        ("topology", "ring(k=42, seed=5..4)"),
        ("topology", f"ring(k=42, seed=0..{10**20})"),
        ("estimated_seconds", None),
        ("estimated_seconds", math.nan),
        ("estimated_seconds", math.inf),
    ],
)
def test_altered_points_are_refused(rings: Run, column: str, altered: Any):
    rings.here("points")
    path = rings.folder / "points.parquet"
    table = pq.read_table(path)
    place = table.column_names.index(column)
    values = [*table.column(column).to_pylist()[:-1], altered]
    own = table.schema.field(place)
    store.publish_table(rings.folder, "points", table.set_column(place, own, pa.array(values, own.type)))
    with pytest.raises(BadInput, match=r"points.parquet was made by other code|networks are written like"):
        rings.here("static", workers=0)


def test_points_that_lack_a_row_are_refused(rings: Run):
    """The keys of the other rows are right, and the seeds of a run are in no key."""
    rings.here("points")
    path = rings.folder / "points.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(BadInput, match="was altered: its digest is not its manifest's"):
        rings.here("static", workers=0)
    assert not (rings.folder / "static.parquet").exists()


def test_a_shard_that_cannot_be_written_stops_the_sweep_with_one_line(rings: Run):  # 14
    rings.here("points")
    (rings.folder / "shards").write_text("in the way")
    status, said = rings.step("static", "--workers", "1")
    assert (status, said.count("\n")) == (2, 1), said
    assert "cannot write" in said
    assert "run again: what was published is kept" in said


CONFIG = """
sweep: rings
topologies: ["torus(k=4, n=2)", "mesh(k=3, n=2)", "pruned_xy(k=4)", "directed_torus(k=4, n=3)", \
"sequin(k=5, s=2, t=1)", "hypercube(n=3)"]
fault_nodes: 1
"""


def test_the_table_is_the_same_bytes_whatever_way_it_was_computed(rings: Run):
    rings.config.write_text(CONFIG)
    rings.here("points")
    assert rings.here("static", workers=0, backend="numba") == 0
    reference = rings.static()
    rings.forget()
    assert rings.here("static", workers=0, backend="numpy") == 0
    assert rings.static() == reference, "NumPy"
    rings.forget()
    status, said = rings.step("static", "--workers", "2", "--symmetry", "off", DASK_DISTRIBUTED__WORKER__PRELOAD="[]")
    assert status == 0, said
    assert rings.static() == reference, "two workers, the long way"
    rows = pq.read_table(io.BytesIO(reference)).to_pylist()
    assert [row["connected"] for row in rows] == [True, True, False, True, True, True]
    assert [rows[index]["diameter"] for index in (0, 1, 3, 5)] == [4, 4, 7, 3]


def test_a_network_too_large_for_the_gpu_is_computed_on_the_cpu_and_the_shard_says_so(
    rings: Run, monkeypatch: pytest.MonkeyPatch
):  # 30
    def rows_of_many(points: list[Point], options: How) -> list[pa.Table | Exception]:
        refused = GpuOutOfMemory("made up")
        small = options.backend == "cupy"
        return [
            refused if small and point.topology == "ring(k=9)" else rows
            for point, rows in zip(points, made_up_rows(points, options))
        ]

    monkeypatch.setattr("torusweep.run.driver.rows_of_many", rows_of_many)
    monkeypatch.setattr("torusweep.run.driver.backend_of_calls", lambda backend: "cupy")
    monkeypatch.setattr("torusweep_kernels.backend.device_name", lambda backend: "a made-up GPU")
    rings.here("points")
    assert rings.here("static", workers=0) == 0
    assert rings.failed() == {}
    ran = {
        shard.origin["backend"]: shard.rows.column("topology").to_pylist()
        for shard in read_shards(rings.folder, "static", SCHEMA).whole
    }
    assert set(ran) == {"cupy", "cupy, numba"}
    assert "ring(k=9)" in ran["cupy, numba"]


@pytest.mark.parametrize("pace", [0.1, 1.0, 10.0])
def test_batches_hold_every_point_once_long_ones_first(pace: float):
    points = [Point("static", f"ring(k={k})", StaticRequest()) for k in (3, 100_000, 1000, 10)] + [
        Point("static", f"mesh(k={k}, n=2)", StaticRequest()) for k in range(3, 60)
    ]
    batches = Batches(estimates(points), batch_seconds=1.0)
    total, seen, costs = batches.cost, [], []
    while batches:
        batch = batches.next(places=2)
        batches.took(batch, batch.cost * pace)
        seen += batch.points
        costs.append(batch.cost)
    assert len(seen) == len(set(seen)) == len(points)
    assert sum(costs) == pytest.approx(total)
    assert batches.cost == pytest.approx(0, abs=1e-9)
    expected = [point.seconds for point in seen]
    assert expected == sorted(expected, reverse=True)


def test_of_equally_long_points_those_of_a_network_follow_each_other():
    """In the order of the configuration, where two entries name each network."""
    requests = [ScreenRequest(each) for each in (None, "class")]
    points = [Point("screen", f"faulty(ring(k=9), links={n}, seed=1)", each) for each in requests for n in range(1, 6)]
    points.append(Point("screen", "ring(k=100)", requests[0]))
    batches = Batches(dict.fromkeys(points, 1.0) | {points[-1]: 2.0}, batch_seconds=3.0)
    handed_out = []
    while batches:
        handed_out += batches.next(places=1).points
    assert handed_out == [points[-1], *(points[n + 5 * each] for n in range(5) for each in range(2))]


def test_halves_are_handed_out_before_anything_new():
    points = [Point("static", f"ring(k={k})", StaticRequest()) for k in range(3, 12)]
    batches = Batches(estimates(points), batch_seconds=0.01)
    batch = batches.next(places=1)
    batches.halve(batch)
    halves = [batches.next(places=1), batches.next(places=1)]
    assert [point for half in halves for point in half.points] == batch.points
    assert sum(half.cost for half in halves) == pytest.approx(batch.cost)


def test_a_signal_while_workers_are_awaited_stops_at_once():  # 12, 13, 26
    """There is no batch to finish then, and Slurm may let one wait for long."""
    with sweep._Stop() as stop:
        with pytest.raises(SystemExit) as ended:
            signal.raise_signal(signal.SIGTERM)
        assert ended.value.code == 143
        stop.running = True
        signal.raise_signal(signal.SIGTERM)
        assert stop.signal == signal.SIGTERM
        with pytest.raises(SystemExit):
            signal.raise_signal(signal.SIGTERM)
