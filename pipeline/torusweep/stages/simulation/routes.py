"""Random routes of packets, as rows of a table of runs that a batch of experiments shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.routing.forms import LayeredRouting, Routing, TableRouting
from torusweep.routing.paths import RouteTable
from torusweep.routing.tables.as_table import drawn_rows
from torusweep.stages.simulation.layered_routes import Draws, draw_layered_routes

WORD = np.uint64(32)


class RouteRows(NamedTuple):
    """Rows of runs (direction int8[R, L], hops int16[R, L], phase int8[R, L]) and the row of each packet (int32[M])."""

    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray
    row: np.ndarray


def routes_of(routing: Routing, source: np.ndarray, destination: np.ndarray, draws: Draws) -> RouteRows:
    """A random route for each of M packets, with the probabilities of the routing.

    source, destination  int32[M]   nodes
    draws                uint32[4, M] for each purpose 0, 1, …. Source routing uses purpose 0 only: for the route,
                         for the intermediate node (with two passes; uniform over all nodes), for the second half

    A route of two passes is one row: the runs of the first half, then those of the second, with higher phases.
    A route of a layered routing or a table has one hop in each run, and its directions are ports; the phases of a
    table are its classes.
    """
    if not len(source):
        return RouteRows(
            np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int16), np.zeros((1, 1), np.int8), np.zeros(0, np.int32)
        )
    if isinstance(routing, LayeredRouting):
        direction, hops = draw_layered_routes(routing, source, destination, draws)
        return RouteRows(direction, hops, np.zeros_like(direction), np.arange(len(source), dtype=np.int32))
    if isinstance(routing, TableRouting):
        return _table_rows(routing, source, destination, draws)
    table, words = RouteTable(routing), draws(0)
    if routing.passes == 1:
        row = table.sample(source, destination, words[0])
        return RouteRows(table.direction, table.hops, table.routes.phase, row)
    between = (words[1].astype(np.uint64) * np.uint64(routing.topology.nodes) >> WORD).astype(np.int32)
    halves = table.sample(np.append(source, between), np.append(between, destination), np.append(words[0], words[2]))
    return _join_halves(table, halves, routing.phases)


def _table_rows(routing: TableRouting, source: np.ndarray, destination: np.ndarray, draws: Draws) -> RouteRows:
    steps = list(drawn_rows(routing, source, destination, draws))
    direction, phase = np.zeros((2, len(source), max(1, len(steps))), np.int8)
    hops = np.zeros(direction.shape, np.int16)
    for hop, (packets, row) in enumerate(steps):
        direction[packets, hop], phase[packets, hop], hops[packets, hop] = routing.port[row], routing.kind[row], 1
    return RouteRows(direction, hops, phase, np.arange(len(source), dtype=np.int32))


def _join_halves(table: RouteTable, halves: np.ndarray, phases: int) -> RouteRows:
    """A row for each distinct pair of halves; `halves` lists the rows of first halves, then those of second ones."""
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
