"""The packets of one experiment: when each is generated, where, and for whom.

Packet k of a terminal is drawn by counter (terminal, k): neither the length of the run nor what is
computed beside it changes it, and at another load the same packets come earlier or later.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.philox.draws import packet_words
from torusweep_kernels.router import Messages

from torusweep.networks.topology import Topology
from torusweep.stages.simulation.destinations import Destinations
from torusweep.stages.simulation.injection import NUMBERED, Arrivals, process_of
from torusweep.traffic import Traffic

DESTINATIONS, REFUSALS, ROUTES, PLACES = 9, 10, 11, 12  # streams of draws (torusweep_kernels.philox.draws)


class Packets(NamedTuple):
    """Packets by node and, within one, by time; those of a node's terminals mixed.

    first        int64[N + 1]  packets first[s] … first[s + 1] − 1 are generated at node s
    time         int32[M]      cycle in which each is generated
    number       int64[M]      its counter: terminal · 2³² + k
    source       int32[M]      node
    destination  int32[M]      node; never the source
    length       int16[M]      flits
    local        int64[L]      cycles in which packets to their own source were generated: they never enter the network
    messages     of a workload: which packets are generated together, and what they wait for; their times are 0 then
    """

    first: np.ndarray
    time: np.ndarray
    number: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    length: np.ndarray
    local: np.ndarray
    messages: Messages | None = None


class Generator:
    """Generates packets of a traffic between a topology's terminals.

    traffic     between terminals (torusweep.traffic)
    flits       length of every packet
    seed        0 … 2⁶⁴ − 1
    injection   spelling of a process (torusweep.stages.simulation.injection)
    """

    def __init__(
        self,
        topology: Topology,
        traffic: Traffic,
        *,
        flits: int,
        seed: int,
        injection: str = "bernoulli",
        backend: str = "auto",
    ) -> None:
        self.topology, self.flits, self.seed, self.backend = topology, flits, seed, backend
        self.arrivals = Arrivals(process_of(injection, topology), flits, seed, backend)
        self.destinations = Destinations(traffic, seed, backend)

    def at_load(self, load: float, cycles: int) -> Packets:
        """All packets of cycles 0 … cycles − 1 at `load` flits per terminal and cycle, on average over the terminals.

        Raises BadInput where some terminal would have to send more than the injection can.
        """
        rate = load * self.destinations.sent / self.flits
        self.arrivals.check(rate, load)
        parts = list(self.arrivals.times(rate, cycles))
        terminal, k, time = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return self._placed(terminal, k, time)

    def each(self, packets: int) -> Packets:
        """So many packets of every terminal that sends, all generated in cycle 0."""
        sending = np.flatnonzero(self.destinations.sent > 0)
        terminal = np.repeat(sending, packets)
        return self._placed(terminal, np.tile(np.arange(packets), len(sending)), np.zeros(len(terminal), np.int64))

    def _placed(self, terminal: np.ndarray, k: np.ndarray, time: np.ndarray) -> Packets:
        number = terminal << NUMBERED | k
        there = self.destinations.drawn(number, terminal, (DESTINATIONS, REFUSALS))
        source, destination = self.topology.terminals[terminal], self.topology.terminals[there]
        local = source == destination
        order = np.flatnonzero(~local)
        order = order[np.lexsort((number[order], time[order], source[order]))]
        source = source[order]
        return Packets(
            first=np.searchsorted(source, np.arange(self.topology.nodes + 1)),
            time=time[order].astype(np.int32),
            number=number[order],
            source=source,
            destination=destination[order],
            length=np.full(len(order), self.flits, np.int16),
            local=time[local],
        )


def route_words(number: np.ndarray, purpose: int, seed: int, backend: str = "auto") -> np.ndarray:
    """uint32[4, M]: draws for the choices of each packet's route; four for each purpose 0, 1, …."""
    return packet_words(number, purpose, ROUTES, seed, backend=backend)
