"""How many links must fail before the network falls apart: components and edge connectivity."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from torusweep_kernels.cuts import both_ways, dominating, least_cut, spanning

from torusweep.networks.links import LinkOrbits, strengths
from torusweep.networks.symmetry import Orbits
from torusweep.networks.topology import Topology

THEOREM = "theorem (vertex-transitive: the degree)"
FLOW_LOOKS = 5_000_000_000  # channels that all maximum flows together may look at: some twenty seconds
MANY_PAIRS = (
    10  # a dominating set has about a tenth of the nodes, or more: it is not looked for where there are fewer pairs
)


def components(topology: Topology, matrix: csr_array) -> int:
    """Components of the network; strongly connected ones in a directed network."""
    return int(connected_components(matrix, directed=topology.directed, connection="strong", return_labels=False))


def edge_connectivity(
    topology: Topology, matrix: csr_array, nodes: Orbits, links: LinkOrbits, *, connected: bool
) -> tuple[int | None, str]:
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
    out = _rows(matrix)
    into = _rows(csr_array(matrix.T)) if topology.directed else out
    pairs = _joining_pairs(out, into, nodes, links)
    if simple and len(pairs[0]) * MANY_PAIRS > topology.nodes:
        pairs = min(pairs, _dominating_pairs(out, into), key=lambda found: len(found[0]))
    tails, heads = pairs
    if not len(tails):
        return best, "theorem (one node next to all others: the least degree)"
    channels = both_ways(*_with_ways_back(matrix) if topology.directed else (*out, matrix.data))
    cut = least_cut(channels, tails, heads, enough=best, looks=FLOW_LOOKS)
    if cut.pairs < len(tails):
        return (
            None,
            f"not computed: stopped after {cut.pairs:,} of {len(tails):,} minimum cuts, the limit is {FLOW_LOOKS:,} channels looked at",
        )
    return cut.links, f"min-cut ({len(tails):,} maximum flow{'' if len(tails) == 1 else 's'})"


Rows = tuple[
    np.ndarray, np.ndarray
]  # (int64[N + 1], int32[E]): where the channels of a node begin, and the nodes at their other ends
Pairs = tuple[np.ndarray, np.ndarray]  # (tails, heads)


def _joining_pairs(out: Rows, into: Rows, nodes: Orbits, links: LinkOrbits) -> Pairs:
    """Channels of breadth-first trees out of node 0 (and into it, where links have one direction), one from each orbit."""
    tails, heads = _tree(out, into, np.arange(len(nodes.member), dtype=np.int32), len(nodes.member))
    port = (links.frame[tails] == heads[:, None]).argmax(axis=1)
    _, first = np.unique(links.label[nodes.member[tails], port], return_index=True)
    return tails[first], heads[first]


def _dominating_pairs(out: Rows, into: Rows) -> Pairs:
    """Pairs that join a set of nodes of which every node, or one it leads to and one that leads to it, is a member.

    Without parallel links, a cut of fewer links than the least degree δ has more than δ nodes on
    either side (|S| ≤ δ nodes send at least |S|(δ − |S| + 1) ≥ δ links out), so one of them has no
    link across; its dominators lie on its side, and the set on both (Matula 1987).
    """
    members, cluster = dominating(*out, *into)
    tails, heads = _tree(out, into, cluster, len(members))
    return members[tails], members[heads]


def _tree(out: Rows, into: Rows, cluster: np.ndarray, clusters: int) -> Pairs:
    """(tails, heads) of a breadth-first tree of clusters out of the first, and of one into it where links have one direction."""
    parent = spanning(*out, cluster, clusters)
    children = np.flatnonzero(parent >= 0)
    tails, heads = parent[children], children
    if into is not out:
        parent = spanning(*into, cluster, clusters)
        children = np.flatnonzero(parent >= 0)
        tails, heads = np.append(tails, children), np.append(heads, parent[children])
    return tails, heads


def _with_ways_back(matrix: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(first, to, capacity) of the channels and their ways back, which have no links where there is none."""
    channels = matrix.tocoo()
    ends = np.append(channels.row, channels.col), np.append(channels.col, channels.row)
    both = csr_array(coo_array((np.append(channels.data, np.zeros_like(channels.data)), ends), shape=matrix.shape))
    return *_rows(both), both.data


def _rows(matrix: csr_array) -> Rows:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
