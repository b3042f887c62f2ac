"""The networkx backend `torusweep`, which computes some of networkx's functions with our kernels.

    networkx.average_shortest_path_length(graph, backend="torusweep")
    NETWORKX_BACKEND_PRIORITY=torusweep python program.py        # wherever networkx may choose

The functions are for graphs whose links have length 1. Arguments, results and errors are networkx's; calls with other
arguments (`weight`, samples of sources) are left to networkx. Betweenness does not depend on the order of the nodes.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import networkx
import numpy as np
from torusweep_kernels.adjacency import rows_of_links, table_of_rows
from torusweep_kernels.distance import all_pairs_distance, nodes_by_distance
from torusweep_kernels.loads import minimal_loads

LEAST_NODES = 100  # with fewer, networkx is done before a graph is converted and the kernels are loaded
LONGEST_ROW = 64  # largest ratio of the largest degree, which is the width of a table of ports, to the mean degree
# values of arguments that the backend accepts; calls with other values are left to networkx
TAKEN = {"weight": (None,), "method": (None, "unweighted"), "sp": (None,), "k": (None,), "endpoints": (None, False)}


class Links:
    """A networkx graph as arrays.

    graph  the graph itself
    nodes  list of the graph's nodes; a node's number is its index in the list
    ports  int32[N, P]  numbers of each node's neighbours, ascending, each neighbour once, then −1
    """

    __networkx_backend__ = "torusweep"

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.nodes = list(graph)
        number = {node: place for place, node in enumerate(self.nodes)}
        ends = (number[node] for node in chain.from_iterable(graph.edges()))
        links = np.fromiter(ends, np.int32, 2 * graph.number_of_edges()).reshape(-1, 2)
        self.ports, _ = table_of_rows(rows_of_links(links, len(self.nodes), directed=graph.is_directed()))

    def __len__(self) -> int:
        return len(self.nodes)

    def is_directed(self) -> bool:
        """Return whether links have one direction."""
        return bool(self.graph.is_directed())

    def is_multigraph(self) -> bool:
        """Return whether links may be parallel."""
        return bool(self.graph.is_multigraph())


def convert_from_nx(graph: Any, **_: Any) -> Links:
    """Convert a graph of networkx to arrays."""
    return Links(graph)


def convert_to_nx(result: Any, **_: Any) -> Any:
    """Convert a result for networkx: `Links` to the original graph, and anything else unchanged."""
    return result.graph if isinstance(result, Links) else result


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if the backend's function accepts the given arguments; else the reason, for networkx's messages."""
    given = inspect.signature(FUNCTIONS[name]).bind(*args, **kwargs).arguments
    for argument, taken in TAKEN.items():
        if given.get(argument) not in taken:
            return f"{argument}={given[argument]!r} is left to networkx"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if the kernels save more time than conversion costs; else the reason, for networkx's messages."""
    graph = args[0]
    if len(graph) < LEAST_NODES:
        return f"networkx is faster for fewer than {LEAST_NODES} nodes"
    ports = graph.ports.size if isinstance(graph, Links) else len(graph) * max(degree for _, degree in graph.degree())
    if ports > LONGEST_ROW * 2 * max(graph.number_of_edges(), 1):
        return "the busiest node has too many links for a table of ports"
    return True


def average_shortest_path_length(links: Links, weight: None = None, method: None = None) -> float:
    """Return the mean distance between two nodes. Raises the errors of networkx's function."""
    count = len(links)
    if count == 0:
        raise networkx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if count == 1:
        return 0
    pairs = all_pairs_distance(links.ports, np.arange(count, dtype=np.int32), np.zeros(count, np.int32)).histogram[0]
    if pairs.sum() < count * count:
        raise networkx.NetworkXError(f"Graph is not {'strongly ' if links.is_directed() else ''}connected.")
    return int((pairs * np.arange(len(pairs))).sum()) / (count * (count - 1))


def eccentricity(links: Links, v: Any = None, sp: None = None, weight: None = None) -> Any:
    """Return the largest distance from node v, or {node: distance} for several nodes. Raises networkx's errors."""
    chosen = list(links.graph.nbunch_iter(v))
    number = {node: place for place, node in enumerate(links.nodes)}
    sources = np.array([number[node] for node in chosen], np.int32)
    found = all_pairs_distance(links.ports, sources, np.arange(len(sources), dtype=np.int32), eccentricity=True)
    if (found.histogram.sum(axis=1) < len(links)).any():
        what = "digraph is not strongly connected" if links.is_directed() else "graph is not connected"
        raise networkx.NetworkXError(f"Found infinite path length because the {what}")
    assert found.eccentricity is not None  # was asked for
    largest = dict(zip(chosen, found.eccentricity.tolist()))
    return largest[v] if v in links.graph else largest


