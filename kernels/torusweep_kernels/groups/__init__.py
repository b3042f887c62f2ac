"""Compute loads of collectives that run in all groups of nodes at once, for many divisions of the nodes into groups.

A division is a row of node numbers: its first `size` nodes are the first group, in order, and so on. In every group all
members send messages by a pattern. Messages follow source routes; a pair of nodes may have several routes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import expecting, within
from torusweep_kernels.threads import thread_count

RING, NEXT, LINE, BROADCAST, PAIRS = range(5)
PATTERNS = {
    "ring": RING,  # each member to the next and to the previous one, the last and the first too
    "next": NEXT,  # each member to the next one, the last to the first
    "line": LINE,  # each member to the next and to the previous one, the last and the first not to each other
    "broadcast": BROADCAST,  # along the group from the first member, one copy each way round
    "pairs": PAIRS,  # each member to all others
}


class Ways(NamedTuple):
    """Routes of all pairs of N nodes, by key. A route has at most T runs; a run's hops have one direction.

    step       int32[N, D]  node that each direction leads to; -1: none
    key        int32[N, N]  key of (source, destination)
    first      int64[K + 1] rows first[k] … first[k + 1] − 1 are the routes of key k
    units      int64[R]     units of a message on each link of a route; all keys have the same sum over their routes
    direction  int8[R, T]   direction of each run
    hops       int16[R, T]  hops of each run
    weight     int64[N, D]  load that a unit adds to each link, ≥ 0; None: 1. It is greater for less bandwidth
    latency    int64[N, D]  latency of each link, ≥ 0; None: 1, so that a route's latency is its number of hops
    """

    step: np.ndarray
    key: np.ndarray
    first: np.ndarray
    units: np.ndarray
    direction: np.ndarray
    hops: np.ndarray
    weight: np.ndarray | None = None
    latency: np.ndarray | None = None


class Busiest(NamedTuple):
    """The busiest link of each of B divisions.

    load     int64[B]  units on the busiest link times its weight, of all groups together
    link     int64[B]  the busiest link, node · D + direction, lowest number first; -1 if nothing is sent
    total    int64[B]  units on all links
    longest  int32[B]  hops of the longest route
    slowest  int64[B]  latency of the slowest route
    """

    load: np.ndarray
    link: np.ndarray
    total: np.ndarray
    longest: np.ndarray
    slowest: np.ndarray


def busiest_links(
    divisions: np.ndarray,
    sizes: np.ndarray,
    patterns: np.ndarray,
    ways: Ways,
    *,
    backend: str = "auto",
    threads: int | None = None,
) -> Busiest:
    """Find the busiest link of each of many divisions of nodes into groups.

    divisions  int32[B, N]  each row has each node once
    sizes      int32[B]     number of members of a group, a divisor of N
    patterns   int8[B]      pattern of each division, a value of PATTERNS
    backend    auto or numba: compiled; numpy: the specification. cupy is not available
    threads    CPU threads of numba; by default all that it may use. The result is the same on any number, to the bit

    Raises ValueError for arrays that contradict each other.
    """
    divisions = np.ascontiguousarray(divisions, np.int32)
    sizes, patterns = np.asarray(sizes, np.int32), np.asarray(patterns, np.int8)
    ways = ways._replace(
        **{name: np.ones(ways.step.shape, np.int64) for name in ("weight", "latency") if getattr(ways, name) is None}
    )
    check(divisions, sizes, patterns, ways)
    chosen = backends.resolve("numba" if backend in ("auto", "cupy") else backend)
    kernel = backends.implementation(__name__, chosen)
    return kernel.busiest_links(divisions, sizes, patterns, ways, thread_count(threads))


def check(divisions: np.ndarray, sizes: np.ndarray, patterns: np.ndarray, ways: Ways) -> None:
    """Raise ValueError if the arrays contradict each other."""
    expect = expecting("busiest_links")
    nodes, directions = ways.step.shape
    expect(divisions.ndim == 2 and divisions.shape[1] == nodes, f"divisions of shape [B, {nodes}]", divisions.shape)
    count = len(divisions)
    expect(sizes.shape == (count,), f"sizes of shape ({count},)", sizes.shape)
    expect(patterns.shape == (count,), f"patterns of shape ({count},)", patterns.shape)
    within(expect, "patterns", patterns, 0, len(PATTERNS) - 1)
    within(expect, "sizes", sizes, 1, nodes)
    expect(bool((nodes % sizes == 0).all()), f"sizes that divide {nodes}", sizes.tolist()[:8])
    within(expect, "divisions", divisions, 0, nodes - 1)
    seen = np.zeros(divisions.shape, bool)
    np.put_along_axis(seen, divisions.astype(np.int64), True, axis=1)
    expect(bool(seen.all()), "divisions with each node once", "one with a node twice")
    expect(ways.key.shape == (nodes, nodes), f"keys of shape ({nodes}, {nodes})", ways.key.shape)
    within(expect, "keys", ways.key, 0, len(ways.first) - 2)
    routes = len(ways.units)
    whole = ways.first[0] == 0 and ways.first[-1] == routes and bool((np.diff(ways.first) > 0).all())
    expect(whole, f"first of 0 … {routes}, growing", ways.first[:4])
    same = ways.direction.ndim == 2 and ways.direction.shape == ways.hops.shape and len(ways.hops) == routes
    expect(same, f"directions and hops of shape [{routes}, T]", f"{ways.direction.shape}, {ways.hops.shape}")
    within(expect, "directions", ways.direction, 0, directions - 1)
    for name, array in (("weight", ways.weight), ("latency", ways.latency)):
        fits = array is None or (array.shape == ways.step.shape and array.dtype == np.int64)
        expect(fits, f"{name} int64 of shape {ways.step.shape}", None if array is None else (array.dtype, array.shape))
        expect(array is None or array.min(initial=0) >= 0, f"{name} ≥ 0", None if array is None else array.min())


__all__ = ["PATTERNS", "Busiest", "Ways", "busiest_links", "check"]
