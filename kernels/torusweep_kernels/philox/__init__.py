"""Random numbers by counter: Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).

A draw depends only on its counter and key, so packets can be drawn in any order and in any thread. Three versions give
the same bits: this one for arrays, cpu.py for code compiled by Numba, and philox.cuh for CUDA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85  # increments of the key: from the golden ratio, and √3 − 1
ROUNDS = 10
WORD = 2**32
UNIT = 2.0**-53


def philox(counter: Sequence[Any], key: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    """Return four random words of 32 bits for every counter.

    counter  four integers or integer arrays, broadcast against each other; taken modulo 2³²
    key      two integers or integer arrays, in the same way
    returns  four uint32 arrays of the common shape
    """
    c0, c1, c2, c3 = (np.asarray(word).astype(np.uint64) & (WORD - 1) for word in counter)
    k0, k1 = (np.asarray(word).astype(np.uint64) & (WORD - 1) for word in key)
    for turn in range(ROUNDS):
        if turn:
            k0, k1 = (k0 + WEYL[0]) & (WORD - 1), (k1 + WEYL[1]) & (WORD - 1)
        first, second = c0 * MULTIPLIERS[0], c2 * MULTIPLIERS[1]
        c0, c1, c2, c3 = (second >> 32) ^ c1 ^ k0, second & (WORD - 1), (first >> 32) ^ c3 ^ k1, first & (WORD - 1)
    return c0.astype(np.uint32), c1.astype(np.uint32), c2.astype(np.uint32), c3.astype(np.uint32)


def below(draw: Any, bound: Any) -> Any:
    """Return uint32: a whole number in 0 … bound − 1 for each 32-bit draw (an array, or a NumPy number). Each bound,
    one for all or an array, is 1 … 2³².

    Some numbers result from ⌊2³²/bound⌋ draws and others from one more, so a probability's relative error is below
    bound/2³².
    """
    wide = bound.astype(np.uint64) if hasattr(bound, "astype") else bound
    return (draw.astype(np.uint64) * wide >> 32).astype(np.uint32)


def unit(high: Any, low: Any) -> Any:
    """Return float64 in [0, 1) for two uint32 arrays of random words: ⌊(2³² high + low) / 2¹¹⌋ / 2⁵³, exactly."""
    bits = high.astype(np.uint64) * 2**21 + low.astype(np.uint64) // 2**11
    return bits.astype(np.float64) * UNIT
