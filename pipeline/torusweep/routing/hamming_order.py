"""Dimension-order routing where all routers of a row are joined: one hop in each dimension that differs."""

from __future__ import annotations

import numpy as np

from torusweep.errors import Refused
from torusweep.networks.families.grids import class_names, neighbour
from torusweep.networks.families.low_diameter import Hamming
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import Moves, Routes, SourceRouting, port_to

MOST_DIRECTIONS = 127  # a direction is an int8


def hamming_order(topology: Topology, *, reverse: bool = False) -> SourceRouting:
    """In each dimension, x first (reverse: last), one hop to the router of the destination's digit.

    Its directions are the steps of a dimension: s = 1, 2, … up to half its side, forwards (+) and backwards (−).

    Constraint: a HyperX, or one of its other names.
    Source: Ahn et al. 2009, sec. 3 (dimension order on the HyperX).
    """
    shape = topology.plan.structure
    assert isinstance(shape, Hamming), "the caller asks"
    sides = shape.sides
    steps = [(dimension, step) for dimension, side in enumerate(sides) for step in range(1, side // 2 + 1)]
    if 2 * len(steps) > MOST_DIRECTIONS:
        raise Refused(
            f"expected at most {MOST_DIRECTIONS} directions, got {2 * len(steps)};"
            " choose minimal, which suits every network"
        )
    port = np.full((topology.nodes, 2 * len(steps)), NO_PORT, np.int8)
    direction_of = [np.zeros(side, np.int8) for side in sides]  # by the difference of the digits
    for place, (dimension, step) in enumerate(steps):
        for backwards, by in ((0, step), (1, sides[dimension] - step)):
            if backwards and by == step:
                continue  # the same link
            port[:, 2 * place + backwards] = port_to(topology, neighbour(sides, dimension, by).reshape(-1))
            direction_of[dimension][by] = 2 * place + backwards
    names = class_names(len(sides))
    moves = Moves(topology, port, tuple(f"{names[dimension]} by {step} " for dimension, step in steps))
    order = list(range(len(sides)))[:: -1 if reverse else 1]

    def key(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        relative, stride = source * 0 + destination * 0, 1
        for side in sides:
            relative = relative + (destination // stride % side - source // stride % side) % side * stride
            stride *= side
        return relative

    def routes(keys: np.ndarray) -> Routes:
        keys = np.asarray(keys, np.int64)
        direction = np.zeros((len(keys), len(sides)), np.int8)
        hops = np.zeros((len(keys), len(sides)), np.int16)
        strides = np.cumprod([1, *sides[:-1]])
        for run, dimension in enumerate(order):
            apart = keys // strides[dimension] % sides[dimension]
            direction[:, run], hops[:, run] = direction_of[dimension][apart], apart > 0
        return Routes(np.arange(len(keys) + 1), np.ones(len(keys)), direction, hops, np.zeros_like(direction))

    return SourceRouting(moves, np.zeros(topology.nodes, np.int32), topology.nodes, key, routes)
