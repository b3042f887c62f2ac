"""Random shortest paths over a graph of states, drawn hop by hop, as rows of one-hop runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import LayeredRouting
from torusweep.routing.paths import UNREACHED, links_of_arcs, shortest_paths

BLOCK = 1 << 23  # pairs of a state and a destination at a time

Draws = Callable[[int], np.ndarray]  # purpose 0, 1, … → uint32[4, M]: four random words for each packet


def draw_layered_routes(
    routing: LayeredRouting, source: np.ndarray, destination: np.ndarray, draws: Draws
) -> tuple[np.ndarray, np.ndarray]:
    """(direction int8[M, L], hops int16[M, L]) of a random route for each of M packets; a direction is an output port.

    As the routing splits its traffic, all shortest paths are equally probable, or all next arcs are; each of several
    parallel links is a path, or an arc, of its own.
    Raises BadInput where a packet has no path.
    """
    steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # packets, hop, port
    order = np.argsort(destination, kind="stable")
    goals, first = np.unique(destination[order], return_index=True)
    first = np.append(first, len(order))
    words = _Words(draws)
    size = max(1, BLOCK // len(routing.states))
    for begin in range(0, len(goals), size):
        some = goals[begin : begin + size]
        packets = order[first[begin] : first[min(begin + size, len(goals))]]
        column = np.searchsorted(some, destination[packets])
        steps += _walk(routing, packets, routing.start[source[packets]], column, routing.finish[some], words)
    longest = 1 + max((int(hop.max(initial=0)) for _, hop, _ in steps), default=0)
    direction, hops = np.zeros((len(source), longest), np.int8), np.zeros((len(source), longest), np.int16)
    for packets, hop, port in steps:
        direction[packets, hop], hops[packets, hop] = port, 1
    return direction, hops


class _Words:
    """Random numbers in [0, 1) for choice 0, 1, … of each packet."""

    def __init__(self, draws: Draws) -> None:
        self._draws, self._words = draws, dict[int, np.ndarray]()

    def of(self, packets: np.ndarray, choice: int) -> np.ndarray:
        purpose, word = divmod(choice, 4)
        if purpose not in self._words:
            self._words[purpose] = self._draws(purpose)
        return self._words[purpose][word, packets] * 2.0**-32


def _walk(
    routing: LayeredRouting,
    packets: np.ndarray,
    state: np.ndarray,
    column: np.ndarray,
    finish: np.ndarray,
    words: _Words,
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(packets, hop, port) of the hops to a block of destinations; column int[M]: places in finish int32[B]."""
    links = links_of_arcs(routing)
    away, paths = shortest_paths(routing, finish, links)
    lost = away[state, column] == UNREACHED
    if lost.any():
        raise BadInput(
            f"{int(lost.sum()):,} of {len(lost):,} packets have no path to their destination;"
            " choose a connected network ('torusweep describe' counts its components)"
        )
    hops, hop = [], np.zeros(len(packets), np.int16)
    going, choice = np.flatnonzero(away[state, column] > 0), 0
    while going.size:
        here, goal = state[going], column[going]
        at, which = _distinct(here * np.int64(len(finish)) + goal, away.size)
        share = _shares(routing, *np.divmod(at, len(finish)), away, paths, links)
        arc = (share <= 0).sum(axis=1)[which]
        several = np.flatnonzero((np.diff(share, axis=1, prepend=0.0) > 0).sum(axis=1)[which] > 1)
        some = share[which[several]]
        place = words.of(packets[going[several]], choice) * some[:, -1]
        arc[several] = (some <= place[:, None]).sum(axis=1)  # the first one whose cumulated share exceeds the number
        port = routing.port[here, arc]
        leaves = port != NO_PORT
        hops.append((packets[going[leaves]], hop[going[leaves]], port[leaves].astype(np.int8)))
        hop[going[leaves]] += 1
        state[going] = routing.states[here, arc]
        going, choice = going[away[state[going], goal] > 0], choice + 1
    return hops


def _distinct(number: np.ndarray, behind: int) -> tuple[np.ndarray, np.ndarray]:
    """(the distinct ones of many numbers 0 … behind − 1, the place of each number among them)."""
    if len(number) < behind // 8:
        return np.unique(number, return_inverse=True)
    there = np.zeros(behind, bool)
    there[number] = True
    found = np.flatnonzero(there)
    place = np.empty(behind, np.int64)
    place[found] = np.arange(len(found))
    return found, place[number]


def _shares(
    routing: LayeredRouting,
    state: np.ndarray,
    goal: np.ndarray,
    away: np.ndarray,
    paths: np.ndarray | None,
    links: np.ndarray | None,
) -> np.ndarray:
    """float64[B, Q]: shares of the arcs of states, int64[B], to goals, summed up from the first arc on."""
    arcs = routing.states[state]
    nearer = (arcs != NO_PORT) & (away[arcs, goal[:, None]] == away[state, goal][:, None] - 1)
    weight = nearer.astype(np.float64) if paths is None else np.where(nearer, paths[arcs, goal[:, None]], 0.0)
    return np.cumsum(weight if links is None else weight * links[state], axis=1)
