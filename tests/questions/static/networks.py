"""Networks for the tests of static properties, built from plain lists of links, and plain oracles."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
from torusweep.networks.realisation import realise
from torusweep.networks.topology import Plan, Topology, Wiring


def network(nodes, links, *, directed=False, terminals=None):
    """A Topology from links (u, v) or (u, v, capacity); no symmetry is declared."""
    heads = [[] for _ in range(nodes)]
    for u, v, *capacity in links:
        heads[u].append((v, *(capacity or [1])))
        if not directed:
            heads[v].append((u, *(capacity or [1])))
    width = max(map(len, heads), default=0)
    ports, capacity = np.full((nodes, width), -1, np.int32), np.zeros((nodes, width), np.int32)
    for node, row in enumerate(heads):
        for port, (head, size) in enumerate(row):
            ports[node, port], capacity[node, port] = head, size
    wiring = Wiring(
        ports,
        np.zeros(ports.shape, np.int8),
        capacity if (capacity > 1).any() else None,
        None if terminals is None else np.array(terminals, np.int32),
    )
    return realise("test()", "test", Plan(nodes, width, (nodes,), lambda: wiring, directed=directed), 1 << 30)


def random_network(nodes, degree, seed, *, directed=False, capacities=False):
    """A random simple network with the given mean degree; possibly disconnected."""
    random = np.random.default_rng(seed)
    pairs = [(u, v) for u in range(nodes) for v in range(nodes) if (u != v if directed else u < v)]
    chosen = random.permutation(len(pairs))[: nodes * degree // (1 if directed else 2)]
    return network(
        nodes, [(*pairs[i], *([int(random.integers(1, 5))] if capacities else [])) for i in chosen], directed=directed
    )


def as_networkx(topology: Topology):
    """The same network in networkx, capacities as the attribute `capacity`."""
    graph = nx.DiGraph() if topology.directed else nx.Graph()
    graph.add_nodes_from(range(topology.nodes))
    tail, head, port = topology.arcs
    size = np.ones(len(tail), int) if topology.capacity is None else topology.capacity[tail, port]
    graph.add_edges_from((u, v, {"capacity": c}) for u, v, c in zip(tail.tolist(), head.tolist(), size.tolist()))
    return graph


def exact_bisection(topology: Topology) -> int:
    """The least cut over all sets of ⌊N/2⌋ nodes."""
    arcs = [(u, v, data["capacity"]) for u, v, data in as_networkx(topology).to_directed().edges(data=True)]
    best = None
    for half in combinations(range(topology.nodes), topology.nodes // 2):
        side = set(half)
        out = sum(c for u, v, c in arcs if u in side and v not in side)
        back = sum(c for u, v, c in arcs if u not in side and v in side)
        best = min(out, back) if best is None else min(best, out, back)
    return best
