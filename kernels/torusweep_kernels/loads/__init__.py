"""Compute exact expected channel loads of minimal routing, which spreads traffic over all shortest paths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import check_capacity, expecting, within
from torusweep_kernels.loads.network import Channels, Task, Totals, Ways
from torusweep_kernels.sums import rounded

__all__ = ["SPLITS", "Channels", "Loads", "minimal_loads"]

SPLITS = ("paths", "next-hops")
# (root, node) pairs of a call from which auto uses a GPU, and such pairs where the demand is a matrix, which has to be
# copied to it (estimated: benchmarks/README.md)
LARGE, LARGE_MATRIX = 5 * 10**6, 2 * 10**8


class Loads(NamedTuple):
    """Expected loads, in the unit of the demand.

    load         float64[N, P]  load of each port's channel (all its parallel links together); 0 without a channel
    delivered    demand between nodes joined by a path; a node's demand for itself (0 hops) is included
    unreachable  demand between nodes without a path; it loads no channel
    hops         sum of delivered demand × distance; equals the sum of `load`
    rest         float64[N, P]  for exact loads, what rounding left, to about 2⁻¹⁰⁰ of each load: its last bits depend
                 on the backend. None for other loads
    """

    load: np.ndarray
    delivered: float
    unreachable: float
    hops: float
    rest: np.ndarray | None = None


def order_of_roots(ports: np.ndarray, roots: np.ndarray, *, exact: bool) -> np.ndarray:
    """Return int64[R]: places in `roots`, near roots together, in the order of searches; `exact` is as in `Ways`."""
    from torusweep_kernels.loads.reference import order

    return order(ports, roots, exact=exact)


def minimal_loads(
    ports: np.ndarray,
    roots: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    split: str = "paths",
    inward: bool | None = None,
    exact: bool = False,
    demand: np.ndarray | None = None,
    capacity: np.ndarray | None = None,
    backend: str = "auto",
    threads: int | None = None,
    channels: Channels | None = None,
) -> Loads:
    """Compute the expected load of every channel if all traffic takes shortest paths.

    ports     int32[N, P]     neighbour through each port, −1 = none; links may be directed, parallel, or lead to
                              their own node
    roots     int32[R]        nodes where the traffic starts (split "paths") or ends (split "next-hops"); a node may
                              occur several times
    weights   float64[R]      ≥ 0, factor of each root's traffic, such as the size of an orbit; None for 1
    split     "paths"         a pair's demand spreads equally over all its shortest paths; a channel of c parallel
                              links counts as c paths
              "next-hops"     at every node, the traffic to a destination spreads equally over the links that lead
                              nearer to it (ECMP)
    inward    whether the traffic of "paths", too, ends at the roots. A pair's shares are the same from either end
              if it has fewer than 2⁵³ paths
    exact     whether to compute with twice the digits of float64, and round once. The result is exact for these
              weights · demands (rounded products), whatever the order of roots, links and nodes. But values within
              2⁻³⁰ of the middle between two numbers are taken to be there (`torusweep_kernels.sums`). Numbers of paths
              are counted in float64, from the root, in the order of ports: beyond 2⁵³ the shares are the ratios of
              these counts. It takes 1.7 to 1.9 times as long
    demand    float64[R, N]   ≥ 0, demand between each root and each node: from the root with "paths", to the root with
                              "next-hops";
              or float64[N]   equal for every root, such as the terminals of each node; None for 1: uniform
                              traffic, in which a node also sends to itself
    capacity  int32[N, P]     ≥ 1, number of parallel links that each channel stands for; None for 1
    backend   auto, numpy, numba or cupy; results are the same to the bit. auto: with a GPU, cupy from 5·10⁶ pairs
              of a root and a node (2·10⁸ if the demand is a matrix); otherwise numba
    threads   CPU threads of numba; by default all that it may use. The result does not depend on it
    channels  cache of the network's channels, sorted by tail and by head, that several calls share; on a GPU they are
              copied once

    The two splits need different roots. Over paths, the shares of a pair are the same from either end. Over next hops,
    each node chooses, so the traffic to one destination has common shares, but not the traffic from one source. With
    all nodes as roots, demand[r, v] of "next-hops" is the transpose of that of "paths".

    Method: Brandes's accumulation ("A faster algorithm for betweenness centrality", 2001) for
    several roots at once; for next hops it counts links instead of paths. Every sum has a fixed order: over a node's
    channels in node and port order, over nodes in their order, over roots in blocks of near ones. Memory: about 25
    bytes per node and root of a block, and the channels four times; never N². A GPU takes as many roots at once as fit
    into 4 GiB, and into half of its free memory.

    Raises ValueError for arrays that contradict each other, OverflowError where there are more shortest paths between
    two nodes than float64 can count (1.8·10³⁰⁸; numba does not look beyond the farthest demand),
    `torusweep_kernels.backend.BackendUnavailable` for cupy without a GPU, `torusweep_kernels.backend.GpuOutOfMemory`
    if not even the narrowest block fits.
    """
    ports, roots = (np.ascontiguousarray(array, np.int32) for array in (ports, roots))
    weights = np.ones(len(roots)) if weights is None else np.ascontiguousarray(weights, np.float64)
    demand = np.ones(len(ports)) if demand is None else np.ascontiguousarray(demand, np.float64)
    if capacity is not None:
        capacity = np.ascontiguousarray(capacity, np.int32)
    check(ports, roots, weights, split, demand, capacity, threads)
    by_hops = split == "next-hops"
    if by_hops and inward is False:
        raise ValueError("minimal_loads: expected inward with split next-hops, got inward=False")
    how = Ways(by_hops, by_hops if inward is None else inward, exact)
    task = Task(ports, roots, weights, how, demand, capacity, order_of_roots(ports, roots, exact=exact), channels)
    least = LARGE if demand.ndim == 1 else LARGE_MATRIX
    chosen = backends.resolve(backend, large=len(roots) * len(ports) >= least)
    if not len(roots):
        return Loads(np.zeros(ports.shape), 0.0, 0.0, 0.0, np.zeros(ports.shape) if exact else None)
    load, low, totals = backends.implementation(__name__, chosen).loads(task, threads)
    if not exact:
        return Loads(load.reshape(ports.shape), *whole(totals))
    once = rounded(load, low)
    return Loads(once.reshape(ports.shape), *whole(totals), ((load - once) + low).reshape(ports.shape))


def whole(totals: Totals) -> tuple[float, float, float]:
    """Return (delivered, unreachable, hops), summed over all roots. Raises OverflowError for too many paths."""
    if not np.isfinite(totals.most_paths).all():
        raise OverflowError(
            "minimal_loads: expected at most 1.8e308 shortest paths between two nodes, got more;"
            " next-hops has no such limit"
        )
    return float(totals.delivered.sum()), float(totals.unreachable.sum()), float(totals.hops.sum())


def check(
    ports: np.ndarray,
    roots: np.ndarray,
    weights: np.ndarray,
    split: str,
    demand: np.ndarray,
    capacity: np.ndarray | None,
    threads: int | None,
) -> None:
    """Raise ValueError if the arrays do not agree; the message names the array and what was expected."""
    expect = expecting("minimal_loads")
    expect(split in SPLITS, f"split of {', '.join(SPLITS)}", repr(split))
    expect(ports.ndim == 2, "ports of shape [N, P]", ports.shape)
    nodes = len(ports)
    expect(roots.ndim == 1, "roots of shape [R]", roots.shape)
    expect(weights.shape == roots.shape, f"weights of shape {roots.shape}, one per root", weights.shape)
    expect(
        demand.shape in ((nodes,), (len(roots), nodes)),
        f"demand of shape ({nodes},) or {(len(roots), nodes)}",
        demand.shape,
    )
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)
    within(expect, "ports", ports, -1, nodes - 1)
    within(expect, "roots", roots, 0, nodes - 1)
    for name, array in (("weights", weights), ("demand", demand)):
        if array.size:
            least, most = float(array.min()), float(array.max())
            expect(least >= 0 and most < np.inf, f"{name} ≥ 0 and finite", f"{least} … {most}")
    check_capacity(expect, capacity, ports)
