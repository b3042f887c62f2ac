"""Directions along the axes of a lattice, for networks whose links are steps ± e_i of the address."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from torusweep.networks.families.algebra import Lattice
from torusweep.networks.families.grids import digit
from torusweep.networks.topology import Topology
from torusweep.routing.forms import Moves, port_to

MAX_HOPS = int(np.iinfo(np.int16).max)  # of a run


def along_axes(topology: Topology, shape: Lattice, names: Sequence[str]) -> Moves | None:
    """Moves whose direction 2i adds e_i to the address, modulo the lattice, and 2i + 1 subtracts it.

    topology   the network
    shape      lattice of the addresses; prod(shape.sides) = N
    names      of the axes
    returns    None if a link of the network is not such a step
    """
    axes = range(len(shape.sides))
    if not 0 < topology.ports.shape[1] <= 2 * len(axes) or prod(shape.sides) != topology.nodes:
        return None
    port = np.empty((topology.nodes, 2 * len(axes)), np.int8)
    box = [digit(shape.sides, i).astype(np.int64) for i in axes]
    for axis in axes:
        for back, step in enumerate((1, -1)):
            there = shape.index([place + step * int(i == axis) for i, place in enumerate(box)])
            port[:, 2 * axis + back] = port_to(topology, there)
    moves = Moves(topology, port, tuple(names))
    return moves if moves.covers_all_links else None


def address(shape: Lattice, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
    """int64[…]: number of destination − source modulo the lattice, for broadcastable node numbers of NumPy or CuPy."""
    return shape.number([b - a for a, b in zip(shape.digits(source), shape.digits(destination))])
