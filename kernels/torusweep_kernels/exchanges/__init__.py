"""Improve placements of tasks by exchanges, for the least hops · demand or the least load of the busiest link.

A quadratic assignment problem (Koopmans & Beckmann 1957): task t has place[t], and s sends F[s, t] to t. There are as
many tasks as places. Tasks that stand for free places send nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class TaskDemand(NamedTuple):
    """The demand between tasks, as a list of partners for each task; tasks send nothing to themselves.

    first    int64[T + 1]  task t's partners are other[first[t] : first[t + 1]]
    other    int32[E]      number of each partner
    sent     float64[E]    demand from t to the partner
    taken    float64[E]    demand from the partner to t
    """

    first: np.ndarray
    other: np.ndarray
    sent: np.ndarray
    taken: np.ndarray


class PlaceRoutes(NamedTuple):
    """The channels between any two of T places, and a message's load on each.

    first    int64[T² + 1]  channels from place p to q: channel[first[p · T + q] : first[p · T + q + 1]]
    channel  int32[R]       number of each channel
    share    float64[R]     share of a message on the channel, divided by the channel's bandwidth
    """

    first: np.ndarray
    channel: np.ndarray
    share: np.ndarray


class Searched(NamedTuple):
    """A placement int32[T], its value (hops · demand, or busiest load), placements visited, and whether all were."""

    place: np.ndarray
    value: float
    visited: int
    all: bool


def demand_of(matrix: np.ndarray) -> TaskDemand:
    """Return the `TaskDemand` of a matrix float64[T, T], F[s, t] ≥ 0 from s to t."""
    both = (matrix > 0) | (matrix.T > 0)
    np.fill_diagonal(both, False)
    task, other = np.nonzero(both)
    first = np.searchsorted(task, np.arange(len(matrix) + 1)).astype(np.int64)
    return TaskDemand(first, other.astype(np.int32), matrix[task, other], matrix[other, task])


def embedded(demand: TaskDemand, near: np.ndarray, senders: int, most: int) -> np.ndarray:
    """Return int32[T]: places for tasks such that all partners are on near places; −1 for tasks without a place.

    near     bool[T, T]  whether two places are near; symmetric
    senders  as for `fewer_hops`
    most     limit on placements of a task; when it is reached, the placement of the most tasks so far is returned

    The search is depth first. The next task is the one with the most partners that have a place (a search for a
    subgraph of `near`, as in Ullmann 1976).
    """
    from torusweep_kernels.exchanges import cpu

    return cpu.embedded(demand.first, demand.other, near, senders, most)


def fewer_hops(
    demand: TaskDemand, distance: np.ndarray, place: np.ndarray, senders: int, temperatures: np.ndarray, seed: int
) -> Searched:
    """Exchange tasks at random, then exchange any two tasks as long as that lowers hops · demand.

    distance      float64[T, T]  hops from place to place
    senders       number of tasks that may send, which come first; all further tasks stand for free places
    temperatures  float64[B]     one for each T random exchanges: an exchange that costs D more is done with
                                 probability exp(−D / temperature) (Kirkpatrick, Gelatt & Vecchi 1983)
    """
    from torusweep_kernels.exchanges import cpu

    found = place.astype(np.int32)
    value = cpu.fewer_hops(
        *demand, np.ascontiguousarray(distance, np.float64), found, senders, temperatures, np.random.default_rng(seed)
    )
    return Searched(found, float(value), 0, False)


def routes_of(
    distance: np.ndarray, terminals: np.ndarray, arcs: np.ndarray, width: np.ndarray, most: int
) -> PlaceRoutes | None:
    """Return equal shares of all shortest paths between terminals' nodes; None if that takes more than `most` entries.

    distance  int32[N, N]    hops; a channel of c links counts as c paths
    arcs      int32[2, A]    tail and head of each channel, sorted by tail
    width     float64[2, A]  number of parallel links of each channel; bandwidth of each channel
    """
    from torusweep_kernels.exchanges import cpu

    count = cpu.count_routes(distance, terminals, arcs)
    if count.sum() > most:
        return None
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(count.ravel())])
    channel, share = cpu.fill_routes(distance, cpu.paths(distance, arcs, width[0]), terminals, arcs, width, first)
    return PlaceRoutes(first, channel, share)


def lower_load(
    demand: TaskDemand, routes: PlaceRoutes, channels: int, place: np.ndarray, rounds: int, seed: int
) -> Searched:
    """Exchange tasks while that lowers the busiest link's load, or at the same load the sum of all loads' squares.

    rounds   limit on rounds through all pairs of tasks; the search ends earlier if a round lowers nothing
    """
    from torusweep_kernels.exchanges import cpu

    found = place.astype(np.int32)
    value = cpu.lower_load(*demand, *routes, channels, found, rounds, np.random.default_rng(seed))
    return Searched(found, float(value), 0, False)


def busiest(demand: TaskDemand, routes: PlaceRoutes, channels: int, place: np.ndarray) -> float:
    """Return the busiest link's load in a placement."""
    from torusweep_kernels.exchanges import cpu

    return float(cpu.loads_of(*demand, *routes, channels, place.astype(np.int32)).max(initial=0.0))


def all_placements(
    matrix: np.ndarray,
    distance: np.ndarray,
    begin: np.ndarray,
    place: np.ndarray,
    value: float,
    most: int,
    routes: PlaceRoutes | None = None,
    channels: int = 0,
) -> Searched:
    """Search all placements of n tasks by branch and bound: the best one, and whether it is proved to be the best.

    matrix    float64[n, n]  demand; tasks are placed in the order of their numbers
    distance  float64[T, T]  hops from place to place
    begin     bool[T]        places to try for the first task: one of each set of equivalent places
    place     int32[n]       a known placement; only placements better than its `value` are searched for
    most      limit on the number of partial placements visited
    routes    if given, the value is the load of the busiest of `channels` channels; None: hops · demand

    A partial placement is given up if its value, plus all further demand over the shortest distance of any two places,
    is no better than the best.
    """
    from torusweep_kernels.exchanges import cpu

    by_load = routes is not None
    table = routes or PlaceRoutes(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))
    found = place.astype(np.int32)
    best, visited = cpu.all_placements(
        np.ascontiguousarray(matrix, np.float64),
        np.ascontiguousarray(distance, np.float64),
        begin,
        found,
        value,
        most,
        by_load,
        *table,
        channels,
    )
    return Searched(found, float(best), int(visited), bool(visited < most))
