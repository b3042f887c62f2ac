"""Exact flows under source routing: the routes of every pair are followed, in blocks of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from torusweep_kernels import sums
from torusweep_kernels.routes import route_flows

from torusweep.errors import Refused
from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import SourceRouting
from torusweep.routing.paths import RouteTable, whole_weights
from torusweep.traffic import Traffic

BLOCK = 1 << 20  # pairs at a time
MAX_PAIRS = 10**10  # pairs to follow; they take a quarter of an hour
MOST = 1 << 54  # largest sum of packets' amounts: routes may pass a channel several times, and int64 must hold all
FEW = 4  # up to this number of different demands in a block, each demand's packets are followed as whole numbers

Twice = tuple[np.ndarray, np.ndarray]  # rounded numbers, and the remainders of rounding: torusweep_kernels.sums


def source_flows(
    routing: SourceRouting,
    traffic: Traffic,
    *,
    use_symmetry: bool,
    backend: str,
    threads: int | None,
    progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    """Return the flits over every channel, float64[N, P], for traffic between nodes.

    The loads are exact sums, rounded once: whole numbers of packets, times the demand that each packet stands for.
    progress   called with the share of the pairs that have been followed
    Raises Refused if there are too many pairs to follow.
    """
    table, done = RouteTable(routing), 0
    zero = np.zeros(routing.moves.port.shape)
    flows: Twice = zero, zero
    parts = _parts(routing, traffic, use_symmetry)
    pairs = sum(part.pairs for part in parts)
    if pairs > MAX_PAIRS:
        raise Refused(
            f"expected at most {MAX_PAIRS:,} pairs of nodes to follow routes between, got {pairs:,};"
            " sample them: --method monte-carlo"
        )
    follow = _Follow(table, backend, threads)
    for part in parts:
        for first in range(0, len(part.sources), part.step):
            some = part.sources[first : first + part.step]
            follow.packets(part.listed(some), some, part.sizes[first : first + part.step])
            done += len(some) * (part.pairs // len(part.sources))
            if progress is not None:
                progress(done / pairs)
        own = sums.divided(*follow.taken(), float(part.share))
        flows = sums.add(*flows, *(_average_over_cells(routing, own) if part.by_cell else own))
    return sums.rounded(*_exact_channels_of_directions(routing, flows))


def pairs_followed(routing: SourceRouting, traffic: Traffic) -> int:
    """Return the number of pairs of nodes that `source_flows` follows if it uses symmetry."""
    return sum(part.pairs for part in _parts(routing, traffic, True))


class _Listed(NamedTuple):
    """Pairs with a demand: index of the source int64[R], destination int32[R]; demand float64[R] = high + low."""

    row: np.ndarray
    destination: np.ndarray
    high: np.ndarray
    low: np.ndarray


class _Part(NamedTuple):
    """One pass over traffic: the traffic, and the sources from which it is followed.

    traffic   traffic of the network
    half      0: the only pass; 1: to the random intermediate nodes; 2: from these nodes to the destinations
    share     number by which demands are divided: the number of intermediate nodes
    sources   int32[S], nodes to follow
    sizes     int64[S], how many times the traffic of each source counts
    by_cell   whether each source represents its whole cell
    """

    traffic: Traffic
    half: int
    share: int
    sources: np.ndarray
    sizes: np.ndarray
    by_cell: bool

    @property
    def dense(self) -> bool:
        return self.half > 0 or bool(self.traffic.common.any())

    @property
    def pairs(self) -> int:
        return (
            len(self.sources) * len(self.traffic.common) if self.dense else max(self.traffic.own.nnz, len(self.sources))
        )

    @property
    def step(self) -> int:
        """Number of sources that are followed at a time."""
        return max(1, BLOCK // len(self.traffic.common)) if self.dense else BLOCK

    def listed(self, some: np.ndarray) -> _Listed:
        """Return the pairs with a demand whose source is one of the given sources."""
        if not self.half:
            row, destination, demand = self.traffic.pairs(some)
            return _Listed(row, destination, demand, np.zeros(len(demand)))
        nodes = len(self.traffic.common)
        row, destination = np.repeat(np.arange(len(some)), nodes), np.tile(np.arange(nodes, dtype=np.int32), len(some))
        if self.half == 1:
            high, low = (part[some[row]] for part in self.traffic.exactly_sent())
        else:
            high, low = (part[destination] for part in self.traffic.exactly_received())
        busy = high > 0
        return _Listed(row[busy], destination[busy], high[busy], low[busy])


def _parts(routing: SourceRouting, traffic: Traffic, use_symmetry: bool) -> list[_Part]:
    topology, cell = routing.topology, routing.cell
    terminals = np.bincount(topology.terminals, minlength=topology.nodes)
    uniform_cells = use_symmetry and routing.regular and constant_in_cells(cell, terminals)
    halves = {0: traffic.symmetric}
    if routing.passes > 1:  # each pair by way of a node drawn from all
        halves = {
            1: traffic.symmetric or np.ptp(traffic.sent()) == 0,
            2: traffic.symmetric or np.ptp(traffic.received()) == 0,
        }
    parts = []
    for half, symmetric in halves.items():
        share = topology.nodes if half else 1
        if symmetric and uniform_cells:
            sources = np.unique(cell, return_index=True)[1].astype(np.int32)
            parts.append(_Part(traffic, half, share, sources, np.bincount(cell), True))
        else:
            every = np.arange(topology.nodes, dtype=np.int32)
            parts.append(_Part(traffic, half, share, every, np.ones(topology.nodes, np.int64), False))
    return parts


def _average_over_cells(routing: SourceRouting, flows: Twice) -> Twice:
    """Average over the nodes of every cell the flows, [N, D], that one source of each cell causes."""
    size, mean = np.bincount(routing.cell).astype(np.float64), np.zeros((2, *flows[0].shape))
    for d in range(routing.moves.port.shape[1]):
        high, low = (np.ascontiguousarray(part[:, d]) for part in flows)
        total = sums.grouped_sums(high, low, routing.cell, len(size))
        for part, of_cell in zip(mean, sums.divided(*total, size)):
            part[:, d] = of_cell[routing.cell]
    mean[:, routing.moves.port == NO_PORT] = 0
    return mean[0], mean[1]


def channels_of_directions(routing: SourceRouting, flows: np.ndarray) -> np.ndarray:
    """Return flows over channels, int64[N, P], from flows by direction, int64[N, D]; directions may share a channel."""
    total = np.zeros(routing.topology.ports.shape, flows.dtype)
    for d, port in enumerate(routing.moves.port.T):
        leaving = np.flatnonzero(port != NO_PORT)
        total[leaving, port[leaving]] += flows[leaving, d]
    return total


def _exact_channels_of_directions(routing: SourceRouting, flows: Twice) -> Twice:
    high, low = np.zeros((2, *routing.topology.ports.shape))
    for d, port in enumerate(routing.moves.port.T):
        leaving = np.flatnonzero(port != NO_PORT)
        place = leaving, port[leaving]
        high[place], low[place] = sums.add(high[place], low[place], flows[0][leaving, d], flows[1][leaving, d])
    return high, low


class _Unit(NamedTuple):
    """The value of one unit of an integer flow: (high + low) / whole."""

    high: float
    low: float
    whole: int


class _Follow:
    """Flows of packets, counted as whole numbers: an array int64[N, D] for each unit."""

    def __init__(self, table: RouteTable, backend: str, threads: int | None) -> None:
        self.table, self.backend, self.threads = table, backend, threads
        self.flows: dict[_Unit, np.ndarray] = {}
        self.sums: dict[_Unit, int] = {}
        zero = np.zeros(table.routing.moves.port.shape)
        self.total: Twice = zero, zero
        self.whole = whole_weights(table.routes) if table.whole else None

    def packets(self, listed: _Listed, sources: np.ndarray, sizes: np.ndarray) -> None:
        """Follow the packets of the listed pairs. A source's packets count as many times as its entry in `sizes`."""
        if not len(listed.row):
            return
        source = sources[listed.row]
        routes = self.table.weighted_rows(source, listed.destination)
        shares = self.whole if self.table.whole else whole_weights(self.table.routes)
        weight, whole = routes.weight, 1
        if shares is not None:
            weight, whole = shares[0][routes.row], shares[1]
        times = weight * sizes[listed.row[routes.pair]]
        exceeds = shares is None or times.sum(dtype=np.float64) > MOST
        values = None if exceeds else _few_values(listed)
        start = source[routes.pair]
        if values is None:
            demand = sums.times(listed.high[routes.pair], listed.low[routes.pair], times.astype(np.float64))
            for unit, amount in _digits(*demand):
                some = np.flatnonzero(amount)  # few have the last digits
                self.add(_Unit(unit, 0.0, whole), start[some], routes.row[some], amount[some])
            return
        for high, low, own in values:
            what = start, routes.row, times
            if not own.all():
                having = own[routes.pair]
                what = start[having], routes.row[having], times[having]
            self.add(_Unit(high, low, whole), *what)

    def add(self, unit: _Unit, start: np.ndarray, row: np.ndarray, amount: np.ndarray) -> None:
        """Add the flows of packets. amount: each packet's flow as a multiple of `unit`, int64."""
        table = self.table
        routes = table.routing.moves.next, start, row, table.direction, table.hops, amount
        flows = route_flows(*routes, backend=self.backend, threads=self.threads)
        more = int(amount.sum())
        if self.sums.get(unit, 0) + more > MOST or (unit not in self.flows and len(self.flows) == 2 * FEW):
            self.settle()
        if unit in self.flows:
            self.flows[unit] += flows
        else:
            self.flows[unit] = flows
        self.sums[unit] = self.sums.get(unit, 0) + more

    def settle(self) -> None:
        """Add the flows of all units to the total, and drop them."""
        for unit, flows in self.flows.items():
            high = flows.astype(np.float64)
            low = (flows - high.astype(np.int64)).astype(np.float64)
            part = sums.times(high, low, unit.high)
            if unit.low:
                part = sums.add(*part, high * unit.low, 0.0)
            self.total = sums.add(*self.total, *sums.divided(*part, float(unit.whole)))
        self.flows, self.sums = {}, {}

    def taken(self) -> Twice:
        """Return both parts (high, low) of the total, float64[N, D] each, and set the total to zero."""
        self.settle()
        total, zero = self.total, np.zeros(self.total[0].shape)
        self.total = zero, zero
        return total


