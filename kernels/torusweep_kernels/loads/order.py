"""The order in which roots are searched from and summed: near ones together, because their searches share visits."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.distance.near import near_order

BLOCK = 16  # roots that the CPU searches from at once
SINGLE = 8  # roots up to which they are searched from one by one
SHARES = 64  # the most shares of the roots; one thread sums a share


def share(roots: int) -> int:
    """Roots of a share; the last one may have fewer. It depends only on their number, and so does the order of all
    sums."""
    return 1 if roots <= SINGLE else BLOCK * -(-roots // (BLOCK * SHARES))


def order(ports: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """int64[R]: places in `roots`, in blocks of near roots."""
    return np.arange(len(roots)) if len(roots) <= SINGLE else near_order(ports, roots, BLOCK)
