"""The loop that one writes without torusweep: a network after the other, in igraph.

python -m benchmarks.igraph_loop 4 100      # 100 tori of 4 × 4 nodes less two links
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Collection, Iterable

import igraph


def torus(side: int) -> list[tuple[int, int]]:
    """The links of a square torus of at least 3 × 3 nodes."""
    links = []
    for node in range(side * side):
        x, y = node % side, node // side
        links += [(node, y * side + (x + 1) % side), (node, (y + 1) % side * side + x)]
    return links


def numbers(nodes: int, links: list[tuple[int, int]]) -> tuple[list[float], int, float, float]:
    """(pairs of nodes at distance 1, 2, …; diameter; mean distance of two nodes; the greatest load of a link)."""
    graph = igraph.Graph(nodes, links)
    histogram = list(graph.path_length_hist().bins())
    pairs = [number for _, _, number in histogram]
    return pairs, graph.diameter(), graph.average_path_length(), max(graph.edge_betweenness()) / nodes


def faulty_tori(side: int, failures: Iterable[Collection[int]]) -> list[tuple[list[float], int, float, float]]:
    """Those of tori, each without the links whose places in `torus` are given."""
    links = torus(side)
    return [
        numbers(side * side, [link for place, link in enumerate(links) if place not in failed]) for failed in failures
    ]


def main() -> None:
    side, number = map(int, sys.argv[1:3])
    before = time.process_time()
    draws = (set(random.Random(seed).sample(range(2 * side * side), 2)) for seed in range(number))
    found = faulty_tori(side, draws)
    print(f"{1e6 * (time.process_time() - before) / number:,.1f} µs a network; the first: {found[0]}")


if __name__ == "__main__":
    main()
