"""Placement of a workload's tasks on terminals, and its messages as packets."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from torusweep_kernels.philox.draws import packet_words
from torusweep_kernels.router import Messages

from torusweep.networks.topology import Topology
from torusweep.stages.simulation.injection import NUMBER_BITS
from torusweep.stages.simulation.packets import PLACES, Packets
from torusweep.workloads import Workload

Placement = Literal["consecutive", "random"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


def terminals_of(tasks: int, terminals: int, placement: str, seed: int, backend: str = "auto") -> np.ndarray:
    """int64[tasks]: the terminal of each task: its own number, or a random one, uniform and without repetition.

    Source: Cámara et al. 2010, sec. 7.5.
    """
    if placement == "consecutive":
        return np.arange(tasks)
    words = packet_words(np.arange(terminals), 0, PLACES, seed, backend=backend)
    return np.lexsort((words[1], words[0]))[:tasks]


def workload_packets(
    workload: Workload, topology: Topology, placement: str, packet_flits: int, seed: int, backend: str = "auto"
) -> Packets:
    """The packets of a workload's messages: `packet_flits` each; the last one of a message takes the remainder.

    A message between terminals of one node, or to its own task, never enters the network: it is delivered when it
    is sent.
    """
    node = topology.terminals[terminals_of(workload.tasks, len(topology.terminals), placement, seed, backend)]
    source, destination = node[workload.source], node[workload.destination]
    packets = np.where(source == destination, 0, -(-workload.flits // packet_flits))
    # order the packets by node, and those of a node by message
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
    """Times of a workload's messages, int32[G]: sent, and delivered with the last packet; −1 = never."""

    sent: np.ndarray
    delivered: np.ndarray


def completion_of(packets: Packets, sent: np.ndarray, delivered: np.ndarray) -> Completion:
    """The completion of messages sent at sent, int32[G]; their packets arrive at delivered, int32[M], −1 = never."""
    message, last = packets.number >> NUMBER_BITS, sent.copy()  # a message without packets arrives at once
    np.maximum.at(last, message, delivered)
    last[message[delivered < 0]] = -1
    return Completion(sent, last)


def join_messages(parts: list[Messages], packets: np.ndarray) -> Messages:
    """The messages of E experiments as one batch; packets int64[E]: the number of each experiment's first packet."""
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
