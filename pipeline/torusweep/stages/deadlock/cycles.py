"""Cycles of a channel dependency graph: whether one exists, a shortest one, and whether all lie within rings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from torusweep_kernels.dependencies import DEPENDS, shortest_cycle

from torusweep.routing.forms import Moves
from torusweep.stages.deadlock.dependencies import Dependencies


class DependencyGraph(NamedTuple):
    """A dependency graph.

    channel  int64[V]    node · W + channel, of each vertex
    matrix   bool[V, V]  packets that hold the row's channel request the column's
    """

    channel: np.ndarray
    matrix: scipy.sparse.csr_array


def dependency_graph(found: Dependencies, bit: int = DEPENDS) -> DependencyGraph:
    """The used channels, and the dependencies with a bit of `torusweep_kernels.dependencies.Channels.depends`."""
    ports, (used, depends, *_) = found.topology.ports, found.channels
    width = used.shape[1]
    channel = np.flatnonzero(used)
    number = np.full(used.size, -1, np.int64)
    number[channel] = np.arange(len(channel))
    node, current, requested = np.nonzero(depends & bit)
    head = ports[node, current // found.classes]
    arcs = number[node * width + current], number[head * width + requested]
    matrix = scipy.sparse.csr_array((np.ones(len(node), bool), arcs), shape=(len(channel), len(channel)))
    return DependencyGraph(channel, matrix)


def is_acyclic(matrix: scipy.sparse.csr_array) -> bool:
    """Whether a graph has no cycle; it must have no arc from a vertex to itself."""
    return bool(
        scipy.sparse.csgraph.connected_components(matrix, connection="strong", return_labels=False) == matrix.shape[0]
    )


def are_acyclic(found: Dependencies) -> bool:
    """Whether the dependencies have no cycle, which proves the absence of deadlock (Dally & Seitz 1987)."""
    return is_acyclic(dependency_graph(found).matrix)


def shortest_channel_cycle(graph: DependencyGraph) -> np.ndarray:
    """int64[L]: the channels (node · W + channel) of a shortest cycle, in order; empty if the graph is acyclic."""
    label = scipy.sparse.csgraph.connected_components(graph.matrix, connection="strong")[1]
    inside = np.flatnonzero(np.bincount(label)[label] > 1)
    part = graph.matrix[inside][:, inside]
    return graph.channel[inside[shortest_cycle(part.indptr, part.indices)]]


def cycles_lie_in_rings(graph: DependencyGraph, moves: Moves) -> bool:
    """Whether every cycle lies within one ring of a direction; False if a channel is in two. They have one class."""
    nodes, ports = moves.topology.ports.shape
    after = np.full((nodes, ports), -1, np.int64)  # the ring's next channel
    for d in range(moves.port.shape[1]):
        tail = np.flatnonzero(moves.port[:, d] >= 0)
        links = scipy.sparse.csr_array((np.ones(len(tail), bool), (tail, moves.next[tail, d])), shape=(nodes, nodes))
        line = scipy.sparse.csgraph.connected_components(links, directed=False)[1]
        closed = np.bincount(line, weights=moves.wrap[:, d])[line] > 0
        tail = tail[closed[tail]]
        head = moves.next[tail, d]
        follows, known = head.astype(np.int64) * ports + moves.port[head, d], after[tail, moves.port[tail, d]]
        if ((known >= 0) & (known != follows)).any():
            return False
        after[tail, moves.port[tail, d]] = follows
    number = np.full(nodes * ports, -1, np.int64)
    number[graph.channel] = np.arange(len(graph.channel))
    on = after.reshape(-1)[graph.channel]
    inside = np.flatnonzero((on >= 0) & (number[on] >= 0))
    size = len(graph.channel)
    ring = scipy.sparse.csgraph.connected_components(
        scipy.sparse.csr_array((np.ones(len(inside), bool), (inside, number[on[inside]])), shape=(size, size)),
        directed=False,
    )[1]
    tail, head = graph.matrix.nonzero()
    between = on[tail] != graph.channel[head]
    tail, head = ring[tail[between]], ring[head[between]]
    # only the ring's next channel leaves the far end of a channel, so that each of these arcs leaves its ring
    return is_acyclic(scipy.sparse.csr_array((np.ones(len(tail), bool), (tail, head)), shape=(size, size)))
