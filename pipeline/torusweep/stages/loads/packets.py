"""Random packets of a traffic pattern, from counter-based random numbers: packet i is the same in every block."""

from __future__ import annotations

import numpy as np
from torusweep_kernels.pairs import Tables, draw_pairs, pair_tables
from torusweep_kernels.philox.draws import packet_words

from torusweep.traffic import Traffic

ROUTES = 3  # stream of random numbers (torusweep_kernels.philox.draws); pairs have 1 and 2


class TrafficPackets:
    """Random packets of the traffic between the nodes.

    backend: numpy: the specification; otherwise Numba draws what is wanted in memory
    """

    def __init__(self, traffic: Traffic, seed: int, backend: str) -> None:
        self.seed, self.backend = seed, "numpy" if backend == "numpy" else "numba"
        self.tables = tables_of(traffic)

    def draw(self, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """(source int32[count], destination int32[count]) of packets first … first + count − 1."""
        return draw_pairs(self.tables, first, count, self.seed, backend=self.backend, threads=1)

    def words(self, first: int, count: int, turn: int = 0) -> np.ndarray:
        """uint32[4, count]: random words for the choices of each packet's route, four in turn 0, four in turn 1, …."""
        return packet_words(first + np.arange(count), turn, ROUTES, self.seed, backend=self.backend)


def tables_of(traffic: Traffic) -> Tables:
    """What pairs of nodes are drawn from; traffic: between nodes (`Traffic.at_nodes`)."""
    own = traffic.own.tocoo()
    return pair_tables(traffic.weight, traffic.common, own.row, own.col, own.data)
