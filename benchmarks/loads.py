"""The load of every link under all-to-all traffic over all shortest paths: edge betweenness in other libraries.

By hand, `python -m benchmarks.loads "faulty(torus(k=100, n=3), links=1000)" 2048 100`: exact loads and distances from
2,048 nodes of a network without symmetry, what all of them would take, and igraph's betweenness from 100 of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from resource import RUSAGE_SELF, getrusage

import igraph
import networkit
import networkx
import numpy as np
from torusweep.networks.families import build
from torusweep_kernels.backend import gpu_count
from torusweep_kernels.distance import all_pairs_distance
from torusweep_kernels.distance.single_source import near_order
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


def part(spelling: str, sources: int, checked: int) -> None:
    """Print what exact loads and distances from some blocks of near sources take; compare a few with igraph."""
    ports = build(spelling).ports
    nodes = len(ports)
    every = near_order(ports, np.arange(nodes, dtype=np.int32), 16, even=True).astype(np.int32)
    some = every[nodes // 3 // 16 * 16 :][:sources]
    minimal_loads(ports, some[:9], exact=True, inward=True, backend="numba")  # compiles, or loads what was compiled
    for name, run in {
        "loads": lambda: minimal_loads(ports, some, exact=True, inward=True, backend="numba"),
        "distances": lambda: all_pairs_distance(ports, np.sort(some), np.zeros(len(some), np.int32), backend="numba"),
    }.items():
        began, used = time.perf_counter(), time.process_time()
        found = run()
        wall, cpu = time.perf_counter() - began, time.process_time() - used
        if name == "loads":
            hops = found.hops
            assert abs(found.load.sum() - hops) <= 1e-12 * hops
        else:
            assert int(found.histogram[0] @ np.arange(found.histogram.shape[1])) == hops
        memory = getrusage(RUSAGE_SELF).ru_maxrss / 2**20
        each, whole = cpu / len(some) / nodes, cpu / len(some) * nodes
        print(
            f"{name}: {len(some)} of {nodes:,} sources: {wall:.1f} s, {cpu:.1f} s of processors, {1e9 * each:.3g} ns"
            f" a pair, at most {memory:.2f} GiB; all sources: {whole / 3600:.3g} h of a processor",
            flush=True,
        )
    if checked:
        few = some[:checked]
        tail, port = np.nonzero(ports >= 0)
        began = time.process_time()
        graph = igraph.Graph(nodes, np.column_stack([tail, ports[tail, port]]), directed=True)
        expected = np.array(graph.edge_betweenness(directed=True, sources=few.tolist()))
        used = time.process_time() - began
        load = minimal_loads(ports, few, exact=True, backend="numba").load[tail, port]
        worst = np.abs(load - expected).max() / expected.max()
        print(f"igraph, {len(few)} sources: {used:.1f} s; largest difference {worst:.1e} of the largest load")


if __name__ == "__main__":
    part(sys.argv[1], *map(int, sys.argv[2:]))
