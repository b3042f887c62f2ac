"""Random networks with packets on them, and whether two counts are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from torusweep_kernels.walks import Walks


def drawn(
    seed: int, nodes: int, degree: int, packets: int, *, groups: int = 3, capacity: bool = False
) -> dict[str, Any]:
    """A random network with one-way, repeated, missing and own links, and random packets on it; some are there
    already."""
    rng = np.random.default_rng(seed)
    return {
        "ports": np.where(rng.random((nodes, degree)) < 0.3, -1, rng.integers(0, nodes, (nodes, degree))),
        "start": rng.integers(0, nodes, packets),
        "destination": rng.integers(0, nodes, packets),
        "group": rng.integers(0, groups, packets),
        "groups": groups,
        "first": [0, 7, 2**32 - packets // 2, 2**64 - packets][
            rng.integers(4)
        ],  # within, across and at the end of words
        "seed": [0, 1, 2**32 + 5, 2**64 - 1][rng.integers(4)],
        "capacity": rng.integers(1, 4, (nodes, degree)) if capacity else None,
    }


def same(one: Walks | tuple[np.ndarray, np.ndarray], other: Walks) -> bool:
    return np.array_equal(one[0], other.count) and np.array_equal(one[1], other.unreachable)
