"""Philox4x32-10, in all three versions, against the known answers that Random123 publishes (kat_vectors)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from torusweep_kernels.cuda import cuda_source
from torusweep_kernels.philox import below, philox
from torusweep_kernels.philox import cpu as philox_cpu

from tests.kernels import nvrtc

AsCupy = Callable[..., ModuleType]
FULL = 2**32 - 1
KNOWN = {
    "zeros": ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    "ones": ((FULL,) * 4, (FULL,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    "digits of pi": (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
}
TRIAL = """
#include "philox/philox.cuh"
extern "C" __global__ void draw(const unsigned int* counters, const unsigned int* keys, unsigned int* out, unsigned int
bound, int items) {
    for (int i = 0; i < items; ++i) {
        philox4x32(counters + 4 * i, keys[2 * i], keys[2 * i + 1], out + 5 * i);
        out[5 * i + 4] = below(out[5 * i], bound);
    }
}
"""


def as_array(draw: Callable[..., Any], counter: Any, key: Any) -> np.ndarray:
    return np.stack(draw(counter.T, key.T), axis=1)


def random_words() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.integers(0, 2**32, (1000, 4), dtype=np.uint32), rng.integers(0, 2**32, (1000, 2), dtype=np.uint32)


@pytest.mark.parametrize("name", KNOWN)
def test_known_answers(name: str) -> None:
    counter, key, expected = KNOWN[name]
    assert philox(counter, key) == expected
    assert philox_cpu.philox4x32(*counter, *key) == expected
    assert philox_cpu.philox4x32(*map(np.uint32, counter), *map(np.uint32, key)) == expected


def test_arrays_broadcast_and_words_are_taken_modulo() -> None:
    found = philox((np.arange(-1, 2), np.array([[0], [2**32]]), 0, 0), (0, np.int64(-(2**32))))
    assert {(part.shape, part.dtype) for part in found} == {((2, 3), np.dtype(np.uint32))}
    assert [part[1, 1] for part in found] == list(KNOWN["zeros"][2])
    assert [part[0, 0] for part in found] == list(philox((2**32 - 1, 0, 0, 0), (0, 0)))


def test_numba_draws_the_same() -> None:
    counter, key = random_words()
    expected = as_array(philox, counter, key)
    assert [philox_cpu.philox4x32(*c, *k) for c, k in zip(counter, key)] == list(map(tuple, expected))
    assert [philox_cpu.below(draw, 6) for draw in expected[:, 0]] == below(expected[:, 0], 6).tolist()


def test_cuda_draws_the_same(as_cupy: AsCupy, tmp_path: Path) -> None:
    counter, key = random_words()
    cupy, source = as_cupy(), tmp_path / "trial.cu"
    source.write_text(TRIAL)
    out = cupy.zeros((1000, 5), np.uint32)
    draw = cupy.RawModule(code=cuda_source(source), options=()).get_function("draw")
    draw((1,), (1,), (cupy.asarray(counter), cupy.asarray(key), out, np.uint32(6), np.int32(1000)))
    expected = as_array(philox, counter, key)
    assert out.get().tolist() == np.column_stack([expected, below(expected[:, 0], 6)]).tolist()
    log, code = nvrtc.compile_for(13, 90, source, ())
    assert code[:4] == b"\x7fELF", log


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 4096, 1_000_003, 2**32 - 1, 2**32])
def test_whole_numbers_below_a_bound(bound: int) -> None:
    draws = np.unique(np.concatenate([philox((np.arange(1000), 0, 0, 0), (1, 2))[0], [0, FULL]]).astype(np.uint32))
    assert below(draws, bound).tolist() == [int(draw) * bound // 2**32 for draw in draws]
    assert [philox_cpu.below(draw, bound) for draw in draws] == below(draws, bound).tolist()


@pytest.mark.parametrize("bound", [3, 5, 6, 255])
def test_bias_is_as_small_as_promised(bound: int) -> None:
    edges = [-(-value * 2**32 // bound) for value in range(bound + 1)]  # the least draw that gives each number
    for value, (first, last) in enumerate(pairwise(edges)):
        assert below(np.array([first, last - 1], np.uint32), bound).tolist() == [value, value]
        assert abs(Fraction(last - first, 2**32) * bound - 1) < Fraction(bound, 2**32)
