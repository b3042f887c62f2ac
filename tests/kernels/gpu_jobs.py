"""Jobs that end in all ways, for test_gpu_check."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.gpu_cases import Answer, Case
from benchmarks.gpu_jobs import Job, Row
from benchmarks.gpu_truth import compared, table

__all__ = ["table"]


def jobs() -> Iterator[Job]:
    yield Job("right", partial(compared, case(0)), takes=0)
    yield Job("wrong", partial(compared, case(1)), takes=0)
    yield Job("other the second time", partial(compared, unsteady()), takes=0)
    yield Job("crash", crash, takes=0)
    yield Job("exception", fail, takes=0)
    yield Job("without a library", lack, takes=0)
    yield Job("hang", hang, takes=0, limit=8)
    yield Job("too long", hang, takes=1000)
    yield Job("only by name", hang, by_name=True)
    yield Job("after all", partial(compared, case(0)), takes=0)


def case(off: int) -> Case:
    def run(backend: str, threads: int | None) -> Answer:
        return (np.array([1, 2, 3 + off * (backend == "cupy")]),)

    return Case("walks", f"off by {off}", run)


def unsteady() -> Case:
    turns = iter(range(10))

    def run(backend: str, threads: int | None) -> Answer:
        return (np.array([next(turns) // 2]),)  # 0 beside it, then 0, then 1

    return Case("loads", "unsteady", run)


def crash() -> Iterator[Row]:
    yield Row("fact", "", "before the crash", said="is kept")
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGSEGV)


def fail() -> Iterator[Row]:
    yield Row("fact", "", "before the exception", said="is kept")
    raise RuntimeError("an illegal address")


def lack() -> Iterator[Row]:
    raise ModuleNotFoundError("No module named 'pydantic'", name="pydantic")
    yield


def hang() -> Iterator[Row]:
    yield Row("fact", "", "before the hang", said="is kept")
    print("\nwithout an end of line", end="", flush=True)
    time.sleep(1000)
