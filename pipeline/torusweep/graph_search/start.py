"""Where a search begins: a random regular graph with a rotational symmetry."""

from __future__ import annotations

import numpy as np
from torusweep_kernels.annealing import NO_PORT, Quotient

from torusweep.errors import BadInput
from torusweep.graph_search.wanted import Wanted

ATTEMPTS = 200
ROUNDS = 50  # of pairing the ports that are left
EXCHANGES = 2_000  # tries for each port that is left


def random_graph(wanted: Wanted, chain: int) -> Quotient:
    """A graph whose ports are joined at random, the same for the same seed and chain.

    Where nodes and degree are odd, a port of one node of each copy has no link; where links may not be long, a few
    more. Raises BadInput where none is found, as in a graph that must have almost all links there are.
    """
    random = np.random.default_rng((wanted.seed, chain))
    for _ in range(ATTEMPTS):
        graph = _Ports(wanted)
        left = graph.pair(random)
        if len(left) > 1 and wanted.wires is not None:
            left = graph.exchange(left, random)
        if len(left) <= 1 or wanted.wires is not None:
            return graph.quotient()
    raise BadInput(
        f"found no graph of {wanted.nodes} nodes, degree {wanted.degree} and symmetry {wanted.symmetry} to begin with;"
        " choose another symmetry, or a smaller degree"
    )


class _Ports:
    """The ports of a quotient, numbered a·d + p, while they are joined."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted, ports = wanted, wanted.orbits * wanted.degree
        self.head = np.full(ports, NO_PORT, np.int32)
        self.shift, self.mate = np.zeros(ports, np.int32), np.full(ports, -1, np.int32)
        # (head, shift) of a node's ports, and of itself
        self.taken: list[set[tuple[int, int]]] = [{(a, 0)} for a in range(wanted.orbits)]

    def pair(self, random: np.random.Generator) -> list[int]:
        """Join ports in random pairs, again and again; the ports that are left."""
        left = np.arange(len(self.head))
        for _ in range(ROUNDS):
            left = random.permutation(left)
            again = left[len(left) // 2 * 2 :].tolist()
            for e, f in left[: len(left) // 2 * 2].reshape(-1, 2).tolist():
                if not self.join(e, f, self._turn(random)):
                    again += [e, f]
            left = np.array(again, np.int64)
            if len(left) <= 1:
                break
        return [int(port) for port in left]

    def exchange(self, left: list[int], random: np.random.Generator) -> list[int]:
        """Join ports that are left with the ends of a link that is taken away; the ports that are left then."""
        for _ in range(EXCHANGES * len(left)):
            if len(left) < 2:
                break
            e, f = (left[place] for place in random.choice(len(left), 2, replace=False))
            port = int(random.integers(len(self.head)))
            if self.head[port] < 0:
                continue
            end, turn = int(self.mate[port]), int(self.shift[port])
            self.part(port)
            if self.join(e, port, self._turn(random)):
                if self.join(f, end, self._turn(random)):
                    left = [other for other in left if other not in (e, f)]
                    continue
                self.part(e)
            self.join(port, end, turn)
        return left

    def join(self, e: int, f: int, turn: int) -> bool:
        """Whether a link is possible: new, not from a node to itself, and not too long. If so, it is there."""
        s, m, d = self.wanted.symmetry, self.wanted.orbits, self.wanted.degree
        a, b = e // d, f // d
        there, back = (b, turn), (a, -turn % s)
        wires = self.wanted.wires
        if there in self.taken[a] or back in self.taken[b] or (a == b and there == back):
            return False
        if wires is not None and np.abs(wires.place[a] - wires.place[turn * m + b]).sum() > wires.longest:
            return False
        self.taken[a].add(there)
        self.taken[b].add(back)
        self.head[e], self.shift[e], self.mate[e] = b, turn, f
        self.head[f], self.shift[f], self.mate[f] = a, -turn % s, e
        return True

    def part(self, e: int) -> None:
        """Take the link of a port away."""
        d, f = self.wanted.degree, int(self.mate[e])
        for port in (e, f):
            self.taken[port // d].remove((int(self.head[port]), int(self.shift[port])))
            self.head[port], self.shift[port], self.mate[port] = NO_PORT, 0, -1

    def quotient(self) -> Quotient:
        shape = self.wanted.orbits, self.wanted.degree
        return Quotient(
            self.wanted.symmetry, self.head.reshape(shape), self.shift.reshape(shape), self.mate.reshape(shape)
        )

    def _turn(self, random: np.random.Generator) -> int:
        return int(random.integers(self.wanted.symmetry))
