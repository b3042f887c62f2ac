"""Distances between terminals in cycles, where links take different numbers of cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from torusweep.networks.symmetry import Orbits
from torusweep.networks.topology import Topology
from torusweep.stages.static.distances import DistanceNumbers

MOST_VISITS = 1 << 28  # of channels by all searches together; SciPy takes some 15 s
AT_ONCE = 1 << 22  # distances computed at once


class PathLatencies(NamedTuple):
    """In cycles over links, along paths of the fewest cycles; over pairs with a path.

    diameter  the longest
    mean      over ordered pairs of distinct terminals; two terminals of one node are 0 apart
    """

    diameter: int
    mean: float


def terminal_latencies(
    topology: Topology, hops: DistanceNumbers, orbits: Orbits, *, use_symmetry: bool
) -> PathLatencies | None:
    """Latencies between all terminals; None above MOST_VISITS visits of channels.

    hops          distances of the same network, which decide where all links take equally long
    orbits        of the nodes, under proved automorphisms that keep terminals and latencies
    use_symmetry  search from one node of each orbit instead of all nodes; the sums are the same
    """
    if topology.latency is None or len(set(topology.plan.latencies)) == 1:
        cycles = 1 if topology.latency is None else topology.plan.latencies[0]
        return PathLatencies(hops.diameter * cycles, hops.mean_distinct * cycles)
    tail, head, port = topology.arcs
    terminals_at = np.bincount(topology.terminals, minlength=topology.nodes)
    sources = orbits.representatives if use_symmetry else np.arange(topology.nodes)
    times = terminals_at[sources] * (orbits.sizes if use_symmetry else 1)
    sources, times = sources[times > 0], times[times > 0]
    if len(orbits.representatives[terminals_at[orbits.representatives] > 0]) * max(len(tail), 1) > MOST_VISITS:
        return None
    shape = topology.nodes, topology.nodes
    cycles_of = scipy.sparse.csr_array(
        scipy.sparse.coo_array((topology.latency[tail, port].astype(np.float64), (tail, head)), shape=shape)
    )
    step, longest, total, pairs = max(1, AT_ONCE // topology.nodes), 0, 0, 0
    reached = np.flatnonzero(terminals_at)
    for first in range(0, len(sources), step):
        found = scipy.sparse.csgraph.dijkstra(cycles_of, indices=sources[first : first + step])[:, reached]
        joined = np.isfinite(found)
        whole = np.where(joined, found, 0).astype(np.int64)  # sums of whole numbers below 2^53 are exact
        longest = max(longest, int(whole.max(initial=0)))
        weights = times[first : first + step].astype(np.int64)
        total += int(weights @ (whole @ terminals_at[reached]))
        pairs += int(weights @ (joined @ terminals_at[reached]))
    distinct = pairs - len(topology.terminals)
    return PathLatencies(longest, total / distinct if distinct else 0.0)
