"""Find balanced cuts of a network, by dimension and by METIS. Their widths bound the bisection width from above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np
import scipy

from torusweep.networks.links import strengths
from torusweep.networks.topology import Topology

PARTITIONER_CHANNELS = 4_000_000  # largest number of channels for which METIS is used
PARTITIONER_SEEDS = 8  # seeds of METIS in networks of at most FEW_CHANNELS channels; one seed otherwise
FEW_CHANNELS = 40_000
ROUNDING = 1e-9  # relative reduction of a bound before it is rounded up to an integer
BY_METIS = "METIS, balanced and refined by exchanges"


def cut_width(matrix: scipy.sparse.csr_array, half: np.ndarray) -> int:
    """Return the number of links across a cut; in a directed network, in the direction that has fewer.

    matrix   int64[N, N]  number of channels from node to node (`channel_matrix`)
    half     bool[N]      true for the nodes on one side
    """
    inside = half.astype(np.int64)
    into = matrix @ inside
    leaving, entering = int(inside @ (matrix @ np.ones_like(inside))), int(into.sum())
    return min(leaving, entering) - int(inside @ into)


def whole_width(width: float) -> int:
    """Round a lower bound of a width up to whole links, after subtracting the possible rounding error."""
    return max(0, ceil(width - ROUNDING * max(1.0, width)))


def across(dimension: int, dimensions: int) -> str:
    """Return the name of a method: cutting across one digit of the address, or across the nodes' numbers."""
    return f"cut across digit {dimension} of the address" if dimensions > 1 else "cut across the nodes' numbers"


def best_cut(
    topology: Topology, matrix: scipy.sparse.csr_array, undirected: scipy.sparse.csr_array
) -> tuple[int, np.ndarray, str]:
    """Return (width, one half as bool[N], method) of the narrowest balanced cut found: by coordinates or by METIS.

    matrix      int64[N, N]  number of channels from node to node (`channel_matrix`)
    undirected  int64[N, N]  number of links between two nodes, in either direction
    """
    found = [coordinate_cut(topology, dimension) for dimension in range(len(topology.plan.radices))]
    widths = [width for width, _ in found]
    best, side = found[widths.index(min(widths))]
    method = across(widths.index(best), len(found))
    if best == 0:
        return best, side, method
    if matrix.nnz > PARTITIONER_CHANNELS:
        return best, side, f"{method} (no partitioner above {PARTITIONER_CHANNELS:,} channels)"
    narrower = narrower_cut(matrix, undirected, best)
    return (best, side, method) if narrower is None else (*narrower, BY_METIS)


def narrower_cut(
    matrix: scipy.sparse.csr_array, undirected: scipy.sparse.csr_array, best: int, least: int = 0
) -> tuple[int, np.ndarray] | None:
    """Return (width, one half as bool[N]) of the narrowest balanced cut that METIS finds, or None unless below `best`.

    best   width of the narrowest cut known so far
    least  lower bound of the width: the search ends when a cut reaches it
    """
    found = None
    for side in metis(undirected, PARTITIONER_SEEDS if matrix.nnz <= FEW_CHANNELS else 1):
        if best <= least:
            break
        half, width = refined(undirected, side)
        if matrix is not undirected:
            width = cut_width(matrix, half)
        if width < best:
            best, found = width, (width, half)
    return found


def cut_both_ways(topology: Topology, matrix: scipy.sparse.csr_array) -> int | None:
    """Return the least number of channels, in both directions, across any balanced cut found in a directed network.

    Returns None if the network is undirected, or if each node has equally many channels in and out. Then each cut is
    crossed equally often in both directions.
    """
    if not topology.directed or np.array_equal(*strengths(matrix)):
        return None
    both = scipy.sparse.csr_array(matrix + matrix.T)
    arcs = both.tocoo()
    radices, owner = topology.plan.radices, np.zeros(arcs.nnz, np.int64)
    best = min(
        int(coordinate_cuts(radices, dimension, 1, owner, arcs.row, arcs.col, arcs.data)[0][0])
        for dimension in range(len(radices))
    )
    narrower = narrower_cut(both, both, best) if best and both.nnz <= PARTITIONER_CHANNELS else None
    return best if narrower is None else narrower[0]


def coordinate_cut(topology: Topology, dimension: int) -> tuple[int, np.ndarray]:
    """Return (width, side as bool[N]) of the narrowest cut with ⌊N/2⌋ consecutive nodes on one side."""
    tail, head, port = topology.arcs
    weight = None if topology.capacity is None else topology.capacity[tail, port].astype(np.int64)
    (width,), (offset,), place = coordinate_cuts(
        topology.plan.radices, dimension, 1, np.zeros(len(tail), np.int64), tail, head, weight
    )
    return int(width), (place - offset) % topology.nodes < topology.nodes // 2


