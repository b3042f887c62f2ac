"""Loads estimated from random packets, with standard errors and two estimates that enclose the maximum load.

The maximum of many noisy loads is biased upwards, because the noise takes part in the selection. The second estimate
selects the channel with the largest load on one half of the packets and measures it on the other half. It is biased
downwards, because another channel may have the true maximum. Both are reported.

Packets come from counter-based random numbers, so that packet i is the same in every block.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import numpy as np
from torusweep_kernels.backend import backend_of_calls
from torusweep_kernels.pairs import Tables, draw_pairs, pair_tables
from torusweep_kernels.philox.draws import packet_words
from torusweep_kernels.routes import route_flows
from torusweep_kernels.threads import in_threads
from torusweep_kernels.walks import RandomPackets, Searches, sampled_walks

from torusweep.errors import BadInput, naming
from torusweep.networks.topology import Topology
from torusweep.questions.loads.channels import ChannelLoads, MaximumEstimate, at_terminals
from torusweep.questions.loads.exact import channels_of_arcs
from torusweep.questions.loads.source import channels_of_directions
from torusweep.routing import GivenRouting, LayeredRouting, SourceRouting
from torusweep.routing import routing as routing_on
from torusweep.routing.faults import unrouted
from torusweep.routing.forms import TableRouting
from torusweep.routing.paths import RouteTable, links_of_arcs
from torusweep.routing.tables.as_table import Draws, drawn_rows
from torusweep.traffic import GivenTraffic, Traffic
from torusweep.traffic import traffic as pattern_on
from torusweep.traffic.given import delivered

ROUTES = 3  # stream of random numbers (torusweep_kernels.philox.draws); pairs have 1 and 2
GROUPS = 32  # batches for the standard error; packet i belongs to batch i mod 32
ROUND = 1 << 22  # packets between checks of the error
GPU_ROUND = 1 << 24  # packets per call on a GPU if no error is checked; counts are copied once per call
BLOCK = 1 << 16  # packets drawn at a time; they fit into cache
ROUTE_BLOCK = 1 << 20  # pairs whose routes are built at a time, if there are too many pairs to build all at once
PACKETS = 10_000_000
MIN_PACKETS = 2 * GROUPS


class TrafficPackets:
    """Random packets of the traffic between nodes.

    backend  numpy: the specification; for other backends, Numba draws the packets that are needed in host memory
    """

    def __init__(self, traffic: Traffic, seed: int, backend: str) -> None:
        self.seed, self.backend = seed, "numpy" if backend == "numpy" else "numba"
        self.tables = tables_of(traffic)

    def draw(self, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sources and the destinations, int32[count] each, of packets first … first + count − 1."""
        return draw_pairs(self.tables, first, count, self.seed, backend=self.backend, threads=1)

    def words(self, first: int, count: int, turn: int = 0) -> np.ndarray:
        """Return four random words for each packet's route, uint32[4, count]. Each turn gives other words."""
        return packet_words(first + np.arange(count), turn, ROUTES, self.seed, backend=self.backend)


def tables_of(traffic: Traffic) -> Tables:
    """Return the tables from which pairs of nodes are drawn. traffic: between nodes (`Traffic.at_nodes`)."""
    own = traffic.own.tocoo()
    return pair_tables(traffic.weight, traffic.common, own.row, own.col, own.data)


def count_walks(
    routing: TableRouting, source: np.ndarray, destination: np.ndarray, group: np.ndarray, groups: int, draws: Draws
) -> np.ndarray:
    """Return how many packets of each group pass each channel, int64[groups · N · P]. draws: as for `drawn_rows`."""
    ports = routing.topology.ports
    counts = np.zeros(groups * ports.size, np.int64)
    for packets, row in drawn_rows(routing, source, destination, draws):
        channel = routing.at[routing.owner[row]].astype(np.int64) * ports.shape[1] + routing.port[row]
        counts += np.bincount(group[packets] * ports.size + channel, minlength=len(counts))
    return counts


Count = np.ndarray  # int64[GROUPS, N, P]


