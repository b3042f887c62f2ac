"""The shortest paths of a layered routing, for a block of destinations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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


class PathSteps(NamedTuple):
    """Arcs of shortest paths, int64[A] each.

    state, then   that the arc leaves, and that it leads to
    arc           its place among those of the state
    goal          place of the destination among those asked for
    weight        float64[A]: number of paths over the arc, or of links where paths split by next hops
    """

    state: np.ndarray
    then: np.ndarray
    arc: np.ndarray
    goal: np.ndarray
    weight: np.ndarray


def steps_nearer(routing: LayeredRouting, finish: np.ndarray) -> Iterator[PathSteps]:
    """All arcs that lead nearer to states, int[B]: for each place of an arc, those of all states and destinations."""
    links = links_of_arcs(routing)
    away, paths = shortest_paths(routing, finish, links)
    for arc in range(routing.states.shape[1]):
        tail = np.flatnonzero(routing.states[:, arc] != NO_PORT)
        head = routing.states[tail, arc]
        place, goal = np.nonzero((away[tail] != UNREACHED) & (away[head] == away[tail] - 1))
        state, then = tail[place], head[place]
        weight = np.ones(len(place)) if paths is None else paths[then, goal]
        if links is not None:
            weight = weight * links[state, arc]
        yield PathSteps(state, then, np.full(len(place), arc), goal, weight)
