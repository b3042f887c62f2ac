"""Algorithms that do not look at the network: messages between any two ranks, over all shortest paths."""

from __future__ import annotations

import numpy as np

from torusweep.collectives.schedule import ALL, Schedule, Transfers, check_transfers, schedule
from torusweep.errors import BadInput
from torusweep.networks.topology import Topology


def direct(topology: Topology) -> Schedule:
    """All-gather in one step: each rank sends its part to all others."""
    nodes = topology.nodes
    check_transfers(nodes * (nodes - 1))
    source, destination = _pairs(nodes)
    transfers = Transfers()
    transfers.add(0, source, destination, source)
    everyone = np.arange(nodes, dtype=np.int32)
    return schedule("all_gather", everyone, (nodes, np.ones(nodes, np.int64)), (everyone, ALL), transfers)


def direct_all_to_all(topology: Topology) -> Schedule:
    """All-to-all in one step."""
    nodes = topology.nodes
    check_transfers(nodes * (nodes - 1))
    source, destination = _pairs(nodes)
    transfers = Transfers()
    transfers.add(0, source, destination, source * nodes + destination)
    ends = np.repeat(np.arange(nodes), nodes), np.tile(np.arange(nodes), nodes)
    everyone = np.arange(nodes, dtype=np.int32)
    return schedule("all_to_all", everyone, (nodes, np.ones(nodes * nodes, np.int64)), ends, transfers)


def direct_broadcast(topology: Topology, root: int) -> Schedule:
    """Broadcast in one step: the root sends everything to all others."""
    nodes = topology.nodes
    transfers = Transfers()
    transfers.add(0, root, np.delete(np.arange(nodes), root), 0)
    everyone = np.arange(nodes, dtype=np.int32)
    return schedule("broadcast", everyone, (1, np.ones(1, np.int64)), (root, ALL), transfers)


def recursive_doubling(topology: Topology) -> Schedule:
    """All-gather between ranks whose numbers differ in one bit, bit by bit: each sends all that it has.

    Source: Thakur, Rabenseifner & Gropp 2005. Backwards it is recursive halving, a reduce-scatter.
    """
    nodes = _power_of_2(topology)
    check_transfers(nodes * (nodes - 1))
    transfers, everyone = Transfers(), np.arange(nodes, dtype=np.int32)
    for bit in range(nodes.bit_length() - 1):
        held = (everyone >> bit << bit)[:, None] + np.arange(1 << bit)
        transfers.add(bit, everyone[:, None], (everyone ^ (1 << bit))[:, None], held)
    return schedule("all_gather", everyone, (nodes, np.ones(nodes, np.int64)), (everyone, ALL), transfers)


def recursive_doubling_all_reduce(topology: Topology) -> Schedule:
    """All-reduce between ranks whose numbers differ in one bit, bit by bit: each sends its whole sum.

    Source: Thakur, Rabenseifner & Gropp 2005.
    """
    nodes = _power_of_2(topology)
    transfers, everyone = Transfers(), np.arange(nodes, dtype=np.int32)
    for bit in range(nodes.bit_length() - 1):
        transfers.add(bit, everyone, everyone ^ (1 << bit), 0)
    found = schedule("all_reduce", everyone, (1, np.ones(1, np.int64)), (ALL, ALL), transfers)
    return found._replace(reduces=np.ones(len(found.step), bool))


def _pairs(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """(sources, destinations) of all pairs of two ranks."""
    source, destination = np.nonzero(~np.eye(nodes, dtype=bool))
    return source, destination


def _power_of_2(topology: Topology) -> int:
    if topology.nodes & (topology.nodes - 1):
        raise BadInput(f"expected a power of 2 terminals, got {topology.nodes:,}; choose ring, bucket or trees")
    return topology.nodes
