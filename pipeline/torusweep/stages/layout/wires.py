"""How long wires are between placed nodes, and how densely they lie.

A wire is a link between two nodes that stand apart, or in different cabinets; both channels of a
bidirectional link run along it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from torusweep.networks.topology import NO_PORT, Topology
from torusweep.stages.layout.placements import Placement, extent


class Wires(NamedTuple):
    """Wires of one sort each: of one link class, leading as far along each dimension.

    kind   int64[S]     link class
    reach  int64[S, D]  places between the ends along each dimension
    number int64[S]     wires, a bidirectional link counted once
    """

    kind: np.ndarray
    reach: np.ndarray
    number: np.ndarray

    @property
    def manhattan(self) -> np.ndarray:
        """int64[S]: lengths along the dimensions of space, in pitches."""
        return self.reach.sum(axis=1)

    @property
    def euclidean(self) -> np.ndarray:
        """float64[S]: lengths as the crow flies, in pitches."""
        return np.sqrt((self.reach.astype(np.float64) ** 2).sum(axis=1))


def wires_of(topology: Topology, placement: Placement) -> Wires:
    """The wires of a placed network, sorted by class and reach; links within a cabinet are none."""
    sides = extent(placement)
    codes: dict[int, int] = {}
    for kind, tail, head in _wires(topology, placement):
        code = kind.astype(np.int64)
        for dimension, side in enumerate(sides):
            code = code * side + np.abs(head[:, dimension] - tail[:, dimension])
        for value, number in zip(*(array.tolist() for array in np.unique(code, return_counts=True))):
            codes[value] = codes.get(value, 0) + number
    ordered = sorted(codes)
    rest, reach = np.array(ordered, np.int64), np.zeros((len(codes), len(sides)), np.int64)
    for dimension in reversed(range(len(sides))):
        rest, reach[:, dimension] = np.divmod(rest, sides[dimension])
    return Wires(rest, reach, np.array([codes[code] for code in ordered], np.int64))


def crossings(topology: Topology, placement: Placement) -> list[np.ndarray]:
    """int64[E − 1] a dimension: wires that cross each gap between neighbouring places, all rows together."""
    sides = extent(placement)
    changes = [np.zeros(side, np.int64) for side in sides]
    for _, tail, head in _wires(topology, placement):
        for dimension, side in enumerate(sides):
            low, high = (
                np.minimum(tail[:, dimension], head[:, dimension]),
                np.maximum(tail[:, dimension], head[:, dimension]),
            )
            changes[dimension] += np.bincount(low, minlength=side) - np.bincount(high, minlength=side)
    return [np.cumsum(change)[:-1] for change in changes]


def layout_volume(across: list[np.ndarray], sides: tuple[int, ...]) -> float:
    """Least volume, in wire pitches, of a box whose nodes are so placed; in two dimensions and one, area.

    across   as `crossings` gives it
    sides    of the bounding box, in places; those of one place are no dimensions

    A section of the box has a cell for every wire that crosses it. The densest sections X, Y, Z of a box
    of volume V have V² = X Y Z in three dimensions; in two, with a layer of wires each way, V = X Y. A node
    takes a cell, so it is never less than the number of places.
    """
    densest = [int(gaps.max()) for gaps, side in zip(across, sides) if side > 1]
    least = (
        sqrt(prod(densest)) if len(densest) == 3 else prod(densest) if len(densest) == 2 else max(sides) * sum(densest)
    )
    return float(max(prod(sides), least))


def _wires(topology: Topology, placement: Placement) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(link class int8[A], tail int32[A, D], head int32[A, D]) of every wire, a port at a time, so that a million nodes fit."""
    assert topology.capacity is None, "networks with addresses have no parallel links"
    for port in range(topology.ports.shape[1]):
        heads = topology.ports[:, port]
        tails = np.flatnonzero(heads != NO_PORT)
        heads = heads[tails]
        wanted = placement.cabinet[tails] != placement.cabinet[heads]
        if not topology.directed:
            wanted &= tails < heads
        tails, heads = tails[wanted], heads[wanted]
        yield (
            topology.link_class[tails, port],
            placement.positions[placement.cabinet[tails]],
            placement.positions[placement.cabinet[heads]],
        )
