"""A GPU that has less room than it said: blocks are halved until they fit, with the same result (row 30 of the table of
faults)."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from torusweep_kernels import cuda
from torusweep_kernels.distance import all_pairs_distance
from torusweep_kernels.distance import gpu as distance_gpu
from torusweep_kernels.loads import gpu as loads_gpu
from torusweep_kernels.loads import minimal_loads
from torusweep_kernels.walks import gpu as walks_gpu
from torusweep_kernels.walks import shortest_walks

from tests.kernels import oracle

NODES = 256
TORUS = np.concatenate([oracle.torus(16, 16), np.random.default_rng(1).integers(0, NODES, (NODES, 3))], axis=1)


def distances(backend: str) -> Any:
    return all_pairs_distance(TORUS, np.arange(NODES), np.arange(NODES) % 3, backend=backend).histogram


def loads(backend: str) -> Any:
    return minimal_loads(TORUS, np.arange(NODES), backend=backend).load


def walks(backend: str) -> Any:
    start, destination = np.random.default_rng(2).integers(0, NODES, (2, 5000))
    return shortest_walks(TORUS, start, destination, np.arange(5000) % 3, groups=3, seed=5, backend=backend).count


@pytest.mark.parametrize(
    ("kernel", "module", "memory", "widths"),
    [
        # bytes of the largest array at each width: distances 2·16·257 a piece of 128 sources; loads 8·256 a root; walks
        # 4·256·7 a destination
        (distances, distance_gpu, 8224 * 3, [4, 2]),
        (loads, loads_gpu, 2048 * 100, [256, 128, 64]),
        (walks, walks_gpu, 7168 * 100, [256, 128, 64]),
    ],
)
def test_blocks_are_halved_until_they_fit(
    kernel: Callable[[str], Any],
    module: ModuleType,
    memory: int,
    widths: list[int],
    as_cupy: Callable[..., ModuleType],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = []
    make_room = module.Network.make_room
    monkeypatch.setattr(
        module.Network, "make_room", lambda self, width, *rest: used.append(width) or make_room(self, width, *rest)
    )
    monkeypatch.setattr(cuda, "AHEAD", 2)  # counters of many levels would be larger than the blocks
    as_cupy(cache=2**30, memory=memory, free=2**30)
    assert kernel("cupy").tolist() == kernel("numpy").tolist()
    assert used == widths
