"""A graph as its quotient by a rotation, what is minimised, and the state of a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NO_PORT = -1
BLOCK = 256  # moves of one temperature
UNREACHED = 2  # times the number of nodes: what a pair without a path costs
LOGARITHMS = 4096
# how far an uphill move may go, in temperatures: −ln u for equally likely u
NEGATIVE_LOG = -np.log((np.arange(LOGARITHMS) + 0.5) / LOGARITHMS)


class Quotient(NamedTuple):
    """A graph without parallel links or links from a node to itself, as its quotient.

    copies  s
    head    int32[m, d]  quotient node at the other end of each port; −1: no link
    shift   int32[m, d]  0 … s − 1
    mate    int32[m, d]  the port at the other end, numbered a·d + p
    """

    copies: int
    head: np.ndarray
    shift: np.ndarray
    mate: np.ndarray


class Wires(NamedTuple):
    """Where nodes stand, and how long a link may be.

    place    int32[N, 2]  the rotation of the nodes must be one of the places, so that all copies of a link are as long
    longest  |x − x'| + |y − y'| of a link's ends, at most
    """

    place: np.ndarray
    longest: int


class Goal(NamedTuple):
    """What is minimised: the sum over pairs of distance + (penalty − 1) · (distance beyond `diameter`).

    diameter  hops
    penalty   ≥ 1; 1: the sum of distances
    energy    a graph of at most this energy and at most this diameter ends the search
    """

    diameter: int
    penalty: int
    energy: int


class Annealed(NamedTuple):
    """State of a search.

    graph, energy  where it is
    best, best_energy, best_diameter  the best graph that it was at, the first of several
    moves          numbers of the moves that were tried: first … first + moves − 1
    accepted       of these, moves that changed the graph
    """

    graph: Quotient
    energy: int
    best: Quotient
    best_energy: int
    best_diameter: int
    moves: int
    accepted: int


def lifted(quotient: Quotient) -> np.ndarray:
    """int32[N, d]: the ports of the graph itself, −1 where there is no link."""
    s, m = quotient.copies, len(quotient.head)
    copy = np.arange(s)[:, None, None]
    heads = (copy + quotient.shift) % s * m + quotient.head
    return np.where(quotient.head < 0, NO_PORT, heads).reshape(s * m, -1).astype(np.int32)
