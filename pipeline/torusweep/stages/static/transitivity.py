"""Whether all nodes, and all links, are alike: true and false each with a proof, or null.

Kwai & Parhami 1998 (Theorem 2) and Parhami & Kwai 2004 (sec. 3.E) claim that pruned tori are
edge-transitive; they are not, so nothing here rests on a paper's word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from torusweep.networks.links import LinkOrbits, link_orbits, strengths
from torusweep.networks.symmetry import Orbits, is_automorphism, orbits_under
from torusweep.networks.topology import NO_PORT, Topology

GROUP_NODES = 4096  # nodes up to which the whole automorphism group is computed
GROUP_CELLS = 1 << 26  # and ports² × nodes
SEARCH_WORK = 1 << 25  # ports that all breadth-first searches for invariants together may look at,
LEVEL_WORK = 1 << 11  # a level counting as so many
SEVERAL = 8  # nodes, searched last, whose searches are kept: links of one node often follow one another

DECLARED = "one orbit of the declared automorphisms, each checked"


class Transitivity(NamedTuple):
    """vertex, edge: True or False where proved, else None; method: what proved them.

    nodes, links   orbits under the largest group of automorphisms that was proved (the declared one,
                   or the whole group). Automorphisms here map channels onto channels of the same
                   capacity; whether they map terminals onto terminals is not asked.
    """

    vertex: bool | None
    edge: bool | None
    method: str
    nodes: Orbits
    links: LinkOrbits


def decide_transitivity(topology: Topology, matrix: csr_array, images: Sequence[np.ndarray]) -> Transitivity:
    """Decide vertex- and edge-transitivity (arc-transitivity, where links have one direction).

    matrix   channels, int64[N, N] (links.channel_matrix)
    images   generators, int32[N] each, of a group of automorphisms, proved (symmetry.proved_symmetries)
    True: the group has one orbit. False: an invariant of automorphisms differs between two orbits, or
    the whole automorphism group (BLISS, in small networks) has several.
    """
    nodes = orbits_under(topology.nodes, images)
    links = link_orbits(topology, images, nodes)
    vertex, why_vertex = (True, DECLARED) if len(nodes.representatives) == 1 else _unlike_nodes(topology, matrix, nodes)
    edge, why_edge = (
        (True, DECLARED if links.number else "no links")
        if links.number <= 1
        else _unlike_links(topology, matrix, nodes, links)
    )
    if vertex is None or edge is None:
        whole = whole_group(topology, matrix)
        if whole is None:
            undecided = f"not decided: no invariant found that differs, and the automorphism group is computed up to {GROUP_NODES} nodes only"
            why_vertex, why_edge = (
                (undecided if vertex is None else why_vertex),
                (undecided if edge is None else why_edge),
            )
        else:
            nodes = orbits_under(topology.nodes, whole)
            links = link_orbits(topology, whole, nodes)
            if vertex is None:
                vertex, why_vertex = len(nodes.representatives) == 1, _orbits_of_group(len(nodes.representatives))
            if edge is None:
                edge, why_edge = links.number <= 1, _orbits_of_group(links.number)
    return Transitivity(vertex, edge, f"nodes: {why_vertex}; links: {why_edge}", nodes, links)


def _orbits_of_group(count: int) -> str:
    return f"{count} orbit{'' if count == 1 else 's'} of the whole automorphism group (BLISS)"


def whole_group(topology: Topology, matrix: csr_array) -> list[np.ndarray] | None:
    """Generators, int32[N] each, of the whole automorphism group, by BLISS; None where the network is too large.

    Capacities above 1 become colours: each channel (each link, where it has two directions) is
    subdivided by a node of the colour of its capacity.
    """
    import igraph

    n = topology.nodes
    if n > GROUP_NODES or topology.ports.shape[1] * topology.ports.size > GROUP_CELLS:
        return None
    channels = matrix.tocoo()
    kept = slice(None) if topology.directed else channels.row < channels.col
    tail, head, capacity = channels.row[kept], channels.col[kept], channels.data[kept]
    colour = np.zeros(n, np.int64)
    if capacity.max(initial=1) > 1:
        middle = n + np.arange(len(tail))
        tail, head = np.append(tail, middle), np.append(middle, head)
        colour = np.append(colour, capacity)
    graph = igraph.Graph(len(colour), np.column_stack([tail, head]), directed=topology.directed)
    images = [np.array(image[:n], np.int32) for image in graph.automorphism_group(color=colour.tolist())]
    bare = replace(topology, terminals=np.arange(n, dtype=np.int32))
    assert all(is_automorphism(bare, image) for image in images), (
        f"{topology.spelling}: BLISS gave a permutation that is no automorphism"
    )
    return images


def shortest_paths_from(topology: Topology, node: int) -> tuple[np.ndarray, np.ndarray]:
    """(int64[N], uint64[N]): hops to every node, -1 where there is no path, and the number of shortest paths modulo 2⁶⁴."""
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


def _unlike_nodes(topology: Topology, matrix: csr_array, nodes: Orbits) -> tuple[bool | None, str]:
    degrees = np.column_stack(strengths(matrix))[nodes.representatives]
    if (degrees != degrees[0]).any():
        return False, "degrees differ"

    def levels(node: int) -> bytes:
        """How many nodes lie at each distance, by how many shortest paths."""
        return _census(*shortest_paths_from(topology, node))

    return _first_difference(
        levels, nodes.representatives.tolist(), _search_work(topology), "distances and numbers of shortest paths differ"
    )


def _unlike_links(topology: Topology, matrix: csr_array, nodes: Orbits, links: LinkOrbits) -> tuple[bool | None, str]:
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
        return False, "degrees of their ends differ"
    capacity = matrix[tail, head]
    if (capacity != capacity[0]).any():
        return False, "capacities differ"

    paths_from = lru_cache(SEVERAL)(partial(shortest_paths_from, topology))

    def joint_levels(link: tuple[int, int]) -> bytes:
        """The same, jointly from the link's two ends; either comes first where the link has no direction."""
        here, there = (paths_from(end) for end in link)
        forth = _census(*here, *there)
        return forth if topology.directed else min(forth, _census(*there, *here))

    difference = "distances and numbers of shortest paths from their two ends differ"
    return _first_difference(
        joint_levels, list(zip(tail.tolist(), head.tolist())), 2 * _search_work(topology), difference
    )


def _search_work(topology: Topology) -> int:
    return topology.nodes + topology.ports.size + LEVEL_WORK * int(shortest_paths_from(topology, 0)[0].max())


def _census(*properties: np.ndarray) -> bytes:
    """How many nodes have each combination of properties: equal for two nodes (links) that an automorphism exchanges."""
    table = np.column_stack([column.astype(np.uint64) for column in properties])
    kinds, number = np.unique(table, axis=0, return_counts=True)
    return kinds.tobytes() + number.tobytes()


def _first_difference(
    invariant: Callable[[Any], bytes], items: Sequence[Any], work: int, difference: str
) -> tuple[bool | None, str]:
    """False where the invariant of some item differs from the first one's; the items searched are limited by their work."""
    first = invariant(items[0])
    if any(invariant(item) != first for item in items[1 : max(2, SEARCH_WORK // work)]):
        return False, difference
    return None, ""
