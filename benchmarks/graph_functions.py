"""networkx's functions through our backend, beside networkx itself and libraries of compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import networkit
import networkx
import numpy as np
import rustworkx
from torusweep.networks.families import build

from benchmarks.networks import in_igraph, in_networkit, in_networkx, links, random_regular
from benchmarks.race import Race

SLOW, SLOWEST = 4096, 512  # nodes that take igraph, and networkx, minutes beyond
networkx.config.cache_converted_graphs = False  # a graph is converted each time, as in a program's first call


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    cases = {
        "torus 8³": build("torus(k=8, n=3)").ports,
        "random 6-regular, 4096": random_regular(4096, 6),
        "torus 35³": build("torus(k=35, n=3)").ports,
    }
    for case, ports in cases.items():
        nodes = len(ports)
        yield Race("average path", case, nodes, average_path(ports, large), float(nodes) ** 2, "pairs")
        if nodes <= SLOW:
            yield Race("edge betweenness", case, nodes, edge_betweenness(ports), float(nodes) ** 2, "pairs")


def average_path(ports: np.ndarray, large: bool) -> dict[str, Callable[[], float]]:
    """Mean distance of two nodes."""
    graph, nodes = in_networkx(ports), len(ports)
    chosen = {"torusweep, by networkx": lambda: networkx.average_shortest_path_length(graph, backend="torusweep")}
    if nodes <= SLOW or large:
        chosen["igraph"] = in_igraph(ports).average_path_length
    if nodes <= SLOW:
        rust, kit = in_rustworkx(ports), in_networkit(ports)
        chosen["rustworkx"] = lambda: rustworkx.unweighted_average_shortest_path_length(rust)
        pairs = nodes * (nodes - 1)
        chosen["networkit"] = lambda: float(np.sum(networkit.distance.APSP(kit).run().getDistances())) / pairs
    if nodes <= SLOWEST:
        chosen["networkx"] = lambda: networkx.average_shortest_path_length(graph, backend="networkx")
    return chosen


def edge_betweenness(ports: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    """The sorted shares of all links, of unordered pairs."""
    graph, other, rust, kit = in_networkx(ports), in_igraph(ports), in_rustworkx(ports), in_networkit(ports)

    def by_networkx(backend: str) -> np.ndarray:
        found = networkx.edge_betweenness_centrality(graph, normalized=False, backend=backend)
        return np.sort(np.array(list(found.values())))

    chosen = {"torusweep, by networkx": lambda: by_networkx("torusweep")}
    chosen["igraph"] = lambda: np.sort(other.edge_betweenness())
    chosen["rustworkx"] = lambda: np.sort(
        list(rustworkx.graph_edge_betweenness_centrality(rust, normalized=False).values())
    )
    chosen["networkit"] = lambda: np.sort(
        np.array(networkit.centrality.Betweenness(kit, computeEdgeCentrality=True).run().edgeScores()) / 2
    )
    if len(ports) <= SLOWEST:
        chosen["networkx"] = lambda: by_networkx("networkx")
    return chosen


def in_rustworkx(ports: np.ndarray) -> rustworkx.PyGraph:
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(len(ports)))
    graph.add_edges_from_no_data([(tail, head) for tail, head in links(ports).tolist()])
    return graph
