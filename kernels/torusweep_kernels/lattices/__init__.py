"""Measure batches of lattice graphs Zⁿ/L and of circulant graphs, and find classes of isomorphic graphs.

A lattice L ⊂ Zⁿ is given by its Hermite normal form, int32[n, n]: its columns generate L, the matrix is upper
triangular with a positive diagonal k, and 0 ≤ entry < k_i to the right of k_i. Nodes are the vectors of the box of k,
numbered x_0 + k_0 (x_1 + k_1 (x_2 + …)). A node has links to the nodes at ± e_i.

A circulant graph of N nodes has k steps 1 ≤ s_1 < … < s_k ≤ N/2: node v has links to v ± s_i modulo N. A unit u of Z_N
(a number coprime to N) maps the steps s_i to ± u s_i, and node v to node u v, so that the two graphs differ only in
the names of their nodes (Ádám 1967).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import expecting, within
from torusweep_kernels.threads import thread_count

MOST_DIMENSIONS = 6
MOST_NODES = 2**20
MOST_CIRCULANT_NODES = 2**20


class Properties(NamedTuple):
    """Properties of B lattice graphs. A lattice graph looks the same from each node.

    degree     int32[B]     number of a node's neighbours: 2n, or fewer if generators vanish or coincide
    histogram  int32[B, D]  number of nodes at distance 0 … D − 1 from a node; D − 1 is the batch's largest diameter
    load       float64[B, n]  load of a channel of each dimension, in flits per cycle, if each node sends one flit per
                 cycle in equal parts to all N nodes, itself included, spread equally over all shortest paths; 0 if the
                 dimension has no channels of its own. The shape is [B, 0] without loads
    """

    degree: np.ndarray
    histogram: np.ndarray
    load: np.ndarray


def measure_lattices(
    forms: np.ndarray, *, loads: bool = True, backend: str = "auto", threads: int | None = None
) -> Properties:
    """Compute distances and loads of many lattice graphs.

    forms    int32[B, n, n]  Hermite normal forms, n ≤ 6, of at most 2²⁰ nodes each
    loads    whether to compute the loads, too, which is about three times the work
    backend  numpy: the specification; auto, numba and cupy: compiled for the CPU. The results are the same to the bit
    threads  CPU threads of numba; by default all that it may use. The result does not depend on it

    Links are those of `torusweep.networks.families.lattices.lattice`: a generator that is 0, or equals an earlier one
    or its negative, adds no link. Method: breadth-first search from node 0, then Brandes's accumulation (2001). Loads
    are summed in a fixed order: over ports, then over nodes in pairs.

    Raises ValueError for forms that are not Hermite normal forms, BackendUnavailable for cupy without a GPU.
    """
    forms = np.ascontiguousarray(forms, np.int32)
    check(forms)
    chosen = backends.resolve_on_cpu(backend)
    if not len(forms):
        return Properties(np.zeros(0, np.int32), np.zeros((0, 1), np.int32), np.zeros((0, forms.shape[1] * loads)))
    used = 1 if chosen == "numpy" else thread_count(threads)  # to count threads is to import Numba
    degree, histogram, load = backends.implementation(__name__, chosen).measure(forms, loads, used)
    width = int(np.flatnonzero(histogram.any(axis=0))[-1]) + 1
    return Properties(degree, np.ascontiguousarray(histogram[:, :width]), load)


def lattice_classes(
    sides: np.ndarray, first: int, last: int, *, backend: str = "auto", threads: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (forms int32[C, n, n], sizes int32[C]): the forms of a numbered range that represent classes.

    Two lattices are in a class if a signed permutation of the dimensions maps one to the other: their graphs differ
    only in the dimensions' names and directions. The representative has the greatest last side, then the greatest last
    but one, and so on, then the least entries, column by column from the last. Work goes form by form, so that no array
    has all of them. Forms are numbered diagonal by diagonal, within a diagonal by the entries to its right, row by row;
    the first entry varies fastest.

    sides    int64[F, n]  diagonals of Hermite normal forms
    first, last  the numbers first … last − 1 are examined
    """
    expect = expecting("lattices")
    expect(sides.ndim == 2 and 1 <= sides.shape[1] <= MOST_DIMENSIONS, "sides of shape [F, n], n = 1 … 6", sides.shape)
    sides = np.ascontiguousarray(sides, np.int64)
    expect(bool((sides > 0).all()), "positive sides", "others")
    nodes = np.prod(sides.astype(float), axis=1).max(initial=1)
    expect(bool(nodes <= MOST_NODES), f"at most {MOST_NODES:,} nodes", f"{int(nodes):,}")
    n = sides.shape[1]
    ends = np.cumsum(np.prod(sides ** np.arange(n - 1, -1, -1), axis=1))
    expect(0 <= first <= last <= (ends[-1] if len(ends) else 0), "numbers of forms", f"{first:,} … {last:,}")
    if first == last:
        return np.zeros((0, n, n), np.int32), np.zeros(0, np.int32)
    chosen = backends.resolve("numba" if backend in ("auto", "cupy") else backend)
    starts = np.concatenate([[0], ends[:-1]])
    return backends.implementation(__name__, chosen).classes(sides, starts, first, last, thread_count(threads))


