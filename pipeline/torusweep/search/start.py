"""Where a search begins: a random regular graph with a rotational symmetry."""

from __future__ import annotations

import numpy as np
from torusweep_kernels.annealing import NO_PORT, Quotient

from torusweep.errors import BadInput
from torusweep.search.wanted import Wanted

ATTEMPTS = 200
ROUNDS = 50  # of pairing the ports that are left


def random_graph(wanted: Wanted, chain: int) -> Quotient:
    """A graph whose ports are joined at random, the same for the same seed and chain.

    Where nodes and degree are odd, a port of one node of each copy has no link. Raises BadInput where none is found,
    as in a graph that must have almost all links there are.
    """
    random = np.random.default_rng((wanted.seed, chain))
    for _ in range(ATTEMPTS):
        found = _paired(wanted, random)
        if found is not None:
            return found
    raise BadInput(
        f"found no graph of {wanted.nodes} nodes, degree {wanted.degree} and symmetry {wanted.symmetry} to begin with;"
        " choose another symmetry, or a smaller degree"
    )


def _paired(wanted: Wanted, random: np.random.Generator) -> Quotient | None:
    s, m, d = wanted.symmetry, wanted.orbits, wanted.degree
    head = np.full(m * d, NO_PORT, np.int32)
    shift, mate = np.zeros(m * d, np.int32), np.full(m * d, -1, np.int32)
    taken: list[set[tuple[int, int]]] = [{(a, 0)} for a in range(m)]  # (head, shift) of a node's ports, and of itself
    left = np.arange(m * d)
    for _ in range(ROUNDS):
        left = random.permutation(left)
        again = list(left[len(left) // 2 * 2 :])
        for e, f in left[: len(left) // 2 * 2].reshape(-1, 2).tolist():
            a, b, turn = e // d, f // d, int(random.integers(s))
            there, back = (b, turn), (a, -turn % s)
            if there in taken[a] or back in taken[b] or (a == b and there == back):
                again += [e, f]
                continue
            taken[a].add(there)
            taken[b].add(back)
            head[e], shift[e], mate[e] = b, turn, f
            head[f], shift[f], mate[f] = a, -turn % s, e
        left = np.array(again, np.int64)
        if len(left) <= 1:
            return Quotient(s, *(array.reshape(m, d) for array in (head, shift, mate)))
    return None
