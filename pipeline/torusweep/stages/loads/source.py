"""Exact flows of source routing: follow the routes of every pair, in blocks of pairs."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import NamedTuple

import numpy as np
from torusweep_kernels.routes import route_flows

from torusweep.errors import Refused
from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import SourceRouting
from torusweep.routing.route_table import RouteTable
from torusweep.traffic import Traffic
from torusweep.traffic.matrix import same_from_all

BLOCK = 1 << 20  # pairs at a time
MAX_PAIRS = 10**10  # to follow: a quarter of an hour
SUM_BITS = 54  # of a block's total: a route may pass a channel several times, and int64 must hold all passes


def source_flows(
    routing: SourceRouting,
    traffic: Traffic,
    *,
    use_symmetry: bool,
    backend: str,
    threads: int | None,
    progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    """float64[N, P]: flits over every channel, for traffic between the nodes.

    progress   receives the share of the pairs that have been followed
    Raises Refused where there are too many pairs.
    """
    table, flows, done = RouteTable(routing), np.zeros(routing.moves.port.shape), 0
    parts = _parts(routing, traffic, use_symmetry)
    pairs = sum(part.pairs for part in parts)
    if pairs > MAX_PAIRS:
        raise Refused(
            f"expected at most {MAX_PAIRS:,} pairs of nodes to follow routes between, got {pairs:,};"
            " sample them: --method monte-carlo"
        )
    for part in parts:
        own = np.zeros_like(flows)
        for first in range(0, len(part.sources), part.step):
            some = part.sources[first : first + part.step]
            row, destination, demand = part.traffic.pairs(some)
            own += _flows(table, some[row], destination, demand * part.weights[first + row], backend, threads)
            done += len(some) * (part.pairs // len(part.sources))
            if progress is not None:
                progress(done / pairs)
        flows += _average_over_cells(routing, own) if part.by_cell else own
    return channels_of_directions(routing, flows)


def pairs_followed(routing: SourceRouting, traffic: Traffic) -> int:
    """The number of pairs that `source_flows` follows with symmetry."""
    return sum(part.pairs for part in _parts(routing, traffic, True))


class _Part(NamedTuple):
    """Traffic of one pass.

    sources   to follow, int32[S]
    weights   of the sources, float64[S]
    by_cell   each source represents its cell
    """

    traffic: Traffic
    sources: np.ndarray
    weights: np.ndarray
    by_cell: bool

    @property
    def dense(self) -> bool:
        return bool(self.traffic.common.any())

    @property
    def pairs(self) -> int:
        return (
            len(self.sources) * len(self.traffic.common) if self.dense else max(self.traffic.own.nnz, len(self.sources))
        )

    @property
    def step(self) -> int:
        """Sources followed at a time."""
        return max(1, BLOCK // len(self.traffic.common)) if self.dense else BLOCK


def _parts(routing: SourceRouting, traffic: Traffic, use_symmetry: bool) -> list[_Part]:
    topology, cell = routing.topology, routing.cell
    terminals = np.bincount(topology.terminals, minlength=topology.nodes)
    uniform_cells = use_symmetry and routing.regular and _constant_in_cells(cell, terminals)
    parts = []
    for half in halves(routing, traffic):
        if half.symmetric and uniform_cells:
            sources = np.unique(cell, return_index=True)[1].astype(np.int32)
            parts.append(_Part(half, sources, np.bincount(cell).astype(np.float64), True))
        else:
            parts.append(_Part(half, np.arange(topology.nodes, dtype=np.int32), np.ones(topology.nodes), False))
    return parts


def halves(routing: SourceRouting, traffic: Traffic) -> list[Traffic]:
    """The traffic of every pass; with two passes, that to the random intermediate nodes, and that from them."""
    if routing.passes == 1:
        return [traffic]
    nodes, sent, received = len(traffic.weight), traffic.sent(), traffic.received()
    spread = Traffic(
        sent, np.full(nodes, 1 / nodes), same_from_all(sent).own, symmetric=traffic.symmetric or np.ptp(sent) == 0
    )
    return [spread, same_from_all(received / nodes, symmetric=traffic.symmetric or np.ptp(received) == 0)]


def _average_over_cells(routing: SourceRouting, flows: np.ndarray) -> np.ndarray:
    """float64[N, D]: flows caused by one source of each cell, averaged over the nodes of every cell."""
    size, mean = np.bincount(routing.cell), np.zeros_like(flows)
    for d in range(routing.moves.port.shape[1]):
        mean[:, d] = (np.bincount(routing.cell, flows[:, d]) / size)[routing.cell]
    mean[routing.moves.port == NO_PORT] = 0
    return mean


def channels_of_directions(routing: SourceRouting, flows: np.ndarray) -> np.ndarray:
    """[N, P]: flows over channels, from flows in directions, [N, D]; several directions may share a channel."""
    total = np.zeros(routing.topology.ports.shape, flows.dtype)
    for d, port in enumerate(routing.moves.port.T):
        leaving = np.flatnonzero(port != NO_PORT)
        total[leaving, port[leaving]] += flows[leaving, d]
    return total


def _flows(
    table: RouteTable,
    source: np.ndarray,
    destination: np.ndarray,
    demand: np.ndarray,
    backend: str,
    threads: int | None,
) -> np.ndarray:
    """float64[N, D]: flows of pairs with their demands, summed as integers, so that the order does not matter.

    The unit divides the smallest share. Equal demands and their halves therefore have no rounding error; the
    error of the others is at most 2⁻⁵⁴ of the block's total.
    """
    routes = table.weighted_rows(source, destination)
    share = demand[routes.pair] * routes.weight
    if not len(share):
        return np.zeros(table.routing.moves.port.shape)
    room = 2.0 ** (SUM_BITS - np.ceil(log2(share.sum())))
    scale = np.floor(room * share.min()) / share.min()
    if scale < room / 2:  # the smallest share is below the resolution
        scale = room
    amount = np.rint(share * scale).astype(np.int64)
    flows = route_flows(
        table.routing.moves.next,
        source[routes.pair],
        routes.row,
        table.direction,
        table.hops,
        amount,
        backend=backend,
        threads=threads,
    )
    return flows / scale


def _constant_in_cells(cell: np.ndarray, value: np.ndarray) -> bool:
    """Whether all nodes of a cell have the same value."""
    first = np.unique(cell, return_index=True)[1]
    return np.array_equal(value, value[first][cell])
