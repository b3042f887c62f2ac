"""Routings over shortest legal paths by networkx: what is legal, and the dependency graph of all those paths."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import networkx as nx
from torusweep.routing import LayeredRouting


def layered_graph(form: LayeredRouting, legal):
    """The graph of every shortest legal path, by networkx."""
    plain = nx.DiGraph()
    moves = legal(form.topology)
    for source in set(form.topology.terminals.tolist()):
        for destination in set(form.topology.terminals.tolist()) - {source}:
            for path in all_paths(moves, source, destination):
                channels = list(pairwise(path))
                plain.add_nodes_from(channels)
                plain.add_edges_from(pairwise(channels))
    return plain


def all_paths(moves, source, destination):
    """The shortest paths, as nodes, to the destination in any state."""
    ends = [state for state in moves if state[0] == destination and nx.has_path(moves, (source, "up"), state)]
    length = {state: nx.shortest_path_length(moves, (source, "up"), state) for state in ends}
    for state in ends:
        if length[state] == min(length.values()):
            for path in nx.all_shortest_paths(moves, (source, "up"), state):
                yield [node for node, _ in path]


def all_links(topology):
    return nx.DiGraph(((int(u), "up"), (int(v), "up")) for u, v in zip(*topology.arcs[:2]))


def up_then_down(topology):
    """Levels from node 0; up is to a lower (level, number)."""
    links = nx.Graph((int(u), int(v)) for u, v in zip(*topology.arcs[:2]))
    rank = {node: (level, node) for node, level in nx.single_source_shortest_path_length(links, 0).items()}
    moves = nx.DiGraph()
    for u, v in nx.DiGraph(links).edges:
        if rank[v] < rank[u]:
            moves.add_edge((u, "up"), (v, "up"))
        else:
            moves.add_edge((u, "up"), (v, "down"))
            moves.add_edge((u, "down"), (v, "down"))
    return moves


def one_between_groups(size):
    """Links between groups of `size` nodes are taken from `up` to `down`; the others keep the label."""

    def legal(topology):
        moves = nx.DiGraph()
        for u, v in zip(*(ends.tolist() for ends in topology.arcs[:2])):
            if u // size != v // size:
                moves.add_edge((u, "up"), (v, "down"))
            else:
                moves.add_edge((u, "up"), (v, "up"))
                moves.add_edge((u, "down"), (v, "down"))
        return moves

    return legal


def first_then_others(*first):
    """`first`: (dimension, sign) of the hops that come first, labelled up as above."""

    def legal(topology):
        sides = topology.plan.radices
        moves = nx.DiGraph()
        for u, v in zip(*topology.arcs[:2]):
            address = [[int(node) // prod(sides[:i]) % side for i, side in enumerate(sides)] for node in (u, v)]
            ((dimension, sign),) = [(i, b - a) for i, (a, b) in enumerate(zip(*address)) if a != b]
            if (dimension, sign) in first:
                moves.add_edge((int(u), "up"), (int(v), "up"))
            else:
                moves.add_edge((int(u), "up"), (int(v), "down"))
                moves.add_edge((int(u), "down"), (int(v), "down"))
        return moves

    return legal


NETWORKS = [
    "torus(k=4, n=2)",
    "torus(k=3, n=2)",
    "mesh(k=3, n=2)",
    "faulty(torus(k=4, n=2), links=3, seed=2)",
    "ccc(n=3)",
    "hypercube(n=3)",
]
LAYERED = [
    *(
        ("minimal", network, all_links)
        for network in (*NETWORKS, "directed_torus(k=4, n=2)", "faulty(torus(k=4, n=2), nodes=2, seed=1)")
    ),
    ("minimal_ecmp", "torus(k=4, n=2)", all_links),
    *(("up_down", network, up_then_down) for network in NETWORKS),
    ("west_first", "mesh(k=4, n=2)", first_then_others((0, -1))),
    ("west_first", "mesh(radices=[2, 3, 3])", first_then_others((0, -1), (1, -1))),
    ("north_last", "mesh(radices=[3, 4])", first_then_others((0, -1), (0, 1), (1, -1))),
    ("negative_first", "mesh(radices=[2, 3, 3])", first_then_others((0, -1), (1, -1), (2, -1))),
    ("by_group", "dragonfly(a=3, p=1, h=1)", one_between_groups(3)),
]
