"""Uniform traffic."""

from __future__ import annotations

import numpy as np

from torusweep.networks.topology import Topology, require
from torusweep.traffic.matrix import Traffic, all_but_self, same_from_all


def uniform(topology: Topology) -> Traffic:
    """Equally to every terminal, itself included.

    Source: Cámara et al. 2010, sec. 6.2 (UN).
    """
    terminals = len(topology.terminals)
    return same_from_all(np.full(terminals, 1 / terminals), symmetric=True)


def uniform_other(topology: Topology) -> Traffic:
    """Equally to every other terminal.

    Source: means over distinct pairs, as in Rahman et al. 2005, Table 1 (mesh).
    """
    return _others(topology)


def all_to_all(topology: Topology) -> Traffic:
    """The collective operation: equal messages from every terminal to every other; on average, uniform_other.

    Source: the operation's definition (MPI_Alltoall).
    """
    return _others(topology)


def _others(topology: Topology) -> Traffic:
    terminals = len(topology.terminals)
    require(terminals > 1, "terminals", terminals, "two or more", "a single terminal has no destination")
    return all_but_self(terminals)
