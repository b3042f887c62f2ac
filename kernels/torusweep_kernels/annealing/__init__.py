"""Anneal regular graphs with a rotational symmetry, by exchanges of links (2-opt).

A graph of N = s·m nodes is given by its quotient of m nodes. Quotient node a stands for s nodes, its copies. Port p of
a leads from copy r of a to copy r + shift[a, p] (modulo s) of head[a, p], so the rotation r → r + 1 is an automorphism.
With s = 1 the graph may be any graph. Copy r of a is node r·m + a.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.annealing import reference
from torusweep_kernels.annealing.reference import BLOCK, NO_PORT, Annealed, Goal, Quotient, Wires, lifted
from torusweep_kernels.checks import expecting
from torusweep_kernels.threads import in_threads

# For a GPU, by estimates (benchmarks/README.md): a block of it has the speed of a quarter of a core.
MANY = 8  # the fewest chains for each thread of the CPU
LARGE = 256  # the fewest nodes


def energy(quotient: Quotient, goal: Goal) -> tuple[int, int]:
    """Return (energy, diameter) of a graph as in `anneal`, over the pairs whose source is in copy 0."""
    return reference.evaluate(lifted(quotient), len(quotient.head), goal, None)


def anneal(
    quotient: Quotient,
    temperatures: np.ndarray,
    goal: Goal,
    *,
    first: int = 0,
    seed: int = 0,
    chain: int = 0,
    wires: Wires | None = None,
    backend: str = "auto",
) -> Annealed:
    """Anneal one graph. A move is accepted if it raises the energy by at most −T ln u, where u is uniformly random.

    chain  0 … 2³² − 1: a move's random numbers depend only on the chain, the seed and the move's number
    The other arguments are those of `anneal_chains`, which anneals several graphs at once.
    """
    options: dict[str, Any] = {"first": first, "seed": seed, "chains": [chain], "wires": wires, "backend": backend}
    return anneal_chains([quotient], temperatures, goal, **options)[0]


def anneal_chains(
    quotients: Sequence[Quotient],
    temperatures: np.ndarray,
    goal: Goal,
    *,
    chains: Sequence[int],
    first: int = 0,
    seed: int = 0,
    wires: Wires | None = None,
    backend: str = "auto",
    threads: int = 1,
) -> list[Annealed]:
    """Anneal several graphs of one size, each by its own moves.

    temperatures  float64[B] ≥ 0, in units of energy: one for each 256 moves
    chains        number of each graph's chain, 0 … 2³² − 1
    first         number of the first move; a search that is continued has the same moves as one that was never stopped
    seed          0 … 2⁶⁴ − 1
    wires         limits on the length of links; None for no limit
    backend       numba; numpy, the specification; cupy: a block of GPU threads for each graph. Results are the same to
                  the bit. auto: numba, or cupy if there is a GPU and 8 or more graphs per thread, of 256 or more nodes
    threads       number of threads of numba; each thread anneals one graph at a time

    A move takes two links (a, b), (c, g) of the quotient and a rotation r of the second. It replaces them by links from
    a to c and from b to g, in all copies at once. A move changes nothing if it would make a parallel link, a link from
    a node to itself, or a link that is too long. The energy is summed level by level; the sum is stopped as soon as
    it exceeds what is acceptable.

    Raises ValueError for arrays that contradict each other; BackendUnavailable where `choose_backend` does.
    """
    expect = expecting("anneal")
    for quotient in quotients:
        check(quotient, temperatures, first)
        same = quotient.copies == quotients[0].copies and quotient.head.shape == quotients[0].head.shape
        expect(same, "graphs of one size", "another")
    expect(len(chains) == len(quotients), f"numbers of {len(quotients)} chains", len(chains))
    if not quotients:
        return []
    copies, m = quotients[0].copies, len(quotients[0].head)
    wires = Wires(np.zeros((copies * m, 2), np.int32), 0) if wires is None else wires
    expect(wires.place.shape == (copies * m, 2), f"places of shape ({copies * m}, 2)", wires.place.shape)
    chosen = choose_backend(backend, len(quotients), copies * m, threads)
    kernel, temperatures = backends.implementation(__name__, chosen), np.asarray(temperatures, float)
    if chosen == "cupy":
        return kernel.anneal(quotients, temperatures, goal, wires, first, seed, chains)

    def one(place: int) -> Annealed:
        own = Quotient(copies, *(np.array(array, np.int32) for array in quotients[place][1:]))
        return kernel.anneal(own, temperatures, goal, wires, first, seed, chains[place])

    return in_threads(one, range(len(quotients)), min(threads, len(quotients)))


def choose_backend(backend: str, chains: int, nodes: int, threads: int) -> str:
    """Return the backend that `anneal_chains` uses: numpy, numba or cupy.

    Raises BackendUnavailable for cupy if there is no GPU, or if the graphs are too large for it.
    """
    small = chains < MANY * threads or nodes < LARGE
    chosen = backends.resolve(backend, large=not small)
    if chosen != "cupy":
        return chosen
    most = backends.implementation(__name__, "cupy").most_nodes()
    if nodes <= most:
        return chosen
    if backend == "auto":
        return backends.resolve("numba")
    raise backends.BackendUnavailable(
        f"backend cupy: expected graphs of at most {most:,} nodes on this GPU, got {nodes:,}; use --backend numba"
    )


def check(quotient: Quotient, temperatures: np.ndarray, first: int) -> None:
    """Raise ValueError for an invalid quotient or invalid temperatures."""
    expect = expecting("anneal")
    s, head, shift, mate = quotient
    expect(s >= 1, "at least one copy", s)
    same = head.ndim == 2 and head.shape == shift.shape == mate.shape
    expect(same, "head, shift and mate of one shape [m, d]", f"{head.shape}, {shift.shape}, {mate.shape}")
    expect(bool((head < len(head)).all()), f"heads below {len(head)}", int(head.max(initial=0)))
    port = np.flatnonzero(head.ravel() >= 0)
    there = mate.ravel()[port]
    expect(bool(((there >= 0) & (there < head.size)).all()), f"mates of 0 … {head.size - 1}", there.tolist()[:4])
    expect(bool((mate.ravel()[there] == port).all()), "mates that are each other's", "others")
    expect(bool((head.ravel()[port] == there // head.shape[1]).all()), "heads that are their mates' nodes", "others")
    opposite = (shift.ravel()[port] + shift.ravel()[there]) % s == 0
    expect(bool(opposite.all()), "shifts opposite to their mates'", "others")
    expect(bool((np.asarray(temperatures) >= 0).all()), "temperatures of 0 or more", "less")
    expect(first >= 0 and first % BLOCK == 0, f"a first move that is a multiple of {BLOCK}", first)


__all__ = [
    "BLOCK",
    "NO_PORT",
    "Annealed",
    "Goal",
    "Quotient",
    "Wires",
    "anneal",
    "anneal_chains",
    "check",
    "choose_backend",
    "energy",
    "lifted",
]
