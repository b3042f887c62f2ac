"""Minimal routing with one route a pair: at every node the lowest port that leads nearer."""

from __future__ import annotations

import numpy as np

from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import TableRouting
from torusweep.routing.minimal import minimal_ecmp
from torusweep.routing.shortest_paths import UNREACHED, shortest_paths
from torusweep.routing.tables.rows import TableRows, table_routing


def lowest_port(topology: Topology) -> TableRouting:
    """The routing as a table, of a network that joins its terminals. On a torus it is dimension order."""
    goals = np.unique(topology.terminals).astype(np.int64)
    away, _ = shortest_paths(minimal_ecmp(topology), goals)
    waiting = (away > 0) & (away != UNREACHED)
    found = []
    for port in range(topology.ports.shape[1]):
        there = topology.ports[:, port]
        nearer = waiting & (there != NO_PORT)[:, None] & (away[there] == away - 1)
        node, goal = np.nonzero(nearer)
        waiting[node, goal] = False
        found.append((node, goals[goal], np.full(len(node), port)))
    return table_routing(topology, TableRows(*(np.concatenate(column).astype(np.int64) for column in zip(*found))))
