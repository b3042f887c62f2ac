"""gpu_check truth: whether every kernel gives the same bits on the GPU, and how long it takes.

Small cases run twice and are compared with NumPy, the specification. Large ones are compared with Numba and timed: the
median of whole calls, arrays in and arrays out, checks and transfers included; beside it what their launches take on
the device. Jobs are in the order of their importance.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torusweep_kernels
from torusweep.tables.provenance import software
from torusweep_kernels import cuda
from torusweep_kernels.backend import array_module, device_name

from benchmarks.gpu_cases import Answer, Case, large, largest, small
from benchmarks.gpu_ceilings import ceilings, fact
from benchmarks.gpu_jobs import ROOT, Job, Row, cells
from benchmarks.gpu_launches import watched
from benchmarks.gpu_pipeline import STAGES, alike, exact, sampled

TURNS = 3
PATIENCE = 6.0  # seconds; a call of Numba that takes longer is not timed again
FEW = 2  # threads of Numba, beside all
WARNS = "Warning: "
HAZARDS, HAZARD_LINES = 6, 4  # of a report of races, that are told; lines of each
RACE = re.compile(r"(Read|Write) access at (\S+)")
CHECKS = {"racecheck": ["--racecheck-report", "analysis", "--print-limit", "20"]}
TESTERS = 4  # processes of pytest
KERNEL = re.compile(r"__global__ void (\w+)\(")
# functions of kernels in which one relaxed read and one relaxed store race between warps, as they are meant to
# (docs/gpu.md); within a warp, racecheck only warns of them
MEANT = {"blocks": "measure"}
SHARING = ("annealing", "blocks", "distance", "loads", "router")  # kernels whose blocks share memory
PROPERTIES = (
    *("multiProcessorCount", "l2CacheSize", "persistingL2CacheMaxSize", "sharedMemPerBlockOptin"),
    *("sharedMemPerMultiprocessor", "regsPerMultiprocessor", "maxThreadsPerMultiProcessor", "totalGlobalMem"),
)


def jobs() -> Iterator[Job]:
    yield Job("device", device, takes=5, alone=False)
    for case in small():
        yield Job(f"small: {case.kernel}, {case.name}", partial(compared, case), takes=4, alone=False)
    yield from (Job(f"large: {case.kernel}, {case.name}", partial(timed, case), takes=12, limit=90) for case in large())
    yield from (Job(f"rows: {stage}", partial(alike, stage), takes=8, alone=False) for stage in STAGES)
    for case in (exact("torus(k=16, n=3)"), exact("torus(k=32, n=3)"), sampled("torus(k=16, n=3)", 83_333_333)):
        yield Job(f"pipeline: {case.name}", partial(timed, case), takes=12, limit=90)
    part, whole = largest()
    yield Job(f"largest: {part.name}", partial(timed, part), takes=10)
    yield Job(f"largest: {whole.name}", partial(timed, whole), takes=50, limit=120)
    yield Job("ceilings", ceilings, takes=8)
    for tool in ("memcheck", "racecheck", "synccheck"):
        yield Job(f"compute-sanitizer {tool}", partial(sanitized, tool), takes=30, limit=100, alone=False)
    yield Job("tests that need a GPU", tested, takes=40, limit=120, alone=False)


# --- what a job does ----------------------------------------------------------------------------


def device() -> Iterator[Row]:
    """The GPU, its driver, versions, and what each kernel takes of it."""
    cupy, made = array_module("cupy"), software()
    packages = ", ".join(f"{name} {version}" for name, version in made["packages"].items())
    yield fact("device", f"{device_name('cupy')}, CuPy {cupy.__version__}, {time.strftime('%Y-%m-%d')}")
    yield fact("software", f"commit {made['commit']}, Python {made['python']}, {packages}")
    gpu = cuda.Gpu()
    properties = cupy.cuda.runtime.getDeviceProperties(gpu.number)
    yield fact("properties", ", ".join(f"{name} {properties.get(name, 'not told')}" for name in PROPERTIES))
    smi = shutil.which("nvidia-smi")
    asked = [
        smi or "",
        "--query-gpu=name,driver_version,clocks.sm,clocks.mem,ecc.mode.current",
        "--format=csv,noheader",
    ]
    said = subprocess.run(asked, capture_output=True, text=True).stdout.strip() if smi else "no nvidia-smi"
    yield fact("nvidia-smi", said)
    for source in sorted(Path(torusweep_kernels.__file__).parent.rglob("*.cu")):
        names = KERNEL.findall(cuda.cuda_source(source))
        for name, kernel in zip(names, gpu.kernels(source, *names)):
            numbers = [
                f"{getattr(kernel, attribute, 'not told')} {unit}"
                for attribute, unit in (("num_regs", "registers"), ("local_size_bytes", "bytes of local memory"))
            ]
            yield fact(f"{source.parent.name}: {name}", ", ".join(numbers))


def compared(case: Case) -> Iterator[Row]:
    """The same as `beside`, and the same when it runs again."""
    right = case.run(str(case.beside), None)
    yield Row(
        "compared",
        case.kernel,
        case.name,
        same=all(equal(right, case.run("cupy", None)) for _ in range(2)),
        beside=str(case.beside),
    )


def equal(one: Answer, other: Answer) -> bool:
    """To the bit."""
    return len(one) == len(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(one, other)
    )


def timed(case: Case) -> Iterator[Row]:
    """Compared, if it is compared with anything; then whole calls and launches timed."""
    found = case.run("cupy", None)  # compiles
    row = Row("timed", case.kernel, case.name, estimate=case.estimate)
    every = len(os.sched_getaffinity(0))
    if case.beside:
        row = row._replace(same=equal(case.run(case.beside, None), found), beside=case.beside)
        cores = seconds(case, case.beside, None)
        few = seconds(case, case.beside, FEW) if cores * every / FEW < PATIENCE else None
        row = row._replace(cores=cores, cpu=few)
    yield row._replace(gpu=seconds(case, "cupy", None), **launches(case))


def launches(case: Case) -> dict[str, Any]:
    """Their number, and their seconds on the device: of all, and of each kernel."""
    with watched() as seen:
        case.run("cupy", None)
    each = seen.seconds_of_each()
    said = ", ".join(f"{name} {taken:.3g} s" for name, taken in each.items())
    return {"kernels": sum(each.values()), "launches": sum(seen.counts().values()), "said": said}


def seconds(case: Case, backend: str, threads: int | None) -> float:
    """The median of some calls."""
    taken: list[float] = []
    while len(taken) < TURNS and sum(taken) < PATIENCE:
        begin = time.perf_counter()
        case.run(backend, threads)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def sanitized(tool: str) -> Iterator[Row]:
    """The first small case of each kernel under NVIDIA's checks: memory, races in shared memory, or barriers."""
    program = shutil.which("compute-sanitizer")
    if not program:
        yield Row("left out", "", tool, said="left out: no compute-sanitizer on the path")
        return
    first: dict[str, Case] = {}
    for case in small():
        if tool == "memcheck" or case.kernel in SHARING:
            first.setdefault(f"{case.kernel} {'graphs' in case.name}", case)
    for case in first.values():
        job = f"small: {case.kernel}, {case.name}"
        command = [program, "--tool", tool, *CHECKS.get(tool, []), sys.executable, "-m", "benchmarks.gpu_check"]
        done = subprocess.run([*command, "one", __spec__.name, job], cwd=ROOT, capture_output=True, text=True)
        right, said = judged(done.stdout + done.stderr, MEANT.get(case.kernel))
        same = right and done.returncode == 0
        yield Row("compared", case.kernel, case.name, setting=tool, same=same, beside=tool, said=said)


