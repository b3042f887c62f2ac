"""Routes of packets as rows of one table of runs, which a batch of experiments shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.routing.forms import LayeredRouting, Routing
from torusweep.routing.route_table import RouteTable
from torusweep.stages.simulation.walked_routes import Draws, walked

WORD = np.uint64(32)


class RouteRows(NamedTuple):
    """Rows of runs: direction int8[R, L], hops int16[R, L], phase int8[R, L]; row int32[M] of every packet."""

    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray
    row: np.ndarray


def routes_of(routing: Routing, source: np.ndarray, destination: np.ndarray, draws: Draws) -> RouteRows:
    """One route for each of M packets, drawn by its weight.

    source, destination  int32[M]   nodes
    draws                uint32[4, M] for each purpose 0, 1, …; of a routing settled at the source purpose 0 has all: for
                         its route, for the node between (of two passes; drawn of all nodes), for its second half's route
    A route of two passes is one row: its first half's runs, then its second's with their phases behind the first's. One
    over states is hops, one a run, in the directions in which ports lead.
    """
    if not len(source):
        return RouteRows(
            np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int16), np.zeros((1, 1), np.int8), np.zeros(0, np.int32)
        )
    if isinstance(routing, LayeredRouting):
        direction, hops = walked(routing, source, destination, draws)
        return RouteRows(direction, hops, np.zeros_like(direction), np.arange(len(source), dtype=np.int32))
    table, words = RouteTable(routing), draws(0)
    if routing.passes == 1:
        row = table.sample(source, destination, words[0])
        return RouteRows(table.direction, table.hops, table.routes.phase, row)
    between = (words[1].astype(np.uint64) * np.uint64(routing.topology.nodes) >> WORD).astype(np.int32)
    halves = table.sample(np.append(source, between), np.append(between, destination), np.append(words[0], words[2]))
    return _joined(table, halves, routing.phases)


def _joined(table: RouteTable, halves: np.ndarray, phases: int) -> RouteRows:
    """Pairs of rows, those of the first halves before those of the second, as one row each; equal ones once."""
    number = len(table.hops)
    pair, row = np.unique(
        halves[: len(halves) // 2].astype(np.int64) * number + halves[len(halves) // 2 :], return_inverse=True
    )
    one, two = np.divmod(pair, number)
    direction, hops, phase = table.direction, table.hops, table.routes.phase
    return RouteRows(
        np.hstack([direction[one], direction[two]]),
        np.hstack([hops[one], hops[two]]),
        np.hstack([phase[one], phase[two] + np.int8(phases)]),
        row.astype(np.int32),
    )
