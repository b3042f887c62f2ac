"""The packets of one experiment: the cycle, the source and the destination of each.

The random numbers of packet k of a terminal have the counter (terminal, k). A packet therefore depends
neither on the length of the run nor on other experiments, and another load only changes its time.

All packets have one length, or each draws its length from a mix. Counter-based random numbers draw destinations, too.
A workload's tasks are placed on terminals, and its messages are divided into packets.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from torusweep_kernels.pairs import choice_by_weight
from torusweep_kernels.philox import unit
from torusweep_kernels.philox.draws import packet_words
from torusweep_kernels.router import Messages

from torusweep.errors import BadInput, one_line
from torusweep.networks.topology import Topology
from torusweep.questions.simulation.injection import NUMBER_BITS, ArrivalTimes, process_of
from torusweep.traffic import Traffic
from torusweep.workloads import Workload

LENGTHS = 14  # stream of random numbers (torusweep_kernels.philox.draws)
MOST_FLITS = 1 << 14  # flits of a packet
MOST_LENGTHS = 16  # different lengths of a mix
EXAMPLE = "1:0.5,5:0.5"
DESTINATIONS, REJECTIONS, ROUTES, PLACES = 9, 10, 11, 12  # streams of random numbers (torusweep_kernels.philox.draws)


class PacketLengths(NamedTuple):
    """Lengths of packets in ascending order, and the share of packets with each length. The shares add up to 1."""

    flits: tuple[int, ...]
    shares: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean number of flits of a packet; exact if all packets have one length."""
        return float(sum(flits * share for flits, share in zip(self.flits, self.shares)))

    @property
    def longest(self) -> int:
        return self.flits[-1]

    @property
    def shortest(self) -> int:
        return self.flits[0]

    def draw(self, number: np.ndarray, seed: int, backend: str = "auto") -> np.ndarray:
        """Return each packet's length, int16[M], from its number, int64[M]; probabilities are off by less than 2⁻³²."""
        if len(self.flits) == 1:
            return np.full(len(number), self.flits[0], np.int16)
        drawn = packet_words(number, 0, LENGTHS, seed, backend=backend)[0]
        limits = np.floor(np.cumsum(self.shares[:-1]) * 2.0**32)
        return np.array(self.flits, np.int16)[np.searchsorted(limits, drawn, side="right")]


def one_length(flits: int) -> PacketLengths:
    """Return the mix in which all packets have the given length."""
    return PacketLengths((flits,), (1.0,))


def lengths_of(mix: str) -> PacketLengths:
    """Return the packet lengths of a mix, written as lengths and weights: "1:0.5,5:0.5".

    Raises BadInput for a text of another form, or for a length that occurs twice.
    """
    found: dict[int, float] = {}
    parts = mix.split(",")
    for part in parts:
        flits, colon, weight = part.partition(":")
        try:
            length, share = int(flits), float(weight)
        except ValueError:
            raise _refusal(mix, f"'{part.strip()}'") from None
        if not colon or not part.isascii() or not 1 <= length <= MOST_FLITS or not 0 < share < float("inf"):
            raise _refusal(mix, f"'{part.strip()}'")
        if length in found:
            raise _refusal(mix, f"{length} twice")
        found[length] = share
    if len(found) > MOST_LENGTHS:
        raise _refusal(mix, f"{len(found)} of them")
    ascending = sorted(found)
    total = sum(found[length] for length in ascending)
    return PacketLengths(tuple(ascending), tuple(found[length] / total for length in ascending))


def canonical(mix: str) -> str:
    """Return the mix with ascending lengths and shares that add up to 1. Raises BadInput as `lengths_of` does."""
    lengths = lengths_of(mix)
    return ",".join(f"{flits}:{share:.12g}" for flits, share in zip(lengths.flits, lengths.shares))


def _refusal(mix: str, got: str) -> BadInput:
    return BadInput(
        f"packet_mix={one_line(mix, 60)}: expected at most {MOST_LENGTHS} lengths of 1 … {MOST_FLITS:,} flits with"
        f" weights above 0, got {one_line(got, 40)}; write it like {EXAMPLE}"
    )


