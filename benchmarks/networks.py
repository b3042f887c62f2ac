"""The benchmarks' networks, and their conversion for other libraries."""

from __future__ import annotations

from typing import Any

import igraph
import networkx
import numpy as np
from scipy.sparse import csr_matrix


def random_regular(nodes: int, degree: int) -> np.ndarray:
    """int32[N, degree]: a random regular graph, neighbours in rising order."""
    graph = networkx.random_regular_graph(degree, nodes, seed=1)
    return np.array([sorted(graph.neighbors(node)) for node in range(nodes)], np.int32)


def links(ports: np.ndarray) -> np.ndarray:
    """int64[links, 2]: each bidirectional link once, in the order of its ends."""
    tail, head = np.repeat(np.arange(len(ports)), ports.shape[1]), ports.ravel().astype(np.int64)
    forth = tail < head
    tail, head = tail[forth], head[forth]
    order = np.lexsort((head, tail))
    return np.stack([tail[order], head[order]], axis=1)


def in_igraph(ports: np.ndarray) -> igraph.Graph:
    return igraph.Graph(len(ports), links(ports))


def in_networkx(ports: np.ndarray) -> networkx.Graph:
    return networkx.Graph(links(ports).tolist())


def in_networkit(ports: np.ndarray) -> Any:
    import networkit  # tests of the benchmarks do without it

    graph = networkit.Graph(len(ports))
    for a, b in links(ports).tolist():
        graph.addEdge(a, b)
    graph.indexEdges()
    return graph


def in_scipy(ports: np.ndarray) -> csr_matrix:
    tail = np.repeat(np.arange(len(ports)), ports.shape[1])
    return csr_matrix((np.ones(ports.size), (tail, ports.ravel())), (len(ports), len(ports)))
