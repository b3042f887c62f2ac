"""Philox4x32-10 for code compiled by Numba (specification: `torusweep_kernels.philox`), and Philox4x64-10 (NumPy's)."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from torusweep_kernels.compile import INT64, cached, intrinsic, types
from torusweep_kernels.philox import UNIT

M0, M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
W0, W1 = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
WIDE0, WIDE1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)  # of Philox4x64
GROWS0, GROWS1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
HALF, LOW, HIGH = np.uint64(32), np.uint64(11), np.uint64(21)


@cached
def philox4x32(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Return the four random uint32 of a counter and a key. All arguments are whole numbers, taken modulo 2³²."""
    c0, c1, c2, c3 = np.uint32(c0), np.uint32(c1), np.uint32(c2), np.uint32(c3)
    k0, k1 = np.uint32(k0), np.uint32(k1)
    for _ in range(10):
        first, second = M0 * np.uint64(c0), M1 * np.uint64(c2)
        c0, c2 = np.uint32(second >> HALF) ^ c1 ^ k0, np.uint32(first >> HALF) ^ c3 ^ k1
        c1, c3 = np.uint32(second), np.uint32(first)
        k0, k1 = np.uint32(k0 + W0), np.uint32(k1 + W1)
    return c0, c1, c2, c3


@intrinsic
def high_word(context, one, other):
    """Return the upper 64 bits of the product of two uint64."""

    def codegen(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), INT64)

    return types.uint64(types.uint64, types.uint64), codegen


@cached
def fill4x64(k0: Any, k1: Any, words: Any) -> None:
    """Set words uint64[n] to Philox4x64-10's for a key from counter 1 on, as `numpy.random.Philox(key=[k0, k1])`."""
    for first in range(0, len(words), 4):
        c0, c1, c2, c3 = np.uint64(first // 4 + 1), np.uint64(0), np.uint64(0), np.uint64(0)
        key0, key1 = np.uint64(k0), np.uint64(k1)
        for _ in range(10):
            low0, low1 = WIDE0 * c0, WIDE1 * c2
            c0, c2 = high_word(WIDE1, c2) ^ c1 ^ key0, high_word(WIDE0, c0) ^ c3 ^ key1
            c1, c3 = low1, low0
            key0, key1 = key0 + GROWS0, key1 + GROWS1
        words[first] = c0
        if first + 1 < len(words):
            words[first + 1] = c1
        if first + 2 < len(words):
            words[first + 2] = c2
        if first + 3 < len(words):
            words[first + 3] = c3


@cached
def below(draw: Any, bound: Any) -> Any:
    """Compiled version of `torusweep_kernels.philox.below`: a uint32 in 0 … bound − 1 from a 32-bit draw."""
    return np.uint32(np.uint64(draw) * np.uint64(bound) >> HALF)


@cached
def unit(high: Any, low: Any) -> Any:
    """Compiled version of `torusweep_kernels.philox.unit`: a float64 in [0, 1) from two random words."""
    return np.float64(np.int64(np.uint64(high) << HIGH | np.uint64(low) >> LOW)) * UNIT


@cached
def fill(packet: Any, c2: Any, c3: Any, k0: Any, k1: Any, words: Any) -> None:
    """Set words uint32[4, B] to those of the counters (packet's low word, its high word, c2, c3). packet: int64[B]."""
    for i in range(len(packet)):
        number = np.uint64(packet[i])
        drawn = philox4x32(number & np.uint64(0xFFFFFFFF), number >> HALF, c2, c3, k0, k1)
        words[0, i], words[1, i], words[2, i], words[3, i] = drawn
