"""The mean distance between all pairs of nodes, without symmetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import networkit
import networkx
import numba
import numpy as np
from scipy.sparse.csgraph import shortest_path
from torusweep.networks.families import build
from torusweep_kernels.backend import gpu_count
from torusweep_kernels.distance import all_pairs_distance

from benchmarks.native import distances, library
from benchmarks.networks import in_igraph, in_networkit, in_networkx, in_scipy, random_regular
from benchmarks.race import Race

SLOW = 4096  # nodes: what takes minutes beyond, or N² numbers
SLOWEST = 512


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    cases = {
        "torus 8³": build("torus(k=8, n=3)").ports,
        "torus 16³": build("torus(k=16, n=3)").ports,
        "random 6-regular, 4096": random_regular(4096, 6),
        "torus 32³": build("torus(k=32, n=3)").ports,
        "random 6-regular, 32768": random_regular(32768, 6),
        "torus 64×32×32": build("torus(radices=[64, 32, 32])").ports,
    }
    for case, ports in cases.items():
        nodes = len(ports)
        yield Race("distance", case, nodes, contenders(ports, large, threads), float(nodes) ** 2, "pairs")


def contenders(ports: np.ndarray, large: bool, threads: int | None) -> dict[str, Callable[[], float]]:
    """Mean distance over all ordered pairs of distinct nodes, each by its own means."""
    nodes = len(ports)
    everyone, one_group = np.arange(nodes, dtype=np.int32), np.zeros(nodes, np.int32)
    pairs = nodes * (nodes - 1)

    def mean(histogram: np.ndarray) -> float:
        return float(histogram @ np.arange(len(histogram))) / pairs

    def ours(backend: str) -> Callable[[], float]:
        return lambda: mean(
            all_pairs_distance(ports, everyone, one_group, backend=backend, threads=threads).histogram[0]
        )

    chosen = {"torusweep": ours("numba")}
    if library("peak"):
        chosen["by hand, in C"] = lambda: mean(distances(ports, threads or numba.config.NUMBA_NUM_THREADS)[0])
    if nodes <= 2 * SLOW:
        chosen["torusweep, NumPy"] = ours("numpy")
    if gpu_count():
        chosen["torusweep, CuPy"] = ours("cupy")
    if nodes <= SLOW or large:
        chosen["igraph"] = in_igraph(ports).average_path_length
    if nodes <= SLOW:  # both keep all N² distances
        graph, matrix = in_networkit(ports), in_scipy(ports)
        chosen["networkit"] = lambda: float(np.sum(networkit.distance.APSP(graph).run().getDistances())) / pairs
        chosen["SciPy"] = lambda: float(shortest_path(matrix, unweighted=True).sum()) / pairs
    if nodes <= SLOWEST:
        slow = in_networkx(ports)
        chosen["networkx"] = lambda: networkx.average_shortest_path_length(slow)
    return chosen