def judged(report: str, meant: str | None = None) -> tuple[bool, str]:
    """Whether a tool reports no error, and what it says: its summary, and how its first hazards begin.

    A warning is no error: it may be meant, such as a relaxed access while another thread stores. So is a race between
    one place that reads and one that writes in the function `meant`, however often it is reported.
    """
    lines = [line.strip("= ") for line in report.splitlines() if line.startswith("=========")]
    summary = next((line for line in reversed(lines) if "SUMMARY" in line), "no summary")
    errors = re.search(r"(\d+) errors?\b", summary)
    hazards = [i for i, line in enumerate(lines) if re.match(r"(Error|Warning|Info): .*(hazard|Race)", line)]
    told = ["; ".join(lines[i : i + HAZARD_LINES]) for i in hazards[:HAZARDS]]
    parts = [" ".join(lines[i:end]) for i, end in zip(hazards, [*hazards[1:], len(lines)])]
    races = [tuple(sorted(RACE.findall(part))) for part in parts if part.startswith("Error")]
    kinds = {tuple((how, place.partition("+")[0]) for how, place in race) for race in races}
    known = not races or (len(set(races)) == 1 and kinds == {(("Read", meant), ("Write", meant))})
    right = bool(errors) and int(errors[1]) == len(races) and known  # type: ignore[index]
    return right, ". ".join([summary, *told])


