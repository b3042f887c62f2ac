"""The network without its failed nodes, and the network after failures."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

import numpy as np

from torusweep.networks.topology import NO_PORT, Topology, no_symmetries


def surviving_network(topology: Topology) -> Topology:
    """The network without nodes that have neither a link nor a terminal, renumbered; unchanged if there are none.

    A topology keeps the number of a failed node, so that addresses do not change. Properties such as connectivity
    are those of the surviving nodes only.
    """
    alive = topology.works
    survivors = int(alive.sum())
    if survivors == topology.nodes:
        return topology
    number = np.append(np.where(alive, np.cumsum(alive, dtype=np.int32) - 1, NO_PORT), NO_PORT).astype(np.int32)
    return Topology(
        topology.spelling,
        topology.family,
        replace(
            topology.plan,
            nodes=survivors,
            radices=(survivors,),
            symmetries=no_symmetries,
            bisection=None,
            bisection_source="",
            names=None if topology.plan.names is None else tuple(compress(topology.plan.names, alive)),
        ),
        number[topology.ports[alive]],
        topology.link_class[alive],
        None if topology.capacity is None else topology.capacity[alive],
        number[topology.terminals],
    )


def network_after(topology: Topology, left: np.ndarray, works: np.ndarray) -> Topology:
    """The network after failures, with the numbers of all nodes; its spelling is that of the network before.

    left   int32[N, P]  parallel links of each channel that are left, 0 = none
    works  bool[N]      nodes that work; the others have no channels left, and lose their terminals
    """
    return Topology(
        topology.spelling,
        topology.family,
        replace(
            topology.plan,
            symmetries=no_symmetries,
            bisection=None,
            bisection_source="",
            structure=None,
            joined=False,
        ),
        np.where(left > 0, topology.ports, np.int32(NO_PORT)),
        topology.link_class,
        None if topology.capacity is None else left,
        topology.terminals[works[topology.terminals]],
    )
