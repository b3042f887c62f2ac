"""Graphs from which an annealing search starts."""

from __future__ import annotations

from torusweep.questions.search.wanted import Wanted, random_graph
from torusweep_kernels.annealing import (
    Quotient,
)


def start(nodes: int, degree: int, symmetry: int, seed: int = 1) -> Quotient:
    return random_graph(Wanted(nodes, degree, "diameter", symmetry, seed), 0)
