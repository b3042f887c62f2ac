"""Random rows of a routing table, hop by hop."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import TableRouting

WORDS = 4  # random words of a turn
Draws = Callable[[int], np.ndarray]  # turn 0, 1, … → uint32[4, B]: four random words for each packet


def drawn_rows(
    routing: TableRouting, source: np.ndarray, destination: np.ndarray, draws: Draws
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For hop 0, 1, … of B packets: (packets int64[K] that are on their way, their rows int64[K]).

    source, destination  int[B]  terminals
    draws                word h mod 4 of turn ⌊h / 4⌋ decides hop h: the first row of the configuration whose share,
                         with those of the rows before it, exceeds word · 2⁻³²
    """
    configuration = routing.entries(source, destination)
    packets = np.flatnonzero(configuration >= 0)
    configuration, hop = configuration[packets], 0
    words = np.zeros((WORDS, 0), np.uint32)
    while packets.size:
        if hop % WORDS == 0:
            words = draws(hop // WORDS)
        row = _rows_at(routing, configuration, words[hop % WORDS, packets] * 2.0**-32)
        leaves = routing.port[row] != NO_PORT
        yield packets[leaves], row[leaves]
        after = routing.next[row]
        packets, configuration, hop = packets[after >= 0], after[after >= 0], hop + 1


def _rows_at(routing: TableRouting, configuration: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """int64[K]: the first row of each configuration whose upper end exceeds the number in [0, 1), by bisection."""
    low, high = routing.rows[configuration], routing.rows[configuration.astype(np.int64) + 1] - 1
    while (low < high).any():
        middle = (low + high) // 2
        beyond = routing.share_up_to[middle] > unit
        low, high = np.where(beyond, low, np.minimum(middle + 1, high)), np.where(beyond, middle, high)
    return low
