"""What only a fresh process shows: memory, Numba's cache, imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SEARCH = """
import numpy as np
from torusweep_kernels.distance import all_pairs_distance
from tests.kernels.oracle import torus, torus_histogram
def whole(backend, *radices, **options):
    ports = torus(*radices)
    found = all_pairs_distance(ports, np.arange(len(ports)), np.zeros(len(ports), int), backend=backend, **options)
    assert found.histogram.tolist() == [[len(ports) * nodes for nodes in torus_histogram(*radices)]]
"""


def python(program: str) -> list[str]:
    """The words that a program prints; tests/kernels is on its path."""
    setting = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", setting + program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("backend", ["numba", pytest.param("numpy", marks=pytest.mark.slow)])
def test_memory_is_bounded_by_blocks(backend: str) -> None:
    program = "import resource\nkilobytes = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
    search = f"\nwhole({backend!r}, 8, 8)\nbefore = kilobytes()\nwhole({backend!r}, 64, 32, 32, threads=2)\nprint(before, kilobytes())"
    before, after = map(int, python(SEARCH + program + search))
    assert after - before < 2**20  # 1 GiB; a distance byte per pair would take 4


def test_a_second_process_finds_the_compiled_code() -> None:
    search = "\nwhole('numba', 8, 8, threads=1)\nfrom torusweep_kernels.distance.bits import search\nprint(sum(search.stats.cache_misses.values()))"
    python(SEARCH + search)
    assert python(SEARCH + search) == ["0"]


def test_without_any_folder_to_cache_in() -> None:
    nowhere = "import numba.core.caching as caching\ncaching.CacheImpl._locator_classes = []\n"
    python(nowhere + SEARCH + "\nwhole('numba', 8, 8, threads=1)")


def test_importing_the_kernel_imports_no_compiler() -> None:
    heavy = "import torusweep_kernels.distance\nprint(*({'numba', 'scipy', 'cupy', 'llvmlite'} & set(sys.modules)))"
    assert python(heavy) == []
