"""Tasks on terminals: a workload's messages as packets of nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.philox.draws import packet_words
from torusweep_kernels.router import Messages

from torusweep.networks.topology import Topology
from torusweep.stages.simulation.injection import NUMBERED
from torusweep.stages.simulation.packets import PLACES, Packets
from torusweep.workloads import Workload

PLACEMENTS = ("consecutive", "random")


def terminals_of(tasks: int, terminals: int, placement: str, seed: int, backend: str = "auto") -> np.ndarray:
    """int64[tasks]: the terminal of each task: its own number, or drawn with the seed, each of all terminals alike and none twice.

    Source: Cámara et al. 2010, sec. 7.5.
    """
    if placement == "consecutive":
        return np.arange(tasks)
    words = packet_words(np.arange(terminals), 0, PLACES, seed, backend=backend)
    return np.lexsort((words[1], words[0]))[:tasks]


def placed(
    workload: Workload, topology: Topology, placement: str, packet_flits: int, seed: int, backend: str = "auto"
) -> Packets:
    """The packets of the workload's messages: of `packet_flits` each, the last one of a message what is left.

    A message between terminals of one node never enters the network: it is delivered when it is sent, as one to its own task is.
    """
    node = topology.terminals[terminals_of(workload.tasks, len(topology.terminals), placement, seed, backend)]
    source, destination = node[workload.source], node[workload.destination]
    packets = np.where(source == destination, 0, -(-workload.flits // packet_flits))
    # by node, and those of one node in the order of their messages
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
        number=message << NUMBERED | place,
        source=source[message],
        destination=destination[message],
        length=np.minimum(packet_flits, workload.flits[message] - place * packet_flits).astype(np.int16),
        local=np.zeros(0, np.int64),
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
    """Of each message of a workload, in its order, int32[G]: when it was sent, and its last packet delivered; −1 = never."""

    sent: np.ndarray
    delivered: np.ndarray


def completed(packets: Packets, sent: np.ndarray, delivered: np.ndarray) -> Completion:
    """sent int32[G]: when the messages were generated; delivered int32[M]: each packet's, −1 = never."""
    message, last = packets.number >> NUMBERED, sent.copy()  # a message without packets is there at once
    np.maximum.at(last, message, delivered)
    last[message[delivered < 0]] = -1
    return Completion(sent, last)


def together(parts: list[Messages], packets: np.ndarray) -> Messages:
    """The messages of several experiments, whose packets begin at packets int64[E]."""
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
