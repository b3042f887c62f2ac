"""Random directed graphs, and their channels as the kernels read them."""

from __future__ import annotations

import networkx as nx
import numpy as np
from torusweep_kernels.cuts import both_ways


def channels_of(graph):
    """Channels for the kernel of a networkx graph on 0 … N − 1, directed or not, with weights."""
    nodes = graph.number_of_nodes()
    matrix = np.zeros((nodes, nodes), np.int64)
    for tail, head, data in graph.edges(data=True):
        matrix[tail, head] += data.get("weight", 1)
        if not graph.is_directed():
            matrix[head, tail] += data.get("weight", 1)
    present = (matrix > 0) | (matrix.T > 0)
    tail, head = np.nonzero(present)
    first = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64)
    return both_ways(first, head.astype(np.int32), matrix[tail, head])


def drawn_graph(seed, *, directed):
    """A connected random graph with random capacities."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(2, 8))
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(nodes))
    order = draw.permutation(nodes).tolist()
    pairs = [(order[i], order[(i + 1) % nodes]) for i in range(nodes if directed else nodes - 1)]
    pairs += [tuple(draw.choice(nodes, 2, replace=False).tolist()) for _ in range(int(draw.integers(0, 12)))]
    for tail, head in pairs:
        graph.add_edge(tail, head, weight=int(draw.integers(1, 5)))
    return graph
