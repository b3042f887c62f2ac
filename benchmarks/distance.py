"""All-pairs distances: ours beside igraph's and SciPy's, in one run.

    python benchmarks/distance.py [--large] [--repeats 5] [--threads 2]

Machines change their speed from minute to minute, so the contenders take turns and only ratios of
medians are worth quoting. Every contender's mean distance is checked before it is timed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import igraph
import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

from kernels.backend import gpu_count
from kernels.distance import all_pairs_distance
from pipeline.topologies import build

Contender = Callable[[], float]


def random_regular(nodes: int, degree: int) -> np.ndarray:
    """int32[N, degree]: the union of degree/2 random Hamiltonian cycles."""
    rng = np.random.default_rng(1)
    ports = np.empty((nodes, degree), np.int32)
    for pair in range(degree // 2):
        order = rng.permutation(nodes)
        ports[order, 2 * pair], ports[order, 2 * pair + 1] = np.roll(order, -1), np.roll(order, 1)
    return ports


def networks(large: bool) -> dict[str, np.ndarray]:
    chosen = {"torus 16³": build("torus(k=16, n=3)").ports, "random 6-regular, 4096": random_regular(4096, 6)}
    if large:
        chosen |= {"torus 32³": build("torus(k=32, n=3)").ports, "torus 64×32×32": build("torus(radices=[64, 32, 32])").ports}
        chosen |= {"random 6-regular, 32768": random_regular(32768, 6)}
    return chosen


def contenders(ports: np.ndarray, threads: int) -> dict[str, Contender]:
    """Mean distance over all ordered pairs of distinct nodes, each by its own means."""
    nodes = len(ports)
    everyone, one_group = np.arange(nodes, dtype=np.int32), np.zeros(nodes, np.int32)

    def ours(backend: str) -> Contender:
        def mean() -> float:
            histogram = all_pairs_distance(ports, everyone, one_group, backend=backend, threads=threads).histogram[0]
            return float(histogram @ np.arange(len(histogram))) / (nodes * (nodes - 1))

        return mean

    tail, head = np.repeat(everyone, ports.shape[1]), ports.ravel()
    links = tail < head
    graph = igraph.Graph(nodes, np.stack([tail[links], head[links]], axis=1))
    matrix = csr_matrix((np.ones(ports.size), (tail, head)), (nodes, nodes))
    chosen = {"numba": ours("numba"), "numpy": ours("numpy"), "igraph": graph.average_path_length}
    if gpu_count():
        chosen["cupy"] = ours("cupy")
    if nodes <= 4096:  # SciPy keeps all N² distances, and takes minutes beyond
        chosen["scipy"] = lambda: float(shortest_path(matrix, unweighted=True).sum()) / (nodes * (nodes - 1))
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also networks of 32,768 and 65,536 nodes: igraph takes minutes")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each contender")
    parser.add_argument("--threads", type=int, help="threads of ours; igraph and SciPy have one")
    options = parser.parse_args()
    for name, ports in networks(options.large).items():
        running = contenders(ports, options.threads)
        means = {contender: run() for contender, run in running.items()}  # compiles, too
        assert max(means.values()) - min(means.values()) < 1e-9, means
        seconds: dict[str, list[float]] = {contender: [] for contender in running}
        for _ in range(options.repeats):
            for contender, run in running.items():
                start = time.perf_counter()
                run()
                seconds[contender].append(time.perf_counter() - start)
        medians = {contender: statistics.median(times) for contender, times in seconds.items()}
        print(f"{name}: mean distance {means['numba']:.6f}")
        for contender, median in medians.items():
            print(f"  {contender:8} {median:10.4f} s   {median / medians['numba']:8.1f} × numba")


if __name__ == "__main__":
    main()