def check(forms: np.ndarray) -> None:
    """Raise ValueError if an array does not hold Hermite normal forms."""
    expect = expecting("lattices")
    square = forms.ndim == 3 and forms.shape[1] == forms.shape[2]
    expect(square and 1 <= forms.shape[1] <= MOST_DIMENSIONS, "forms of shape [B, n, n], n = 1 … 6", forms.shape)
    if not len(forms):
        return
    sides = np.diagonal(forms, axis1=1, axis2=2).astype(np.int64)
    expect(bool((sides > 0).all()), "a positive diagonal", int(sides.min()))
    nodes = np.prod(sides.astype(float), axis=1)
    expect(bool((nodes <= MOST_NODES).all()), f"at most {MOST_NODES:,} nodes", f"{int(nodes.max()):,}")
    above = np.triu(np.ones(forms.shape[1:], bool), 1)
    inside = np.where(above, (forms >= 0) & (forms < sides[:, :, None]), True)
    below = np.where(above.T, forms == 0, True)
    expect(bool(inside.all() and below.all()), "upper triangular forms with 0 ≤ entry < side", "another matrix")


def circulant_class_sizes(
    steps: np.ndarray, nodes: int, *, backend: str = "auto", threads: int | None = None
) -> np.ndarray:
    """Return int32[B]: the size of a step set's class if the set represents the class, 0 for all other step sets.

    Two step sets are in a class if a unit of Z_N maps one to the other. The representative of a class has the least
    first step, then the least second step, and so on.

    steps    int32[B, k]  steps of each graph, ascending, from 1 to N/2
    nodes    N, at most 2²⁰
    backend  as for `measure_lattices`
    threads  CPU threads of numba; by default all that it may use. The result does not depend on it

    Raises ValueError for arrays that are no step sets.
    """
    expect = expecting("circulants")
    expect(1 <= nodes <= MOST_CIRCULANT_NODES, f"1 … {MOST_CIRCULANT_NODES:,} nodes", nodes)
    expect(steps.ndim == 2 and steps.shape[1] >= 1, "steps of shape [B, k], k ≥ 1", steps.shape)
    within(expect, "steps", steps, 1, nodes // 2)
    expect(bool((np.diff(steps, axis=1) > 0).all()), "ascending steps", "others")
    steps = np.ascontiguousarray(steps, np.int32)
    chosen = backends.resolve("numba" if backend in ("auto", "cupy") else backend)
    return backends.implementation(__name__, chosen).circulant_class_sizes(steps, nodes, thread_count(threads))
