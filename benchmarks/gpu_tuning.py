"""gpu_check tuning: which launch constants are fastest, one of them changed at a time; every answer is compared.

The first row of a case is the usual setting. Then NVIDIA's profiler, if it is there, and processes that share a GPU.
"""

from __future__ import annotations

import csv
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from torusweep_kernels import cuda

from benchmarks.gpu_cases import Case, distance, loads, network, random_distance, search, small, walks
from benchmarks.gpu_ceilings import fact
from benchmarks.gpu_jobs import ROOT, Job, Row, cells
from benchmarks.gpu_pipeline import sweep
from benchmarks.gpu_truth import ends, equal, quotient

TURNS = 3
KERNELS = "torusweep_kernels"
METRICS = (
    *("Duration", "Compute (SM) Throughput", "Memory Throughput", "DRAM Throughput", "L2 Hit Rate"),
    *("Achieved Occupancy", "Theoretical Occupancy"),
)


class Setting(NamedTuple):
    """values: what stands in place of the attributes of these dotted names."""

    name: str
    values: dict[str, Any]


USUAL = Setting("usual", {})


def jobs() -> Iterator[Job]:
    torus, tree = distance("torus(k=32, n=3)"), random_distance(32_768, 6)
    part = distance("torus(k=100, n=3)", sources=5 * 256)
    for case in (torus, part, tree):
        for what, settings in (("rows", rows_of_distances()), ("launches", launches())):
            yield job(case, what, settings, takes=25)
    yield job(loads("torus(k=16, n=3)", "paths"), "blocks", loads_settings(), takes=15)
    yield job(walks("torus(k=16, n=3)", 10**7, "paths"), "lanes", lanes("walks", (32, 64, 128, 256, 4096)), takes=25)
    yield job(network((8, 8), 0.3, 2000, 512), "router", router_settings(shared=False), takes=40)
    yield job(network((64, 32, 32), 0.04, 500, 1), "router", router_settings(shared=True), takes=40)
    yield job(search(256, 8, 256, 16), "annealing", threads_of("annealing.gpu.OWN", (1, 2, 4, 8)), takes=20)
    yield Job("sweep", sweep, takes=90, limit=200)
    for processes in (1, 4, 16):
        yield Job(f"processes that share the GPU: {processes}", partial(shared, processes), takes=15 + processes)
    for case in (torus, tree, loads("torus(k=16, n=3)", "paths"), network((8, 8), 0.3, 500, 512)):
        yield Job(f"profile: {case.kernel}, {case.name}", partial(profiled, case), takes=20, limit=90)
        yield Job(once(case), partial(run_once, case), by_name=True)


def job(case: Case, what: str, settings: Sequence[Setting], takes: float) -> Job:
    return Job(f"{case.kernel}, {case.name}: {what}", partial(tuned, case, settings), takes, limit=3 * takes)


# --- settings -----------------------------------------------------------------------------------


