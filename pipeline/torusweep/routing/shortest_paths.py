"""The shortest paths of a layered routing, for a block of destinations."""

from __future__ import annotations

import numpy as np

from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import LayeredRouting

UNREACHED = np.iinfo(np.int16).max


def links_of_arcs(routing: LayeredRouting) -> np.ndarray | None:
    """int8[S, Q] or int32[S, Q]: the number of parallel links of every arc between states; None = 1 everywhere."""
    capacity = routing.topology.capacity
    if capacity is None or routing.plain:
        return capacity
    return np.where(routing.port == NO_PORT, np.int32(1), capacity[routing.node[:, None], routing.port])


def shortest_paths(
    routing: LayeredRouting, finish: np.ndarray, links: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """(length int16[S, B] in arcs, number float64[S, B] if split by paths) of the shortest paths to each finish.

    finish   int[B]       states
    links    int[S, Q]    parallel links of every arc, each of which is a path; None: one
    """
    away = np.full((len(routing.states), len(finish)), UNREACHED, np.int16)
    away[finish, np.arange(len(finish))] = 0
    paths = None
    if routing.split == "paths":
        paths = np.zeros(away.shape)
        paths[finish, np.arange(len(finish))] = 1.0
    level, arcs = 0, [np.flatnonzero(column != NO_PORT) for column in routing.states.T]
    while True:
        near, found = away == level, np.zeros(away.shape, bool)
        for tail, column in zip(arcs, routing.states.T):
            found[tail] |= near[column[tail]]
        found &= away == UNREACHED
        if not found.any():
            return away, paths
        if paths is not None:
            for arc, (tail, column) in enumerate(zip(arcs, routing.states.T)):
                many = 1 if links is None else links[tail, arc][:, None]
                paths[tail] += np.where(found[tail] & near[column[tail]], many * paths[column[tail]], 0.0)
        level += 1
        away[found] = level
