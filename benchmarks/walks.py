"""Random shortest walks: ours beside a script as one writes it with igraph, in one run.

    python benchmarks/walks.py [--packets 10000000] [--sample 20000] [--repeats 5] [--threads 2]

No library offers such walks. The script asks igraph for the distances to each destination and chooses, in Python,
among the neighbours that are nearer; it and the array code get a sample of the packets, to few destinations. All times
include everything from arrays of packets to counts. Machines change their speed from minute to minute, so the
contenders take turns and medians of hops per second are compared.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable

import igraph
import numpy as np
from loads import random_regular

from kernels.backend import gpu_count
from kernels.walks import shortest_walks
from pipeline.topologies import build

GROUPS = 32
DESTINATIONS = 20  # of the sample
Contender = Callable[[], int]


def script(ports: np.ndarray, start: np.ndarray, destination: np.ndarray) -> Contender:
    """Packets one by one, equally over next hops."""
    neighbours = ports.tolist()
    graph = igraph.Graph([(node, other) for node, row in enumerate(neighbours) for other in row], directed=True)

    def walk() -> int:
        draws = random.Random(1)
        count = [[0] * len(row) for row in neighbours]
        for target in np.unique(destination).tolist():
            hops = [row[0] for row in graph.distances(target=[target])]
            for node in start[destination == target].tolist():
                while node != target:
                    port = draws.choice([port for port, other in enumerate(neighbours[node]) if hops[other] < hops[node]])
                    count[node][port] += 1
                    node = neighbours[node][port]
        return sum(map(sum, count))

    return walk


def contenders(ports: np.ndarray, options: argparse.Namespace) -> dict[str, Contender]:
    """Each returns the hops that it has counted."""
    rng = np.random.default_rng(1)
    start, destination = rng.integers(0, len(ports), (2, options.packets), dtype=np.int32)
    group = (np.arange(options.packets) % GROUPS).astype(np.int32)
    sample = start[: options.sample], (destination[: options.sample] % DESTINATIONS).astype(np.int32)

    def ours(backend: str, split: str, *packets: np.ndarray) -> Contender:
        def walk() -> int:
            walks = shortest_walks(ports, *packets, groups=GROUPS, split=split, backend=backend, threads=options.threads)
            return int(walks.count.sum())

        return walk

    backends = ["numba", *["cupy"] * bool(gpu_count())]
    chosen = {f"{backend}, {split}": ours(backend, split, start, destination, group) for backend in backends for split in ("paths", "next-hops")}
    return chosen | {"numpy, sample": ours("numpy", "next-hops", *sample), "igraph script, sample": script(ports, *sample)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packets", type=int, default=10**7, help="packets, uniform")
    parser.add_argument("--sample", type=int, default=20_000, help=f"packets of the sample, to {DESTINATIONS} destinations")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each contender")
    parser.add_argument("--threads", type=int, help="threads of numba; all by default")
    options = parser.parse_args()
    for name, ports in {"torus 16³": build("torus(k=16, n=3)").ports, "random 4-regular, 4096": random_regular(4096, 4)}.items():
        running = contenders(ports, options)
        hops = {contender: walk() for contender, walk in running.items()}  # compiles, too
        assert hops["numba, paths"] == hops["numba, next-hops"]  # the same packets; only their ways differ
        assert hops["numpy, sample"] == hops["igraph script, sample"]
        seconds: dict[str, list[float]] = {contender: [] for contender in running}
        for _ in range(options.repeats):
            for contender, walk in running.items():
                begin = time.perf_counter()
                walk()
                seconds[contender].append(time.perf_counter() - begin)
        rates = {contender: hops[contender] / statistics.median(times) for contender, times in seconds.items()}
        print(f"{name}: {options.packets:,} packets, {hops['numba, paths'] / options.packets:.2f} hops each")
        for contender, rate in rates.items():
            median = statistics.median(seconds[contender])
            print(f"  {contender:22} {median:8.3f} s   {rate:9.3g} hops/s   {rate / rates['igraph script, sample']:7.1f} × the script")


if __name__ == "__main__":
    main()
