"""The parameters of a search for graphs, their checks and bounds, and the random graphs from which a search starts.

These graphs are regular, and have the wanted rotational symmetry.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from torusweep_kernels.annealing import NO_PORT, Goal, Quotient, Wires

from torusweep.errors import BadInput
from torusweep.questions.screen import bounds

PENALTY = 16  # weight of a hop beyond the bound of the diameter, if the diameter is minimised
ATTEMPTS = 200
ROUNDS = 50  # rounds of pairing the ports that are still free
EXCHANGES = 2_000  # attempts for each port that is still free


class Bound(NamedTuple):
    """Lower bounds of a graph's diameter, and of the sum of distances over all ordered pairs of nodes."""

    diameter: int
    distance_sum: int


class Wanted(NamedTuple):
    """The parameters of a search for a graph.

    degree    greatest number of links of a node
    objective  what to minimise: mean_distance or diameter
    symmetry  the graph must be unchanged if its nodes are rotated by 1/symmetry; 1 for no symmetry
    seed      seed of the random numbers
    chains    number of chains, which start from different graphs
    grid      (columns, rows) of the grid on which the nodes are placed; None if nodes are not placed
    max_wire  greatest length of a link, in places along both axes; None for any
    """

    nodes: int
    degree: int
    objective: str = "mean_distance"
    symmetry: int = 1
    seed: int = 1
    chains: int = 1
    grid: tuple[int, int] | None = None
    max_wire: int | None = None

    @property
    def name(self) -> str:
        """Name of the search's files, without a suffix."""
        graph = f"{self.nodes}-{self.degree}-symmetry{self.symmetry}"
        if self.grid is not None:
            graph += f"-grid{self.grid[0]}x{self.grid[1]}-wire{self.max_wire}"
        return f"{self.objective}-{graph}-seed{self.seed}-chains{self.chains}"

    @property
    def orbits(self) -> int:
        """Number of orbits of nodes under the rotation."""
        return self.nodes // self.symmetry

    @property
    def wires(self) -> Wires | None:
        """Places of the nodes and the greatest length of links; None if nodes are not placed."""
        return None if self.grid is None or self.max_wire is None else Wires(places(self), self.max_wire)

    @property
    def bound(self) -> Bound:
        """Lower bounds for all graphs of this size and degree whose links are not longer than `max_wire`."""
        return _bound(self)

    @property
    def goal(self) -> Goal:
        """Diameter and energy at which a graph is optimal, so that the search ends."""
        if self.objective == "diameter":
            return Goal(self.bound.diameter, PENALTY, 2**62)
        return Goal(self.nodes, 1, self.bound.distance_sum // self.symmetry)

    def check(self) -> None:
        """Raise BadInput if no graph can have these parameters."""
        if self.degree >= self.nodes:
            raise BadInput(
                f"degree: expected less than the {self.nodes:,} nodes, got {self.degree}: no node has more neighbours"
            )
        if self.nodes % self.symmetry:
            raise BadInput(
                f"symmetry: expected a divisor of the {self.nodes:,} nodes, got {self.symmetry};"
                f" {_nearest_divisor(self.nodes, self.symmetry)} is one"
            )
        self._check_grid()

    def _check_grid(self) -> None:
        if (self.grid is None) != (self.max_wire is None):
            raise BadInput("expected a grid and the longest wire on it, got only one of them; give both, or neither")
        if self.grid is None or self.max_wire is None:
            return
        columns, rows = self.grid
        if columns * rows != self.nodes:
            raise BadInput(f"grid: expected columns x rows of {self.nodes:,} places, got {columns}x{rows}")
        turns = (1, 2, 4) if columns == rows and columns % 2 == 0 else (1, 2)
        if self.symmetry not in turns:
            raise BadInput(
                f"symmetry: expected one of {', '.join(map(str, turns))} on a grid of {columns}x{rows}, which turns"
                f" into itself, got {self.symmetry}"
            )


@cache
def places(wanted: Wanted) -> np.ndarray:
    """Return column and row of each node, int32[N, 2]. Rotating nodes by 1/symmetry turns the grid by 360°/symmetry."""
    assert wanted.grid is not None
    columns, rows = wanted.grid
    if wanted.symmetry == 4:
        turned = [np.array([(x, y) for y in range(rows // 2) for x in range(columns // 2)], np.int32)]
        for _ in range(3):
            x, y = turned[-1].T
            turned.append(np.stack([columns - 1 - y, x], axis=1))
        return np.concatenate(turned).astype(np.int32)
    number = np.arange(wanted.nodes)
    if wanted.symmetry == 2:
        half = number[: wanted.nodes // 2]
        number = np.concatenate([half, wanted.nodes - 1 - half])
    return np.stack([number % columns, number // columns], axis=1).astype(np.int32)


@cache
def _bound(wanted: Wanted) -> Bound:
    """Compute the bounds. Within h hops of a node are at most as many nodes as in a tree, or as within h wires."""
    levels = bounds.moore_levels(wanted.nodes, wanted.degree)
    if wanted.wires is None:
        return Bound(bounds.diameter(levels), bounds.distance_sum(levels) * wanted.nodes)
    place, longest = wanted.wires
    in_tree = np.cumsum(levels)
    diameter = total = 0
    for here in place:
        on_grid = np.cumsum(np.bincount(np.abs(place - here).sum(axis=1)))
        hops, reached = 0, 1
        while reached < wanted.nodes:
            total += wanted.nodes - reached
            hops += 1
            most = in_tree[min(hops, len(in_tree) - 1)], on_grid[min(hops * longest, len(on_grid) - 1)]
            reached = int(min(most))
        diameter = max(diameter, hops)
    return Bound(diameter, total)


def _nearest_divisor(number: int, near: int) -> int:
    return min((divisor for divisor in range(1, number + 1) if number % divisor == 0), key=lambda d: abs(d - near))


def random_graph(wanted: Wanted, chain: int) -> Quotient:
    """Make a graph by connecting ports at random. It depends only on the parameters and on the number of the chain.

    If nodes and degree are odd, one port in each copy stays free; if the length of links is limited, more may stay
    free. Raises BadInput if no graph is found, for example if almost all possible links are needed.
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
    """The ports of a quotient graph while they are being connected. Port p of node a has the number a·d + p."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted, ports = wanted, wanted.orbits * wanted.degree
        self.head = np.full(ports, NO_PORT, np.int32)
        self.shift, self.mate = np.zeros(ports, np.int32), np.full(ports, -1, np.int32)
        # for each node: (head, shift) of its connected ports, and of the node itself
        self.taken: list[set[tuple[int, int]]] = [{(a, 0)} for a in range(wanted.orbits)]

    def pair(self, random: np.random.Generator) -> list[int]:
        """Connect free ports in random pairs, for several rounds. Return the ports that are still free."""
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
        """Replace random links by links from their ends to free ports. Return the ports that are still free."""
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
        """Add a link between two ports unless it exists, is a loop, or is too long. Return whether it was added."""
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
        """Remove the link of a port."""
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