def _few_values(listed: _Listed) -> list[tuple[float, float, np.ndarray]] | None:
    """Return (high, low, bool[R]: the pairs with it) for each different demand; None for more than FEW demands."""
    values: list[tuple[float, float, np.ndarray]] = []
    left = np.ones(len(listed.high), bool)
    while left.any():
        if len(values) == FEW:
            return None
        first = int(left.argmax())
        own = (listed.high == listed.high[first]) & (listed.low == listed.low[first])
        values.append((float(listed.high[first]), float(listed.low[first]), own))
        left &= ~own
    return values


def _digits(high: np.ndarray, low: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    """Yield (unit, int64[R]), largest unit first. The sum of unit · int64[R] over all units is high + low.

    The units are powers of two. There are at most three; the third is below 2⁻⁷⁰ of the sum of all demands.
    """
    unit = 2.0 ** (np.ceil(np.log2(high.sum())) - 54)
    step = 2.0 ** np.floor(54 - np.log2(len(high)))  # the rest of each packet is below a unit
    high, low = high / unit, low / unit
    for last in (False, False, True):
        whole = np.rint(high + low) if last else np.floor(high)
        high, low = sums.two_sum(high - whole, low)
        if not last:
            borrowed = (high < 0).astype(np.float64)
            whole = whole - borrowed
            high, rest = sums.two_sum(high, borrowed)
            low = low + rest
        yield float(unit), whole.astype(np.int64)
        if not (high.any() or low.any()):
            return
        unit, high, low = unit / step, high * step, low * step


def constant_in_cells(cell: np.ndarray, value: np.ndarray) -> bool:
    """Return whether all nodes of each cell have the same value."""
    first = np.unique(cell, return_index=True)[1]
    return np.array_equal(value, value[first][cell])
