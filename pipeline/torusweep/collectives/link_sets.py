"""Hamiltonian cycles that share no link, by exchanging links between sets that cover each node twice."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import scipy

from torusweep.collectives.axes import AxisSteps

SEED = 1  # of the search: the same rings in every run
EXCHANGES = 200  # of squares, for each node, until the search gives up


class _LinkSets:
    """The links of all axes in sets: two at each node, and at most one set with one at each node.

    owner[j][v]  the set of the link from v along axis j
    ring[k][v]   a label of the ring of set k that goes through v
    """

    def __init__(self, nodes: int, axes: Sequence[AxisSteps]) -> None:
        self.nodes, self.axes = nodes, axes
        double = [bool((axis.following == axis.previous).all()) for axis in axes]  # one link instead of two at a node
        turning = len(double) - sum(double)
        order = sorted(range(len(axes)), key=double.__getitem__)
        # axes of rings have a set each, axes of pairs one for two of them
        holder = {
            axis: place if place < turning else turning + (place - turning) // 2 for place, axis in enumerate(order)
        }
        self.full = turning + sum(double) // 2
        self.owner = [np.full(nodes, holder[axis], np.int32) for axis in range(len(axes))]
        everyone = np.arange(nodes)
        # a link of a pair is that of its lower end
        self.tail = [np.minimum(everyone, axis.following) if pair else everyone for axis, pair in zip(axes, double)]
        self.count, self.ring = [0] * self.full, [everyone] * self.full
        for number in range(self.full):
            self.follow(number)

    def follow(self, number: int) -> None:
        """Count and label the rings of a set."""
        ends = self.ends(number)
        graph = scipy.sparse.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(self.nodes, self.nodes))
        self.count[number], self.ring[number] = scipy.sparse.csgraph.connected_components(graph, directed=False)

    def ends(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """(tails, heads) of the links of a set."""
        everyone = np.arange(self.nodes)
        tails = [np.flatnonzero((own == number) & (tail == everyone)) for own, tail in zip(self.owner, self.tail)]
        heads = [axis.following[some] for axis, some in zip(self.axes, tails)]
        return np.concatenate(tails), np.concatenate(heads)

    def exchange(self, node: int, one: int, other: int) -> None:
        """Exchange the sides of the square of two axes at a node between their sets, if they do not get more rings."""
        along, across = int(self.axes[one].following[node]), int(self.axes[other].following[node])
        sides = (
            (one, int(self.tail[one][node])),
            (one, int(self.tail[one][across])),
            (other, int(self.tail[other][node])),
            (other, int(self.tail[other][along])),
        )
        sets = [int(self.owner[axis][tail]) for axis, tail in sides]
        if sets[0] != sets[1] or sets[2] != sets[3] or sets[0] == sets[2]:
            return
        # two parallel sides of one ring leave one ring or two, those of two rings leave one
        full = [
            (number, pair)
            for number, pair in ((sets[0], (node, across)), (sets[2], (node, along)))
            if number < self.full
        ]
        if not any(self.ring[number][pair[0]] != self.ring[number][pair[1]] for number, pair in full):
            return
        before = sum(self.count[number] for number, _ in full)
        self._give(sides, (sets[2], sets[2], sets[0], sets[0]))
        for number, _ in full:
            self.follow(number)
        if sum(self.count[number] for number, _ in full) > before:
            self._give(sides, sets)
            for number, _ in full:
                self.follow(number)

    def _give(self, sides: Sequence[tuple[int, int]], sets: Sequence[int]) -> None:
        for (axis, tail), number in zip(sides, sets):
            self.owner[axis][tail] = number
            self.owner[axis][self.axes[axis].following[tail] if self._paired(axis) else tail] = number

    def _paired(self, axis: int) -> bool:
        return self.tail[axis][self.axes[axis].following[0]] == self.tail[axis][0]

    def walk(self, number: int) -> np.ndarray:
        """The nodes of a set that is one ring, in its order."""
        beside: list[list[int]] = [[] for _ in range(self.nodes)]
        for tail, head in zip(*(ends.tolist() for ends in self.ends(number))):
            beside[tail].append(head)
            beside[head].append(tail)
        order, before, node = [0], 0, beside[0][0]
        while node != 0:
            order.append(node)
            one, other = beside[node]
            before, node = node, other if one == before else one
        return np.array(order, np.int32)


def exchanged(nodes: int, axes: Sequence[AxisSteps]) -> list[np.ndarray] | None:
    """Hamiltonian cycles that share no link, by exchanging the sides of squares; None where the search gives up."""
    draw = random.Random(SEED)
    sets = _LinkSets(nodes, axes)
    for _ in range(EXCHANGES * nodes):
        if all(count == 1 for count in sets.count):
            return [sets.walk(number) for number in range(sets.full)]
        one, other = draw.sample(range(len(axes)), 2)
        sets.exchange(draw.randrange(nodes), one, other)
    return None