def rows_of_distances() -> list[Setting]:
    """So many words of 64 sources: whatever the cache holds."""
    return [
        Setting(f"{words} words", {"distance.gpu.WIDEST": words // 2, "distance.gpu.NARROWEST": words // 2})
        for words in (4, 8, 16, 32, 64, 128)
    ]


def launches() -> list[Setting]:
    everything = {"cuda.Gpu.resident": lambda gpu, kernel: 2**30}
    return [
        *threads_of("cuda.THREADS", (128, 256, 512)),
        Setting(
            "2,048 threads a multiprocessor", {"cuda.Gpu.resident": lambda gpu, kernel: 2048 * gpu.multiprocessors}
        ),
        Setting("a thread for each item", everything),
        Setting("all rows", {"distance.gpu.SPARSE": -1.0}),
        Setting("rows with news", {"distance.gpu.SPARSE": 1.0, "distance.gpu.FEWEST": 1}),
        *(
            Setting(f"rows with news, {2 * pieces} words", {"distance.gpu.SPARSE": 1.0, "distance.gpu.WIDE": pieces})
            for pieces in (2, 4, 8, 16, 32)
        ),
        *(Setting(f"{ahead} levels ahead", {"cuda.AHEAD": ahead}) for ahead in (8, 16, 32, 64)),
    ]


def threads_of(name: str, numbers: Sequence[int]) -> list[Setting]:
    return [Setting(f"{name} = {number}", {name: number}) for number in numbers]


def lanes(package: str, numbers: Sequence[int]) -> list[Setting]:
    return [
        Setting(f"{number} lanes", {f"{package}.gpu.Network.lanes": lambda *_, number=number: number})
        for number in numbers
    ]


def loads_settings() -> list[Setting]:
    """Roots at once, threads of a block, and from how many blocks a multiprocessor on counts are in shared memory."""
    return [
        *lanes("loads", (256, 1024, 2048)),
        *threads_of("loads.gpu.OF_THREAD", (4, 8, 32)),
        *threads_of("loads.gpu.GATHERING", (1, 4, 100)),
    ]


def router_settings(shared: bool) -> list[Setting]:
    """Threads of a block; half the registers, for twice the threads at once, with which some are spilled; and states
    in the device's memory, or, of a network whose experiments have several blocks each (shared), of one block.
    """
    name = "router.gpu.SHARED_THREADS" if shared else "router.gpu.THREADS"
    text, usual, bound = cuda.cuda_source, "__launch_bounds__(512, 1)", "__launch_bounds__(512, 2)"

    def bounded(source: Path) -> str:
        whole = text(source)
        assert usual in whole, f"{source}: expected {usual}"
        return whole.replace(usual, bound)

    other = {"router.gpu.Network.at_once": lambda network: 1} if shared else {"router.gpu.IN_SHARED": False}
    return [
        *threads_of(name, (64, 128, 256, 512)),
        Setting("(512, 2)", {"cuda.cuda_source": bounded}),
        Setting("a block each" if shared else "states in the device's memory", other),
    ]


# --- what a job does ----------------------------------------------------------------------------


def tuned(case: Case, settings: Sequence[Setting]) -> Iterator[Row]:
    """A row for each setting, the usual one first. Its answer is the others' yardstick; gpu_check truth checks it."""
    right = case.run("cupy", None)
    for setting in (USUAL, *settings):
        with ExitStack() as stack:
            for name, value in setting.values.items():
                stack.enter_context(patch(f"{KERNELS}.{name}", value))
            try:
                same = equal(right, case.run("cupy", None))
                seconds = statistics.median(turn(case) for _ in range(TURNS))
            except (MemoryError, RuntimeError) as error:  # a setting that does not fit; a lost device ends the process
                yield Row("failed", case.kernel, case.name, setting.name, said=f"{setting.name}: {error}"[:300])
                continue
        yield Row("tuned", case.kernel, case.name, setting.name, same, "the usual setting", seconds)


def turn(case: Case) -> float:
    begin = time.perf_counter()
    case.run("cupy", None)
    return time.perf_counter() - begin


def shared(processes: int) -> Iterator[Row]:
    """Batches of small networks that so many processes compute at once on one GPU, and with Numba, a thread each."""
    for backend in ("cupy", "numba"):
        started = [
            subprocess.Popen([sys.executable, "-c", BATCHES.format(backend=backend)], cwd=ROOT, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]  # fmt: skip
        for process in started:
            assert process.stdout
            process.stdout.readline()  # it has compiled
        begin = time.perf_counter()
        for process in started:
            process.communicate("go\n")
        seconds = time.perf_counter() - begin
        if any(process.returncode for process in started):
            raise RuntimeError(f"{backend}: a process of {processes} ended with an error")
        networks = processes * 10 * 100
        name = f"{processes} processes, batches of 100 networks of 81 nodes"
        yield fact(name, f"{networks / seconds:,.0f} networks a second with {backend}")


BATCHES = """
from benchmarks.gpu_cases import blocks
case = blocks("torus(k=9, n=2)", 100)
case.run("{backend}", 1)
print("compiled", flush=True)
input()
for _ in range(10):
    case.run("{backend}", 1)
"""


def once(case: Case) -> str:
    return f"once: {case.kernel}, {case.name}"


def run_once(case: Case) -> Iterator[Row]:
    case.run("cupy", None)
    yield Row("fact", case.kernel, case.name, said="ran")


def profiled(case: Case) -> Iterator[Row]:
    """What limits each kernel, by NVIDIA's profiler: a launch in the middle of the case."""
    program = shutil.which("ncu")
    if not program:
        yield Row("left out", "", f"profile: {case.kernel}, {case.name}", said="left out: no ncu on the path")
        return
    sections = ("SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy")
    command = [program, "--csv", "--clock-control", "none", "--launch-skip", "8", "--launch-count", "4"]
    command += [word for section in sections for word in ("--section", section)]
    command += [sys.executable, "-m", "benchmarks.gpu_check", "one", __spec__.name, once(case)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = metrics(done.stdout)
    if not found:
        raise RuntimeError(f"ncu: expected metrics, got: {(done.stdout + done.stderr).strip()[-300:]}")
    for kernel, said in found.items():
        yield fact(f"{case.kernel}, {case.name}, {kernel}", said)


def metrics(text: str) -> dict[str, str]:
    """Of each kernel in ncu's table of comma-separated values, the last launch's METRICS in words."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    found: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(lines):
        if row.get("Metric Name") in METRICS:
            kernel = found.setdefault(row["Kernel Name"].partition("(")[0], {})
            kernel[row["Metric Name"]] = f"{row['Metric Name']} {row['Metric Value']} {row['Metric Unit']}"
    return {kernel: ", ".join(values.values()) for kernel, values in found.items()}


# --- the table ----------------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    """Of each case every setting, beside the usual one."""
    lines = [f"- {row.case}: {row.said}" for row in rows if row.kind == "fact"]
    lines += [*ends(rows), "", cells("kernel", "case", "setting", "s", "÷ usual", "same"), cells(*["---"] * 6)]
    tried = (row for row in rows if row.kind == "tuned")
    of_case: Callable[[Row], tuple[str, str]] = lambda row: (row.kernel, row.case)  # noqa: E731
    for _, part in groupby(tried, of_case):
        usual = None
        for row in part:
            usual = row.gpu if row.setting == USUAL.name else usual
            same = "yes" if row.same else "**differs**"
            lines.append(cells(row.kernel, row.case, row.setting, row.gpu, quotient(row.gpu, usual), same))
    return "\n".join(lines)


def every_kernel() -> list[Case]:
    """The first small case of each kernel: settings are tried on them where there is no GPU."""
    return list({case.kernel: case for case in reversed(list(small()))}.values())