def coordinate_cuts(
    radices: Sequence[int],
    dimension: int,
    many: int,
    owner: np.ndarray,
    tail: np.ndarray,
    head: np.ndarray,
    weight: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find, for each of B networks with the same addresses, the narrowest cut with ⌊N/2⌋ consecutive nodes on one side.

    radices  sides of the address space of the N nodes
    many     number of networks, B
    owner    int64[A]: network of each channel
    weight   int64[A] | None: number of parallel links of each channel; None = 1
    returns  (widths int64[B], offsets int64[B] where the ⌊N/2⌋ nodes begin, places int64[N] of nodes in cyclic order)

    The nodes are in cyclic order by the digit of `dimension`, then by number, so that an odd radix can be halved too.
    All N offsets are tried. A channel whose ends are δ apart in the cyclic order lies within the window of h nodes for
    h − δ offsets; cumulative sums over the ends of these intervals count them.
    """
    n = int(np.prod(radices, dtype=np.int64))
    half = n // 2
    digit = np.arange(n, dtype=np.int64) // int(np.prod(radices[:dimension], dtype=np.int64)) % radices[dimension]
    place = np.empty(n, np.int64)
    place[np.argsort(digit, kind="stable")] = np.arange(n)
    first, second = place[tail], place[head]
    ahead = (second - first) % n
    apart = np.minimum(ahead, n - ahead)

    def windows(last: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return, for each offset, the total weight of the cyclic intervals (last − length, last] that contain it."""
        start = owner * (2 * n) + (last - lengths + 1) % n
        marks = np.bincount(start, weight, many * 2 * n) - np.bincount(start + lengths, weight, many * 2 * n)
        counts = np.cumsum(marks.astype(np.int64).reshape(many, 2 * n), axis=1)
        return counts[:, :n] + counts[:, n:]

    within = windows(np.where(ahead < half, first, second), np.maximum(half - apart, 0))
    once = np.full(len(tail), half)
    widths = np.minimum(windows(first, once), windows(second, once)) - within
    offsets = widths.argmin(axis=1)
    return widths[np.arange(many), offsets], offsets, place


def metis(undirected: scipy.sparse.csr_array, seeds: int) -> Iterator[np.ndarray]:
    """Yield the distinct, nearly balanced bisections that METIS finds with `seeds` seeds, each as one side, bool[N]."""
    import pymetis  # takes long to import

    graph = pymetis.CSRAdjacency(undirected.indptr.astype(np.int64), undirected.indices.astype(np.int64))
    weights = undirected.data if undirected.data.max() > 1 else None
    found = set()
    for seed in range(seeds):
        options = pymetis.Options(seed=seed, ufactor=1)
        half = np.array(pymetis.part_graph(2, graph, eweights=weights, recursive=True, options=options)[1], bool)
        if half.tobytes() not in found:
            found.add(half.tobytes())
            yield half


def balance(undirected: scipy.sparse.csr_array, half: np.ndarray) -> np.ndarray:
    """Return the smaller side, bool[N], after moving the cheapest nodes to it until it has exactly ⌊N/2⌋ nodes."""
    return _balanced(undirected, half)[0]


def refined(undirected: scipy.sparse.csr_array, half: np.ndarray) -> tuple[np.ndarray, int]:
    """Balance a half, then exchange pairs of nodes (Kernighan & Lin 1970). Return (half as bool[N], width of cut)."""
    half, gain = _balanced(undirected, half)
    # a node's gain is the weight of its links across the cut less that of its others
    before = (int(gain.sum()) + int(undirected.data.sum())) // 4
    half, narrower = _exchanged(undirected, half, gain)
    return half, before - narrower


def _balanced(undirected: scipy.sparse.csr_array, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (balanced half as bool[N], gain of each node as `_gain` defines it)."""
    half = half.copy() if half.sum() * 2 <= len(half) else ~half
    gain = _gain(undirected, half)
    for _ in range(len(half) // 2 - int(half.sum())):
        outside = np.flatnonzero(~half)
        _move(undirected, half, gain, int(outside[gain[outside].argmax()]))
    return half, gain


def _exchanged(undirected: scipy.sparse.csr_array, half: np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, int]:
    """Exchange pairs of nodes while this narrows the cut. Return (half, reduction of width). Changes both arrays."""
    narrower = 0
    while True:
        inside, outside = np.flatnonzero(half), np.flatnonzero(~half)
        a = int(inside[gain[inside].argmax()])
        _move(undirected, half, gain, a)
        b = int(outside[gain[outside].argmax()])
        if gain[b] - gain[a] <= 0:  # gain[a] is now the gain of moving a back
            half[a] = True
            return half, narrower
        narrower += int(gain[b] - gain[a])
        _move(undirected, half, gain, b)


def _gain(undirected: scipy.sparse.csr_array, half: np.ndarray) -> np.ndarray:
    """Return int64[N]: by how much the cut becomes narrower if a node moves to the other side."""
    inside = half.astype(np.int64)
    return np.where(half, 1, -1) * (undirected @ (1 - 2 * inside))


def _move(undirected: scipy.sparse.csr_array, half: np.ndarray, gain: np.ndarray, node: int) -> None:
    """Move a node to the other side, and update the gains of all nodes."""
    half[node] = not half[node]
    gain[node] = -gain[node]
    row = slice(undirected.indptr[node], undirected.indptr[node + 1])
    near = undirected.indices[row]
    gain[near] += np.where(half[near] == half[node], -2, 2) * undirected.data[row]
