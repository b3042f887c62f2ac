"""Sampled loads: random packets, counted; with standard errors, and the maximum's bias in a bracket.

The largest of many noisy loads is too large on average: the noise helped to choose it. The channel
that is largest on one half of the packets, measured on the other half, has no such luck, but may not
be the true largest: it is too small on average. Both are reported.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from torusweep_kernels.backend import resolve
from torusweep_kernels.routes import route_flows
from torusweep_kernels.threads import in_threads
from torusweep_kernels.walks import shortest_walks

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.routing import LayeredRouting, SourceRouting
from torusweep.routing import routing as routing_on
from torusweep.routing.route_table import RouteTable
from torusweep.stages.loads.channels import ChannelLoads, Estimate
from torusweep.stages.loads.layered import arc_capacity, channels_of_arcs
from torusweep.stages.loads.packets import Packets
from torusweep.stages.loads.source import channels_of_directions
from torusweep.traffic import traffic as pattern_on

GROUPS = 32  # batches whose scatter is the standard error; packet i belongs to i modulo 32
ROUND = 1 << 22  # packets that are drawn before the error is looked at
DRAWN = 1 << 16  # packets that are drawn at a time, so that they stay in cache
SOME_ROUTES = 1 << 20  # pairs whose routes are made at a time, where there are too many to make them all at once
PACKETS = 10_000_000
FEWEST = 2 * GROUPS

Count = np.ndarray  # int64[GROUPS, N, P]


def sampled_loads(
    topology: Topology,
    *,
    routing: str = "minimal",
    traffic: str = "uniform",
    packets: int = PACKETS,
    seed: int = 0,
    relative_error: float | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> ChannelLoads:
    """Loads estimated from random packets.

    routing, traffic  spellings (torusweep.routing, torusweep.traffic)
    packets           packets, at most: ≥ 64
    seed              0 … 2⁶⁴ − 1; the result depends on it and on the number of packets alone, not on backend or threads
    relative_error    stop once the standard error of the largest load is that share of it; None: all packets
    progress          is told how many packets have been counted
    Raises BadInput as `exact_loads` does.
    """
    if packets < FEWEST:
        raise BadInput(
            f"packets: expected {FEWEST} or more, got {packets}: the error is estimated from {GROUPS} batches"
        )
    if not 0 <= seed < 2**64:
        raise BadInput(f"seed: expected 0 … 2^64 - 1, got {seed}; choose a number of at most 64 bits")
    spelled, pattern = pattern_on(traffic, topology)
    canonical, form = routing_on(routing, topology)
    matrix, injected, running = (
        pattern.at_nodes(topology.terminals, topology.nodes),
        len(topology.terminals),
        resolve(backend),
    )
    drawn = Packets(matrix, seed, running)
    walker = (
        _Walks(form, drawn, running, threads)
        if isinstance(form, LayeredRouting)
        else _Routes(form, drawn, running, threads)
    )
    count, done = np.zeros((GROUPS, *topology.ports.shape), np.int64), 0
    capacity = 1 if topology.capacity is None else np.maximum(topology.capacity, 1)
    while done < packets:
        some = min(ROUND, packets - done)
        try:
            count += walker.count(done, some)
        except BadInput as refusal:
            raise type(refusal)(f"routing {canonical} on {topology.spelling}: {refusal}") from None
        done += some
        if progress is not None:
            progress(done)
        estimate = _estimate(count, capacity, done, injected, seed)
        load = count.sum(axis=0) * (injected / done) / capacity
        if relative_error is not None and estimate.stderr <= relative_error * load.max(initial=0.0):
            break
    hops = float(count.sum()) / done
    return ChannelLoads(topology, canonical, spelled, load, hops, float(pattern.received().max()), estimate)


class _Routes:
    """Packets whose route is drawn at the source."""

    def __init__(self, routing: SourceRouting, drawn: Packets, backend: str, threads: int | None) -> None:
        self.routing, self.drawn, self.table = routing, drawn, RouteTable(routing)
        self.backend, self.threads = backend, threads

    def count(self, first: int, number: int) -> Count:
        if self.table.whole:
            return self.flows(first, _in_blocks(self.routes, first, number, self.threads))
        # routes are made for the pairs in hand, which belong together
        size = max(1, SOME_ROUTES // self.routing.passes)
        return np.sum(
            [
                self.flows(start, self.routes(start, min(size, first + number - start)))
                for start in range(first, first + number, size)
            ],
            axis=0,
        )

    def routes(self, first: int, number: int) -> list[np.ndarray]:
        """Start and row of every packet's route; of Valiant's packets, those of both halves."""
        source, destination = self.drawn.drawn(first, number)
        words = self.drawn.words(first, number)
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
            for group in range(GROUPS):
                own = slice((group - first) % GROUPS, None, GROUPS)
                flows = route_flows(
                    self.routing.moves.next,
                    start[own],
                    row[own],
                    table.direction,
                    table.hops,
                    backend=self.backend,
                    threads=self.threads,
                )
                counts[group] += channels_of_directions(self.routing, flows)
        return counts


class _Walks:
    """Packets that choose on the way."""

    def __init__(self, routing: LayeredRouting, drawn: Packets, backend: str, threads: int | None) -> None:
        self.routing, self.drawn, self.capacity = routing, drawn, arc_capacity(routing)
        self.backend, self.threads = backend, threads

    def count(self, first: int, number: int) -> Count:
        routing = self.routing
        source, destination = _in_blocks(
            lambda start, some: list(self.drawn.drawn(start, some)), first, number, self.threads
        )
        walks = shortest_walks(
            routing.states,
            source if routing.plain else routing.start[source],
            destination if routing.plain else routing.finish[destination],
            np.resize(np.roll(np.arange(GROUPS, dtype=np.int32), -(first % GROUPS)), number),
            groups=GROUPS,
            first=first,
            seed=self.drawn.seed,
            split=routing.split,
            capacity=self.capacity,
            backend=self.backend,
            threads=self.threads,
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


def _in_blocks(
    draw: Callable[[int, int], list[np.ndarray]], first: int, number: int, threads: int | None
) -> list[np.ndarray]:
    """What `draw` (of a first packet and a number of them) gives for all packets, drawn in blocks that stay in cache."""
    blocks = range(first, first + number, DRAWN)
    parts = in_threads(
        lambda start: draw(start, min(DRAWN, first + number - start)), blocks, threads or len(os.sched_getaffinity(0))
    )
    return [np.concatenate(arrays) for arrays in zip(*parts)]


def _estimate(count: Count, capacity: np.ndarray | int, packets: int, injected: int, seed: int) -> Estimate:
    each = np.array([len(range(group, packets, GROUPS)) for group in range(GROUPS)])
    loads = count * (injected / each)[:, None, None] / capacity
    whole = (count.sum(axis=0) / capacity).reshape(-1)
    if not whole.any():
        return Estimate(0.0, 0.0, 0.0, packets, seed)
    stderr = loads.reshape(GROUPS, -1)[:, whole.argmax()].std(ddof=1) / np.sqrt(GROUPS)
    halves = [loads[part::2].reshape(GROUPS // 2, -1) for part in (0, 1)]
    largest = [int(half.mean(axis=0).argmax()) for half in halves]
    others = [halves[1][:, largest[0]], halves[0][:, largest[1]]]  # what each half's largest carries on the other
    low, low_error = (
        np.mean([other.mean() for other in others]),
        np.sqrt(sum(other.var(ddof=1) for other in others) / (GROUPS // 2)) / 2,
    )
    return Estimate(float(stderr), float(low), float(low_error), packets, seed)
