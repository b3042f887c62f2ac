"""ROMM: dimension order by way of a random node between source and destination."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torusweep.errors import Refused
from torusweep.networks.topology import Topology
from torusweep.routing.dimension_order import Tie, grid_of
from torusweep.routing.forms import Routes, SourceRouting, combinations

MOST_ROUTES = 1 << 22  # of all keys together; a route takes about 50 bytes


def romm(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """In dimension order to a node drawn uniformly from the smallest box of source and destination, then on.

    All routes are shortest paths. The two halves are two phases: the rule `phases` gives each its virtual channels.

    Constraint: a grid as for dimension_order; at most 4,194,304 routes in all.
    Source: Nesson & Johnsson 1995, with one intermediate node.
    """
    grid = grid_of("romm", topology)
    dimensions = len(grid.sides)
    direct = grid.routing(tie, [tuple(range(dimensions))])
    most = _route_count(grid.sides, grid.round, grid.forward)
    if most > MOST_ROUTES:
        raise Refused(
            f"routing romm on {topology.spelling}: expected at most {MOST_ROUTES:,} routes, got about {most:,};"
            " choose valiant, or a smaller network"
        )

    def routes(keys: np.ndarray) -> Routes:
        whole = direct.routes(keys)
        first, before = combinations(whole.hops.astype(np.int64) + 1)  # hops before the intermediate node
        row = np.repeat(np.arange(len(whole.hops)), np.diff(first))
        return Routes(
            first[whole.first],
            whole.weight[row] / np.diff(first)[row],
            np.tile(whole.direction[row], 2),
            np.hstack([before, whole.hops[row] - before]).astype(np.int16),
            np.broadcast_to(np.repeat([0, 1], dimensions), (len(row), 2 * dimensions)).astype(np.int8),
        )

    return replace(direct, routes=routes, phases=2, separable=False)


def _route_count(sides: tuple[int, ...], closed: tuple[bool, ...], forward: tuple[bool, ...]) -> int:
    """The number of routes of all relative addresses, at most: the product over dimensions of Σ (hops + 1)."""
    count = 1
    for side, ring, one_way in zip(sides, closed, forward):
        offsets = np.arange(side) if ring else np.arange(1 - side, side)
        hops = np.abs(offsets) if one_way or not ring else np.minimum(offsets, side - offsets)
        count *= int((hops + 1).sum()) + int(ring and not one_way and side % 2 == 0) * (side // 2 + 1)
    return count
