"""Cycles of a channel dependency graph: whether there is one, a shortest one, and whether all lie in rings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from torusweep_kernels.dependencies import DEPENDS, shortest_cycle

from torusweep.routing.forms import Moves
from torusweep.stages.deadlock.dependencies import Dependencies


class Graph(NamedTuple):
    """channel int64[V]: node · W + channel, of each vertex; matrix: bool[V, V], row asks for column."""

    channel: np.ndarray
    matrix: csr_array


def graph_of(found: Dependencies, bit: int = DEPENDS) -> Graph:
    """The dependencies that have a bit of `torusweep_kernels.dependencies.Channels.depends`, between the channels that are used."""
    ports, (used, depends, *_) = found.topology.ports, found.channels
    width = used.shape[1]
    channel = np.flatnonzero(used)
    number = np.full(used.size, -1, np.int64)
    number[channel] = np.arange(len(channel))
    node, held, asks = np.nonzero(depends & bit)
    head = ports[node, held // found.classes]
    arcs = number[node * width + held], number[head * width + asks]
    matrix = csr_array((np.ones(len(node), bool), arcs), shape=(len(channel), len(channel)))
    return Graph(channel, matrix)


def is_acyclic(matrix: csr_array) -> bool:
    """Whether a graph without arcs from a vertex to itself has no cycle."""
    return bool(connected_components(matrix, connection="strong", return_labels=False) == matrix.shape[0])


def a_shortest_cycle(graph: Graph) -> np.ndarray:
    """int64[L]: channels (node · W + channel), in order; empty where there is no cycle."""
    label = connected_components(graph.matrix, connection="strong")[1]
    inside = np.flatnonzero(np.bincount(label)[label] > 1)
    part = graph.matrix[inside][:, inside]
    return graph.channel[inside[shortest_cycle(part.indptr, part.indices)]]


def only_rings(graph: Graph, moves: Moves) -> bool:
    """Whether every cycle lies within one ring of a direction, each channel having one class and being in one ring at most."""
    nodes, ports = moves.topology.ports.shape
    after = np.full((nodes, ports), -1, np.int64)  # the ring's next channel
    for d in range(moves.port.shape[1]):
        tail = np.flatnonzero(moves.port[:, d] >= 0)
        links = csr_array((np.ones(len(tail), bool), (tail, moves.next[tail, d])), shape=(nodes, nodes))
        line = connected_components(links, directed=False)[1]
        round_ = np.bincount(line, weights=moves.wrap[:, d])[line] > 0
        tail = tail[round_[tail]]
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
    ring = connected_components(
        csr_array((np.ones(len(inside), bool), (inside, number[on[inside]])), shape=(size, size)), directed=False
    )[1]
    tail, head = graph.matrix.nonzero()
    between = on[tail] != graph.channel[head]
    tail, head = ring[tail[between]], ring[head[between]]
    # of a ring's channels only the next one leaves the node that a channel leads to, so that none of these arcs stays in its ring
    return is_acyclic(csr_array((np.ones(len(tail), bool), (tail, head)), shape=(size, size)))
