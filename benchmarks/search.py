"""Search for graphs: moves a second, beside recomputing the distances after each move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from torusweep.questions.search.wanted import Wanted, random_graph
from torusweep_kernels.annealing import BLOCK, Quotient, anneal, lifted
from torusweep_kernels.distance import all_pairs_distance

from benchmarks.networks import in_igraph
from benchmarks.race import Race

SAMPLE = 4  # graphs that others measure
CASES = ((256, 8, 64), (1024, 5, 16), (4096, 6, 2))  # nodes, degree, blocks of moves
COLD = 1.0  # temperature: few moves are accepted, as in most of a search


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    for nodes, degree, blocks in CASES:
        wanted = Wanted(nodes, degree)
        graph = random_graph(wanted, 0)
        graphs = [graph]
        for first in range(1, SAMPLE):
            graphs.append(anneal(graphs[-1], np.full(1, COLD), wanted.goal, first=first * BLOCK).graph)
        ports = [lifted(each) for each in graphs]
        contenders: dict[str, Callable[[], Any]] = {
            "torusweep": partial(searched, wanted, graphs, blocks),
            "igraph": partial(recomputed, ports, lambda one: int(np.sum(in_igraph(one).distances(), dtype=np.int64))),
            "all pairs anew": partial(recomputed, ports, all_pairs),
        }
        shares = dict.fromkeys(("igraph", "all pairs anew"), SAMPLE / (blocks * BLOCK))
        yield Race("search", f"N = {nodes}, d = {degree}", nodes, contenders, float(blocks * BLOCK), "moves", shares)


def searched(wanted: Wanted, graphs: list[Quotient], blocks: int) -> list[int]:
    """Moves on one core; what is compared are the energies of the sample, as a search has them."""
    anneal(graphs[-1], np.full(blocks, COLD), wanted.goal)
    return [anneal(graph, np.zeros(0), wanted.goal).energy for graph in graphs]


def recomputed(ports: list[np.ndarray], total: Callable[[np.ndarray], int]) -> list[int]:
    """All distances of each graph, summed."""
    return [total(one) for one in ports]


def all_pairs(ports: np.ndarray) -> int:
    """By the kernel for one network, on one core."""
    everyone = np.arange(len(ports), dtype=np.int32)
    histogram = all_pairs_distance(ports, everyone, np.zeros(len(ports), np.int32), threads=1).histogram[0]
    return int(histogram @ np.arange(len(histogram)))
