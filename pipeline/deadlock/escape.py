"""The extended dependency graph of adaptive routing's escape channels (Duato 1993).

A packet that has used an escape channel may go on adaptively, still hold the escape channel, and ask
for another one anywhere on its way: an indirect dependency. The escape's next hop and class depend on
node and destination alone, so that for each destination every node has one escape channel; it depends
on those of all nodes that shortest paths lead through from its far end on.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from pipeline.deadlock.cycles import Graph
from pipeline.errors import Refused
from pipeline.routing.forms import AdaptiveRouting, SourceRouting
from pipeline.topology import NO_PORT, Topology

MOST_CHANNELS = 10_000  # whose dependencies are kept as a matrix


def escape_graph(routing: AdaptiveRouting, classes: np.ndarray) -> Graph:
    """Direct and indirect dependencies between the escape channels, over all destinations.

    classes   int16[F, 2]: class 0 where the rest of the run, this hop included, crosses a dateline, and the second class where
              none does (or no longer): told from node and destination, as Duato's condition needs it

    Raises Refused for more than 10,000 channels.
    """
    escape, topology = routing.escape, routing.topology
    count = int(classes.max()) + 1
    width = topology.ports.shape[1] * count
    if topology.nodes * width > MOST_CHANNELS:
        raise Refused(
            f"deadlock of adaptive routing on {topology.spelling}: expected at most {MOST_CHANNELS:,} escape channels,"
            f" got {topology.nodes * width:,}; choose a smaller network"
        )
    everyone, away = np.arange(topology.nodes), _distances(topology)
    depends, used = np.zeros((topology.nodes * width,) * 2, bool), np.zeros(topology.nodes * width, bool)
    for destination in np.unique(topology.terminals):
        others = everyone[everyone != destination]
        direction, kind = _next_hop(escape, classes, others, destination)
        own = others * width + escape.moves.port[others, direction] * count + kind
        follows = _on_the_way(topology.ports, away[:, destination])[escape.moves.next[others, direction]][:, others]
        depends[np.ix_(own, own)] |= follows
        used[own] = True
    channel = np.flatnonzero(used)
    return Graph(channel, csr_array(depends[np.ix_(channel, channel)]))


def _distances(topology: Topology) -> np.ndarray:
    """float64[N, N]: hops from row to column."""
    tail, head, _ = topology.arcs
    return shortest_path(csr_array((np.ones(len(tail)), (tail, head)), shape=(topology.nodes,) * 2), unweighted=True)


def _next_hop(escape: SourceRouting, classes: np.ndarray, nodes: np.ndarray, destination: int) -> tuple[np.ndarray, np.ndarray]:
    """(direction, class) of each node's escape channel."""
    first, _, direction, hops, phase = escape.routes(escape.key(nodes, np.full_like(nodes, destination)))
    assert (np.diff(first) == 1).all(), "an escape has one route"
    row, run = np.arange(len(nodes)), (hops > 0).argmax(axis=1)
    direction, hops, phase = direction[row, run], hops[row, run], phase[row, run]
    crosses, at = np.zeros(len(nodes), bool), nodes
    for hop in range(int(hops.max(initial=0))):
        on = hop < hops
        crosses |= on & escape.moves.wrap[at, direction]
        at = np.where(on, escape.moves.next[at, direction], at)
    return direction, classes[phase, (~crosses).astype(np.int8)]


def _on_the_way(ports: np.ndarray, away: np.ndarray) -> np.ndarray:
    """bool[N, N]: whether the column's node is on a shortest path from the row's to where `away` counts from, its own start included."""
    reach = np.eye(len(ports), dtype=bool)
    nearer = (ports != NO_PORT) & (away[ports] == away[:, None] - 1)
    for hops in range(1, int(away.max()) + 1):
        nodes = np.flatnonzero(away == hops)
        for port in range(ports.shape[1]):
            goes = nodes[nearer[nodes, port]]
            reach[goes] |= reach[ports[goes, port]]
    return reach
