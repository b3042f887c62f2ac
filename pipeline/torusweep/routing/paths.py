"""The paths of a routing: hop by hop, as a table of routes for pairs of nodes, or over a graph of states.

A path hop by hop gives the node, the port and the virtual channel's class of every hop. A table of routes is made once
for all keys if the keys are few, otherwise for the keys of each call.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import NamedTuple

import numpy as np

from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import LayeredRouting, Moves, Routes, SourceRouting

MOST_DENOMINATOR = 1 << 40  # of exact shares of routes; shares with a larger denominator stay rounded
MAX_WHOLE_KEYS = 1 << 19  # largest number of keys for which all routes are made at once
UNREACHED = np.iinfo(np.int16).max


class Runs(NamedTuple):
    """The runs of R routes: direction, number of hops and phase, int[R, L] each. Runs of 0 hops are skipped."""

    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray


class Hops(NamedTuple):
    """Hops 0, 1, … of R routes: node, port and kind (channel class), int64[R, H] each; −1 after the last hop."""

    node: np.ndarray
    port: np.ndarray
    kind: np.ndarray


def route_hops(moves: Moves, source: np.ndarray, runs: Runs, classes: np.ndarray, memory: str, most: int) -> Hops:
    """Return the first `most` hops of R routes.

    source   int[R]      node at which each route starts
    classes  int8[F, 2]  class of virtual channel, by phase and by whether a dateline was crossed
    memory   how long a dateline counts as crossed (torusweep_kernels.dependencies.mark_routes)
    """
    direction, hops, phase = _first(runs)
    lane = np.arange(len(source))
    at, run, made = source.astype(np.int64), np.zeros(len(lane), np.int64), np.zeros(len(lane), np.int64)
    crossed, path, stage = np.zeros(len(lane), np.int64), np.zeros(len(lane), bool), np.full(len(lane), -1)
    found = Hops(*np.full((3, len(lane), most), -1))
    for hop in range(most):
        on = hops[lane, run] > 0
        d, kind = direction[lane, run], phase[lane, run]
        axis = np.int64(1) << (d >> 1)
        begins = on & (made == 0)
        crossed = np.where(begins & ((memory == "run") | (kind != stage)), 0, crossed)
        stage = np.where(begins, kind, stage)
        if memory == "ahead":
            crossed = np.where(begins, axis * crosses(moves, at, d, hops[lane, run]), crossed)
        wraps = on & moves.wrap[at, d]
        crossed, path = crossed | axis * wraps, path | wraps
        past = path if memory == "path" else (crossed & axis) != 0
        found.node[on, hop] = at[on]
        found.port[on, hop] = moves.port[at, d][on]
        found.kind[on, hop] = classes[kind, past.astype(np.int8)][on]
        at, made = np.where(on, moves.next[at, d], at), made + on
        ended = on & (made == hops[lane, run])
        run, made = run + ended, np.where(ended, 0, made)
    return found


def crosses(moves: Moves, at: np.ndarray, direction: np.ndarray, hops: np.ndarray) -> np.ndarray:
    """Return whether a run of `hops` hops in `direction` from each node `at` crosses a dateline, bool[R]."""
    crossed = np.zeros(len(at), bool)
    for hop in range(int(hops.max(initial=0))):
        on = hop < hops
        crossed |= on & moves.wrap[at, direction]
        at = np.where(on, moves.next[at, direction], at)
    return crossed


def _first(runs: Runs) -> list[np.ndarray]:
    """Return the runs, int64[R, L + 1] each. A row's empty runs, and one more empty run, are moved to its end."""
    order = np.argsort(runs.hops == 0, axis=1, kind="stable")
    return [
        np.hstack([np.take_along_axis(array, order, axis=1), np.zeros((len(order), 1), array.dtype)]).astype(np.int64)
        for array in runs
    ]


class PairRoutes(NamedTuple):
    """Routes of pairs, int64[R], ascending: row in the table int32[R], and weight float64[R], sum 1 for each pair."""

    pair: np.ndarray
    row: np.ndarray
    weight: np.ndarray


