"""How many links must fail before the network falls apart: components and edge connectivity."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from pipeline.static.links import LinkOrbits
from pipeline.symmetry import Orbits
from pipeline.topology import Topology

THEOREM = "theorem (vertex-transitive: the degree)"
FLOW_WORK = 100_000_000  # channels that all maximum flows together may look at, about
FLOW_OVERHEAD = 2_000  # what a flow costs besides its channels, in the same unit
SMALLEST_BALL = 32  # nodes


def components(topology: Topology, matrix: csr_array) -> int:
    """Components of the network; strongly connected ones in a directed network."""
    return int(connected_components(matrix, directed=topology.directed, connection="strong", return_labels=False))


def edge_connectivity(topology: Topology, matrix: csr_array, nodes: Orbits, links: LinkOrbits | None, *, connected: bool) -> tuple[int | None, str]:
    """(fewest links whose removal disconnects the network, how it is known); (None, why) where it was not computed.

    matrix      channels, int64[N, N] (links.channel_matrix)
    nodes, links  orbits under proved automorphisms; links None = every channel its own orbit

    A connected vertex-transitive graph without parallel links has edge connectivity equal to its
    degree (Mader 1971; digraphs: Hamidoune 1981); with parallel links it may have less. Elsewhere the
    connectivity is the least λ(u, v) over any set of node pairs that joins all nodes (both ways, in a
    directed network), because some pair of it lies across every cut: the channels of a breadth-first
    tree, and of these one from each orbit.
    """
    if topology.nodes == 1:
        return 0, "a single node"
    if not connected:
        return 0, "not connected"
    leaving, entering = matrix.sum(axis=1), matrix.sum(axis=0)
    best = int(min(leaving.min(), entering.min()))
    if len(nodes.representatives) == 1 and matrix.data.max() == 1:
        return best, THEOREM
    pairs = _joining_pairs(topology, matrix, nodes, links)
    flows = _Flows(matrix, directed=topology.directed)
    for tried, (u, v) in enumerate(pairs):
        best = min(best, flows.between(u, v, enough=best))
        if flows.work > FLOW_WORK:
            return None, f"not computed: stopped after {tried + 1:,} of {len(pairs):,} minimum cuts, the limit is {FLOW_WORK:,} channels looked at"
    return best, f"min-cut ({len(pairs):,} maximum flow{'' if len(pairs) == 1 else 's'})"


def _joining_pairs(topology: Topology, matrix: csr_array, nodes: Orbits, links: LinkOrbits | None) -> list[tuple[int, int]]:
    """Channels of breadth-first trees out of node 0 (and into it, where links have one direction), one from each orbit."""
    _, parent = breadth_first_order(matrix, 0, directed=True)
    children = np.flatnonzero(parent >= 0)
    tails, heads = parent[children], children
    if topology.directed:
        _, parent = breadth_first_order(csr_array(matrix.T), 0, directed=True)
        children = np.flatnonzero(parent >= 0)
        tails, heads = np.append(tails, children), np.append(heads, parent[children])
    if links is None:
        return list(zip(tails.tolist(), heads.tolist()))
    port = (links.frame[tails] == heads[:, None]).argmax(axis=1)
    _, first = np.unique(links.label[nodes.member[tails], port], return_index=True)
    return list(zip(tails[first].tolist(), heads[first].tolist()))


class _Flows:
    """Maximum flows between near nodes, found in a ball around them where that is enough."""

    def __init__(self, matrix: csr_array, *, directed: bool) -> None:
        self.matrix, self.work = matrix, 0
        self.near = csr_array(matrix + matrix.T) if directed else matrix
        self.place = np.full(matrix.shape[0], -1, np.int32)  # a node's number within the ball

    def between(self, u: int, v: int, *, enough: int) -> int:
        """min(enough, λ(u, v)): a ball's flow is a lower bound of the network's, so the ball grows only until it suffices."""
        size, wanted = len(self.place), SMALLEST_BALL
        ball = frontier = np.array([u, v])
        self.place[ball] = 0, 1
        while True:
            while len(ball) < min(wanted, size):
                frontier = np.unique(_rows(self.near, frontier)[0])
                frontier = frontier[self.place[frontier] < 0]
                self.place[frontier] = np.arange(len(ball), len(ball) + len(frontier))
                ball = np.concatenate([ball, frontier])
            flow = self._inside(ball)
            if flow >= enough or len(ball) == size:
                self.place[ball] = -1
                return min(enough, flow)
            wanted = 4 * len(ball)

    def _inside(self, ball: np.ndarray) -> int:
        """Maximum flow from the ball's first node to its second, over channels within the ball."""
        import igraph

        heads, capacity, lengths = _rows(self.matrix, ball)
        tails, heads = np.repeat(np.arange(len(ball)), lengths), self.place[heads]
        kept = heads >= 0
        self.work += len(tails) + FLOW_OVERHEAD
        graph = igraph.Graph(len(ball), np.column_stack([tails[kept], heads[kept]]), directed=True)
        return int(graph.maxflow_value(0, 1, capacity[kept].tolist()))


def _rows(matrix: csr_array, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(columns, values, entries a row) of some rows."""
    first = matrix.indptr[rows].astype(np.int64)
    lengths = matrix.indptr[rows + 1] - first
    entries = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    return matrix.indices[entries], matrix.data[entries], lengths
