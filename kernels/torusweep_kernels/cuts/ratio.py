"""The cut of least capacity for each unit of weight behind it, compiled by Numba."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.cuts.flow import push, reach, scratch


@cached
def least_ratio_cut(first, to, capacity, back, weight, sinks):
    """See the package: (capacity that leaves the set, weight in it, bool[N] the set, flows computed)."""
    nodes = len(first) - 1
    level, queue, following, path = scratch(nodes)
    supply = np.empty(nodes, np.int64)
    room = np.empty(len(to), np.int64)
    side = np.zeros(nodes, np.bool_)
    found = np.empty(nodes, np.bool_)
    total = weight.sum()
    through, behind = np.int64(0), np.int64(0)
    flows = 0
    for sink in sinks:
        if total == weight[sink]:
            continue
        entering = np.int64(0)
        for leaving in range(first[sink], first[sink + 1]):
            entering += capacity[back[leaving]]
        others = total - weight[sink]
        if behind == 0 or entering * behind < through * others:
            through, behind = entering, others
            side[:] = True
            side[sink] = False
    for sink in sinks:
        if total == weight[sink]:
            continue
        while through > 0:  # Dinkelbach's steps: each finds a cut of smaller ratio, or that there is none
            for channel in range(len(to)):
                room[channel] = capacity[channel] * behind
            for node in range(nodes):
                supply[node] = weight[node] * through
            push(first, to, back, room, supply, sink, level, queue, following, path)
            flows += 1
            reach(first, to, room, supply, queue, found)
            leaves, inside = np.int64(0), np.int64(0)
            for node in range(nodes):
                if not found[node]:
                    continue
                inside += weight[node]
                for leaving in range(first[node], first[node + 1]):
                    if not found[to[leaving]]:
                        leaves += capacity[leaving]
            if inside == 0:
                break
            through, behind = leaves, inside
            side[:] = found
    return through, behind, side, flows
