"""Routes of packets as rows of one table of runs, which a batch of experiments shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.loads.route_table import RouteTable
from pipeline.routing.forms import SourceRouting

WORD = np.uint64(32)


class RouteRows(NamedTuple):
    """Rows of runs: direction int8[R, L], hops int16[R, L], phase int8[R, L]; row int32[M] of every packet."""

    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray
    row: np.ndarray


def routes_of(routing: SourceRouting, source: np.ndarray, destination: np.ndarray, words: np.ndarray) -> RouteRows:
    """One route for each of M packets, drawn by its weight.

    source, destination  int32[M]   nodes
    words                uint32[4, M]  of each packet, for its choices: its route, the node between (of a routing of two
                         passes, drawn of all nodes), its second half's route
    A route of two passes is one row: its first half's runs, then its second's with their phases behind the first's.
    """
    if not len(source):
        return RouteRows(np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int16), np.zeros((1, 1), np.int8), np.zeros(0, np.int32))
    table = RouteTable(routing)
    if routing.passes == 1:
        row = table.drawn(source, destination, words[0])
        return RouteRows(table.direction, table.hops, table.routes.phase, row)
    between = (words[1].astype(np.uint64) * np.uint64(routing.topology.nodes) >> WORD).astype(np.int32)
    halves = table.drawn(np.append(source, between), np.append(between, destination), np.append(words[0], words[2]))
    return _joined(table, halves, routing.phases)


def _joined(table: RouteTable, halves: np.ndarray, phases: int) -> RouteRows:
    """Pairs of rows, those of the first halves before those of the second, as one row each; equal ones once."""
    number = len(table.hops)
    pair, row = np.unique(halves[: len(halves) // 2].astype(np.int64) * number + halves[len(halves) // 2 :], return_inverse=True)
    one, two = np.divmod(pair, number)
    direction, hops, phase = table.direction, table.hops, table.routes.phase
    return RouteRows(
        np.hstack([direction[one], direction[two]]),
        np.hstack([hops[one], hops[two]]),
        np.hstack([phase[one], phase[two] + np.int8(phases)]),
        row.astype(np.int32),
    )
