"""What is known of the GPU code without a GPU: registers as the compiler tells them, rows that a search touches."""

from __future__ import annotations

import numpy as np
import pytest
from torusweep.networks.families import build
from torusweep_kernels import cuda
from torusweep_kernels.distance.single_source import near_order

from benchmarks import gpu_registers, gpu_rows
from tests.kernels import nvrtc

LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'tally' for 'sm_90'
ptxas info    : Function properties for tally
ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 48 registers, used 0 barriers
ptxas info    : Compiling entry function 'advance' for 'sm_90'
ptxas info    : Function properties for advance
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers
"""


def test_what_the_compiler_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "compile_for", lambda *_: (LOG, b"\x7fELF"))
    monkeypatch.setattr(cuda, "cuda_source", lambda _: "__global__ void advance(); __global__ void tally();")
    tally, advance = sorted(gpu_registers.functions(13, 90, "walks.cu"), key=lambda one: -one.stack)
    assert tally == ("tally of walks.cu", 48, 8, 12, 16)
    assert advance == ("advance of walks.cu", 40, 0, 0, 0)
    monkeypatch.setattr(cuda, "cuda_source", lambda _: "__global__ void reach(); __global__ void walk();")
    with pytest.raises(RuntimeError, match=r"walks.cu: expected registers of reach, walk, got:\n"):
        list(gpu_registers.functions(13, 90, "walks.cu"))


def test_a_source_that_is_compiled_for_several_purposes(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for, constants = nvrtc.compile_for, []
    monkeypatch.setattr(nvrtc, "compile_for", lambda *how: constants.append(how[3]) or compile_for(*how))
    found = [one.name for one in gpu_registers.functions(13, 90, "levels.cu")]
    assert {name for name in found if name.startswith("dense")} == {
        *("dense of levels.cu", "dense of levels.cu, eccentricities", "dense of levels.cu, lists and all options")
    }
    assert ["-DDEGREE=6" in some for some in constants] == [True, True, False]


def test_the_compiler_says_it_of_a_source() -> None:
    (draw,) = gpu_registers.functions(13, 90, "pairs.cu")
    assert draw.name == "draw of pairs.cu"
    assert 16 <= draw.registers <= 255


def test_rows_of_a_ring() -> None:
    """From node 0 of 8: the nodes behind the search are touched again, since their neighbours are new."""
    ring = np.stack([np.roll(np.arange(8), side) for side in (1, -1)], axis=1)
    found = gpu_rows.rows(ring, np.array([0]))
    assert found == (5, 7 + 5 + 3 + 1 + 0, 2 + 3 + 4 + 3 + 2, 2 + 3 + 4 + 3 + 2)


def test_pieces_of_a_ring() -> None:
    """128 sources at node 0 and 128 at node 4: each half of a row is read as if it were alone."""
    ring = np.stack([np.roll(np.arange(8), side) for side in (1, -1)], axis=1)
    found = gpu_rows.rows(ring, np.repeat([0, 4], 128))
    assert found.levels == 5
    assert found.read == 2 + 3 + 4 + 3 + 2
    assert found.fresh == 5 * 4  # each level those of two searches, which at even distances partly are the same


@pytest.mark.parametrize("block", [16, 256])
def test_sources_near_each_other(block: int) -> None:
    """Nodes of the first block are those nearest to node 0, but for the farthest of them."""
    ports = build("torus(k=32, n=2)").ports
    order = near_order(ports, np.arange(1024, dtype=np.int32), block)
    assert sorted(order.tolist()) == list(range(1024))
    x, y = order % 32, order // 32
    distance = np.minimum(x, 32 - x) + np.minimum(y, 32 - y)
    radius = int(distance[:block].max())
    assert 2 * radius * (radius - 1) + 1 < block <= 2 * radius * (radius + 1) + 1  # nodes within radius − 1, and radius
