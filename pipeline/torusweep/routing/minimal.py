"""Minimal routing: every packet takes a shortest path, on any network."""

from __future__ import annotations

import numpy as np

from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import LayeredRouting


def minimal(topology: Topology) -> LayeredRouting:
    """Every shortest path alike.

    Source: the balanced minimal routing of Cámara et al. 2010, sec. 5; shares as in betweenness (Freeman 1977).
    """
    return _shortest(topology, "paths")


def minimal_ecmp(topology: Topology) -> LayeredRouting:
    """At every node, every link alike that leads nearer (equal-cost multipath).

    Source: RFC 2991, per-packet choice.
    """
    return _shortest(topology, "next-hops")


def _shortest(topology: Topology, split: str) -> LayeredRouting:
    everyone = np.arange(topology.nodes, dtype=np.int32)
    port = np.where(topology.ports == NO_PORT, NO_PORT, np.arange(topology.ports.shape[1])).astype(np.int16)
    return LayeredRouting(topology, topology.ports, port, everyone, everyone, everyone, 0, split)
