"""Random words for numbered packets, the same on every backend."""

from __future__ import annotations

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.philox import WORD, philox


def packet_words(packet: np.ndarray, purpose: int, stream: int, seed: int, *, backend: str = "auto") -> np.ndarray:
    """Return uint32[4, B]: four words for each packet, by Philox4x32-10 with the counter (packet, purpose, stream) and
    the key seed.

    packet           int64[B] ≥ 0, number of each packet
    purpose, stream  0 … 2³² − 1, the use of the words; walks (torusweep_kernels.walks) use stream 0
    seed             0 … 2⁶⁴ − 1
    backend          numpy: the specification; otherwise numba, since the words must be in main memory, and drawing them
                     takes less time than launches and copies from a GPU
    """
    chosen, key = backends.resolve("numba" if backend in ("auto", "cupy") else backend), (seed % WORD, seed // WORD)
    packet = np.ascontiguousarray(packet, np.int64)
    if chosen == "numba":
        from torusweep_kernels.philox.cpu import fill

        words = np.empty((4, len(packet)), np.uint32)
        fill(packet, purpose, stream, *key, words)
        return words
    return np.stack(philox((packet & (WORD - 1), packet >> 32, purpose, stream), key))
