"""What a network costs, written out: a loop over the edges of a networkx graph, prices typed by hand."""

from __future__ import annotations

from collections import Counter

import networkx
from torusweep.networks.topology import Topology


def graph_of(topology: Topology) -> networkx.MultiGraph | networkx.MultiDiGraph:
    """Every link as an edge; parallel links are edges, too."""
    graph = networkx.MultiDiGraph() if topology.directed else networkx.MultiGraph()
    graph.add_nodes_from(range(topology.nodes))
    for node in range(topology.nodes):
        for port, other in enumerate(topology.ports[node].tolist()):
            if other >= 0 and (topology.directed or node < other):
                parallel = 1 if topology.capacity is None else int(topology.capacity[node, port])
                kind = int(topology.link_class[node, port])
                bandwidth = float(topology.plan.bandwidths[kind]) if topology.plan.bandwidths else 1.0
                graph.add_edges_from([(node, other, {"bandwidth": bandwidth})] * parallel)
    return graph


def besta(graph, terminals: Counter, cabinet, floor) -> dict[str, float]:
    """The model 2014-besta: cabinet of each node, (x, y) of each cabinet."""
    routers = cables = metres = watts = 0.0
    electrical = optical = working = radix = every_port = 0
    for node in graph.nodes:
        links = graph.degree(node, weight="bandwidth")
        if graph.is_directed():
            links = max(graph.in_degree(node, weight="bandwidth"), graph.out_degree(node, weight="bandwidth"))
        ports = links + terminals[node]
        used = graph.degree(node) + terminals[node]
        if graph.is_directed():
            used = max(graph.in_degree(node), graph.out_degree(node)) + terminals[node]
        working, radix, every_port = working + (used > 0), max(radix, used), every_port + used
        routers += max(0, 350.4 * ports - 892.3)
        watts += 4 * 0.7 * ports
    for one, other, bandwidth in graph.edges(data="bandwidth"):
        if cabinet[one] == cabinet[other]:
            length = 2.0
        else:
            (a, b), (c, d) = floor[cabinet[one]], floor[cabinet[other]]
            length = 4 + 0.6 * abs(a - c) + 2.1 * abs(b - d)
        copper, fibre = 40 * (0.4079 * length + 0.5771), 40 * (0.0919 * length + 7.2745)
        metres += length
        cables += bandwidth * min(copper, fibre)
        electrical += copper <= fibre
        optical += copper > fibre
    return {
        "routers": working,
        "radix": radix,
        "ports": every_port,
        "router_cost": routers,
        "cable_cost": cables,
        "total_cost": routers + cables,
        "cable_metres": metres,
        "watts": watts,
        "electrical_cables": electrical,
        "optical_cables": optical,
    }
