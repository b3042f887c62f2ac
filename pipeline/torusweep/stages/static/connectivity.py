"""Components and edge connectivity: the least number of links whose failure disconnects the network."""

from __future__ import annotations

import numpy as np
import scipy
from torusweep_kernels.cuts import both_ways, dominating_set, least_cut, spanning_tree

from torusweep.counts import counted
from torusweep.networks.links import LinkOrbits, Rows, rows_of, strengths, with_reverse_channels
from torusweep.networks.symmetry import Orbits
from torusweep.networks.topology import Topology

THEOREM = "theorem (vertex-transitive: the degree)"
FLOW_LOOKS = 5_000_000_000  # channels that all maximum flows together may visit: about twenty seconds
DOMINATING_SHARE = 10  # a dominating set has at least about a tenth of the nodes: with fewer pairs it does not help


def components(topology: Topology, matrix: scipy.sparse.csr_array) -> int:
    """Components of the network; strongly connected ones in a directed network."""
    return int(
        scipy.sparse.csgraph.connected_components(
            matrix, directed=topology.directed, connection="strong", return_labels=False
        )
    )


def edge_connectivity(
    topology: Topology, matrix: scipy.sparse.csr_array, nodes: Orbits, links: LinkOrbits, *, connected: bool
) -> tuple[int | None, str]:
    """(least number of links whose removal disconnects the network, method); (None, reason) if not computed.

    matrix      channels, int64[N, N] (links.channel_matrix)
    nodes, links  orbits under proved automorphisms

    The edge connectivity of a connected vertex-transitive graph without parallel links is its degree (Mader 1971;
    digraphs: Hamidoune 1981); with parallel links it may be less. For other networks it is the minimum of λ(u, v)
    over a set of node pairs that joins all nodes (in both directions, if directed), because every cut separates
    some pair of the set: the channels of a breadth-first tree, one from each orbit. With few symmetries and no
    parallel links, pairs that join a dominating set suffice (`_dominating_pairs`).
    """
    if topology.nodes == 1:
        return 0, "a single node"
    if not connected:
        return 0, "not connected"
    best = int(min(strength.min() for strength in strengths(matrix)))
    simple = matrix.data.max() == 1
    if len(nodes.representatives) == 1 and simple:
        return best, THEOREM
    if best == 1:
        return 1, "a node with a single link"
    out = rows_of(matrix)
    into = rows_of(scipy.sparse.csr_array(matrix.T)) if topology.directed else out
    pairs = _joining_pairs(out, into, nodes, links)
    if simple and len(pairs[0]) * DOMINATING_SHARE > topology.nodes:
        pairs = min(pairs, _dominating_pairs(out, into), key=lambda found: len(found[0]))
    tails, heads = pairs
    if not len(tails):
        return best, "theorem (one node next to all others: the least degree)"
    channels = both_ways(*with_reverse_channels(matrix) if topology.directed else (*out, matrix.data))
    cut = least_cut(channels, tails, heads, enough=best, looks=FLOW_LOOKS)
    if cut.pairs < len(tails):
        reason = f"stopped after {cut.pairs:,} of {len(tails):,} minimum cuts"
        return None, f"not computed: {reason}, the limit is {FLOW_LOOKS:,} channels looked at"
    return cut.links, f"min-cut ({counted(len(tails), 'maximum flow')})"


Pairs = tuple[np.ndarray, np.ndarray]  # (tails, heads)


def _joining_pairs(out: Rows, into: Rows, nodes: Orbits, links: LinkOrbits) -> Pairs:
    """Channels of a breadth-first tree out of node 0 (and of one into it, if directed), one from each orbit."""
    tails, heads = _tree(out, into, np.arange(len(nodes.member), dtype=np.int32), len(nodes.member))
    port = (links.frame[tails] == heads[:, None]).argmax(axis=1)
    _, first = np.unique(links.label[nodes.member[tails], port], return_index=True)
    return tails[first], heads[first]


def _dominating_pairs(out: Rows, into: Rows) -> Pairs:
    """Pairs that join a dominating set (if directed, one that dominates in both directions).

    Without parallel links, a cut of fewer links than the least degree δ has more than δ nodes on either side:
    |S| ≤ δ nodes have at least |S|(δ − |S| + 1) ≥ δ links to other nodes. Some node of each side therefore has no
    link across, and its dominators lie on its side; the dominating set has members on both (Matula 1987).
    """
    members, cluster = dominating_set(*out, *into)
    tails, heads = _tree(out, into, cluster, len(members))
    return members[tails], members[heads]


def _tree(out: Rows, into: Rows, cluster: np.ndarray, clusters: int) -> Pairs:
    """(tails, heads) of a breadth-first tree of clusters out of the first and, if directed, of one into it."""
    parent = spanning_tree(*out, cluster, clusters)
    children = np.flatnonzero(parent >= 0)
    tails, heads = parent[children], children
    if into is not out:
        parent = spanning_tree(*into, cluster, clusters)
        children = np.flatnonzero(parent >= 0)
        tails, heads = np.append(tails, children), np.append(heads, parent[children])
    return tails, heads
