"""make gpu-check: what it compares, what it says where something differs, and where there is no GPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from torusweep_kernels import backend

from benchmarks import gpu_check
from benchmarks.gpu_check import Case, Row

ROOT = Path(__file__).parent.parent.parent
KERNELS = {path.parent.name for path in (ROOT / "kernels" / "torusweep_kernels").glob("*/gpu.py")}


def test_every_kernel_is_compared() -> None:
    assert {case.kernel for case in gpu_check.small()} == KERNELS


def test_small_cases_are_the_same_on_a_stand_in(as_cupy: Callable[..., ModuleType]) -> None:
    as_cupy()
    for case in gpu_check.small():
        assert gpu_check.compared(case, "numpy").same, case.name


@pytest.mark.parametrize(
    "wrong", [np.array([1, 2, 4]), np.array([1, 2, 3], np.int32), np.array([1.0, 2.0, 3.0]), np.array([[1, 2, 3]])]
)
def test_a_difference_is_told(wrong: np.ndarray) -> None:
    def case(found: np.ndarray) -> Case:
        return Case("walks", "a case", lambda name, threads: (found if name == "cupy" else right,))

    right = np.array([1, 2, 3])
    rows = [gpu_check.compared(case(found), "numpy") for found in (right, wrong)]
    assert [row.same for row in rows] == [True, False]
    assert [line.split(" | ")[2] for line in gpu_check.table(rows, 2).splitlines()[2:]] == [
        "numpy",
        "**differs from numpy**",
    ]


def test_the_table() -> None:
    case = Case("distance", "torus(k=32, n=3)", lambda name, threads: (), estimate=0.008)
    head, _, line = gpu_check.table([Row(case, "numba", True, gpu=0.02, cpu=0.15)], 2).splitlines()
    assert "Numba, 2 threads, s" in head
    assert line == "| distance | torus(k=32, n=3) | numba | 0.02 | 0.15 | 7.5 | 0.008 | 2.5 |"
    alone = gpu_check.timed(case._replace(alone=True), 2)
    assert (alone.same, alone.cpu) == (None, None)


@pytest.mark.skipif(bool(backend.gpu_count()), reason="there is a GPU here")
def test_without_a_gpu_one_line_and_an_exit_code() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks.gpu_check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("gpu-check: expected a GPU that CuPy can use, found none")
    assert done.stdout == ""
