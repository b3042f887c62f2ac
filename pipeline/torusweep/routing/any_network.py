"""Routings of any network: all shortest paths, a single shortest path, and up*/down*.

Up*/down* routes first go towards a root, then away from it, over bidirectional links. The single shortest path takes,
at every node, the lowest port that leads nearer.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.ends import first_forwarding, hops_from
from torusweep.networks.names import name_of, number_of
from torusweep.networks.spelling import format_value
from torusweep.networks.topology import NO_PORT, Meaning, Topology, Whole, require
from torusweep.routing.forms import MAX_PORTS, LayeredRouting, TableRouting, in_two_phases
from torusweep.routing.paths import UNREACHED, shortest_paths
from torusweep.routing.tables.rows import TableRows, table_routing


def minimal(topology: Topology) -> LayeredRouting:
    """Divide packets equally among all shortest paths. No path passes through a host that forwards nothing.

    Source: the balanced minimal routing of Cámara et al. 2010, sec. 5; shares as in betweenness (Freeman 1977).
    """
    return _shortest(topology, "paths")


def minimal_ecmp(topology: Topology) -> LayeredRouting:
    """At every node, divide packets equally among all links that lead nearer (equal-cost multipath).

    Source: RFC 2991, per-packet choice.
    """
    return _shortest(topology, "next-hops")


def _shortest(topology: Topology, split: str) -> LayeredRouting:
    if topology.ends is not None:  # a hop to a host is the last one
        leads = topology.ports != NO_PORT
        last = leads & topology.ends[topology.ports]
        return in_two_phases(topology, leads & ~last, last, np.zeros_like(leads), split)
    nodes = np.arange(topology.nodes, dtype=np.int32)
    port = np.where(topology.ports == NO_PORT, NO_PORT, np.arange(topology.ports.shape[1])).astype(np.int16)
    return LayeredRouting(topology, topology.ports, port, nodes, nodes, nodes, 0, split)


def lowest_port(topology: Topology) -> TableRouting:
    """Make a table that takes, at every node, the lowest port that leads nearer; on a torus it is dimension order."""
    goals = np.unique(topology.terminals).astype(np.int64)
    routing = minimal_ecmp(topology)
    to_go, _ = shortest_paths(routing, routing.finish[goals])
    away = to_go[routing.start]
    waiting = (away > 0) & (away != UNREACHED)
    waiting[goals, np.arange(len(goals))] = False
    found = []
    for port in range(topology.ports.shape[1]):
        there = routing.states[routing.start, port]
        nearer = waiting & (there != NO_PORT)[:, None] & (to_go[there] == away - 1)
        node, goal = np.nonzero(nearer)
        waiting[node, goal] = False
        found.append((node, goals[goal], np.full(len(node), port)))
    return table_routing(topology, TableRows(*(np.concatenate(column).astype(np.int64) for column in zip(*found))))


Root = Annotated[int | str, Whole(0, "the node that all links lead up to: its number, or its name in quotes")]
Split = Annotated[
    Literal["paths", "next_hops"],
    Meaning("paths: equal shares of all permitted shortest paths; next_hops: at every node, of all links on them"),
]


def up_down(topology: Topology, root: Root = 0, split: Split = "paths") -> LayeredRouting:
    """Take the shortest of all paths that never go up (towards the root) after they have gone down.

    The upper end of a link is the node nearer to the root or, if both are equally near, the node with the lower number.
    Hosts that forward nothing are below all other nodes.

    Constraint: bidirectional links that connect all terminals with a root that forwards; at most 127 ports per node.
    Source: Schroeder et al. 1991 (Autonet).
    """
    nodes, width = topology.ports.shape
    if topology.directed:
        raise BadInput(
            f"routing up_down on {topology.spelling}: expected bidirectional links, got a directed network;"
            " choose minimal, which suits every network"
        )
    top: int = number_of(topology.plan.names, root, "root")
    require(top < nodes, "root", top, f"0 … {nodes - 1}", f"{topology.spelling} has {nodes} nodes")
    if width > MAX_PORTS:
        raise Refused(
            f"routing up_down on {topology.spelling}: expected at most {MAX_PORTS} ports a node, got {width};"
            " choose another network"
        )
    below = np.zeros(nodes, bool) if topology.ends is None else topology.ends
    if below[top]:
        root_of_all = format_value(name_of(topology, first_forwarding(topology)))
        other = "choose minimal" if below.all() else f"say root={root_of_all}"
        raise BadInput(
            f"routing up_down on {topology.spelling}: expected a root that forwards packets, got"
            f" {name_of(topology, top)}, a host that forwards none; {other}"
        )
    level = hops_from(topology, np.array([top]))[0]
    cut_off = topology.terminals[np.isinf(level[topology.terminals])]
    if len(cut_off):
        raise BadInput(
            f"routing up_down on {topology.spelling}: expected links that connect all terminals with root {top},"
            f" got none to node {cut_off[0]}; choose a connected network, and as root a node that works"
        )
    rank = np.empty(nodes, np.int64)
    rank[np.lexsort((np.arange(nodes), level, below))] = np.arange(nodes)

    leads = (topology.ports != NO_PORT) & np.isfinite(level)[:, None]
    up = leads & (rank[topology.ports] < rank[:, None]) & ~below[topology.ports]
    return in_two_phases(topology, up, leads & ~up, leads & ~up & ~below[:, None], split)
