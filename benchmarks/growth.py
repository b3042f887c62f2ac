"""Growth of our time with the size of the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from torusweep.networks.families import build
from torusweep_kernels.distance import all_pairs_distance
from torusweep_kernels.loads import minimal_loads

from benchmarks.race import Race

RADICES = {"distance": (8, 12, 16, 20, 24, 32, 40), "loads": (6, 8, 12, 16, 20, 24)}


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    for benchmark, radices in RADICES.items():
        for radix in (*radices, *((48, 64) if large and benchmark == "distance" else ())):
            ports = build(f"torus(k={radix}, n=3)").ports
            nodes = len(ports)
            yield Race(
                f"{benchmark}, growth",
                f"torus {radix}³",
                nodes,
                {"torusweep": ours(benchmark, ports, threads)},
                float(nodes) ** 2,
                "pairs",
            )


def ours(benchmark: str, ports: np.ndarray, threads: int | None) -> Callable[[], int]:
    everyone = np.arange(len(ports), dtype=np.int32)
    if benchmark == "distance":
        return lambda: len(all_pairs_distance(ports, everyone, 0 * everyone, threads=threads).histogram)
    return lambda: len(minimal_loads(ports, everyone, threads=threads).load)


def exponent(nodes: list[int], seconds: list[float]) -> float:
    """p of the power nodesᵖ that fits best, by least squares of logarithms."""
    return float(np.polyfit(np.log(nodes), np.log(seconds), 1)[0])
