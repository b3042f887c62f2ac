"""What is left of a network when its failed nodes are taken out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torusweep.networks.topology import NO_PORT, Topology, no_symmetries


def working(topology: Topology) -> Topology:
    """The network without the nodes that have neither a link nor a terminal, renumbered; itself where there are none.

    A failed node keeps its number in a topology, so that addresses stay what they were; but it is no
    part of the network that is left, and must not make that look disconnected.
    """
    alive = topology.works
    left = int(alive.sum())
    if left == topology.nodes:
        return topology
    number = np.append(np.where(alive, np.cumsum(alive, dtype=np.int32) - 1, NO_PORT), NO_PORT).astype(np.int32)
    return Topology(
        topology.spelling,
        topology.family,
        replace(
            topology.plan, nodes=left, radices=(left,), symmetries=no_symmetries, bisection=None, bisection_source=""
        ),
        number[topology.ports[alive]],
        topology.link_class[alive],
        None if topology.capacity is None else topology.capacity[alive],
        number[topology.terminals],
    )
