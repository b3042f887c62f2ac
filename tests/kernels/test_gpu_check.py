"""make gpu-check: what it compares, what it says where something differs, and where there is no GPU."""

from __future__ import annotations

import os
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


WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from pathlib import Path
from tests.kernels import fake_cupy
sys.modules["cupy"] = fake_cupy.module(Path({built!r}))
from torusweep_kernels import backend
import benchmarks.gpu_check as gpu_check
from torusweep.tables.provenance import software
print(software()["torusweep"])
for case in gpu_check.small():
    if case.kernel in ("router", "routes"):
        row = gpu_check.attempted(case, lambda case: gpu_check.compared(case, "numpy"))
        print(case.kernel, row.same, row.missing)
"""


def test_without_an_installation_only_the_router_is_missing_and_is_told(built: Path) -> None:
    """As on a machine with CuPy, but without package registry: neither this project nor what its sweeps need."""
    missing = {"pydantic", "igraph", "pymetis", "dask", "distributed", "snakemake", "yaml", "ruamel", "duckdb"}
    places = ":".join(str(ROOT / part) for part in (".", "pipeline", "kernels"))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=sorted(missing), built=str(built))],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
    )
    said = done.stdout.splitlines()
    assert said[1:] == ["routes True ", "router None pydantic", "router None pydantic"], done.stderr
    row = Row(Case("router", "a case", lambda name, threads: ()), "", None, missing="pydantic")
    assert "| **not run: no pydantic** |" in gpu_check.table([row], 2)


@pytest.mark.skipif(bool(backend.gpu_count()), reason="there is a GPU here")
def test_without_a_gpu_one_line_and_an_exit_code() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks.gpu_check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("gpu-check: expected a GPU that CuPy can use, found none")
    assert done.stdout == ""
