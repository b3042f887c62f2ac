"""The load of every link under all-to-all traffic over all shortest paths: edge betweenness in other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import networkit
import networkx
import numpy as np
from torusweep.networks.families import build
from torusweep_kernels.backend import gpu_count
from torusweep_kernels.loads import minimal_loads

from benchmarks.networks import in_igraph, in_networkit, in_networkx, links, random_regular
from benchmarks.race import Race

SLOWEST = 512  # nodes


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    cases = {
        "torus 8³": build("torus(k=8, n=3)").ports,
        "torus 16³": build("torus(k=16, n=3)").ports,
        "random 4-regular, 4096": random_regular(4096, 4),
    }
    if large:
        cases["torus 24³"] = build("torus(k=24, n=3)").ports
    for case, ports in cases.items():
        nodes = len(ports)
        yield Race("loads", case, nodes, contenders(ports, threads), float(nodes) ** 2, "pairs")


def contenders(ports: np.ndarray, threads: int | None) -> dict[str, Callable[[], np.ndarray]]:
    """Load of every link, both directions together, in the order of `links`."""
    nodes, width = ports.shape
    tail, head = np.repeat(np.arange(nodes), width), ports.ravel()
    forth, back = np.flatnonzero(tail < head), np.flatnonzero(tail > head)
    forth, back = (
        forth[np.lexsort((head[forth], tail[forth]))],
        back[np.lexsort((tail[back], head[back]))],
    )  # link by link

    def ours(backend: str) -> Callable[[], np.ndarray]:
        def load() -> np.ndarray:
            channels = minimal_loads(ports, np.arange(nodes), backend=backend, threads=threads).load.ravel()
            return channels[forth] + channels[back]

        return load

    graph, other = in_igraph(ports), in_networkit(ports)
    order = np.array([other.edgeId(a, b) for a, b in links(ports).tolist()])
    chosen: dict[str, Callable[[], np.ndarray]] = {"torusweep": ours("numba")}
    if nodes <= SLOWEST:
        chosen["torusweep, NumPy"] = ours("numpy")
    if gpu_count():
        chosen["torusweep, CuPy"] = ours("cupy")
    # both count each unordered pair once, or (networkit) twice
    chosen["igraph"] = lambda: 2 * np.array(graph.edge_betweenness(directed=False))
    chosen["networkit"] = lambda: np.array(
        networkit.centrality.Betweenness(other, computeEdgeCentrality=True).run().edgeScores()
    )[order]
    if nodes <= SLOWEST:
        slow, ends = in_networkx(ports), links(ports).tolist()

        def betweenness() -> np.ndarray:
            found = networkx.edge_betweenness_centrality(slow, normalized=False)
            return 2 * np.array([found[a, b] if (a, b) in found else found[b, a] for a, b in ends])

        chosen["networkx"] = betweenness
    return chosen
