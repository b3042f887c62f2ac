"""Distances between terminals: one breadth-first search for each orbit, weighted by its size, summed exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.distance import all_pairs_distance

from torusweep.networks.symmetry import Orbits
from torusweep.networks.topology import Topology


class DistanceNumbers(NamedTuple):
    """Distances between terminals, in hops.

    histogram       ordered pairs at distance 0, 1, 2, …, including a terminal and itself
    mean            over all pairs of the histogram
    mean_distinct   over pairs of distinct terminals
    """

    histogram: list[int]
    diameter: int
    mean: float
    mean_distinct: float


def terminal_distances(
    topology: Topology, orbits: Orbits, *, use_symmetry: bool, backend: str, threads: int | None
) -> DistanceNumbers:
    """Distances over all ordered pairs of terminals with a path between them.

    orbits         of the nodes, under proved automorphisms that keep the number of terminals
    use_symmetry   search from one node of each orbit instead of all nodes; the sums are the same

    A node with several terminals counts that many times as source and as destination; two terminals of one node
    are 0 hops apart. Means are exact quotients, rounded once: over N² pairs (a node to itself counts as 0 hops;
    Parhami & Kwai 2004) and over the N(N−1) pairs of distinct terminals; 0 without pairs.
    """
    terminals_at = np.bincount(topology.terminals, minlength=topology.nodes)
    sources = orbits.representatives if use_symmetry else np.arange(topology.nodes, dtype=np.int32)
    times = terminals_at[sources] * (orbits.sizes if use_symmetry else 1)
    sources, times = sources[times > 0], times[times > 0]
    weights, groups = np.unique(times, return_inverse=True)
    histogram: list[int] = [0]
    # the kernel counts a destination at most once: one pass for each binary digit of its number of terminals
    for digit in range(int(terminals_at.max(initial=0)).bit_length()):
        counted = (terminals_at >> digit) & 1 == 1
        found = all_pairs_distance(
            topology.ports,
            sources.astype(np.int32),
            groups.astype(np.int32),
            counted=None if counted.all() else counted,
            backend=backend,
            threads=threads,
        ).histogram
        histogram += [0] * (found.shape[1] - len(histogram))
        for distance in range(found.shape[1]):
            histogram[distance] += (
                sum(int(weight) * int(pairs) for weight, pairs in zip(weights, found[:, distance])) << digit
            )
    while len(histogram) > 1 and not histogram[-1]:
        histogram.pop()
    pairs, hops = sum(histogram), sum(distance * number for distance, number in enumerate(histogram))
    distinct = pairs - len(topology.terminals)
    return DistanceNumbers(
        histogram, len(histogram) - 1, hops / pairs if pairs else 0.0, hops / distinct if distinct else 0.0
    )
