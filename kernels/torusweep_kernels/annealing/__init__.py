"""Simulated annealing of regular graphs with a rotational symmetry, by exchanges of links (2-opt).

A graph of N = s·m nodes is given by its quotient of m nodes: node a stands for its s copies, and port p of a leads from
copy r of a to copy r + shift[a, p] (modulo s) of head[a, p]. So the rotation r → r + 1 is an automorphism. s = 1 is any
graph. Node r·m + a is copy r of a.
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.annealing import reference
from torusweep_kernels.annealing.quotient import BLOCK, NO_PORT, Annealed, Goal, Quotient, Wires, lifted
from torusweep_kernels.checks import expecting


def energy(quotient: Quotient, goal: Goal) -> tuple[int, int]:
    """(energy, diameter) of a graph, as `anneal` counts them: over the pairs from copy 0 of the quotient's nodes."""
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
    """Try moves; a move that raises the energy by at most −T ln u is accepted.

    temperatures  float64[B] ≥ 0, in units of energy: one for each 256 moves
    first         number of the first move; a search that is continued has the moves of one that was not stopped
    seed, chain   0 … 2⁶⁴ − 1, 0 … 2³² − 1: the random numbers of a move depend on these and its number alone
    wires         links may be no longer than these say; None: as long as they like
    backend       auto, numba or cupy: compiled, on a CPU; numpy: the specification. The result is the same to the bit

    A move takes two links (a, b), (c, g) of the quotient and a rotation r of the second, and joins a to c and b to g in
    their place, in all copies at once. A move that would make a parallel link, one from a node to itself, or one that
    is too long changes nothing. The energy is summed level by level, and the search ended as soon as the sum of pairs
    that are further away exceeds what is acceptable.

    Raises ValueError for arrays that contradict each other.
    """
    check(quotient, temperatures, first)
    chosen = backends.resolve("numpy" if backend == "numpy" else "numba")
    own = Quotient(quotient.copies, *(np.array(array, np.int32) for array in quotient[1:]))
    nodes = own.copies * len(own.head)
    wires = Wires(np.zeros((nodes, 2), np.int32), 0) if wires is None else wires
    if wires.place.shape != (nodes, 2):
        raise ValueError(f"anneal: expected places of shape ({nodes}, 2), got {wires.place.shape}")
    kernel = backends.implementation(__name__, chosen)
    return kernel.anneal(own, np.asarray(temperatures, float), goal, wires, first, seed, chain)


def check(quotient: Quotient, temperatures: np.ndarray, first: int) -> None:
    """Raise ValueError where a quotient or the temperatures are none."""
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


__all__ = ["BLOCK", "NO_PORT", "Annealed", "Goal", "Quotient", "Wires", "anneal", "check", "energy", "lifted"]
