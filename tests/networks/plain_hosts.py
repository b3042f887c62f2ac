"""Small fabrics whose hosts forward nothing, and what networkx and plain loops say of them.

A host is two nodes of the graph: `host`, which packets leave, and ("to", host), where those to it end.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import scipy
from torusweep.networks.realisation import realise
from torusweep.networks.topology import Plan, Topology, Wiring

Channel = tuple[int, int]
LATENCIES = (1, 4)


def fabric(seed: int, *, directed: bool = False) -> Topology:
    """Leaves below spines, hosts at one to three leaves, sometimes at each other. Some have pairs without a path."""
    draw = random.Random(seed)
    hosts, leaves, spines = draw.randint(4, 6), draw.randint(2, 4), draw.randint(1, 2)
    leaf, spine = range(hosts, hosts + leaves), range(hosts + leaves, hosts + leaves + spines)
    links = {(one, other) for one in leaf for other in spine if draw.random() < 0.8}
    for host in range(hosts):
        links |= {(host, other) for other in draw.sample(leaf, draw.randint(1, min(3, leaves)))}
    links |= {(0, other) for other in draw.sample(leaf, 2)}  # some host has two neighbours
    links |= {(1, 2)} if draw.random() < 0.4 else set()
    kept = sorted(links)
    arcs = [(u, v) if draw.random() < 0.5 else (v, u) for u, v in kept] if directed else []
    arcs += [(v, u) for u, v in arcs if draw.random() < 0.7] if directed else [*kept, *((v, u) for u, v in kept)]
    kinds = {frozenset(link): draw.randrange(2) for link in kept}
    terminals = [*range(hosts), *([0] if draw.random() < 0.3 else [])]
    return network(hosts + leaves + spines, sorted(arcs), kinds, terminals, directed)


def network(
    nodes: int, arcs: Sequence[Channel], kinds: dict[frozenset[int], int], terminals: list[int], directed: bool
) -> Topology:
    heads = defaultdict(list)
    for tail, head in arcs:
        heads[tail].append(head)
    width = max(map(len, heads.values()))
    ports, link_class = np.full((nodes, width), -1, np.int32), np.zeros((nodes, width), np.int8)
    for tail, there in heads.items():
        for port, head in enumerate(there):
            ports[tail, port], link_class[tail, port] = head, kinds.get(frozenset((tail, head)), 0)
    wire = partial(Wiring, ports, link_class, None, np.array(terminals, np.int32))
    classes = ("short", "long")
    plan = Plan(nodes, width, (nodes,), wire, directed, classes=classes, latencies=LATENCIES, hosts_end=True)
    return realise("fabric", "graph", plan, 1 << 30)


def apart(topology: Topology) -> nx.DiGraph:
    """The graph of packets. An arc has its channel and its latency."""
    hosts, graph = set(topology.terminals.tolist()), nx.DiGraph()
    graph.add_nodes_from([*range(topology.nodes), *(("to", host) for host in hosts)])
    for tail, head, port in zip(*(column.tolist() for column in topology.arcs)):
        latency = LATENCIES[topology.link_class[tail, port]]
        graph.add_edge(tail, to(topology, head), channel=(tail, head), latency=latency, capacity=1)
    return graph


def to(topology: Topology, node: int) -> Any:
    return ("to", node) if node in topology.terminals else node


def channels(graph: nx.DiGraph, path: Sequence[Any]) -> list[Channel]:
    return [graph.edges[arc]["channel"] for arc in pairwise(path)]


def minimal_paths(topology: Topology, source: int, destination: int) -> list[list[Channel]]:
    """The channels of all shortest paths; [] without one."""
    graph = apart(topology)
    if not nx.has_path(graph, source, to(topology, destination)):
        return []
    paths = nx.all_shortest_paths(graph, source, to(topology, destination))
    return [channels(graph, path) for path in paths]


def up_down_paths(topology: Topology, root: int, source: int, destination: int) -> list[list[Channel]]:
    """The channels of all shortest paths that go up, towards the root, before they go down; hosts are below all."""
    hosts = set(topology.terminals.tolist())
    links = nx.Graph(list(zip(*(ends.tolist() for ends in topology.arcs[:2]))))
    level = nx.single_source_shortest_path_length(links.subgraph(set(links) - hosts), root)
    moves = nx.DiGraph()
    for u, v in links.to_directed().edges:
        if (u not in hosts and u not in level) or (v not in hosts and v not in level):
            continue
        up = v not in hosts and (u in hosts or (level[v], v) < (level[u], u))
        if up:
            moves.add_edge((u, "up"), (v, "up"))
        else:
            for before in ("up",) if u in hosts else ("up", "down"):
                moves.add_edge((u, before), (v, "end" if v in hosts else "down"))
    paths = nx.all_shortest_paths(moves, (source, "up"), (destination, "end"))
    return [[(one[0], other[0]) for one, other in pairwise(path)] for path in paths]


def spans(topology: Topology, root: int) -> bool:
    """Whether a node reaches all terminals over nodes that forward."""
    graph = apart(topology)
    return all(nx.has_path(graph, root, to(topology, host)) for host in topology.terminals.tolist())


def pairs(topology: Topology) -> Iterator[tuple[int, int]]:
    """Ordered pairs of terminals at different nodes, as often as there are."""
    for source in topology.terminals.tolist():
        for destination in topology.terminals.tolist():
            if source != destination:
                yield source, destination


def by_paths(paths: list[list[Channel]]) -> dict[Channel, float]:
    """The share of each channel where all paths have equal ones."""
    share: dict[Channel, float] = defaultdict(float)
    for path in paths:
        for channel in path:
            share[channel] += 1 / len(paths)
    return share


def by_next_hops(paths: list[list[Channel]]) -> dict[Channel, float]:
    """The share of each channel where each node divides what passes it among all links on such paths."""
    share: dict[Channel, float] = defaultdict(float)
    if paths:
        level = {paths[0][0][0]: 1.0}
        for hop in range(len(paths[0])):
            onwards: dict[int, float] = defaultdict(float)
            for node, amount in level.items():
                ways = {path[hop] for path in paths if path[hop][0] == node}
                for way in ways:
                    share[way] += amount / len(ways)
                    onwards[way[1]] += amount / len(ways)
            level = onwards
    return share


def is_acyclic(paths: Iterator[list[Channel]]) -> bool:
    """Whether the dependencies of paths have no cycle."""
    return nx.is_directed_acyclic_graph(nx.DiGraph([arc for path in paths for arc in pairwise(path)]))


def throughput(arcs: list[tuple[Any, Any]], demands: dict[tuple[Any, Any], float]) -> float:
    """The greatest multiple of all demands that fits channels of one flit a cycle: flows of each pair by itself."""
    nodes = sorted({end for arc in arcs for end in arc}, key=str)
    flows, size = len(demands) * len(arcs), len(nodes)
    equal, wanted = scipy.sparse.lil_array((len(demands) * size, flows + 1)), np.zeros(len(demands) * size)
    for k, ((source, destination), demand) in enumerate(demands.items()):
        for a, (tail, head) in enumerate(arcs):
            equal[k * size + nodes.index(tail), k * len(arcs) + a] += 1
            equal[k * size + nodes.index(head), k * len(arcs) + a] -= 1
        equal[k * size + nodes.index(source), flows] = -demand
        equal[k * size + nodes.index(destination), flows] = demand
    room = scipy.sparse.hstack([*[scipy.sparse.eye_array(len(arcs))] * len(demands), np.zeros((len(arcs), 1))])
    cost = np.append(np.zeros(flows), -1.0)
    found = scipy.optimize.linprog(cost, room, np.ones(len(arcs)), equal.tocsr(), wanted)
    return float(-found.fun)
