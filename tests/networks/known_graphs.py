"""Graphs that networkx knows, and the links of a topology."""

from __future__ import annotations

import networkx as nx
from torusweep.networks.topology import Topology


def links_of(topology: Topology) -> set[tuple[int, int]]:
    tail, head, _ = topology.arcs
    return set(zip(tail.tolist(), head.tolist()))


PETERSEN = nx.petersen_graph()
FLORENCE = nx.florentine_families_graph()
