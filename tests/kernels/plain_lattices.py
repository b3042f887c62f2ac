"""Lattices as graphs of networkx."""

from __future__ import annotations

from itertools import product

import networkx
import numpy as np

from tests.networks import plain_networks as plain


def plain_graph(form: np.ndarray) -> networkx.Graph:
    """Its nodes are the vectors of the box; an edge's class is the dimension."""
    nodes = list(product(*(range(side) for side in np.diagonal(form))))
    graph = networkx.Graph()
    graph.add_nodes_from(nodes)
    for (u, v), dimension in plain.lattice(form.tolist(), nodes).items():
        if u != v and not graph.has_edge(u, v):
            graph.add_edge(u, v, dimension=dimension)
    return graph
