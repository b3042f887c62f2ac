"""make gpu-check and gpu-tune: what they compare, and what they say where something goes wrong or no GPU is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Barrier
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from torusweep.sweeps import points
from torusweep_kernels import backend, cuda

from benchmarks import gpu_cases, gpu_ceilings, gpu_check, gpu_jobs, gpu_pipeline, gpu_truth, gpu_tuning
from benchmarks.gpu_cases import Case
from benchmarks.gpu_jobs import Job, Row, failed, ledger
from benchmarks.gpu_launches import watched

AsCupy = Callable[..., ModuleType]
ROOT = Path(__file__).parent.parent.parent
KERNELS = {path.parent.name for path in (ROOT / "kernels" / "torusweep_kernels").glob("*/gpu.py")}
JOBS = "tests.kernels.gpu_jobs"


def test_every_kernel_is_compared_timed_and_tuned() -> None:
    assert {case.kernel for case in gpu_cases.small()} == KERNELS
    assert {case.kernel for case in gpu_cases.large()} == KERNELS
    assert {case.kernel for case in list(gpu_cases.small())[: len(KERNELS) + 1]} == KERNELS  # the first to be run
    for module in (gpu_truth, gpu_tuning):
        names = [job.name for job in module.jobs()]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("case", list(gpu_cases.small()), ids=lambda case: f"{case.kernel}, {case.name}")
def test_small_cases_are_the_same_on_a_stand_in(case: Case, as_cupy: AsCupy) -> None:
    as_cupy(cache=2**30)  # as many words as a row may have
    (row,) = gpu_truth.compared(case)
    assert row.same, row


@pytest.mark.parametrize("stage", gpu_pipeline.STAGES)
def test_rows_of_every_stage_are_the_same_on_a_stand_in(stage: str, as_cupy: AsCupy) -> None:
    as_cupy(cache=2**22)
    (row,) = gpu_pipeline.alike(stage)
    assert row.same, row
    assert int(row.case.split()[1]) >= 5


@pytest.mark.parametrize(
    "case", [gpu_pipeline.exact("torus(k=4, n=2)"), gpu_pipeline.sampled("torus(k=4, n=2)", 10_000)]
)
def test_loads_of_the_pipeline_are_the_same_on_a_stand_in(case: Case, as_cupy: AsCupy) -> None:
    as_cupy(cache=2**22)
    (row,) = gpu_truth.compared(case)
    assert row.same, row


def test_rows_that_differ_are_seen(as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    as_cupy(cache=2**22)
    compute = points.rows_of_many

    def other(some: Any, options: Any) -> Any:
        found = compute(some, options)
        return found[::-1] if options.backend == "cupy" else found

    monkeypatch.setattr(points, "rows_of_many", other)
    (row,) = gpu_pipeline.alike("screen")
    assert row.same is False


def test_a_sweep_is_timed() -> None:
    (row,) = gpu_pipeline.sweep(2, ("numba",))
    assert row.case == "sweep of 2 networks, three stages, numba"
    assert float(row.said.removesuffix(" s")) > 0
    with pytest.raises(RuntimeError, match="elsewhere: "):
        list(gpu_pipeline.sweep(2, ("elsewhere",)))


def test_a_limit_of_memory_that_is_never_met_is_told(as_cupy: AsCupy) -> None:
    as_cupy()
    with pytest.raises(AssertionError, match="expected a width that does not fit into 1,073,741,824 bytes"):
        list(gpu_truth.compared(gpu_cases.halved("torus(radices=[7, 5, 3])", 2**30)))


@pytest.mark.parametrize(
    "wrong", [np.array([1, 2, 4]), np.array([1, 2, 3], np.int32), np.array([1.0, 2.0, 3.0]), np.array([[1, 2, 3]])]
)
def test_a_difference_is_seen(wrong: np.ndarray) -> None:
    right = np.array([1, 2, 3])
    assert gpu_truth.equal((right,), (right.copy(),))
    assert not gpu_truth.equal((right,), (wrong,))
    assert not gpu_truth.equal((right,), (right, right))


def test_a_large_case_is_timed_and_its_launches_counted(as_cupy: AsCupy) -> None:
    as_cupy()
    case, calls = gpu_cases.large_case(gpu_cases.distance("torus(radices=[7, 5, 3])"), 8e-3), []

    def run(*how: Any) -> Any:
        begin = time.perf_counter()
        found = case.run(*how)
        calls.append(time.perf_counter() - begin)
        return found

    (row,) = gpu_truth.timed(case._replace(run=run))
    assert (row.kind, row.same, row.beside, row.estimate) == ("timed", True, "numba", 8e-3)
    assert row.launches == cuda.AHEAD + 2  # levels at once, the torus has 6; rows emptied, and sources' bits set
    assert row.gpu is not None
    assert row.kernels is not None
    assert row.cores is not None
    assert min(calls) <= row.gpu <= max(calls)
    assert 0 < row.kernels < max(calls)  # its launches are those of one of them
    (alone,) = gpu_truth.timed(case._replace(beside=None))
    assert (alone.same, alone.cpu, alone.cores) == (None, None, None)


def test_the_table() -> None:
    rows = [
        Row("fact", "", "device", said="a GPU"),
        Row("compared", "walks", "small", same=True, beside="numpy"),
        Row("timed", "distance", "torus", "", True, "numba", 0.02, 0.015, 49, 0.9, 0.15, 0.008),
        Row("timed", "router", "torus", "", False, "numba", 0.02),
    ]
    said = gpu_truth.table(rows)
    assert "- device: a GPU\n- small cases: 1 of 1 the same to the bit, run twice\n" in said
    assert "| distance | torus | numba | 0.02 | 0.015 | 49 | 0.9 | 0.15 | 7.5 | 0.008 | 2.5 |" in said
    assert "| router | torus | **differs from numba** | 0.02 |" in said
    assert failed(rows)
    assert not failed(rows[:-1])


def test_a_job_that_goes_wrong_loses_only_itself() -> None:
    lines: list[str] = []
    begin = time.monotonic()
    rows = ledger(JOBS, 300, lines.append)
    assert time.monotonic() - begin < 300
    assert [Row(**json.loads(line)) for line in lines] == rows
    told = [(row.kind, row.case, row.same) for row in rows]
    assert told == [
        ("compared", "off by 0", True),
        ("compared", "off by 1", False),
        ("compared", "unsteady", False),
        ("fact", "before the crash", None),
        ("failed", "crash", None),
        ("fact", "before the exception", None),
        ("failed", "exception", None),
        ("failed", "without a library", None),
        ("fact", "before the hang", None),
        ("failed", "hang", None),
        ("left out", "too long", None),
        ("compared", "off by 0", True),
    ]
    said = [row.said.partition(":")[0] for row in rows if row.kind == "failed"]
    assert said == ["signal 11", "exit status 1", "not run", "no end within 8 s"]
    assert "RuntimeError: an illegal address" in "".join(row.said for row in rows)
    table = gpu_truth.table(rows)
    assert "small cases: 2 of 4 the same" in table
    assert "- **differs from numpy**: walks, off by 1" in table
    assert "- **hang**: no end within 8 s: without an end of line" in table
    assert "- **without a library**: not run: no module pydantic" in table
    assert "- **too long**: left out: it takes about 1000 s" in table
    assert failed(rows)


def test_the_time_is_kept() -> None:
    """A job is cut where the time ends, although its own limit is later."""
    begin = time.monotonic()
    rows = ledger(JOBS, 6, lambda line: None, only="hang")
    assert time.monotonic() - begin < 60, "it hangs for a thousand"
    assert rows[-1].said == "no end within 4 s: without an end of line"


def test_settings_are_tried_and_compared(as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each setting changes what is launched, and no answer; one that does not fit is told."""
    as_cupy()
    cases = {case.kernel: case for case in gpu_tuning.every_kernel()}
    tried = [
        ("distance", [*gpu_tuning.rows_of_distances(), *gpu_tuning.launches()]),
        ("loads", [*gpu_tuning.lanes("loads", (1, 7)), *gpu_tuning.loads_settings()]),
        ("walks", gpu_tuning.lanes("walks", (1, 7))),
        ("router", [*gpu_tuning.router_settings(shared=False), *gpu_tuning.router_settings(shared=True)]),
        ("annealing", gpu_tuning.threads_of("annealing.gpu.OWN", (1, 8))),
    ]
    monkeypatch.setattr(gpu_tuning, "TURNS", 1)
    for kernel, settings in tried:
        rows = list(gpu_tuning.tuned(cases[kernel], settings))
        assert [row.setting for row in rows] == ["usual", *(setting.name for setting in settings)]
        assert all(row.same for row in rows), rows
    with watched() as few:
        list(gpu_tuning.tuned(cases["distance"], [gpu_tuning.Setting("8 ahead", {"cuda.AHEAD": 8})]))
    assert few.counts() == {"clear": 5, "seed": 5, "dense": 2 * cuda.AHEAD + cuda.AHEAD + 2 * 8}
    wrong = gpu_tuning.Setting("no room", {"distance.gpu.Network.make_room": no_room})
    usual, row = gpu_tuning.tuned(cases["distance"], [wrong])
    assert (usual.kind, row.kind, row.said) == ("tuned", "failed", "no room: none left")
    said = gpu_tuning.table([usual, usual._replace(setting="other", gpu=2 * (usual.gpu or 0), same=False), row])
    assert "| other | " in said
    assert " | 2.0 | **differs** |" in said
    assert "**torus(radices=[7, 5, 3])**: no room: none left" in said


