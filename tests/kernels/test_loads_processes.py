"""What only a fresh process shows of the loads' kernel: memory, Numba's cache, imports."""

from __future__ import annotations

from tests.kernels.processes import python

LOADS = """
import numpy as np
from torusweep_kernels.loads import minimal_loads
from tests.kernels.oracle import torus
def whole(*radices, **options):
    ports = torus(*radices)
    found = minimal_loads(ports, np.arange(len(ports)), backend="numba", **options)
    np.testing.assert_allclose(found.load, len(ports) * radices[0] / 8, rtol=1e-12)
"""


def test_a_second_process_finds_the_compiled_code() -> None:
    program = (
        LOADS
        + """
whole(4, 4)
from torusweep_kernels.loads.lanes import accumulate
from torusweep_kernels.distance.near import gathered
print(*(sum(function.stats.cache_misses.values()) for function in (accumulate, gathered)))
"""
    )
    python(program)
    assert python(program) == ["0", "0"]


def test_importing_the_kernel_imports_no_compiler() -> None:
    assert (
        python("import torusweep_kernels.loads\nprint(*({'numba', 'scipy', 'cupy', 'llvmlite'} & set(sys.modules)))")
        == []
    )


def test_memory_is_bounded_by_blocks() -> None:
    program = "import resource\nkilobytes = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
    before, after = map(
        int,
        python(
            LOADS
            + program
            + "\nwhole(8, 8)\nbefore = kilobytes()\nwhole(24, 24, 24, threads=2)\nprint(before, kilobytes())"
        ),
    )
    assert after - before < 2**17  # 128 MiB; a float per pair would take 1.5 GiB
