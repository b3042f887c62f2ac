"""Exact channel loads: ours beside igraph's and networkx's edge betweenness, in one run.

    python benchmarks/loads.py [--networkx] [--repeats 5] [--threads 2]

Machines change their speed from minute to minute, so the contenders take turns and only ratios of
medians are worth quoting. Every contender's loads are compared before it is timed. Ours may use several
threads, igraph and networkx have one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import igraph
import networkx
import numpy as np

from kernels.backend import gpu_count
from kernels.loads import minimal_loads
from pipeline.topologies import build

Contender = Callable[[], np.ndarray]


def random_regular(nodes: int, degree: int) -> np.ndarray:
    """int32[N, degree]: a random regular graph, neighbours in falling order."""
    graph = networkx.random_regular_graph(degree, nodes, seed=1)
    return np.array([sorted(graph.neighbors(node)) for node in range(nodes)], np.int32)


def contenders(ports: np.ndarray, threads: int | None, *, with_networkx: bool) -> dict[str, Contender]:
    """Load of every link under all-to-all traffic over shortest paths, both directions together, in one order."""
    nodes, width = ports.shape
    tail, head = np.repeat(np.arange(nodes), width), ports.ravel()
    forth, back = np.flatnonzero(tail < head), np.flatnonzero(tail > head)
    forth, back = forth[np.lexsort((head[forth], tail[forth]))], back[np.lexsort((tail[back], head[back]))]  # link by link
    links = np.stack([tail[forth], head[forth]], axis=1)

    def ours(backend: str) -> Contender:
        def load() -> np.ndarray:
            channels = minimal_loads(ports, np.arange(nodes), backend=backend, threads=threads).load.ravel()
            return channels[forth] + channels[back]

        return load

    graph = igraph.Graph(nodes, links)
    # igraph counts each unordered pair once
    chosen: dict[str, Contender] = {"numba": ours("numba"), "igraph": lambda: 2 * np.array(graph.edge_betweenness(directed=False))}
    if gpu_count():
        chosen["cupy"] = ours("cupy")
    if with_networkx:
        slow = networkx.Graph(links.tolist())

        def betweenness() -> np.ndarray:
            found = networkx.edge_betweenness_centrality(slow, normalized=False)
            return 2 * np.array([found[a, b] if (a, b) in found else found[b, a] for a, b in links.tolist()])

        chosen["networkx"] = betweenness
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networkx", action="store_true", help="networkx too: it takes minutes")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each contender")
    parser.add_argument("--threads", type=int, help="threads of ours; all by default")
    options = parser.parse_args()
    for name, ports in {"torus 16³": build("torus(k=16, n=3)").ports, "random 4-regular, 4096": random_regular(4096, 4)}.items():
        running = contenders(ports, options.threads, with_networkx=options.networkx)
        loads = {contender: run() for contender, run in running.items()}  # compiles, too
        for load in loads.values():
            np.testing.assert_allclose(load, loads["numba"], rtol=1e-10)
        seconds: dict[str, list[float]] = {contender: [] for contender in running}
        for _ in range(options.repeats):
            for contender, run in running.items():
                start = time.perf_counter()
                run()
                seconds[contender].append(time.perf_counter() - start)
        medians = {contender: statistics.median(times) for contender, times in seconds.items()}
        print(f"{name}: greatest load of a link {loads['numba'].max():.1f}")
        for contender, median in medians.items():
            print(f"  {contender:8} {median:10.4f} s   {median / medians['numba']:8.1f} × numba   {median / medians['igraph']:8.3f} × igraph")


if __name__ == "__main__":
    main()
