"""Minimal routing on any network."""

from __future__ import annotations

import numpy as np

from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import LayeredRouting


def minimal(topology: Topology) -> LayeredRouting:
    """Equal shares of all shortest paths.

    Source: the balanced minimal routing of Cámara et al. 2010, sec. 5; shares as in betweenness (Freeman 1977).
    """
    return _shortest(topology, "paths")


def minimal_ecmp(topology: Topology) -> LayeredRouting:
    """At every node, equal shares of all links that lead nearer (equal-cost multipath).

    Source: RFC 2991, per-packet choice.
    """
    return _shortest(topology, "next-hops")


def _shortest(topology: Topology, split: str) -> LayeredRouting:
    nodes = np.arange(topology.nodes, dtype=np.int32)
    port = np.where(topology.ports == NO_PORT, NO_PORT, np.arange(topology.ports.shape[1])).astype(np.int16)
    return LayeredRouting(topology, topology.ports, port, nodes, nodes, nodes, 0, split)
