"""Random shortest paths over a graph of states, drawn hop by hop, as rows of one-hop runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import LayeredRouting
from torusweep.routing.shortest_paths import UNREACHED, links_of_arcs, shortest_paths

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
        arcs = routing.states[here]
        nearer = (arcs != NO_PORT) & (away[arcs, goal[:, None]] == away[here, goal][:, None] - 1)
        weight = nearer * (1.0 if paths is None else paths[arcs, goal[:, None]])
        share = np.cumsum(weight if links is None else weight * links[here], axis=1)
        at = words.of(packets[going], choice) * share[:, -1]
        arc = (share <= at[:, None]).sum(axis=1)  # the first arc whose cumulated share exceeds the random number
        port = routing.port[here, arc]
        leaves = port != NO_PORT
        hops.append((packets[going[leaves]], hop[going[leaves]], port[leaves].astype(np.int8)))
        hop[going[leaves]] += 1
        state[going] = routing.states[here, arc]
        going, choice = going[away[state[going], goal] > 0], choice + 1
    return hops