class RouteTable:
    """Routes by row, for `torusweep_kernels.routes`: direction int8[R, L], hops int16[R, L].

    The rows may change with every call of a method.
    """

    def __init__(self, routing: SourceRouting) -> None:
        self.routing = routing
        self.whole = routing.keys <= MAX_WHOLE_KEYS
        self._routes = routing.routes(np.arange(routing.keys)) if self.whole else None

    @property
    def routes(self) -> Routes:
        assert self._routes is not None, "no routes yet: call a method first"
        return self._routes

    @property
    def direction(self) -> np.ndarray:
        return self.routes.direction

    @property
    def hops(self) -> np.ndarray:
        return self.routes.hops

    def key_index(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """Return the index of each pair's key among the table's keys, int64[B]. Makes these keys' routes if needed."""
        key = self.routing.key(source.astype(np.int64), destination.astype(np.int64))
        if self.whole:
            return key
        keys, index = np.unique(key, return_inverse=True)
        self._routes = self.routing.routes(keys)
        return index

    def weighted_rows(self, source: np.ndarray, destination: np.ndarray) -> PairRoutes:
        """Return all routes of B pairs of nodes, with their weights; source and destination: int32[B]."""
        index = self.key_index(source, destination)
        first = self.routes.first
        many = first[index + 1] - first[index]
        pair = np.repeat(np.arange(len(index)), many)
        before = np.cumsum(many) - many  # number of rows of earlier pairs
        row = np.arange(len(pair)) - np.repeat(before - first[index], many)
        return PairRoutes(pair, row.astype(np.int32), self.routes.weight[row])

    def sample(self, source: np.ndarray, destination: np.ndarray, word: np.ndarray) -> np.ndarray:
        """Draw one route of each pair by weight, with random words uint32[B]. Return its row, int32[B]."""
        index = self.key_index(source, destination)
        first, last = self.routes.first[index], self.routes.first[index + 1]
        row = first.copy()
        # a key has few rows: step to the next row while the draw exceeds the cumulative weight
        left = word.astype(np.float64) * 2.0**-32 - self.routes.weight[row]
        while (exceeds := np.flatnonzero((left >= 0) & (row + 1 < last))).size:
            row[exceeds] += 1
            left[exceeds] -= self.routes.weight[row[exceeds]]
        return row.astype(np.int32)


def whole_weights(routes: Routes) -> tuple[np.ndarray, int] | None:
    """Return (int64[R], n): each route's share as a numerator over the common denominator n.

    None if some share is not a unit fraction, or n exceeds 2⁴⁰: then the shares of a key sum to 1 up to rounding.
    """
    shares, which = np.unique(routes.weight, return_inverse=True)
    ways = np.rint(1 / shares)
    if (np.abs(shares * ways - 1) > 1e-15).any():
        return None
    whole = lcm(*ways.astype(np.int64).tolist())
    if whole > MOST_DENOMINATOR:
        return None
    weight = (whole // ways.astype(np.int64))[which]
    if len(weight) and (np.add.reduceat(weight, routes.first[:-1]) != whole).any():
        return None
    return weight, whole


def links_of_arcs(routing: LayeredRouting) -> np.ndarray | None:
    """Return the number of parallel links of every arc between states, int8 or int32[S, Q]; None if all have one."""
    capacity = routing.topology.capacity
    if capacity is None or routing.plain:
        return capacity
    return np.where(routing.port == NO_PORT, np.int32(1), capacity[routing.node[:, None], routing.port])


def shortest_paths(
    routing: LayeredRouting, finish: np.ndarray, links: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the lengths in arcs, int16[S, B], and numbers, float64[S, B], of shortest paths to each state of `finish`.

    Without a path, the length is `UNREACHED`. The number is None unless the routing splits packets by paths.
    finish   int[B]       states at which paths end
    links    int[S, Q]    number of parallel links of every arc, each of which is a path; None if every arc has one
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

    state, then   state that the arc leaves, and state to which it leads
    arc           index of the arc among the arcs of its state
    goal          index of the destination among the requested destinations
    weight        float64[A]: number of shortest paths over the arc, or, in a split by next hops, of parallel links
    """

    state: np.ndarray
    then: np.ndarray
    arc: np.ndarray
    goal: np.ndarray
    weight: np.ndarray


def steps_nearer(routing: LayeredRouting, finish: np.ndarray) -> Iterator[PathSteps]:
    """Yield the arcs of all shortest paths to the states `finish`, int[B], in a block for each index of an arc."""
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
