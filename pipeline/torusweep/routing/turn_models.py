"""Turn models: minimal routings on meshes that forbid just enough turns to be deadlock-free with one virtual channel.

A packet takes all hops of a first set of directions, in any order, before any hop of the others. It therefore never
turns from one of the others into one of the first set.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Annotated, Literal

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.topology import NO_PORT, Meaning, Topology, require
from torusweep.routing.dimension_order import grid_of
from torusweep.routing.forms import LayeredRouting

Split = Annotated[
    Literal["next_hops", "paths"],
    Meaning(
        "next_hops: at every node, all permitted hops that lead nearer equally; paths: all permitted paths equally"
    ),
]


def west_first(topology: Topology, split: Split = "next_hops") -> LayeredRouting:
    """First all hops to the west (−x), then the others in any order.

    In n dimensions: first the hops in − direction of all dimensions but the last.

    Constraint: a mesh or hypercube of two or more dimensions, with all its links.
    Source: Glass & Ni 1992; in n dimensions their all-but-one-negative-first.
    """
    sides = _sides("west_first", topology)
    return _turn_model("west_first", topology, [(i, False) for i in range(len(sides) - 1)], split)


def north_last(topology: Topology, split: Split = "next_hops") -> LayeredRouting:
    """First the hops in all other directions, in any order, and at last those to the north (+y).

    In n dimensions: at last the hops in + direction of all dimensions but the first.

    Constraint: a mesh or hypercube of two or more dimensions, with all its links.
    Source: Glass & Ni 1992; in n dimensions their all-but-one-positive-last.
    """
    sides = _sides("north_last", topology)
    first = [(0, True), *((i, False) for i in range(len(sides)))]
    return _turn_model("north_last", topology, first, split)


def negative_first(topology: Topology, split: Split = "next_hops") -> LayeredRouting:
    """First all hops in − directions, then all hops in + directions, each in any order.

    Constraint: a mesh or hypercube of two or more dimensions, with all its links.
    Source: Glass & Ni 1992.
    """
    sides = _sides("negative_first", topology)
    return _turn_model("negative_first", topology, [(i, False) for i in range(len(sides))], split)


def _sides(routing: str, topology: Topology) -> tuple[int, ...]:
    """The sides of a mesh or hypercube. Raises BadInput for another network."""
    grid = grid_of(routing, topology)
    require(len(grid.sides) >= 2, "dimensions", len(grid.sides), "2 or more", "a turn needs two")
    if topology.directed or any(closed and side > 2 for closed, side in zip(grid.round, grid.sides)):
        raise BadInput(
            f"routing {routing} on {topology.spelling}: expected a mesh or hypercube, got wraparound links, round which"
            " a cycle needs no turn; choose dimension_order"
        )
    return grid.sides


def _turn_model(routing: str, topology: Topology, first: Iterable[tuple[int, bool]], split: str) -> LayeredRouting:
    """Shortest paths in a graph of three states for each node: only hops of `first` so far; another hop; arrived.

    first   directions (dimension, whether +)
    """
    grid = grid_of(routing, topology)
    nodes, width = topology.ports.shape
    every = np.arange(nodes, dtype=np.int32)
    begins = np.zeros((nodes, width), bool)
    for dimension, plus in first:
        digit = every // prod(grid.sides[:dimension]) % grid.sides[dimension]
        port = grid.moves.port[:, 2 * dimension + (not plus)]
        leads = (port != NO_PORT) & (digit < grid.sides[dimension] - 1 if plus else digit > 0)
        begins[every[leads], port[leads]] = True
    leads = topology.ports != NO_PORT
    there = topology.ports
    one, two, arrived = every, every + np.int32(nodes), every + np.int32(2 * nodes)
    states = np.full((3 * nodes, width + 1), NO_PORT, np.int32)
    states[one, :-1] = np.where(begins, one[there], np.where(leads, two[there], NO_PORT))
    states[two, :-1] = np.where(leads & ~begins, two[there], NO_PORT)
    states[: 2 * nodes, -1] = np.tile(arrived, 2)
    port = np.where(states == NO_PORT, NO_PORT, np.arange(width + 1)).astype(np.int8)
    port[:, -1] = NO_PORT
    arcs = "next-hops" if split == "next_hops" else split
    return LayeredRouting(topology, states, port, np.tile(every, 3), one, arrived, 1, arcs)
