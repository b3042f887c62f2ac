"""Balanced cuts of a network: across its dimensions and by METIS. Their widths bound the bisection width from above."""

from __future__ import annotations

import numpy as np
import scipy

from torusweep.networks.topology import Topology

PARTITIONER_CHANNELS = 4_000_000  # largest number of channels for which METIS is used
PARTITIONER_SEEDS = 8  # seeds of METIS in networks of at most FEW_CHANNELS channels; one seed otherwise
FEW_CHANNELS = 40_000


def cut_width(matrix: scipy.sparse.csr_array, half: np.ndarray) -> int:
    """Links across a cut; if links have one direction, of the direction with fewer links.

    matrix   int64[N, N]  channels (`channel_matrix`)
    half     bool[N]      one side
    """
    inside = half.astype(np.int64)
    into = matrix @ inside
    leaving, entering = int(inside @ (matrix @ np.ones_like(inside))), int(into.sum())
    return min(leaving, entering) - int(inside @ into)


def best_cut(
    topology: Topology, matrix: scipy.sparse.csr_array, undirected: scipy.sparse.csr_array
) -> tuple[int, np.ndarray, str]:
    """Return (width, one half as bool[N], method) of the narrowest balanced cut found: by coordinates or by METIS.

    matrix      int64[N, N]  channels (`channel_matrix`)
    undirected  int64[N, N]  links in either direction
    """
    found = [coordinate_cut(topology, dimension) for dimension in range(len(topology.plan.radices))]
    widths = [width for width, _ in found]
    best, side = found[widths.index(min(widths))]
    method = (
        f"cut across digit {widths.index(best)} of the address" if len(found) > 1 else "cut across the nodes' numbers"
    )
    if best == 0:
        return best, side, method
    if matrix.nnz > PARTITIONER_CHANNELS:
        return best, side, f"{method} (no partitioner above {PARTITIONER_CHANNELS:,} channels)"
    for side_of_metis in metis(undirected, PARTITIONER_SEEDS if matrix.nnz <= FEW_CHANNELS else 1):
        half = refine(undirected, balance(undirected, side_of_metis))
        width = cut_width(matrix, half)
        if width < best:
            best, side, method = width, half, "METIS, balanced and refined by exchanges"
    return best, side, method


def coordinate_cut(topology: Topology, dimension: int) -> tuple[int, np.ndarray]:
    """Return (width, side as bool[N]) of the narrowest cut with ⌊N/2⌋ consecutive nodes on one side.

    Consecutive means: in the cyclic order by one digit, then by number, so that an odd radix is halved
    too. All N offsets are tried. A channel whose ends are δ apart in the cyclic order lies within the
    window of h nodes for h − δ offsets; cumulative sums over the ends of these intervals count them.
    """
    n, half = topology.nodes, topology.nodes // 2
    digit = (
        np.arange(n, dtype=np.int64)
        // int(np.prod(topology.plan.radices[:dimension], dtype=np.int64))
        % topology.plan.radices[dimension]
    )
    place = np.empty(n, np.int64)
    place[np.argsort(digit, kind="stable")] = np.arange(n)
    tail, head, port = topology.arcs
    weight = (
        np.ones(len(tail), np.int64) if topology.capacity is None else topology.capacity[tail, port].astype(np.int64)
    )
    first, second = place[tail], place[head]
    ahead = (second - first) % n
    apart = np.minimum(ahead, n - ahead)

    def windows(last: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """For each offset, the total weight of the cyclic intervals (last − length, last] that contain it."""
        start = (last - lengths + 1) % n
        marks = np.bincount(start, weight, 2 * n) - np.bincount(start + lengths, weight, 2 * n)
        counts = np.cumsum(marks.astype(np.int64))
        return counts[:n] + counts[n:]

    within = windows(np.where(ahead < half, first, second), np.maximum(half - apart, 0))
    once = np.full(len(tail), half)
    widths = np.minimum(windows(first, once), windows(second, once)) - within
    offset = int(widths.argmin())
    return int(widths[offset]), (place - offset) % n < half


def metis(undirected: scipy.sparse.csr_array, seeds: int) -> list[np.ndarray]:
    """Distinct bisections by METIS, one for each of `seeds` seeds: one side each, bool[N], nearly balanced."""
    import pymetis  # takes long to import

    graph = pymetis.CSRAdjacency(undirected.indptr.astype(np.int64), undirected.indices.astype(np.int64))
    weights = undirected.data if undirected.data.max() > 1 else None
    found = {}
    for seed in range(seeds):
        options = pymetis.Options(seed=seed, ufactor=1)
        half = np.array(pymetis.part_graph(2, graph, eweights=weights, recursive=True, options=options)[1], bool)
        found[half.tobytes()] = half
    return list(found.values())


def balance(undirected: scipy.sparse.csr_array, half: np.ndarray) -> np.ndarray:
    """bool[N]: the smaller side, with the cheapest nodes moved to it until it has exactly ⌊N/2⌋ nodes."""
    half = half.copy() if half.sum() * 2 <= len(half) else ~half
    gain = _gain(undirected, half)
    for _ in range(len(half) // 2 - int(half.sum())):
        outside = np.flatnonzero(~half)
        _move(undirected, half, gain, int(outside[gain[outside].argmax()]))
    return half


def refine(undirected: scipy.sparse.csr_array, half: np.ndarray) -> np.ndarray:
    """bool[N]: half, with pairs of nodes exchanged while a pair narrows the cut (steps of Kernighan & Lin 1970)."""
    half = half.copy()
    gain = _gain(undirected, half)
    while True:
        inside, outside = np.flatnonzero(half), np.flatnonzero(~half)
        a = int(inside[gain[inside].argmax()])
        _move(undirected, half, gain, a)
        b = int(outside[gain[outside].argmax()])
        if gain[b] - gain[a] <= 0:  # gain[a] is now the gain of moving a back
            half[a] = True
            return half
        _move(undirected, half, gain, b)


def _gain(undirected: scipy.sparse.csr_array, half: np.ndarray) -> np.ndarray:
    """int64[N]: the reduction of the cut by moving each node to the other side."""
    inside = half.astype(np.int64)
    return np.where(half, 1, -1) * (undirected @ (1 - 2 * inside))


def _move(undirected: scipy.sparse.csr_array, half: np.ndarray, gain: np.ndarray, node: int) -> None:
    """Move a node to the other side and update the gains."""
    half[node] = not half[node]
    gain[node] = -gain[node]
    row = slice(undirected.indptr[node], undirected.indptr[node + 1])
    near = undirected.indices[row]
    gain[near] += np.where(half[near] == half[node], -2, 2) * undirected.data[row]
