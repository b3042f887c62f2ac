"""Circulant graphs in batches: the classes of step sets that differ by a unit of Z_N.

A circulant graph of N nodes has k steps 1 ≤ s_1 < … < s_k ≤ N/2: node v has links to v ± s_i modulo N. A unit u of Z_N
(a number without a common factor with N) maps the steps s_i to ± u s_i, and node v to node u v: the graphs are the
same but for the nodes' names (Ádám 1967).
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import expecting, within
from torusweep_kernels.threads import thread_count

MOST_NODES = 2**20


def class_sizes(steps: np.ndarray, nodes: int, *, backend: str = "auto", threads: int | None = None) -> np.ndarray:
    """int32[B]: size of the class of a step set that represents its class, 0 for all other step sets.

    Two step sets are in a class if a unit of Z_N maps one to the other. The least set represents its class: the one
    with the least first step, then the least second step, and so on.

    steps    int32[B, k]  steps of each graph, ascending, from 1 to N/2
    nodes    N, at most 2²⁰
    backend  auto or numba: compiled; numpy: the specification. There is none for cupy
    threads  CPU threads of numba; by default all that it may use. The result does not depend on it

    Raises ValueError for arrays that are no step sets.
    """
    expect = expecting("circulants")
    expect(1 <= nodes <= MOST_NODES, f"1 … {MOST_NODES:,} nodes", nodes)
    expect(steps.ndim == 2 and steps.shape[1] >= 1, "steps of shape [B, k], k ≥ 1", steps.shape)
    within(expect, "steps", steps, 1, nodes // 2)
    expect(bool((np.diff(steps, axis=1) > 0).all()), "ascending steps", "others")
    steps = np.ascontiguousarray(steps, np.int32)
    chosen = backends.resolve("numba" if backend in ("auto", "cupy") else backend)
    return backends.implementation(__name__, chosen).class_sizes(steps, nodes, thread_count(threads))
