"""Exact flows of routes settled at the source: every pair's routes, in blocks of pairs."""

from __future__ import annotations

from math import log2

import numpy as np

from kernels.routes import route_flows
from pipeline.loads.route_table import RouteTable
from pipeline.routing.forms import SourceRouting
from pipeline.topology import NO_PORT
from pipeline.traffic import Traffic
from pipeline.traffic.matrix import alike

BLOCK = 1 << 20  # pairs that are written out at a time
LARGEST_SUM = 54  # bits: a route may pass a channel several times, and int64 must hold all passes


def source_flows(routing: SourceRouting, traffic: Traffic, *, use_symmetry: bool, backend: str, threads: int | None) -> np.ndarray:
    """float64[N, P]: flits over every channel, of traffic between the nodes."""
    topology = routing.topology
    table, flows = RouteTable(routing), np.zeros(routing.moves.port.shape)
    alike_in_cells = use_symmetry and routing.regular and _same_in(routing.cell, np.bincount(topology.terminals, minlength=topology.nodes))
    for half in halves(routing, traffic):
        if half.symmetric and alike_in_cells:
            flows += _from_each_cell(table, half, backend, threads)
        else:
            flows += _from(table, half, np.arange(topology.nodes, dtype=np.int32), np.ones(topology.nodes), backend, threads)
    return over_channels(routing, flows)


def halves(routing: SourceRouting, traffic: Traffic) -> list[Traffic]:
    """The traffic of every pass: the whole, or to the nodes drawn for Valiant's first half and from there."""
    if routing.passes == 1:
        return [traffic]
    nodes, sent, received = len(traffic.weight), traffic.sent(), traffic.received()
    spread = Traffic(sent, np.full(nodes, 1 / nodes), alike(sent).own, symmetric=traffic.symmetric or np.ptp(sent) == 0)
    return [spread, alike(received / nodes, symmetric=traffic.symmetric or np.ptp(received) == 0)]


def _from_each_cell(table: RouteTable, traffic: Traffic, backend: str, threads: int | None) -> np.ndarray:
    """float64[N, D]: one source of each cell stands for all of it, and every node of a cell has the mean."""
    cell, moves = table.routing.cell, table.routing.moves
    size = np.bincount(cell)
    sources = np.unique(cell, return_index=True)[1].astype(np.int32)
    flows = _from(table, traffic, sources, size.astype(np.float64), backend, threads)
    for d in range(moves.port.shape[1]):
        flows[:, d] = (np.bincount(cell, flows[:, d]) / size)[cell]
    flows[moves.port == NO_PORT] = 0
    return flows


def _from(table: RouteTable, traffic: Traffic, sources: np.ndarray, weights: np.ndarray, backend: str, threads: int | None) -> np.ndarray:
    """float64[N, D]: what S sources, int32[S], send, each times its weight, float64[S]."""
    nodes = table.routing.topology.nodes
    flows = np.zeros(table.routing.moves.port.shape)
    step = max(1, BLOCK // nodes) if traffic.common.any() else BLOCK
    for first in range(0, len(sources), step):
        some = sources[first : first + step]
        row, destination, demand = traffic.pairs(some)
        flows += _flows(table, some[row], destination, demand * weights[first + row], backend, threads)
    return flows


def over_channels(routing: SourceRouting, flows: np.ndarray) -> np.ndarray:
    """[N, P]: what passes every channel, of what moves in every direction, [N, D]; several directions may share a channel."""
    total = np.zeros(routing.topology.ports.shape, flows.dtype)
    for d, port in enumerate(routing.moves.port.T):
        leaving = np.flatnonzero(port != NO_PORT)
        total[leaving, port[leaving]] += flows[leaving, d]
    return total


def _flows(table: RouteTable, source: np.ndarray, destination: np.ndarray, demand: np.ndarray, backend: str, threads: int | None) -> np.ndarray:
    """float64[N, D] of pairs with their demands, summed as whole numbers: in any order the same.

    The unit is a whole fraction of the smallest share, so that equal demands and their halves are
    counted without rounding; the others are off by at most a 2⁻⁵⁴-th of all that the block sends.
    """
    routes = table.of(source, destination)
    share = demand[routes.pair] * routes.weight
    if not len(share):
        return np.zeros(table.routing.moves.port.shape)
    room = 2.0 ** (LARGEST_SUM - np.ceil(log2(share.sum())))
    scale = np.floor(room * share.min()) / share.min()
    if scale < room / 2:  # the smallest is below what can be counted
        scale = room
    amount = np.rint(share * scale).astype(np.int64)
    counted = route_flows(
        table.routing.moves.next, source[routes.pair], routes.row, table.direction, table.hops, amount, backend=backend, threads=threads
    )
    return counted / scale


def _same_in(cell: np.ndarray, value: np.ndarray) -> bool:
    """Whether nodes of one cell have the same value."""
    first = np.unique(cell, return_index=True)[1]
    return np.array_equal(value, value[first][cell])
