"""Networks and demands for loads of shortest paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.kernels import oracle


def drawn(seed: int, nodes: int, degree: int, roots: int, *, demand: str, capacity: bool) -> dict[str, Any]:
    """A random network with one-way, repeated and missing links, and a random task on it; numbers are quarters."""
    rng = np.random.default_rng(seed)
    by_root = (roots, nodes)
    shapes = {"by node": (nodes,), "of few nodes": (nodes,), "by root and node": by_root, "of few": by_root}
    shape = shapes.get(demand)
    few = rng.random(shape) < 0.08 if demand.startswith("of few") else 1
    return {
        "ports": np.where(rng.random((nodes, degree)) < 0.3, -1, rng.integers(0, nodes, (nodes, degree))),
        "roots": rng.integers(0, nodes, roots),
        "weights": rng.integers(0, 9, roots) / 4,
        "demand": None if shape is None else few * rng.integers(0, 9, shape) / 4,
        "capacity": rng.integers(1, 4, (nodes, degree)) if capacity else None,
    }


@st.composite
def small_tasks(draw: st.DrawFn, demands: Sequence[str]) -> dict[str, Any]:
    """Tasks of `drawn`, on 1 … 12 nodes."""
    return drawn(
        draw(st.integers(0, 10**6)),
        nodes=draw(st.integers(1, 12)),
        degree=draw(st.integers(0, 3)),
        roots=draw(st.sampled_from([1, 2, 9, 20, 40])),
        demand=draw(st.sampled_from(demands)),
        capacity=draw(st.booleans()),
    )


def large_task() -> dict[str, Any]:
    """Numbers that no binary fraction equals, on 400 nodes; more roots than shares hold in one block."""
    rng = np.random.default_rng(11)
    ports = np.concatenate([oracle.torus(20, 20), rng.integers(0, 400, (400, 1))], axis=1)
    return {
        "ports": ports,
        "roots": rng.integers(0, 400, 1100),
        "weights": rng.random(1100),
        "demand": rng.random((1100, 400)),
    }


def diamonds(number: int) -> np.ndarray:
    """A chain: node 3i leads to 3i + 1 and 3i + 2, both lead to 3i + 3; so 2^number paths from end to end."""
    return oracle.table(
        [[3 * i + 1, 3 * i + 2] if j == 0 else [3 * i + 3] for i in range(number) for j in range(3)] + [[]]
    )
