"""What is wrong with a routing table, in words: where a packet gets stuck, and round which loop packets would go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.forwarding import LOST

MOST_IN_WORDS = 16  # nodes of a way


class Ways(NamedTuple):
    """Configurations, as in `TableRouting`, in any order, and where their rows lead.

    nodes         int        of the network
    first, at, rows          as in `TableRouting`
    head          int64[R]   node that each row leads to
    next          int64[R]   configuration there, −1 = arrived, −2 = none fits
    pair, entry   int64[E]   as in `TableRouting`
    """

    nodes: int
    first: np.ndarray
    at: np.ndarray
    rows: np.ndarray
    head: np.ndarray
    next: np.ndarray
    pair: np.ndarray
    entry: np.ndarray


def stuck_words(ways: Ways, where: int) -> str:
    """Of the first source whose packets to the destination of configuration `where` reach a node without a row."""
    goal = _goal(ways, where)
    for pair, entry in zip(ways.pair.tolist(), ways.entry.tolist()):
        if pair // ways.nodes != goal:
            continue
        came: dict[int, int] = {entry: -1}
        queue = [entry]
        for at in queue:  # grows
            for row in range(int(ways.rows[at]), int(ways.rows[at + 1])):
                after = int(ways.next[row])
                if after == LOST:
                    way = [int(ways.head[row])]
                    while at >= 0:
                        way.append(int(ways.at[at]))
                        at = came[at]
                    return (
                        f"a packet from {pair % ways.nodes} to {goal} gets stuck at {way[0]}, where no row fits it"
                        f" ({_arrows(way[::-1])}); add a row at {way[0]} towards {goal}"
                    )
                if after >= 0 and after not in came:
                    came[after] = at
                    queue.append(after)
    raise AssertionError("some packet reaches the configuration")


def loop_words(ways: Ways, where: int) -> str:
    """Of the first loop that packets to the destination of configuration `where` meet, whatever its rows' shares."""
    goal, done = _goal(ways, where), set[int]()
    for pair, entry in zip(ways.pair.tolist(), ways.entry.tolist()):
        if pair // ways.nodes == goal:
            circle = _circle_from(ways, entry, done)
            if circle:
                start = circle.index(min(circle, key=lambda place: (int(ways.at[place]), place)))
                nodes = [int(ways.at[place]) for place in (*circle[start:], *circle[: start + 1])]
                return f"expected no loop, got at {_arrows(nodes)} towards {goal}; change a row of these nodes"
    raise AssertionError("packets reach a loop")


def _circle_from(ways: Ways, entry: int, done: set[int]) -> list[int]:
    """A circle of configurations that a search in depth meets; [] without one. Adds those without one to `done`."""
    if entry in done:
        return []
    way, places, row = [entry], {entry: 0}, [int(ways.rows[entry])]
    while way:
        if row[-1] == ways.rows[way[-1] + 1]:
            done.add(way[-1])
            del places[way.pop()]
            row.pop()
            continue
        after = int(ways.next[row[-1]])
        row[-1] += 1
        if after in places:
            return way[places[after] :]
        if after >= 0 and after not in done:
            places[after] = len(way)
            way.append(after)
            row.append(int(ways.rows[after]))
    return []


def _goal(ways: Ways, where: int) -> int:
    return int(np.searchsorted(ways.first, where, side="right")) - 1


def _arrows(nodes: list[int]) -> str:
    words = [str(node) for node in nodes]
    if len(words) > MOST_IN_WORDS:
        words = [*words[: MOST_IN_WORDS - 1], "…", words[-1]]
    return " → ".join(words)
