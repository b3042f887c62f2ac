"""What only a fresh process shows: memory, Numba's cache, imports."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torusweep_kernels

from tests.kernels.processes import python

SEARCH = """
import numpy as np
from torusweep_kernels.distance import all_pairs_distance
from tests.kernels.oracle import torus, torus_histogram
def whole(backend, *radices, **options):
    ports = torus(*radices)
    found = all_pairs_distance(ports, np.arange(len(ports)), np.zeros(len(ports), int), backend=backend, **options)
    assert found.histogram.tolist() == [[len(ports) * nodes for nodes in torus_histogram(*radices)]]
"""


LOADS = """
import numpy as np
from torusweep_kernels.loads import minimal_loads
from tests.kernels.oracle import torus
def whole(backend, *radices, **options):
    ports = torus(*radices)
    found = minimal_loads(ports, np.arange(len(ports)), backend=backend, **options)
    np.testing.assert_allclose(found.load, len(ports) * radices[0] / 8, rtol=1e-12)
"""
ROUTES = """
from torusweep_kernels.routes import route_flows
from tests.kernels.oracle import torus
assert route_flows(torus(4), [0], [0], [[0]], [[3]], backend="numba").tolist() == [[1, 0], [1, 0], [1, 0], [0, 0]]
"""


@pytest.mark.parametrize(
    ("program", "backend", "radices", "limit"),
    [
        (SEARCH, "numba", "64, 32, 32", 2**20),  # KiB: a distance byte per pair would take 4 GiB
        pytest.param(SEARCH, "numpy", "64, 32, 32", 2**20, marks=pytest.mark.slow),
        (LOADS, "numba", "20, 20, 20", 2**17),  # a float per pair would take 488 MiB
    ],
    ids=["distance, numba", "distance, numpy", "loads, numba"],
)
def test_memory_is_bounded_by_blocks(program: str, backend: str, radices: str, limit: int) -> None:
    program += "import resource\nkilobytes = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
    program += f"whole({backend!r}, 8, 8)\nbefore = kilobytes()\nwhole({backend!r}, {radices}, threads=2)\n"
    before, after = map(int, python(program + "print(before, kilobytes())"))
    assert after - before < limit


# a kernel's program, and its compiled functions
COMPILED = {
    "distance": (SEARCH + "whole('numba', 8, 8, threads=1)", ["distance.level.search"]),
    "loads": (LOADS + "whole('numba', 4, 4)", ["loads.cpu.accumulate", "distance.single_source.gathered"]),
    "routes": (ROUTES, ["routes.cpu.follow", "routes.reference.laid_out"]),
}


@pytest.mark.parametrize("kernel", COMPILED)
def test_a_second_process_finds_the_compiled_code(kernel: str) -> None:
    program, functions = COMPILED[kernel]
    for function in functions:
        module, name = function.rsplit(".", 1)
        program += f"\nfrom torusweep_kernels.{module} import {name}\nprint(sum({name}.stats.cache_misses.values()))"
    python(program)
    assert python(program) == ["0"] * len(functions)


def test_without_any_folder_to_cache_in() -> None:
    nowhere = "import tempfile\ndef refuse(**_): raise PermissionError\ntempfile.TemporaryFile = refuse\n"
    python(nowhere + SEARCH + "\nwhole('numba', 8, 8, threads=1)")


DRAW = """
import numba, numpy as np
from torusweep_kernels.walks.cpu import HOPS, TILE, Counter, draw
draws = np.zeros((HOPS, TILE), np.uint32)
draw(np.arange(TILE, dtype=np.uint32), np.uint64(1), Counter(*np.zeros(5, np.uint32)), 0, draws)
print(draws[0, 0], sum(draw.stats.cache_misses.values()), numba.config.CACHE_DIR)
"""


def test_a_change_in_another_file_leaves_no_stale_code(tmp_path: Path) -> None:
    """`draw` contains what walks/steps.py takes from philox/cpu.py; a user's own cache folder is respected."""
    package = tmp_path / "torusweep_kernels"
    shutil.copytree(Path(torusweep_kernels.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "own")}
    first, again = python(DRAW, **environment), python(DRAW, **environment)
    assert first == [str(0x6627E8D5), "1", str(tmp_path / "own")]  # as Random123 gives for zeros
    assert again == [str(0x6627E8D5), "0", str(tmp_path / "own")]
    inner = package / "philox" / "cpu.py"
    inner.write_text(inner.read_text().replace("range(10)", "range(0)"))
    assert python(DRAW, **environment) == ["0", "1", str(tmp_path / "own")]


@pytest.mark.parametrize("kernel", [*COMPILED, "pairs", "philox", "router", "walks"])
def test_importing_a_kernel_imports_no_compiler(kernel: str) -> None:
    heavy = {"numba", "scipy", "cupy", "llvmlite"}
    assert python(f"import torusweep_kernels.{kernel}\nprint(*({heavy} & set(sys.modules)))") == []


def test_a_step_that_computes_nothing_imports_no_compiler() -> None:
    """Four of a run's steps compute nothing; each would wait for it, and so would every short command."""
    assert python("import sys, torusweep.run.workflow\nprint(*({'numba', 'llvmlite'} & set(sys.modules)))") == []
