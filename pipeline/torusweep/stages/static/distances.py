"""Distances between terminals: one breadth-first search for each orbit, weighted by its size, summed exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from torusweep_kernels.distance import Distances, Task, all_pairs_distance

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


class Searches(NamedTuple):
    """What the kernel searches for the distances between a network's terminals.

    tasks      one for each binary digit of the largest number of terminals of a node
    weights    int64[G]  terminals that each source of a group stands for
    terminals  of the network
    """

    tasks: list[Task]
    weights: np.ndarray
    terminals: int


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
    searches = searches_of(topology, orbits, use_symmetry=use_symmetry)
    found = [
        all_pairs_distance(
            task.ports, task.sources, task.groups, counted=task.counted, backend=backend, threads=threads
        )
        for task in searches.tasks
    ]
    return distance_numbers(searches, found)


def router_distances(
    topology: Topology,
    hops: DistanceNumbers,
    orbits: Orbits,
    *,
    use_symmetry: bool,
    backend: str,
    threads: int | None,
) -> DistanceNumbers:
    """Distances over all ordered pairs of nodes with a path between them, nodes without terminals included.

    hops   those between terminals, which are the same where every node has one
    """
    everyone = np.arange(topology.nodes, dtype=np.int32)
    if np.array_equal(np.sort(topology.terminals), everyone):
        return hops
    routers = replace(topology, terminals=everyone)
    return terminal_distances(routers, orbits, use_symmetry=use_symmetry, backend=backend, threads=threads)


def searches_of(topology: Topology, orbits: Orbits, *, use_symmetry: bool) -> Searches:
    """The searches of `terminal_distances`, for networks whose distances are computed together (`many_distances`)."""
    terminals_at = np.bincount(topology.terminals, minlength=topology.nodes)
    sources = orbits.representatives if use_symmetry else np.arange(topology.nodes, dtype=np.int32)
    times = terminals_at[sources] * (orbits.sizes if use_symmetry else 1)
    sources, times = sources[times > 0], times[times > 0]
    weights, groups = np.unique(times, return_inverse=True)
    tasks = []
    # the kernel counts a destination at most once: one pass for each binary digit of its number of terminals
    for digit in range(int(terminals_at.max(initial=0)).bit_length()):
        counted = (terminals_at >> digit) & 1 == 1
        tasks.append(
            Task(
                topology.ports,
                sources.astype(np.int32),
                groups.astype(np.int32),
                None if counted.all() else counted,
                None,
                False,
            )
        )
    return Searches(tasks, weights, len(topology.terminals))


def distance_numbers(searches: Searches, distances: Sequence[Distances]) -> DistanceNumbers:
    """What the distances of each search come to."""
    histogram: list[int] = [0]
    for digit, (found, _) in enumerate(distances):
        histogram += [0] * (found.shape[1] - len(histogram))
        for distance in range(found.shape[1]):
            histogram[distance] += (
                sum(int(weight) * int(pairs) for weight, pairs in zip(searches.weights, found[:, distance])) << digit
            )
    while len(histogram) > 1 and not histogram[-1]:
        histogram.pop()
    pairs, hops = sum(histogram), sum(distance * number for distance, number in enumerate(histogram))
    distinct = pairs - searches.terminals
    return DistanceNumbers(
        histogram, len(histogram) - 1, hops / pairs if pairs else 0.0, hops / distinct if distinct else 0.0
    )
