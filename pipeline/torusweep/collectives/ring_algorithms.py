"""Algorithms on rings through all nodes: each rank passes on what it got from the one before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torusweep.collectives.rings import disjoint_rings, ring_of
from torusweep.collectives.schedule import Schedule, Transfers, check_transfers, schedule, together
from torusweep.errors import BadInput
from torusweep.networks.topology import Topology


def one_way_ring(topology: Topology) -> Schedule:
    """All-gather on one ring in one direction: N − 1 steps.

    Source: Patarasuk & Yuan 2009.
    """
    return _on_rings(topology, [ring_of(topology)[0]])


def ring(topology: Topology) -> Schedule:
    """All-gather on one ring, half of the data in each direction."""
    if topology.directed:
        raise BadInput(f"{topology.spelling}: expected links in both directions; choose one_way_ring, rings or trees")
    order = ring_of(topology)[0]
    return _on_rings(topology, [order, order[::-1]])


def rings(topology: Topology) -> Schedule:
    """All-gather on all rings that share no link, in both directions if links have them: the data are divided."""
    orders = disjoint_rings(topology)
    return _on_rings(topology, orders if topology.directed else [way for one in orders for way in (one, one[::-1])])


def _on_rings(topology: Topology, orders: Sequence[np.ndarray]) -> Schedule:
    nodes = topology.nodes
    check_transfers(len(orders) * nodes * (nodes - 1))
    return together([_gathered(nodes, order) for order in orders])


def _gathered(nodes: int, order: np.ndarray) -> Schedule:
    transfers = Transfers()
    following = np.roll(order, -1)
    for step in range(nodes - 1):
        transfers.add(step, order, following, np.roll(order, step))
    everyone = np.arange(nodes, dtype=np.int32)
    return schedule("all_gather", everyone, (nodes, np.ones(nodes, np.int64)), (everyone, -1), transfers)
