"""The packets of one experiment: the cycle, the source and the destination of each.

The random numbers of packet k of a terminal have the counter (terminal, k). A packet therefore depends
neither on the length of the run nor on other experiments, and another load only changes its time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.philox.draws import packet_words
from torusweep_kernels.router import Messages

from torusweep.networks.topology import Topology
from torusweep.stages.simulation.destinations import Destinations
from torusweep.stages.simulation.injection import NUMBER_BITS, ArrivalTimes, process_of
from torusweep.stages.simulation.packet_lengths import PacketLengths
from torusweep.traffic import Traffic

DESTINATIONS, REJECTIONS, ROUTES, PLACES = 9, 10, 11, 12  # streams of random numbers (torusweep_kernels.philox.draws)


class Packets(NamedTuple):
    """M packets, ordered by source node and then by time; the packets of a node's terminals are interleaved.

    first        int64[N + 1]  packets first[s] … first[s + 1] − 1 are generated at node s
    time         int32[M]      cycle of generation
    number       int64[M]      counter: terminal · 2³² + k
    source       int32[M]      node
    destination  int32[M]      node; never the source
    length       int16[M]      flits
    local        int64[L]      cycles of generation of packets to their own source, which never enter the network
    local_length int16[L]      their flits
    messages     of a workload: the packets of each message, and its dependencies; `time` is then 0
    """

    first: np.ndarray
    time: np.ndarray
    number: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    length: np.ndarray
    local: np.ndarray
    local_length: np.ndarray
    messages: Messages | None = None


class Generator:
    """Generates the packets of a traffic between the terminals of a topology.

    traffic     between terminals (torusweep.traffic)
    lengths     of packets (torusweep.stages.simulation.packet_lengths)
    seed        0 … 2⁶⁴ − 1
    injection   spelling of a process (torusweep.stages.simulation.injection)
    """

    def __init__(
        self,
        topology: Topology,
        traffic: Traffic,
        *,
        lengths: PacketLengths,
        seed: int,
        injection: str = "bernoulli",
        backend: str = "auto",
    ) -> None:
        self.topology, self.lengths, self.seed, self.backend = topology, lengths, seed, backend
        self.arrivals = ArrivalTimes(process_of(injection, topology), lengths.mean, seed, backend)
        self.destinations = Destinations(traffic, seed, backend)

    def at_load(self, load: float, cycles: int) -> Packets:
        """All packets of cycles 0 … cycles − 1 at `load` flits per terminal and cycle, on average over the terminals.

        Raises BadInput where some terminal would exceed the rate of the injection process.
        """
        rate = load * self.destinations.sent / self.lengths.mean
        self.arrivals.check(rate, load)
        parts = list(self.arrivals.times(rate, cycles))
        terminal, k, time = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return self._packets(terminal, k, time)

    def each(self, packets: int) -> Packets:
        """The given number of packets of every sending terminal, all generated in cycle 0."""
        sending = np.flatnonzero(self.destinations.sent > 0)
        terminal = np.repeat(sending, packets)
        return self._packets(terminal, np.tile(np.arange(packets), len(sending)), np.zeros(len(terminal), np.int64))

    def _packets(self, terminal: np.ndarray, k: np.ndarray, time: np.ndarray) -> Packets:
        number = terminal << NUMBER_BITS | k
        there = self.destinations.draw(number, terminal, (DESTINATIONS, REJECTIONS))
        source, destination = self.topology.terminals[terminal], self.topology.terminals[there]
        local = source == destination
        order = np.flatnonzero(~local)
        order = order[np.lexsort((number[order], time[order], source[order]))]
        source, length = source[order], self.lengths.draw(number, self.seed, self.backend)
        return Packets(
            first=np.searchsorted(source, np.arange(self.topology.nodes + 1)),
            time=time[order].astype(np.int32),
            number=number[order],
            source=source,
            destination=destination[order],
            length=length[order],
            local=time[local],
            local_length=length[local],
        )


def route_words(number: np.ndarray, purpose: int, seed: int, backend: str = "auto") -> np.ndarray:
    """uint32[4, M]: random words for the choices of each packet's route, four for each purpose 0, 1, …."""
    return packet_words(number, purpose, ROUTES, seed, backend=backend)
