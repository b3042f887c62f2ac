"""Uniform traffic with a hot region or a hot spot."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from torusweep.networks.names import number_of
from torusweep.networks.topology import Number, Topology, Whole, require
from torusweep.traffic.matrix import Traffic, same_from_all

Share = Annotated[float, Number(0, "percent of all traffic that is addressed to the hot node", maximum=100)]
Node = Annotated[int, Whole(0, "number of the hot node")]


def hot_region(topology: Topology) -> Traffic:
    """25 % to the first 12.5 % of the terminals (lowest rows, lowest planes; rounded up), the rest uniform.

    Source: Cámara et al. 2010, sec. 6.2 (HR).
    """
    terminals = len(topology.terminals)
    region = -(-terminals // 8)
    common = np.full(terminals, 0.75 / terminals)
    common[:region] += 0.25 / region
    return same_from_all(common)


def hot_spot(topology: Topology, node: Node = 0, percent: Share = 10) -> Traffic:
    """10 % to one node (shared by its terminals), the rest uniform.

    Source: Pfister & Norton 1985.
    """
    hot = topology.terminals == number_of(topology.plan.names, node, "node")
    require(bool(hot.any()), "node", node, "a node that has a terminal", "nodes without terminal receive nothing")
    common = np.full(len(hot), (1 - percent / 100) / len(hot))
    common[hot] += percent / 100 / int(hot.sum())
    return same_from_all(common)