class Destinations:
    """Draws destinations from the rows of T[s, t] = weight[s] · common[t] + own[s, t], between terminals.

    A destination is drawn from the product weight · common, or from the positive entries of `own`. A negative entry of
    `own` reduces the product: a draw is then rejected with the corresponding probability and repeated.
    """

    def __init__(self, traffic: Traffic, seed: int, backend: str) -> None:
        own = traffic.own.tocsr().copy()
        own.sum_duplicates()
        own.sort_indices()
        self.seed, self.backend, self.terminals = seed, backend, len(traffic.weight)
        self.sent = traffic.sent()
        self.by_common = choice_by_weight(traffic.common)
        self.first, self.listed = own.indptr.astype(np.int64), own.indices.astype(np.int32)
        self.own_sums = np.concatenate([[0.0], np.cumsum(np.maximum(own.data, 0))])
        from_own = self.own_sums[self.first[1:]] - self.own_sums[self.first[:-1]]
        from_product = traffic.weight * traffic.common.sum()
        # probability that a source's packet comes from the product
        self.product = from_product / np.where(from_product + from_own > 0, from_product + from_own, 1)
        source = np.repeat(np.arange(self.terminals), np.diff(self.first))
        negative = own.data < 0
        self.reduced = source[negative] * self.terminals + own.indices[negative]  # source · T + destination
        product = traffic.weight[source[negative]] * traffic.common[own.indices[negative]]
        self.rejection = -own.data[negative] / product

    def draw(self, packet: np.ndarray, source: np.ndarray, streams: tuple[int, int]) -> np.ndarray:
        """Return the destination of each packet, int32[B].

        packet   int64[B] ≥ 0   number of each packet, which is the counter of its random numbers
        source   int64[B]       terminal that sends the packet; its row of T must not be empty
        streams  streams of random numbers (torusweep_kernels.philox.draws): for destinations, and for rejections
        """
        found = np.empty(len(packet), np.int32)
        left, attempt = np.arange(len(packet)), 0
        while left.size:
            words = packet_words(packet[left], attempt, streams[0], self.seed, backend=self.backend)
            found[left], product = self._draw(source[left], unit(words[0], words[1]), unit(words[2], words[3]))
            if not self.reduced.size:
                break
            number = source[left] * self.terminals + found[left]
            place = np.minimum(np.searchsorted(self.reduced, number), len(self.reduced) - 1)
            chance = packet_words(packet[left], attempt, streams[1], self.seed, backend=self.backend)[0] * 2.0**-32
            left = left[product & (self.reduced[place] == number) & (chance < self.rejection[place])]
            attempt += 1
        return found

    def _draw(self, source: np.ndarray, one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return destinations, int32[B], and whether each is from the product, bool[B]. one, two: random, in [0, 1)."""
        product = one < self.product[source]
        found = np.empty(len(source), np.int32)
        found[product] = self.by_common.of(two[product])
        own = np.flatnonzero(~product)
        if own.size:
            begin, end = self.first[source[own]], self.first[source[own] + 1]
            low, high = self.own_sums[begin], self.own_sums[end]
            # the minimum prevents rounding up into the next row
            at = np.minimum(low + two[own] * (high - low), np.nextafter(high, 0))
            place = np.searchsorted(self.own_sums, at, side="right") - 1
            found[own] = self.listed[np.clip(place, begin, end - 1)]
        return found, product


class Packets(NamedTuple):
    """M packets, ordered by source node and then by time; the packets of a node's terminals are interleaved.

    first        int64[N + 1]  packets first[s] … first[s + 1] − 1 are generated at node s
    time         int32[M]      cycle in which each packet is generated
    number       int64[M]      counter of random numbers: terminal · 2³² + k
    source       int32[M]      node that sends the packet
    destination  int32[M]      node that receives the packet; never the source
    length       int16[M]      length in flits
    local        int64[L]      cycle in which each packet to its own source is generated; such packets enter no network
    local_length int16[L]      lengths of these local packets in flits
    messages     packets and dependencies of a workload's messages; `time` is then 0. None without a workload
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
    """A generator of packets for a traffic pattern between the terminals of a topology.

    traffic     traffic between terminals (torusweep.traffic)
    lengths     lengths of packets
    seed        0 … 2⁶⁴ − 1
    injection   spelling of an injection process (torusweep.questions.simulation.injection)
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
        """Return the packets of cycles 0 … cycles − 1 at a load in flits per cycle, averaged over all terminals.

        Raises BadInput if some terminal would exceed the rate of the injection process.
        """
        rate = load * self.destinations.sent / self.lengths.mean
        self.arrivals.check(rate, load)
        parts = list(self.arrivals.times(rate, cycles))
        terminal, k, time = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return self._packets(terminal, k, time)

    def each(self, packets: int) -> Packets:
        """Return the given number of packets for each terminal that sends, all generated in cycle 0."""
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
    """Return random words, uint32[4, M], that choose each packet's route; each purpose 0, 1, … gives other words."""
    return packet_words(number, purpose, ROUTES, seed, backend=backend)


Placement = Literal["consecutive", "random"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


def terminals_of(tasks: int, terminals: int, placement: str, seed: int, backend: str = "auto") -> np.ndarray:
    """Return the terminal of each task, int64[tasks]: the task's own number, or uniformly random without repetition.

    Source: Cámara et al. 2010, sec. 7.5.
    """
    if placement == "consecutive":
        return np.arange(tasks)
    words = packet_words(np.arange(terminals), 0, PLACES, seed, backend=backend)
    return np.lexsort((words[1], words[0]))[:tasks]


def workload_packets(
    workload: Workload, topology: Topology, placement: str, packet_flits: int, seed: int, backend: str = "auto"
) -> Packets:
    """Divide a workload's messages into packets of `packet_flits`; a message's last packet takes the remainder.

    A message between terminals of one node, or from a task to itself, never enters the network: it arrives at once.
    """
    node = topology.terminals[terminals_of(workload.tasks, len(topology.terminals), placement, seed, backend)]
    source, destination = node[workload.source], node[workload.destination]
    packets = np.where(source == destination, 0, -(-workload.flits // packet_flits))
    # order the packets by node, then by message
    order = np.argsort(source, kind="stable")
    ends = np.cumsum(packets[order])
    begin = np.empty_like(packets)
    begin[order] = ends - packets[order]
    message = np.repeat(order, packets[order])
    place = np.arange(len(message)) - begin[message]
    after = np.searchsorted(np.sort(workload.waits[:, 1]), np.arange(len(packets) + 1))
    return Packets(
        first=np.searchsorted(source[message], np.arange(topology.nodes + 1)),
        time=np.zeros(len(message), np.int32),
        number=message << NUMBER_BITS | place,
        source=source[message],
        destination=destination[message],
        length=np.minimum(packet_flits, workload.flits[message] - place * packet_flits).astype(np.int16),
        local=np.zeros(0, np.int64),
        local_length=np.zeros(0, np.int16),
        messages=Messages(
            first=np.array([0, len(packets)]),
            begin=begin,
            packets=packets,
            delay=workload.delay,
            after=after,
            successor=workload.waits[np.argsort(workload.waits[:, 1], kind="stable"), 0],
        ),
    )


class Completion(NamedTuple):
    """Cycles in which a workload's messages were sent, and their last packets delivered, int32[G] each; −1: never."""

    sent: np.ndarray
    delivered: np.ndarray


def completion_of(packets: Packets, sent: np.ndarray, delivered: np.ndarray) -> Completion:
    """Return when messages were completed, from sent, int32[G], and each packet's delivered, int32[M]; −1 = never."""
    message, last = packets.number >> NUMBER_BITS, sent.copy()  # a message without packets arrives at once
    np.maximum.at(last, message, delivered)
    last[message[delivered < 0]] = -1
    return Completion(sent, last)


def join_messages(parts: list[Messages], packets: np.ndarray) -> Messages:
    """Join the messages of E experiments into a batch. packets: number of each experiment's first packet, int64[E]."""
    first = np.cumsum([0, *(len(one.begin) for one in parts)])
    waits = np.cumsum([0, *(len(one.successor) for one in parts)])
    return Messages(
        first,
        np.concatenate([one.begin + begin for one, begin in zip(parts, packets)]),
        np.concatenate([one.packets for one in parts]),
        np.concatenate([one.delay for one in parts]),
        np.concatenate([*(one.after[:-1] + begin for one, begin in zip(parts, waits)), waits[-1:]]),
        np.concatenate([one.successor + begin for one, begin in zip(parts, first)]),
    )
