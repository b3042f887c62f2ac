"""Directions along the axes of a lattice, for networks whose links are steps ± e_i of the address."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from torusweep.networks.families.grids import digit
from torusweep.networks.families.hermite import Lattice
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import Moves

MAX_HOPS = int(np.iinfo(np.int16).max)  # of a run


def along_axes(topology: Topology, shape: Lattice, names: Sequence[str]) -> Moves | None:
    """Moves whose direction 2i adds e_i to the address, modulo the lattice, and 2i + 1 subtracts it.

    topology   the network
    shape      lattice of the addresses; prod(shape.sides) = N
    names      of the axes
    returns    None if a link of the network is no such step
    """
    axes = range(len(shape.sides))
    if not 0 < topology.ports.shape[1] <= 2 * len(axes) or prod(shape.sides) != topology.nodes:
        return None
    port = np.full((topology.nodes, 2 * len(axes)), NO_PORT, np.int8)
    followed = np.zeros(topology.ports.shape, bool)
    box = [digit(shape.sides, i).astype(np.int64) for i in axes]
    for axis in axes:
        for back, step in enumerate((1, -1)):
            there = shape.index([place + step * int(i == axis) for i, place in enumerate(box)])
            leads = (topology.ports == there[:, None]) & (topology.ports != NO_PORT)
            port[:, 2 * axis + back] = np.where(leads.any(axis=1), leads.argmax(axis=1), NO_PORT)
            followed |= leads
    return Moves(topology, port, tuple(names)) if np.array_equal(followed, topology.ports != NO_PORT) else None


def address(shape: Lattice, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
    """int64[…]: number of destination − source modulo the lattice, for broadcastable node numbers of NumPy or CuPy."""
    return shape.number([b - a for a, b in zip(shape.digits(source), shape.digits(destination))])
