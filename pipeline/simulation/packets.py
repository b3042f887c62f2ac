"""The packets of one experiment: when each is generated, where, and for whom.

Packet k of a terminal is drawn by counter (terminal, k): neither the length of the run nor what is
computed beside it changes it, and at another load the same packets come earlier or later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kernels.draws import packet_words
from pipeline.errors import BadInput
from pipeline.simulation.destinations import Destinations, unit
from pipeline.topology import Topology
from pipeline.traffic import Traffic

GAPS, DESTINATIONS, REFUSALS, ROUTES = 8, 9, 10, 11  # streams of draws (kernels.draws)
INJECTIONS = ("bernoulli", "poisson")
BLOCK = 1 << 20  # gaps that are drawn at a time
NUMBERED = 32  # bits of a packet's number within its terminal


class Packets(NamedTuple):
    """Packets by node and, within one, by time; those of a node's terminals mixed.

    first        int64[N + 1]  packets first[s] … first[s + 1] − 1 are generated at node s
    time         int32[M]      cycle in which each is generated
    number       int64[M]      its counter: terminal · 2³² + k
    source       int32[M]      node
    destination  int32[M]      node; never the source
    local        int64[L]      cycles in which packets to their own source were generated: they never enter the network
    """

    first: np.ndarray
    time: np.ndarray
    number: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    local: np.ndarray


class Generator:
    """Generates packets of a traffic between a topology's terminals.

    traffic     between terminals (pipeline.traffic)
    flits       length of every packet
    seed        0 … 2⁶⁴ − 1
    injection   bernoulli: every cycle with the same probability; poisson: exponential gaps, possibly several in a cycle
    """

    def __init__(self, topology: Topology, traffic: Traffic, *, flits: int, seed: int, injection: str = "bernoulli", backend: str = "auto") -> None:
        if injection not in INJECTIONS:
            raise BadInput(f"injection={injection}: expected {' or '.join(INJECTIONS)}; bernoulli is the usual one")
        self.topology, self.flits, self.seed, self.injection, self.backend = topology, flits, seed, injection, backend
        self.destinations = Destinations(traffic, seed, backend)

    def at_load(self, load: float, cycles: int) -> Packets:
        """All packets of cycles 0 … cycles − 1 at `load` flits per terminal and cycle, on average over the terminals.

        Raises BadInput where some terminal would have to send more than a packet every cycle by Bernoulli injection.
        """
        rate = load * self.destinations.sent / self.flits
        if self.injection == "bernoulli" and rate.max(initial=0.0) > 1:
            raise BadInput(
                f"load={load:g}: expected at most a packet per terminal and cycle, got {rate.max():.4g} at the busiest;"
                " choose a lower load, longer packets or injection poisson"
            )
        parts = list(self._times(rate, cycles))
        terminal, k, time = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return self._placed(terminal, k, time)

    def each(self, packets: int) -> Packets:
        """So many packets of every terminal that sends, all generated in cycle 0."""
        sending = np.flatnonzero(self.destinations.sent > 0)
        terminal = np.repeat(sending, packets)
        return self._placed(terminal, np.tile(np.arange(packets), len(sending)), np.zeros(len(terminal), np.int64))

    def _times(self, rate: np.ndarray, cycles: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(terminal, k, time) int64 of every packet before the end, block by block of terminals."""
        sending = np.flatnonzero(rate > 0)
        if not sending.size:
            yield (np.zeros(0, np.int64),) * 3
            return
        mean = float(rate.max()) * cycles
        many = int(mean + 6 * np.sqrt(mean)) + 8  # that the busiest generates, at most, but for one in 10⁹
        for begin in range(0, len(sending), max(1, BLOCK // many)):
            terminal = sending[begin : begin + max(1, BLOCK // many)]
            k, so_far = 0, np.zeros(len(terminal))
            while terminal.size:
                time = self._after(so_far, terminal, rate[terminal], np.arange(k, k + many))
                who, which = np.nonzero(time < cycles)
                yield terminal[who], k + which, time[who, which].astype(np.int64)
                going = time[:, -1] < cycles
                terminal, so_far, k = terminal[going], time[going, -1], k + many

    def _after(self, so_far: np.ndarray, terminal: np.ndarray, rate: np.ndarray, k: np.ndarray) -> np.ndarray:
        """float64[B, K]: when packets k of each terminal are generated, the one before these at `so_far` (0: none)."""
        words = packet_words((terminal[:, None] << NUMBERED | k).reshape(-1), 0, GAPS, self.seed, backend=self.backend)
        log = np.log1p(-unit(words[0], words[1])).reshape(len(terminal), len(k))  # ≤ 0
        if self.injection == "poisson":
            gap = -log / rate[:, None]
        else:
            with np.errstate(divide="ignore"):
                gap = np.floor(log / np.log1p(-rate)[:, None]) + 1  # geometric: 1, 2, …; a rate of 1 gives 1
            if k[0] == 0:
                gap[:, 0] -= 1  # the first may come in cycle 0
        gap[:, 0] += so_far
        return np.cumsum(gap, axis=1)

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
            local=time[local],
        )


def route_words(number: np.ndarray, purpose: int, seed: int, backend: str = "auto") -> np.ndarray:
    """uint32[4, M]: draws for the choices of each packet's route; four for each purpose 0, 1, …."""
    return packet_words(number, purpose, ROUTES, seed, backend=backend)