def diameter(links: Links, e: dict[Any, int] | None = None, usebounds: bool = False, weight: None = None) -> int:
    """Return the largest distance between two nodes. Raises the errors of networkx's function."""
    return int(max((eccentricity(links) if e is None else e).values()))


def radius(links: Links, e: dict[Any, int] | None = None, usebounds: bool = False, weight: None = None) -> int:
    """Return the least eccentricity of any node. Raises the errors of networkx's function."""
    return int(min((eccentricity(links) if e is None else e).values()))


def all_pairs_shortest_path_length(links: Links, cutoff: float | None = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    """Yield each node with {node: distance} for all nodes that it reaches; the nearest come first."""
    for source, name in enumerate(links.nodes):
        reached, counts = nodes_by_distance(links.ports, source)
        if cutoff is not None:
            counts = counts[
                : math.ceil(min(max(0, cutoff), len(counts))) + 1
            ]  # networkx ends at the first level ≥ cutoff
        names = map(links.nodes.__getitem__, reached.tolist())
        yield name, dict(zip(names, np.repeat(np.arange(len(counts)), counts).tolist()))


def edge_betweenness_centrality(
    links: Links, k: None = None, normalized: bool = True, weight: None = None, seed: Any = None
) -> dict[Any, float]:
    """Return the share of shortest paths that take each link; parallel links divide the paths equally."""
    count, graph = len(links), links.graph
    load = _loads(links).load
    number = {node: place for place, node in enumerate(links.nodes)}
    edges = list(graph.edges)
    tail, head = (np.fromiter((number[edge[end]] for edge in edges), np.int64, len(edges)) for end in (0, 1))
    through = _of_channels(links.ports, load, tail, head)
    if not links.is_directed():
        through = through + _of_channels(links.ports, load, head, tail)
    if links.is_multigraph():
        ends = (tail, head) if links.is_directed() else (np.minimum(tail, head), np.maximum(tail, head))
        _, same, times = np.unique(ends[0] * count + ends[1], return_inverse=True, return_counts=True)
        through = through / times[same]
    return dict(zip(edges, (through * _scale(count, normalized, links.is_directed())).tolist()))


def betweenness_centrality(
    links: Links,
    k: None = None,
    normalized: bool = True,
    weight: None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """Return the share of the shortest paths between other nodes that pass through each node."""
    count = len(links)
    loads = _loads(links)
    assert loads.rest is not None  # loads are exact
    reached = all_pairs_distance(links.ports, np.arange(count, dtype=np.int32), np.arange(count, dtype=np.int32))
    own = (reached.histogram.sum(axis=1) - 1).tolist()  # paths that begin at the node
    scale = _scale(count - 1, normalized, links.is_directed())
    parts = zip(links.nodes, loads.load.tolist(), loads.rest.tolist(), own)
    return {node: math.fsum([*load, *rest, -begin]) * scale for node, load, rest, begin in parts}


def _loads(links: Links) -> Any:
    """Return the load of each channel if every pair of nodes divides one unit among its shortest paths."""
    return minimal_loads(links.ports, np.arange(len(links), dtype=np.int32), exact=True)


def _of_channels(ports: np.ndarray, load: np.ndarray, tail: np.ndarray, head: np.ndarray) -> np.ndarray:
    """float64[E]: the load of each channel tail → head; 0 if tail and head are the same node."""
    there = ports >= 0
    known = np.repeat(np.arange(len(ports)), there.sum(axis=1)) * len(ports) + ports[there]  # ascending, as ports are
    wanted = tail * len(ports) + head
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(tail == head, 0.0, load[there][place]) if len(known) else np.zeros(len(tail))


def _scale(count: int, normalized: bool, directed: bool) -> float:
    """Return networkx's scale factor of betweenness; `count` is the number of nodes that can be an end of a path."""
    if count < 2:
        return 1.0
    if normalized:
        return 1 / (count * (count - 1))
    return 1.0 if directed else 0.5


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        average_shortest_path_length,
        eccentricity,
        diameter,
        radius,
        all_pairs_shortest_path_length,
        edge_betweenness_centrality,
        betweenness_centrality,
    )
}
