"""How many links must fail before the network falls apart: components and edge connectivity."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow

from pipeline.static.links import LinkOrbits, strengths
from pipeline.symmetry import Orbits
from pipeline.topology import Topology

THEOREM = "theorem (vertex-transitive: the degree)"
FLOW_WORK = 200_000_000  # channels that all maximum flows together may look at, about: half a minute
FLOW_OVERHEAD = 2_000  # what a flow costs besides its channels, in the same unit
SMALLEST_BALL = 32  # nodes
MOST_SHELLS = 64
MANY_PAIRS = 10  # a dominating set has about a tenth of the nodes, or more: it is not looked for where there are fewer pairs


def components(topology: Topology, matrix: csr_array) -> int:
    """Components of the network; strongly connected ones in a directed network."""
    return int(connected_components(matrix, directed=topology.directed, connection="strong", return_labels=False))


def edge_connectivity(topology: Topology, matrix: csr_array, nodes: Orbits, links: LinkOrbits, *, connected: bool) -> tuple[int | None, str]:
    """(fewest links whose removal disconnects the network, how it is known); (None, why) where it was not computed.

    matrix      channels, int64[N, N] (links.channel_matrix)
    nodes, links  orbits under proved automorphisms

    A connected vertex-transitive graph without parallel links has edge connectivity equal to its
    degree (Mader 1971; digraphs: Hamidoune 1981); with parallel links it may have less. Elsewhere the
    connectivity is the least λ(u, v) over any set of node pairs that joins all nodes (both ways, in a
    directed network), because some pair of it lies across every cut: the channels of a breadth-first
    tree, and of these one from each orbit. Where there are few symmetries and no parallel links, it is
    enough to join a dominating set (`_dominating_pairs`).
    """
    if topology.nodes == 1:
        return 0, "a single node"
    if not connected:
        return 0, "not connected"
    best = int(min(of_nodes.min() for of_nodes in strengths(matrix)))
    simple = matrix.data.max() == 1
    if len(nodes.representatives) == 1 and simple:
        return best, THEOREM
    if best == 1:
        return 1, "a node with a single link"
    pairs = _joining_pairs(topology, matrix, nodes, links)
    if simple and len(pairs) * MANY_PAIRS > topology.nodes:
        pairs = min(pairs, _dominating_pairs(topology, matrix), key=len)
    if not pairs:
        return best, "theorem (one node next to all others: the least degree)"
    flows = _Flows(matrix, directed=topology.directed)
    for tried, (u, v) in enumerate(pairs):
        best = min(best, flows.between(u, v, enough=best))
        if flows.work > FLOW_WORK:
            return None, f"not computed: stopped after {tried + 1:,} of {len(pairs):,} minimum cuts, the limit is {FLOW_WORK:,} channels looked at"
    return best, f"min-cut ({len(pairs):,} maximum flow{'' if len(pairs) == 1 else 's'})"


Pairs = list[tuple[int, int]]


def _joining_pairs(topology: Topology, matrix: csr_array, nodes: Orbits, links: LinkOrbits) -> Pairs:
    """Channels of breadth-first trees out of node 0 (and into it, where links have one direction), one from each orbit."""
    tails, heads = _tree(matrix, directed=topology.directed)
    port = (links.frame[tails] == heads[:, None]).argmax(axis=1)
    _, first = np.unique(links.label[nodes.member[tails], port], return_index=True)
    return list(zip(tails[first].tolist(), heads[first].tolist()))


def _dominating_pairs(topology: Topology, matrix: csr_array) -> Pairs:
    """Pairs that join a set of nodes of which every node, or one it leads to and one that leads to it, is a member.

    Without parallel links, a cut of fewer links than the least degree δ has more than δ nodes on
    either side (|S| ≤ δ nodes send at least |S|(δ − |S| + 1) ≥ δ links out), so one of them has no
    link across; its dominators lie on its side, and the set on both (Matula 1987).
    """
    n = topology.nodes
    back = csr_array(matrix.T)
    leads, led = np.zeros(n, bool), np.zeros(n, bool)  # has a member among itself and the nodes that it leads to; … that lead to it
    cluster = np.full(n, -1)
    members: list[int] = []
    for node in range(n):
        if not (leads[node] and led[node]):
            into = back.indices[back.indptr[node] : back.indptr[node + 1]]
            out = matrix.indices[matrix.indptr[node] : matrix.indptr[node + 1]]
            leads[node] = led[node] = leads[into] = led[out] = True
            for near in (into, out):
                cluster[near[cluster[near] < 0]] = len(members)
            cluster[node] = len(members)
            members.append(node)
    grouping = csr_array((np.ones(n, np.int64), (np.arange(n), cluster)), shape=(n, len(members)))
    tails, heads = _tree(csr_array(grouping.T @ matrix @ grouping), directed=topology.directed)
    return [(members[tail], members[head]) for tail, head in zip(tails, heads)]


def _tree(matrix: csr_array, *, directed: bool) -> tuple[np.ndarray, np.ndarray]:
    """(tails, heads) of a breadth-first tree out of node 0, and of one into it where links have one direction."""
    _, parent = breadth_first_order(matrix, 0, directed=True)
    children = np.flatnonzero(parent >= 0)
    tails, heads = parent[children], children
    if directed:
        _, parent = breadth_first_order(csr_array(matrix.T), 0, directed=True)
        children = np.flatnonzero(parent >= 0)
        tails, heads = np.append(tails, children), np.append(heads, parent[children])
    return tails, heads


class _Flows:
    """Maximum flows between near nodes, found in a ball around them where that is enough."""

    def __init__(self, matrix: csr_array, *, directed: bool) -> None:
        self.channels = csr_array(matrix.astype(np.int32))
        self.near = csr_array(matrix + matrix.T) if directed else matrix
        self.place = np.full(matrix.shape[0], -1, np.int32)  # a node's number within the ball
        self.usual = SMALLEST_BALL  # nodes that sufficed last time
        self.work = 0

    def between(self, u: int, v: int, *, enough: int) -> int:
        """min(enough, λ(u, v)): a ball's flow is a lower bound of the network's, so the ball grows only until it suffices."""
        size, wanted, shells = len(self.place), max(SMALLEST_BALL, 3 * self.usual // 4), 0
        ball = shell = np.array([u, v])
        self.place[ball] = 0, 1
        while True:
            while len(ball) < min(wanted, size):
                shells += 1
                # where shells are thin a ball would take ever so many: take the whole network
                if shells > MOST_SHELLS:
                    wanted, shell = size, np.arange(size)
                else:
                    shell = np.unique(self.near[shell].indices)
                shell = shell[self.place[shell] < 0][: wanted - len(ball)]
                self.place[shell] = np.arange(len(ball), len(ball) + len(shell))
                ball = np.concatenate([ball, shell])
            flow = self._from_first_to_second(ball)
            if flow >= enough or len(ball) == size:
                self.place[ball] = -1
                self.usual = len(ball)
                return min(enough, flow)
            wanted, shell = 2 * len(ball), ball

    def _from_first_to_second(self, ball: np.ndarray) -> int:
        """Maximum flow between the ball's first two nodes over channels within it (Dinic's algorithm)."""
        rows = self.channels[ball].tocoo()
        heads = self.place[rows.col]
        inner = heads >= 0
        part = coo_array((rows.data[inner], (rows.row[inner], heads[inner])), shape=(len(ball), len(ball)))
        self.work += rows.nnz + FLOW_OVERHEAD
        return int(maximum_flow(csr_array(part), 0, 1, method="dinic").flow_value)