def no_room(*_: object) -> None:
    raise MemoryError("none left")


def test_ceilings(as_cupy: AsCupy) -> None:
    as_cupy()
    rows = list(gpu_ceilings.ceilings(copied=2**21, sizes=(1, 2), launches=3))
    assert [row.case for row in rows] == [
        "copy of 2,097,152 bytes",
        "reads of 1 MiB again and again",
        "reads of 2 MiB again and again",
        "launch with 6 parameters",
        "launch with 13 parameters",
    ]
    assert all(row.said for row in rows)


def test_the_device_is_described(as_cupy: AsCupy) -> None:
    as_cupy(registers=40)
    said = {row.case: row.said for row in gpu_truth.device()}
    assert said["device"].startswith("a processor that plays a GPU, CuPy none")
    assert "regsPerMultiprocessor 65536" in said["properties"]
    assert said["distance: dense"] == "40 registers, not told bytes of local memory"
    assert {name.partition(":")[0] for name in said if ": " in name} == KERNELS


def test_metrics_of_the_profiler() -> None:
    text = (
        '==PROF== Connected\n"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"\n'
        '"0","advance(int)","Occupancy","Achieved Occupancy","%","71.5"\n'
        '"0","advance(int)","SpeedOfLight","Duration","us","28.1"\n"0","advance(int)","Occupancy","Other","","1"\n'
    )
    assert gpu_tuning.metrics(text) == {"advance": "Achieved Occupancy 71.5 %, Duration 28.1 us"}


