"""Components, edge connectivity (the least number of links whose failure disconnects the network), and transitivity.

Vertex- and edge-transitivity are each true or false with a proof, or null.

Kwai & Parhami 1998 (Theorem 2) and Parhami & Kwai 2004 (sec. 3.E) claim that pruned tori are
edge-transitive. They are not. For this reason the module relies on no paper's claim of transitivity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy
from torusweep_kernels.cuts import Channels, both_ways, dominating_set, least_cut, spanning_tree

from torusweep.networks.ends import parts, split
from torusweep.networks.links import (
    LinkOrbits,
    Rows,
    kind_matrix,
    link_orbits,
    rows_of,
    strengths,
    with_reverse_channels,
)
from torusweep.networks.symmetry import Orbits, is_automorphism, orbits_under
from torusweep.networks.topology import NO_PORT, Topology

SINGLE_NODE = "a single node"
NOT_CONNECTED = "not connected"
SINGLE_LINK = "a node with a single link"
MIN_CUT = "min-cut"
THEOREM = "theorem (vertex-transitive: the degree)"
FLOW_LOOKS = 5_000_000_000  # channels that all maximum flows together may visit: about twenty seconds
DOMINATING_SHARE = 10  # a dominating set has at least about a tenth of the nodes: with fewer pairs it does not help
GROUP_NODES = 4096  # largest number of nodes for which the whole automorphism group is computed
GROUP_CELLS = 1 << 26  # largest ports² × nodes for which the whole automorphism group is computed
SEARCH_WORK = 1 << 25  # ports that all breadth-first searches for invariants together may visit
LEVEL_WORK = 1 << 11  # work of a level of a search, in ports
CACHED_SEARCHES = 8  # searches kept for reuse: links of one node often follow one another
DEGREES, DEGREES_OF_ENDS = "degrees differ", "degrees of their ends differ"
ALIKE = "all {} are equivalent (symmetry verified)"


def components(topology: Topology, matrix: scipy.sparse.csr_array) -> int:
    """Return the number of components; in a directed network, of strongly connected components."""
    if topology.ends is not None:
        return parts(topology)
    return int(
        scipy.sparse.csgraph.connected_components(
            matrix, directed=topology.directed, connection="strong", return_labels=False
        )
    )


def edge_connectivity(
    topology: Topology, matrix: scipy.sparse.csr_array, nodes: Orbits, links: LinkOrbits | None, *, connected: bool
) -> tuple[int | None, str]:
    """Return (least number of links whose removal disconnects the network, method); (None, reason) if not computed.

    matrix      channels, int64[N, N] (links.channel_matrix)
    nodes, links  orbits under proved automorphisms; links None: every link is an orbit of its own

    The edge connectivity of a connected vertex-transitive graph without parallel links is its degree (Mader 1971;
    digraphs: Hamidoune 1981); with parallel links it may be less. For other networks it is the minimum of λ(u, v)
    over a set of node pairs that joins all nodes (in both directions, if directed), because every cut separates
    at least one pair of this set. The pairs are the channels of a breadth-first tree, one for each orbit. With few
    symmetries and no parallel links, pairs that join a dominating set suffice (`_dominating_pairs`).
    """
    if topology.nodes == 1:
        return 0, SINGLE_NODE
    if not connected:
        return 0, NOT_CONNECTED
    if topology.ends is not None:
        return _between_hosts(topology)
    best = int(min(many.min() for many in (strengths(matrix) if topology.directed else (topology.degrees,))))
    simple = matrix.data.max() == 1
    if len(nodes.representatives) == 1 and simple:
        return best, THEOREM
    if best == 1:
        return 1, SINGLE_LINK
    out = rows_of(matrix)
    into = rows_of(scipy.sparse.csr_array(matrix.T)) if topology.directed else out
    pairs = _joining_pairs(out, into, nodes, links)
    if simple and len(pairs[0]) * DOMINATING_SHARE > topology.nodes:
        pairs = min(pairs, _dominating_pairs(out, into), key=lambda found: len(found[0]))
    tails, heads = pairs
    if not len(tails):
        return best, "theorem (one node next to all others: the least degree)"
    channels = both_ways(*with_reverse_channels(matrix) if topology.directed else (*out, matrix.data))
    return _cut_of_pairs(channels, (tails, heads), best)


def _cut_of_pairs(channels: Channels, pairs: Pairs, best: int) -> tuple[int | None, str]:
    """Return the least cut that separates the nodes of a pair, and its method. The cut is at most `best`."""
    cut = least_cut(channels, *pairs, enough=best, looks=FLOW_LOOKS)
    if cut.pairs < len(pairs[0]):
        reason = f"stopped after {cut.pairs:,} of {len(pairs[0]):,} minimum cuts"
        return None, f"not computed: {reason}, the limit is {FLOW_LOOKS:,} channels looked at"
    return cut.links, MIN_CUT


def _between_hosts(topology: Topology) -> tuple[int | None, str]:
    """Return the edge connectivity between hosts that forward nothing, from cuts between all pairs of terminals.

    No cut counts a physical link twice: both its directions cannot leave the same set of the split network's nodes.
    Hosts with the same links are alike. One pair for each two kinds of hosts, and one within each kind, suffice.
    """
    parted, (tail, head, port) = split(topology), topology.arcs
    links = (
        np.ones(len(tail), np.int64) if topology.capacity is None else topology.capacity[tail, port].astype(np.int64)
    )
    ends = tail, parted.arrive[head]
    matrix = scipy.sparse.csr_array(scipy.sparse.coo_array((links, ends), shape=(parted.nodes,) * 2))
    hosts = np.unique(topology.terminals)
    best = int(min(many.min() for many in (strengths(matrix)[0][hosts], strengths(matrix)[1][parted.arrive[hosts]])))
    if best == 1:
        return 1, SINGLE_LINK
    kinds: dict[tuple[bytes, ...], list[int]] = {}
    into = scipy.sparse.csr_array(matrix.T)
    for ways in (matrix, into):
        ways.sort_indices()
    for host, there in zip(hosts.tolist(), parted.arrive[hosts].tolist()):
        rows = matrix[[host]], into[[there]]
        kinds.setdefault(tuple(part.tobytes() for row in rows for part in (row.indices, row.data)), []).append(host)
    some = [host for alike in kinds.values() for host in alike[:2]]
    kind = [number for number, alike in enumerate(kinds.values()) for _ in alike[:2]]
    first = [place == 0 or kind[place] != kind[place - 1] for place in range(len(some))]
    one, other = np.nonzero(~np.eye(len(some), dtype=bool))
    wanted = np.array(first)[one] & (np.array(first)[other] | (np.array(kind)[one] == np.array(kind)[other]))
    if not topology.directed:
        wanted &= one < other
    tails, heads = np.array(some)[one[wanted]], parted.arrive[np.array(some)[other[wanted]]]
    return _cut_of_pairs(both_ways(*with_reverse_channels(matrix)), (tails, heads), best)


Pairs = tuple[np.ndarray, np.ndarray]  # (tails, heads)


def _joining_pairs(out: Rows, into: Rows, nodes: Orbits, links: LinkOrbits | None) -> Pairs:
    """Return channels, one of each orbit, of a breadth-first tree from node 0; if directed, also of a tree into it."""
    tails, heads = _tree(out, into, np.arange(len(nodes.member), dtype=np.int32), len(nodes.member))
    if links is None:
        if into is not out:  # a channel may be in both trees
            _, first = np.unique(tails * len(nodes.member) + heads, return_index=True)
            tails, heads = tails[first], heads[first]
        return tails, heads
    port = (links.frame[tails] == heads[:, None]).argmax(axis=1)
    _, first = np.unique(links.label[nodes.member[tails], port], return_index=True)
    return tails[first], heads[first]


def _dominating_pairs(out: Rows, into: Rows) -> Pairs:
    """Return pairs that join a dominating set (if directed, a set that dominates in both directions).

    Without parallel links, a cut of fewer links than the least degree δ has more than δ nodes on either side:
    |S| ≤ δ nodes have at least |S|(δ − |S| + 1) ≥ δ links to other nodes. So either side has a node without a link
    across, whose dominators lie on the same side. The dominating set thus has members on both sides (Matula 1987).
    """
    members, cluster = dominating_set(*out, *into)
    tails, heads = _tree(out, into, cluster, len(members))
    return members[tails], members[heads]


def _tree(out: Rows, into: Rows, cluster: np.ndarray, clusters: int) -> Pairs:
    """Return (tails, heads) of a breadth-first tree out of the first cluster; if directed, also of a tree into it."""
    parent = spanning_tree(*out, cluster, clusters)
    children = np.flatnonzero(parent >= 0)
    tails, heads = parent[children], children
    if into is not out:
        parent = spanning_tree(*into, cluster, clusters)
        children = np.flatnonzero(parent >= 0)
        tails, heads = np.append(tails, children), np.append(heads, parent[children])
    return tails, heads


class Transitivity(NamedTuple):
    """Whether a network is vertex- and edge-transitive, as far as proved.

    vertex, edge   True or False if proved, otherwise None
    method         methods of both proofs
    nodes, links   orbits under the largest proved group of automorphisms (the declared one or the whole group).
                   These automorphisms keep the kinds of channels, but not necessarily the terminals.
    """

    vertex: bool | None
    edge: bool | None
    method: str
    nodes: Orbits
    links: LinkOrbits


def decide_transitivity(
    topology: Topology, matrix: scipy.sparse.csr_array, images: Sequence[np.ndarray]
) -> Transitivity:
    """Decide vertex- and edge-transitivity (arc-transitivity in a directed network).

    matrix   channels, int64[N, N] (links.channel_matrix)
    images   generators, int32[N] each, of a proved group of automorphisms (symmetry.proved_symmetries)

    The answer is True if the group has one orbit. It is False if an invariant differs between two orbits, or if the
    whole automorphism group (found by BLISS, in small networks) has several orbits.
    """
    nodes = orbits_under(topology.nodes, images)
    links = link_orbits(topology, images, nodes)
    vertex: bool | None = True
    edge: bool | None = True
    vertex_method, edge_method = ALIKE.format("nodes"), ALIKE.format("links") if links.number else "no links"
    if len(nodes.representatives) > 1:
        vertex, vertex_method = _compare_nodes(topology, matrix, nodes)
    if links.number > 1:
        edge, edge_method = _compare_links(topology, matrix, nodes, links)
    if vertex is None or edge is None:
        whole = whole_group(topology)
        if whole is None:
            limit = f"the automorphism group is computed up to {GROUP_NODES} nodes only"
            undecided = f"not decided: no invariant found that differs, and {limit}"
            vertex_method = undecided if vertex is None else vertex_method
            edge_method = undecided if edge is None else edge_method
        else:
            nodes = orbits_under(topology.nodes, whole)
            links = link_orbits(topology, whole, nodes)
            if vertex is None:
                vertex, vertex_method = len(nodes.representatives) == 1, _orbits_of_group(len(nodes.representatives))
            if edge is None:
                edge, edge_method = links.number <= 1, _orbits_of_group(links.number)
    return Transitivity(vertex, edge, of_both(vertex_method, edge_method), nodes, links)


def of_both(vertex: str, edge: str) -> str:
    """Describe the methods of both proofs in words."""
    return f"nodes: {vertex}; links: {edge}"


def _orbits_of_group(count: int) -> str:
    return f"{count} orbit{'' if count == 1 else 's'} of the whole automorphism group (BLISS)"


def whole_group(topology: Topology) -> list[np.ndarray] | None:
    """Return generators, int32[N] each, of the whole automorphism group, by BLISS; None if the network is too large.

    If channels have several kinds (`Topology.kinds`), a node in the kind's colour subdivides each channel (each link,
    if bidirectional). Hosts that forward nothing have a colour of their own.
    """
    n = topology.nodes
    if n > GROUP_NODES or topology.ports.shape[1] * topology.ports.size > GROUP_CELLS:
        return None
    import igraph  # takes long to import

    channels = kind_matrix(topology).tocoo()
    once = slice(None) if topology.directed else channels.row < channels.col
    tail, head, kind = channels.row[once], channels.col[once], channels.data[once]
    colour = np.zeros(n, np.int64) if topology.ends is None else -topology.ends.astype(np.int64)
    if kind.max(initial=1) > 1:
        middle = n + np.arange(len(tail))
        tail, head = np.append(tail, middle), np.append(middle, head)
        colour = np.append(colour, kind)
    graph = igraph.Graph(len(colour), np.column_stack([tail, head]), directed=topology.directed)
    images = [np.array(image[:n], np.int32) for image in graph.automorphism_group(color=colour.tolist())]
    bare = replace(topology, terminals=np.arange(n, dtype=np.int32))
    assert all(is_automorphism(bare, image) for image in images), (
        f"{topology.spelling}: BLISS gave a permutation that is no automorphism"
    )
    return images


def shortest_paths_from(topology: Topology, node: int) -> tuple[np.ndarray, np.ndarray]:
    """Return hops to every node, int64[N] with −1 for no path, and numbers of shortest paths modulo 2⁶⁴, uint64[N]."""
    hops, paths = np.full(topology.nodes, -1, np.int64), np.zeros(topology.nodes, np.uint64)
    hops[node], paths[node] = 0, 1
    frontier = np.array([node])
    while len(frontier):
        tail, port = np.nonzero(topology.ports[frontier] != NO_PORT)
        tail = frontier[tail]
        head = topology.ports[tail, port]
        fresh = hops[head] < 0
        tail, head = tail[fresh], head[fresh]
        np.add.at(paths, head, paths[tail])
        hops[head] = hops[tail] + 1
        frontier = np.unique(head)
    return hops, paths


def _compare_nodes(topology: Topology, matrix: scipy.sparse.csr_array, nodes: Orbits) -> tuple[bool | None, str]:
    degrees = np.column_stack(strengths(matrix))[nodes.representatives]
    if (degrees != degrees[0]).any():
        return False, DEGREES
    if topology.ends is not None and len(np.unique(topology.ends[nodes.representatives])) > 1:
        return False, "hosts forward nothing, other nodes do"

    def levels(node: int) -> bytes:
        """Count the nodes at each distance with each number of shortest paths."""
        return _census(*shortest_paths_from(topology, node))

    return _first_difference(
        levels, nodes.representatives.tolist(), _search_work(topology), "distances and numbers of shortest paths differ"
    )


def _compare_links(
    topology: Topology, matrix: scipy.sparse.csr_array, nodes: Orbits, links: LinkOrbits
) -> tuple[bool | None, str]:
    _, first = np.unique(links.label, return_index=True)
    first = first[links.label.ravel()[first] != NO_PORT]
    orbit, port = np.unravel_index(first, links.label.shape)
    tail = nodes.representatives[orbit]
    head = links.frame[tail, port]
    leaving, entering = strengths(matrix)
    ends = np.column_stack([leaving[tail], entering[tail], leaving[head], entering[head]])
    if not topology.directed:
        ends = np.sort(ends[:, [0, 2]], axis=1)
    if (ends != ends[0]).any():
        return False, DEGREES_OF_ENDS
    capacity = matrix[tail, head]
    if (capacity != capacity[0]).any():
        return False, "capacities differ"
    kind = kind_matrix(topology)[tail, head]
    if (kind != kind[0]).any():
        return False, "bandwidths or latencies differ"

    paths_from = lru_cache(CACHED_SEARCHES)(partial(shortest_paths_from, topology))

    def joint_levels(link: tuple[int, int]) -> bytes:
        """Count the nodes by distances and paths from a link's ends, whose order matters only in a directed network."""
        one, other = (paths_from(end) for end in link)
        census = _census(*one, *other)
        return census if topology.directed else min(census, _census(*other, *one))

    difference = "distances and numbers of shortest paths from their two ends differ"
    return _first_difference(
        joint_levels, list(zip(tail.tolist(), head.tolist())), 2 * _search_work(topology), difference
    )


def _search_work(topology: Topology) -> int:
    return topology.nodes + topology.ports.size + LEVEL_WORK * int(shortest_paths_from(topology, 0)[0].max())


def _census(*properties: np.ndarray) -> bytes:
    """Count the nodes with each combination of properties; the counts are invariant under automorphisms."""
    table = np.column_stack([column.astype(np.uint64) for column in properties])
    kinds, number = np.unique(table, axis=0, return_counts=True)
    return kinds.tobytes() + number.tobytes()


def _first_difference(
    invariant: Callable[[Any], bytes], items: Sequence[Any], work: int, difference: str
) -> tuple[bool | None, str]:
    """Return (False, difference) if an item's invariant differs from the first's, else (None, ""). work: per item."""
    first = invariant(items[0])
    if any(invariant(item) != first for item in items[1 : max(2, SEARCH_WORK // work)]):
        return False, difference
    return None, ""
