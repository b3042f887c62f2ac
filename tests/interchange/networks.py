"""Networks of every kind that a format may or may not hold, and what a plain loop says of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from torusweep.networks.families import build
from torusweep.networks.topology import Topology


def with_parallel_links() -> Topology:
    """A square of which one side is three parallel links, with terminals out of order and a node without any."""
    square = build("ring(k=4)")
    capacity = np.ones_like(square.ports)
    capacity[0][square.ports[0] == 1] = 3
    capacity[1][square.ports[1] == 0] = 3
    return replace(square, capacity=capacity, terminals=np.array([2, 0, 0, 3, 2], np.int32))


def with_classes_of_its_ends() -> Topology:
    """A path of three nodes whose first link is of class 1 at one end and 2 at the other, through ports with gaps."""
    path = build("mesh(k=3, n=1)")
    ports = np.array([[-1, -1, 1], [2, -1, 0], [-1, 1, -1]], np.int32)
    kind = np.array([[0, 0, 1], [3, 0, 2], [0, 3, 0]], np.int8)
    return replace(path, ports=ports, link_class=kind, plan=replace(path.plan, degree=3))


SPELLINGS = (
    "torus(k=4, n=2)",
    "mesh(k=3, n=2)",
    "rtt(a=2)",
    "ccc(n=3)",
    "directed_torus(k=4, n=2)",
    "faulty(torus(k=4, n=2), nodes=2, links=1)",
    "hypercube(n=3)",
    "ring(k=2)",
)
NETWORKS = {
    **{spelling: lambda spelling=spelling: build(spelling) for spelling in SPELLINGS},
    "parallel links": with_parallel_links,
    "classes of ends": with_classes_of_its_ends,
}

Channels = dict[tuple[int, int], tuple[int, int, int]]


def channels(topology: Topology) -> Channels:
    """{(node, port): (neighbour, link class, parallel links)} by a plain loop."""
    found = {}
    for node in range(topology.nodes):
        for port in range(topology.ports.shape[1]):
            neighbour = int(topology.ports[node, port])
            if neighbour >= 0:
                several = 1 if topology.capacity is None else int(topology.capacity[node, port])
                found[node, port] = (neighbour, int(topology.link_class[node, port]), several)
    return found


def links(topology: Topology) -> dict[tuple[int, int], int]:
    """{(node, neighbour): parallel links} by a plain loop."""
    return {(node, neighbour): several for (node, _), (neighbour, _, several) in channels(topology).items()}
