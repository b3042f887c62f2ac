"""Specification of `busiest_links` in NumPy: all messages of a division at once, hop by hop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torusweep_kernels import groups

if TYPE_CHECKING:
    from torusweep_kernels.groups import Busiest, Ways


def busiest_links(divisions: np.ndarray, sizes: np.ndarray, patterns: np.ndarray, ways: Ways, threads: int) -> Busiest:
    """Specification of `torusweep_kernels.groups.busiest_links`."""
    count, directions = len(divisions), ways.step.shape[1]
    load, total = np.zeros(count, np.int64), np.zeros(count, np.int64)
    link, longest, slowest = np.full(count, -1, np.int64), np.zeros(count, np.int32), np.zeros(count, np.int64)
    assert ways.weight is not None
    assert ways.latency is not None  # both are filled in before
    for place, (nodes, size, pattern) in enumerate(zip(divisions, sizes, patterns)):
        source, destination = messages(nodes.reshape(-1, size), pattern)
        if not len(source):
            continue
        key = ways.key[source, destination]
        ways_of = ways.first[key + 1] - ways.first[key]
        route = np.repeat(ways.first[key] - np.cumsum(ways_of) + ways_of, ways_of) + np.arange(ways_of.sum())
        at, carried = np.repeat(source, ways_of), np.zeros(len(ways.step) * directions, np.int64)
        latency = np.zeros(len(at), np.int64)
        for direction, hops in zip(ways.direction[route].T, ways.hops[route].T):
            for hop in range(hops.max()):
                going = np.flatnonzero(hops > hop)
                np.add.at(carried, at[going].astype(np.int64) * directions + direction[going], ways.units[route[going]])
                latency[going] += ways.latency[at[going], direction[going]]
                at[going] = ways.step[at[going], direction[going]]
        weighted = carried * ways.weight.ravel()
        load[place], link[place], total[place] = weighted.max(), weighted.argmax(), carried.sum()
        longest[place], slowest[place] = ways.hops[route].sum(axis=1, dtype=np.int32).max(), latency.max()
    return groups.Busiest(load, link, total, longest, slowest)


def messages(members: np.ndarray, pattern: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (sources int32[M], destinations int32[M]) of a pattern in all groups; int32[G, A] `members` in order."""
    size = members.shape[1]
    here = np.arange(size)
    if pattern == groups.PAIRS:
        pairs = np.stack([np.repeat(here, size), np.tile(here, size)])
        pairs = pairs[:, pairs[0] != pairs[1]]
    else:
        onwards, back = np.stack([here, (here + 1) % size]), np.stack([(here + 1) % size, here])
        if pattern == groups.NEXT:
            pairs = onwards
        elif pattern == groups.RING:
            pairs = np.concatenate([onwards, back], axis=1)
        elif pattern == groups.LINE:
            pairs = np.concatenate([onwards[:, :-1], back[:, :-1]], axis=1)
        else:  # BROADCAST: each way round, all steps but the last, which would come back to the first member
            pairs = np.concatenate([onwards[:, :-1], back[:, 1:]], axis=1)
        pairs = pairs[:, pairs[0] != pairs[1]]
    return members[:, pairs[0]].ravel(), members[:, pairs[1]].ravel()
