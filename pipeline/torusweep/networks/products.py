"""Recognise networks that are Cartesian products along their addresses; their distances follow from the factors'.

In a mesh, a torus, a hypercube or a HyperX, the links of a dimension change one digit in the same way whatever the
other digits are. A shortest path then takes the hops of each dimension independently. So a distance is the sum of the
factors' distances, and the numbers of pairs at each distance are the product of the factors' polynomials.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from torusweep.networks.topology import NO_PORT, Topology

NODES_AT_ONCE = 1 << 16
MOST_SIDE = 1 << 13  # nodes of a factor; its table of distances then has 512 MiB


def factors_of(topology: Topology) -> list[np.ndarray] | None:
    """Return the distances within each dimension, int32[k, k], −1 without a path; None if the network is no product.

    The arrays prove the product, whatever the family: every channel changes one digit, and along each dimension a
    node has the channels of the node with the same digit on the line through node 0. Parallel links count once.
    """
    radices = topology.plan.radices
    sides = [place for place, radix in enumerate(radices) if radix > 1]
    if len(sides) < 2 or max(radices) > MOST_SIDE:
        return None
    stride = np.cumprod([1, *radices[:-1]], dtype=np.int64)
    lines = [_line(topology, int(stride[place]), radices[place]) for place in sides]
    degrees = [line.sum(axis=1) for line in lines]
    for first in range(0, topology.nodes, NODES_AT_ONCE):
        heads = topology.ports[first : first + NODES_AT_ONCE]
        tails = np.arange(first, first + len(heads))[:, None]
        present = heads != NO_PORT
        changed, listed = np.zeros(heads.shape, np.int8), np.zeros(heads.shape, bool)
        wanted = np.zeros(len(heads), np.int64)
        for place, line, degree in zip(sides, lines, degrees):
            here = tails // stride[place] % radices[place]
            there = np.where(present, heads, tails) // stride[place] % radices[place]
            changed += here != there
            listed |= (here != there) & line[here, there]
            wanted += degree[here[:, 0]]
        ordered = np.sort(heads, axis=1)
        repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NO_PORT)
        if (present & ~((changed == 1) & listed)).any() or (present.sum(axis=1) - repeated.sum(axis=1) != wanted).any():
            return None
    return [_distances(line) for line in lines]


def _line(topology: Topology, stride: int, radix: int) -> np.ndarray:
    """bool[k, k]: whether two nodes of the line through node 0 along one dimension are joined by a channel."""
    found = np.zeros((radix, radix), bool)
    own = np.arange(radix) * stride
    heads = topology.ports[own]
    within = (heads != NO_PORT) & (heads % stride == 0) & (heads < radix * stride)
    tail, port = np.nonzero(within)
    found[tail, heads[tail, port] // stride] = True
    return found


def _distances(line: np.ndarray) -> np.ndarray:
    hops = scipy.sparse.csgraph.shortest_path(scipy.sparse.csr_array(line), unweighted=True)
    return np.where(np.isfinite(hops), hops, -1).astype(np.int32)


def pairs_at_each_distance(factors: Sequence[np.ndarray]) -> list[int]:
    """Return the number of ordered pairs of nodes at each distance, as exact integers; N pairs at distance 0."""
    histogram = [1]
    for hops in factors:
        own = np.bincount(hops[hops >= 0]).tolist()
        product = [0] * (len(histogram) + len(own) - 1)
        for place, many in enumerate(histogram):
            for step, pairs in enumerate(own):
                product[place + step] += many * pairs
        histogram = product
    return histogram


def eccentricities(factors: Sequence[np.ndarray]) -> np.ndarray:
    """int32[N]: the distance from each node to the farthest node that it reaches."""
    found = np.zeros(1, np.int32)
    for hops in factors:  # x varies fastest
        found = (hops.max(axis=1)[:, None] + found[None, :]).reshape(-1)
    return found