STAND_IN = """
import sys
from pathlib import Path
from threading import Barrier
from tests.kernels import fake_cupy
sys.modules[__name__] = fake_cupy.module(Path({built!r}))
"""
MISSING = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


def test_the_command_without_an_installation(built: Path, tmp_path: Path) -> None:
    """As on a machine with CuPy, but without package registry: neither this project nor what its sweeps need."""
    missing = {"pydantic", "igraph", "pymetis", "dask", "distributed", "snakemake", "yaml", "ruamel", "duckdb"}
    (tmp_path / "cupy.py").write_text(STAND_IN.format(built=str(built)))
    (tmp_path / "sitecustomize.py").write_text(MISSING.format(missing=sorted(missing)))
    places = os.pathsep.join([str(tmp_path), *(str(ROOT / part) for part in (".", "pipeline", "kernels"))])
    command = [
        sys.executable,
        "-m",
        "benchmarks.gpu_check",
        "truth",
        "--only",
        "small: router, random",
        "--minutes",
        "1",
    ]
    done = subprocess.run(
        [*command, "--only", "small: router, random network 3", "--output", str(tmp_path / "lines")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [Row(**json.loads(line)) for line in (tmp_path / "lines").read_text().splitlines()]
    assert [row.same for row in rows] == [True] * 3
    assert "- small cases: 3 of 3 the same to the bit, run twice" in done.stdout
    without = subprocess.run(
        [sys.executable, "-c", "import pydantic"], env={**os.environ, "PYTHONPATH": places}, capture_output=True
    )
    assert without.returncode == 1


@pytest.mark.skipif(bool(backend.gpu_count()), reason="there is a GPU here")
@pytest.mark.parametrize("command", gpu_check.COMMANDS)
def test_without_a_gpu_one_line_and_an_exit_code(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu_check", command], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("gpu-check: expected a GPU that CuPy can use, found none")
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("report", "right", "said"),
    [
        ("row\n========= ERROR SUMMARY: 0 errors\n", True, "ERROR SUMMARY: 0 errors"),
        ("========= ERROR SUMMARY: 1 error\n", False, "ERROR SUMMARY: 1 error"),
        (
            "========= Warning: Race reported between Read access at search+0x10\n"
            "=========     and Write access at search+0x20 [9 hazards]\n"
            "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n",
            True,
            "RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning). Warning: Race reported between Read access at"
            " search+0x10; and Write access at search+0x20 [9 hazards]",
        ),
        ("========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n", False, "RACECHECK SUMMARY"),
        ("Segmentation fault", False, "no summary"),
    ],
)
def test_what_a_sanitizer_says(report: str, right: bool, said: str) -> None:
    assert gpu_truth.judged(report)[0] is right
    assert gpu_truth.judged(report)[1].startswith(said)


RELAXED = """\
========= Error: Race reported between Read access at measure+0x5ed0
=========     and Write access at measure+0x62d0 [37448 hazards]
=========
========= Error: Race reported between Read access at measure+0x5ed0
=========     and Write access at measure+0x62d0 [37318 hazards]
=========
"""
MORE = """\
========= Error: Race reported between Write access at measure+0x10
=========     and Read access at measure+0x20 [1 hazards]
"""


@pytest.mark.parametrize(
    ("report", "errors", "meant", "right"),
    [
        (RELAXED, 2, "measure", True),
        (RELAXED, 2, None, False),
        (RELAXED, 3, "measure", False),
        (RELAXED, 2, "search", False),
        (RELAXED + MORE, 3, "measure", False),
        (MORE, 1, "measure", True),
        (MORE.replace("Read", "Write"), 1, "measure", False),
        ("========= Error: Potential WAW hazard detected at __shared__ 0x4\n", 1, "measure", False),
    ],
)
def test_races_that_are_meant_are_no_others(report: str, errors: int, meant: str | None, right: bool) -> None:
    """As an H200 reported them; with one more, told or not, in another function, of two writes, of unknown places."""
    summary = f"========= RACECHECK SUMMARY: {errors} hazards displayed ({errors} errors, 0 warnings)\n"
    assert gpu_truth.judged(report + summary, meant)[0] is right


def test_jobs_that_are_not_timed_run_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits until the other has begun; a timed one runs when both have ended."""
    both, ended = Barrier(2), []

    def play(module: str, job: Job, limit: float, add: Callable[[Row], None]) -> str:
        if not job.alone:
            both.wait(30)
        else:
            assert sorted(ended) == ["one", "two"]
        ended.append(job.name)
        return ""

    jobs = [Job(name, list, takes=0, alone=name == "timed") for name in ("one", "two", "timed")]
    monkeypatch.setattr(gpu_truth, "jobs", lambda: iter(jobs))
    monkeypatch.setattr(gpu_jobs, "finished", play)
    assert gpu_jobs.ledger("benchmarks.gpu_truth", 60, print, together=2) == []
    assert ended[-1] == "timed"
