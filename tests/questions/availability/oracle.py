"""Availability by plain loops over every combination, with networkx."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import networkx
from torusweep.networks.families import build


class After(NamedTuple):
    """What is left after some parts failed; distances are None where surviving terminals are not joined."""

    failed: tuple
    connected: bool
    largest: Fraction
    diameter: int | None
    mean: Fraction | None


def graph_of(spelling: str) -> tuple[networkx.Graph, dict[int, int]]:
    """(graph, terminals of each node) of a network without parallel links, from its ports."""
    topology = build(spelling)
    graph = networkx.DiGraph() if topology.directed else networkx.Graph()
    graph.add_nodes_from(range(topology.nodes))
    graph.add_edges_from((node, int(other)) for node, row in enumerate(topology.ports) for other in row if other >= 0)
    terminals = dict.fromkeys(range(topology.nodes), 0)
    for node in topology.terminals.tolist():
        terminals[node] += 1
    return graph, terminals


def after(graph: networkx.Graph, terminals: dict[int, int], failed: tuple) -> After:
    """What is left of a graph that has lost its failed parts."""
    all_of = sum(terminals.values())
    left = {node: terminals[node] for node in graph if terminals[node]}
    parts = (networkx.strongly_connected_components if graph.is_directed() else networkx.connected_components)(graph)
    largest = max((sum(left.get(node, 0) for node in part) for part in parts), default=0)
    connected = bool(left) and largest == sum(left.values())
    if not connected:
        return After(failed, False, Fraction(largest, all_of), None, None)
    length = dict(networkx.all_pairs_shortest_path_length(graph))
    hops = sum(left[s] * left[t] * length[s][t] for s in left for t in left)
    diameter = max(length[s][t] for s in left for t in left)
    return After(failed, True, Fraction(largest, all_of), diameter, Fraction(hops, sum(left.values()) ** 2))


def links_failed(spelling: str, count: int) -> list[After]:
    """After every combination of so many links."""
    graph, terminals = graph_of(spelling)
    found = []
    for failed in combinations(sorted(graph.edges()), count):
        less = graph.copy()
        less.remove_edges_from(failed)
        found.append(after(less, terminals, failed))
    return found


def nodes_failed(spelling: str, count: int, blocks: list[list[int]] | None = None) -> list[After]:
    """After every combination of so many nodes, or blocks of nodes."""
    graph, terminals = graph_of(spelling)
    blocks = blocks or [[node] for node in sorted(graph)]
    found = []
    for failed in combinations(range(len(blocks)), count):
        less = graph.copy()
        less.remove_nodes_from(node for block in failed for node in blocks[block])
        found.append(after(less, terminals, failed))
    return found