def tested() -> Iterator[Row]:
    """pytest, with warnings as they are: a warning of CuPy must not look like a missing GPU."""
    places = sorted(
        str(path) for path in (ROOT / "tests" / "kernels").glob("test_*.py") if "mark.gpu" in path.read_text()
    )
    command = [sys.executable, "-m", "pytest", "-m", "gpu", "-W", "default", "-p", "no:cacheprovider", "-x", "-vv"]
    command += ["-o", "timeout=80"]  # no option of the plugin, which may be missing
    if find_spec("xdist"):
        command += ["-n", str(min(TESTERS, len(os.sched_getaffinity(0))))]
    last = ""
    with subprocess.Popen([*command, *places], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout
        # piece by piece: the name of a test that runs has no end of line
        while piece := os.read(process.stdout.fileno(), 2**16):
            text = piece.decode(errors="replace")
            print(text, end="", flush=True)
            last = (last + text)[-2000:]
    said = last.strip().splitlines()[-1:]
    yield Row("compared", "all", "pytest -m gpu", same=process.returncode == 0, beside="its tests", said="".join(said))


# --- the table ----------------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    """Facts, the number of small cases that are the same, large cases with their times, and what did not run."""
    facts = [f"- {row.case}: {row.said}" for row in rows if row.kind == "fact"]
    plain = [row for row in rows if row.kind == "compared"]
    right = sum(bool(row.same) for row in plain)
    lines = [*facts, f"- small cases: {right} of {len(plain)} the same to the bit, run twice"]
    lines += [f"- **differs from {row.beside}**: {row.kernel}, {row.case} {row.said}" for row in plain if not row.same]
    warned = [row for row in plain if row.same and WARNS in row.said]
    lines += [f"- {row.kernel}, {row.case}, {row.setting}: {row.said}" for row in warned]
    return "\n".join([*lines, *ends(rows), "", *times(rows)])


def ends(rows: Iterable[Row]) -> list[str]:
    """What failed or was left out."""
    return [f"- **{row.case}**: {row.said}" for row in rows if row.kind in ("failed", "left out")]


def times(rows: Iterable[Row]) -> list[str]:
    head = ("kernel", "case", "same as", "GPU, s", "its launches, s", "launches", f"Numba, {FEW} threads, s")
    head += ("all cores, s", "all cores ÷ GPU", "estimate, s", "GPU ÷ estimate")
    lines = [cells(*head), cells(*(["---"] * 3 + ["--:"] * 8))]
    for row in rows:
        if row.kind == "timed":
            same = "not compared" if row.same is None else row.beside if row.same else f"**differs from {row.beside}**"
            seen = row.gpu, row.kernels, row.launches, row.cpu, row.cores
            ratios = quotient(row.cores, row.gpu), row.estimate, quotient(row.gpu, row.estimate)
            lines.append(cells(row.kernel, row.case, same, *seen, *ratios))
    return lines


def quotient(one: float | None, other: float | None) -> str | None:
    return None if one is None or other is None else f"{one / other:.1f}"
