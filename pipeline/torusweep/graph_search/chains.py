"""The chains of a search: annealed in parallel, in cycles of cooling that grow longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from torusweep_kernels.annealing import BLOCK, Annealed, Quotient, anneal_chains, energy

from torusweep.graph_search.start import random_graph
from torusweep.graph_search.wanted import Wanted

FIRST_CYCLE = 64  # blocks of 256 moves; each cycle is twice as long as the one before
HOTTEST = 0.25  # the first temperature of a cycle: a share of the paths that use a link
COOLING = 60.0  # the first temperature of a cycle over the last one


class Chain(NamedTuple):
    """A search that began from a graph of its own.

    graph    where it is
    best     the best graph so far, with its energy and diameter
    moves    that were tried
    """

    graph: Quotient
    best: Quotient
    energy: int
    diameter: int
    moves: int


def begin(wanted: Wanted) -> list[Chain]:
    """All chains before their first move. Raises BadInput where there is no such graph."""
    graphs = [random_graph(wanted, number) for number in range(wanted.chains)]
    return [Chain(graph, graph, *energy(graph, wanted.goal), 0) for graph in graphs]


def advance(wanted: Wanted, chains: list[Chain], blocks: int, threads: int, backend: str = "numba") -> list[Chain]:
    """The chains after so many more blocks of 256 moves; a chain whose best graph is optimal stays.

    However the blocks are divided among calls, and whatever computes (`anneal_chains`), the chains are the same.
    """
    chains = list(chains)
    for moves in sorted({chain.moves for chain in chains if not is_optimal(wanted, chain)}):
        together = [number for number, chain in enumerate(chains) if chain.moves == moves]
        for first, temperatures in _cycles(wanted, moves // BLOCK, blocks):
            together = [number for number in together if not is_optimal(wanted, chains[number])]
            found = _annealed(wanted, chains, together, first, temperatures, threads, backend)
            for number, chain in zip(together, found):
                chains[number] = chain
    return chains


def load_kernel(wanted: Wanted, chains: list[Chain], threads: int, backend: str) -> None:
    """Load what `advance` computes with, or compile it, which may take seconds: no move is tried."""
    _annealed(wanted, chains[:1], [0], 0, np.zeros(0), threads, backend)


def is_optimal(wanted: Wanted, chain: Chain) -> bool:
    """Whether its best graph attains the bound."""
    return chain.energy <= wanted.goal.energy and chain.diameter <= wanted.goal.diameter


def best_of(wanted: Wanted, chains: list[Chain]) -> Chain:
    """The chain with the best graph; of several, one that is optimal after the fewest moves, or the first."""

    def order(chain: Chain) -> tuple[int, ...]:
        reached = (chain.diameter, chain.energy) if wanted.objective == "diameter" else (chain.energy, chain.diameter)
        return (*reached, chain.moves if is_optimal(wanted, chain) else 0)

    return min(chains, key=order)


def _annealed(
    wanted: Wanted,
    chains: list[Chain],
    numbers: list[int],
    first: int,
    temperatures: np.ndarray,
    threads: int,
    backend: str,
) -> list[Chain]:
    """Chains of these numbers after a part of one cycle. A cycle begins with the best graph so far."""
    begins = _cycle_of(first)[0] == first
    found = anneal_chains(
        [chains[number].best if begins else chains[number].graph for number in numbers],
        temperatures,
        wanted.goal,
        chains=numbers,
        first=first * BLOCK,
        seed=wanted.seed,
        wires=wanted.wires,
        backend=backend,
        threads=threads,
    )
    return [_after(chains[number], annealed) for number, annealed in zip(numbers, found)]


def _after(chain: Chain, found: Annealed) -> Chain:
    moves = chain.moves + found.moves
    if found.best_energy < chain.energy:
        return Chain(found.graph, found.best, found.best_energy, found.best_diameter, moves)
    return chain._replace(graph=found.graph, moves=moves)


def _cycles(wanted: Wanted, first: int, blocks: int) -> Iterator[tuple[int, np.ndarray]]:
    """(number of its first block, a temperature for each block) of each part of a cycle, in order."""
    hottest = HOTTEST * wanted.bound.distance_sum / wanted.nodes / wanted.degree
    end = first + blocks
    while first < end:
        start, length = _cycle_of(first)
        last = min(end, start + length)
        yield first, hottest * COOLING ** (-(np.arange(first, last) - start) / length)
        first = last


def _cycle_of(block: int) -> tuple[int, int]:
    """(first block, length) of the cycle that a block is in."""
    length = FIRST_CYCLE * (1 << ((block // FIRST_CYCLE + 1).bit_length() - 1))
    return length - FIRST_CYCLE, length