def sampled_loads(
    topology: Topology,
    *,
    routing: str | GivenRouting = "minimal",
    traffic: str | GivenTraffic = "uniform",
    packets: int = PACKETS,
    seed: int = 0,
    relative_error: float | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> ChannelLoads:
    """Return channel loads estimated from random packets.

    routing, traffic  spellings (torusweep.routing, torusweep.traffic)
    packets           upper limit of the number of packets; ≥ 64
    seed              0 … 2⁶⁴ − 1; the result depends on the seed and the number of packets, not on backend or threads
    relative_error    stop if the maximum load's standard error is at most this share of the load; None: do not stop
    progress          called with the number of packets counted so far
    Raises BadInput in the cases in which `exact_loads` does.
    """
    spelled, pattern = pattern_on(traffic, topology)
    canonical, form = routing_on(routing, topology)
    routed = f"routing {canonical} on {topology.spelling}"
    with naming(f"{routed}, traffic {spelled}"):
        pattern, lost = delivered(topology, pattern, *unrouted(form))
    injected, backend = len(topology.terminals) * (1 - lost.lost_traffic), backend_of_calls(backend)
    random_packets = TrafficPackets(pattern.at_nodes(topology.terminals, topology.nodes), seed, backend)
    counter: _Routes | _Walks | _TableWalks
    if isinstance(form, TableRouting):
        counter = _TableWalks(form, random_packets)
    elif isinstance(form, LayeredRouting):
        counter = _Walks(form, random_packets, backend, threads)
    else:
        counter = _Routes(form, random_packets, backend, threads)
    count, done = np.zeros((GROUPS, *topology.ports.shape), np.int64), 0
    on_gpu = isinstance(counter, _Walks) and backend in ("auto", "cupy")
    size = GPU_ROUND if relative_error is None and on_gpu else ROUND
    while done < packets:
        some = min(size, packets - done)
        with naming(routed):
            count += counter.count(done, some)
        done += some
        if progress is not None:
            progress(done)
        if done < packets and relative_error is None:
            continue
        estimate = _estimate(topology, count, done, injected, seed)
        load = topology.load_of(count.sum(axis=0) * (injected / done))
        if relative_error is not None and estimate.stderr <= relative_error * load.max(initial=0.0):
            break
    hops, ends = float(count.sum()) / done, at_terminals(topology, pattern)
    return ChannelLoads(topology, canonical, spelled, load, hops, *ends, estimate, lost=lost, rate=pattern.rate)


class _Routes:
    """A counter of packets over channels under source routing, in which the source draws the whole route."""

    def __init__(self, routing: SourceRouting, packets: TrafficPackets, backend: str, threads: int | None) -> None:
        self.routing, self.packets, self.table = routing, packets, RouteTable(routing)
        self.backend, self.threads = backend, threads

    def count(self, first: int, number: int) -> Count:
        if self.table.whole:
            return self.flows(first, _in_blocks(self.routes, first, number, self.threads))
        # the table holds the routes of one block of pairs at a time
        size = max(1, ROUTE_BLOCK // self.routing.passes)
        return np.sum(
            [
                self.flows(start, self.routes(start, min(size, first + number - start)))
                for start in range(first, first + number, size)
            ],
            axis=0,
        )

    def routes(self, first: int, number: int) -> list[np.ndarray]:
        """Return the start and row of every packet's route; with two passes, of both halves of the route."""
        source, destination = self.packets.draw(first, number)
        words = self.packets.words(first, number)
        if self.routing.passes == 1:
            return [source, self.table.sample(source, destination, words[0])]
        nodes = self.routing.topology.nodes
        between = (words[1].astype(np.uint64) * np.uint64(nodes) >> np.uint64(32)).astype(np.int32)
        rows = self.table.sample(
            np.append(source, between), np.append(between, destination), np.append(words[0], words[2])
        )
        return [source, rows[:number], between, rows[number:]]

    def flows(self, first: int, routes: list[np.ndarray]) -> Count:
        table, counts = self.table, np.zeros((GROUPS, *self.routing.topology.ports.shape), np.int64)
        for start, row in zip(routes[::2], routes[1::2]):
            what = self.routing.moves.next, start, row, table.direction, table.hops
            flows = route_flows(*what, groups=GROUPS, first=first, backend=self.backend, threads=self.threads)
            for group in range(GROUPS):
                counts[group] += channels_of_directions(self.routing, flows[group])
        return counts


class _Walks:
    """A counter of packets over channels under layered routing, in which each node draws the next hop."""

    def __init__(self, routing: LayeredRouting, packets: TrafficPackets, backend: str, threads: int | None) -> None:
        self.routing, self.seed, self.capacity = routing, packets.seed, links_of_arcs(routing)
        ends = (None, None) if routing.plain else (routing.start, routing.finish)
        self.packets = RandomPackets(packets.tables, *ends)
        self.backend, self.threads, self.searches = backend, threads, Searches()

    def count(self, first: int, number: int) -> Count:
        routing = self.routing
        walks = sampled_walks(
            routing.states,
            self.packets,
            number,
            groups=GROUPS,
            first=first,
            seed=self.seed,
            split=routing.split,
            capacity=self.capacity,
            backend=self.backend,
            threads=self.threads,
            searches=self.searches,
        )
        lost = int(walks.unreachable.sum())
        if lost:
            raise BadInput(
                f"{lost:,} of {number:,} packets have no path to their destination; choose a connected network"
                " ('torusweep describe' counts its components)"
            )
        if routing.plain:
            return walks.count
        return np.stack([channels_of_arcs(routing, count) for count in walks.count])


class _TableWalks:
    """A counter of packets over channels under a routing table, in which each node draws a row."""

    def __init__(self, routing: TableRouting, packets: TrafficPackets) -> None:
        self.routing, self.packets = routing, packets

    def count(self, first: int, number: int) -> Count:
        ports = self.routing.topology.ports
        counts = np.zeros(GROUPS * ports.size, np.int64)
        for start in range(first, first + number, BLOCK):
            many = min(BLOCK, first + number - start)
            source, destination = self.packets.draw(start, many)
            group = (start + np.arange(many)) % GROUPS
            words = partial(self.packets.words, start, many)
            counts += count_walks(self.routing, source, destination, group, GROUPS, words)
        return counts.reshape(GROUPS, *ports.shape)


def _in_blocks(
    draw: Callable[[int, int], list[np.ndarray]], first: int, number: int, threads: int | None
) -> list[np.ndarray]:
    """Return the arrays of `draw(first packet, number)` for all packets. Several threads draw blocks of packets."""
    blocks = range(first, first + number, BLOCK)
    parts = in_threads(
        lambda start: draw(start, min(BLOCK, first + number - start)), blocks, threads or len(os.sched_getaffinity(0))
    )
    return [np.concatenate(arrays) for arrays in zip(*parts)]


def _estimate(topology: Topology, count: Count, packets: int, injected: float, seed: int) -> MaximumEstimate:
    each = np.array([len(range(group, packets, GROUPS)) for group in range(GROUPS)])
    loads = topology.load_of(count * (injected / each)[:, None, None])
    whole = topology.load_of(count.sum(axis=0)).reshape(-1)
    if not whole.any():
        return MaximumEstimate(0.0, 0.0, 0.0, packets, seed)
    stderr = loads.reshape(GROUPS, -1)[:, whole.argmax()].std(ddof=1) / np.sqrt(GROUPS)
    halves = [loads[part::2].reshape(GROUPS // 2, -1) for part in (0, 1)]
    largest = [int(half.mean(axis=0).argmax()) for half in halves]
    others = [halves[1][:, largest[0]], halves[0][:, largest[1]]]  # each half's maximum, measured on the other
    low = np.mean([other.mean() for other in others])
    low_error = np.sqrt(sum(other.var(ddof=1) for other in others) / (GROUPS // 2)) / 2
    return MaximumEstimate(float(stderr), float(low), float(low_error), packets, seed)
