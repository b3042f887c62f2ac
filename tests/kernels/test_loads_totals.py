"""Totals of loads (delivered, unreachable, hops) are sums in a fixed order: equal to the bit on every backend."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np
import pytest
from torusweep_kernels.loads import SPLITS, minimal_loads

NODES = 150
# links of one direction; some nodes have none, and to some none leads
PORTS = np.maximum(np.random.default_rng(7).integers(-30, NODES, (NODES, 2)), -1)


def case(roots: int, *, by_root: bool) -> dict[str, Any]:
    """Demands and weights whose sums are rounded, from many orders of magnitude."""
    rng = np.random.default_rng(roots)
    demand = 10.0 ** rng.uniform(-9, 9, (roots, NODES) if by_root else NODES)
    return {"ports": PORTS, "roots": rng.integers(0, NODES, roots), "weights": rng.random(roots), "demand": demand}


def added(task: dict[str, Any], root: int, split: str) -> tuple[float, float, float]:
    """(delivered, unreachable, hops) of one root: a loop over the nodes, with distances by networkx."""
    graph = nx.DiGraph([(node, other) for node, row in enumerate(PORTS.tolist()) for other in row if other >= 0])
    graph.add_nodes_from(range(NODES))
    here = int(task["roots"][root])
    away = nx.single_source_shortest_path_length(graph if split == "paths" else graph.reverse(), here)
    delivered = unreachable = hops = 0.0
    for node in range(NODES):
        amount = float(task["weights"][root]) * float(np.broadcast_to(task["demand"], (root + 1, NODES))[root, node])
        if node in away:
            delivered += amount
            hops += amount * away[node]
        else:
            unreachable += amount
    return delivered, unreachable, hops


@pytest.mark.parametrize("backend", ["numpy", "numba", "cupy"])
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("by_root", [True, False])
def test_the_totals_of_a_root_are_added_node_by_node(
    by_root: bool, split: str, backend: str, as_cupy: Callable[..., ModuleType]
) -> None:
    as_cupy()
    task = case(1, by_root=by_root)
    expected = added(task, 0, split)
    assert expected[1] > 0, "some are not reached"
    assert minimal_loads(**task, split=split, backend=backend)[1:4] == expected
    assert expected != added({**task, "demand": task["demand"][..., ::-1].copy()}, 0, split), "the order shows"


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("by_root", [True, False])
@pytest.mark.parametrize("roots", [1, 2, 8, 9, 33, 65, 129])  # blocks of one lane come last, and first
def test_totals_of_many_roots_are_equal_to_the_bit(
    roots: int, by_root: bool, split: str, as_cupy: Callable[..., ModuleType]
) -> None:
    as_cupy(cache=2**10)  # 32 lanes
    task = case(roots, by_root=by_root)
    found = {name: minimal_loads(**task, split=split, backend=name)[1:4] for name in ("numpy", "numba", "cupy")}
    assert found["numba"] == found["numpy"]
    assert found["cupy"] == found["numpy"]


def test_totals_without_demand_are_positive_zeros(as_cupy: Callable[..., ModuleType]) -> None:
    as_cupy()
    for backend in ("numpy", "numba", "cupy"):
        found = minimal_loads(PORTS, np.array([0]), demand=np.zeros(NODES), backend=backend)
        assert np.array(found[1:4]).tobytes() == np.zeros(3).tobytes(), backend
