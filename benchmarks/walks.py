"""Random shortest walks, beside a script that uses igraph: no library has such walks.

The script asks igraph for the distances to each destination and chooses, in Python, among the neighbours that are
nearer; it and the array code get a sample of the packets, to few destinations. All times include everything from arrays
of packets to counts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
from torusweep.networks.families import build
from torusweep_kernels.backend import gpu_count
from torusweep_kernels.walks import shortest_walks

from benchmarks.networks import in_igraph, random_regular
from benchmarks.race import Race

GROUPS = 32
PACKETS, SAMPLE = 10**7, 20_000
DESTINATIONS = 20  # of the sample


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    packets = PACKETS * (10 if large else 1)
    for case, ports in {
        "torus 16³": build("torus(k=16, n=3)").ports,
        "random 4-regular, 4096": random_regular(4096, 4),
    }.items():
        rng = np.random.default_rng(1)
        start, destination = rng.integers(0, len(ports), (2, packets), dtype=np.int32)
        group = (np.arange(packets) % GROUPS).astype(np.int32)
        sample = start[:SAMPLE], (destination[:SAMPLE] % DESTINATIONS).astype(np.int32)
        running = {
            f"torusweep{words}": ours(ports, threads, backend, split, start, destination, group)
            for words, backend, split in WAYS
        }
        if gpu_count():
            running["torusweep, CuPy"] = ours(ports, threads, "cupy", "paths", start, destination, group)
        running["torusweep, NumPy"] = ours(ports, threads, "numpy", "next-hops", *sample)
        running["igraph and Python"] = script(ports, *sample)
        hops = {name: walk() for name, walk in running.items()}
        few = hops["igraph and Python"] / hops["torusweep"]
        yield Race(
            "walks",
            case,
            len(ports),
            running,
            hops["torusweep"],
            "hops",
            {"torusweep, NumPy": few, "igraph and Python": few},
            agree(hops),
        )


WAYS = (("", "numba", "paths"), (", by next hop", "numba", "next-hops"))


def agree(hops: dict[str, int]) -> Callable[[str, int, int], None]:
    """Ways differ, their lengths do not: of all packets, or of the sample."""

    def check(name: str, mine: int, found: int) -> None:
        assert found == (hops["igraph and Python"] if name in ("torusweep, NumPy", "igraph and Python") else mine), (
            name,
            found,
        )

    return check


def ours(ports: np.ndarray, threads: int | None, backend: str, split: str, *packets: np.ndarray) -> Callable[[], int]:
    def walk() -> int:
        return int(
            shortest_walks(ports, *packets, groups=GROUPS, split=split, backend=backend, threads=threads).count.sum()
        )

    return walk


def script(ports: np.ndarray, start: np.ndarray, destination: np.ndarray) -> Callable[[], int]:
    """Packets one by one, equally over next hops."""
    neighbours, graph = ports.tolist(), in_igraph(ports)

    def walk() -> int:
        draws = random.Random(1)
        count = [[0] * len(row) for row in neighbours]
        for target in np.unique(destination).tolist():
            hops = [row[0] for row in graph.distances(target=[target])]
            for node in start[destination == target].tolist():
                while node != target:
                    port = draws.choice(
                        [port for port, other in enumerate(neighbours[node]) if hops[other] < hops[node]]
                    )
                    count[node][port] += 1
                    node = neighbours[node][port]
        return sum(map(sum, count))

    return walk
