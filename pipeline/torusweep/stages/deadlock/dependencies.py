"""The channel dependency graph of a routing (Dally & Seitz 1987): who holds which channel while asking for which.

Three ways lead to it. Routes settled at the source, whose classes are settled within each run, are
taken apart into runs and turns (`windows`), whose number does not grow with the pairs of nodes;
others are walked, every pair. Of plain minimal routing a rule decides, node by node: u → v → w is on a
shortest path somewhere exactly if it is one from u to w. Other layered routings are searched,
destination by destination.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from torusweep_kernels.dependencies import DEPENDS, Channels, follow_layers, follow_routes, no_channels

from torusweep.errors import Refused
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import LayeredRouting, Routing, SourceRouting
from torusweep.routing.route_table import RouteTable
from torusweep.stages.deadlock.marks import mark_windows
from torusweep.stages.deadlock.progress import Progress
from torusweep.stages.deadlock.rules import Rule

MOST_BYTES = 2**31  # that the dependencies may take, one a pair of channels at neighbouring nodes
MOST_PAIRS = 10**8  # of nodes, that are walked: about a minute
MOST_STEPS = 10**10  # of searches over layers, destinations × states × arcs²: about a minute
BLOCK = 1 << 20  # pairs that are walked at a time
STEPS_TOLD = 10**8  # of searches over layers, after which progress is told


@dataclass(frozen=True, eq=False)
class Dependencies:
    """topology, classes: the network, and how many classes each of its channels has; channels: what packets pass and ask for;
    complete: whether some route has each dependency, and not only that no route has another."""

    topology: Topology
    classes: int
    channels: Channels
    complete: bool = True


def dependencies(routing: Routing, rule: Rule, virtual_channels: int, progress: Progress = None) -> Dependencies:
    """The dependencies of a routing between all terminals, under a rule; `progress` is told which share of the work is done.

    Raises Refused where the graph or the way to it is too large.
    """
    topology, classes = routing.topology, rule.within(virtual_channels)
    count = int(classes.max()) + 1
    width = topology.ports.shape[1] * count
    if topology.nodes * width**2 > MOST_BYTES:
        raise Refused(
            f"deadlock on {topology.spelling}: its dependencies are kept in {topology.nodes * width**2 / 2**30:.1f} GiB"
            f" ({topology.nodes:,} nodes × {width}² channels); at most {MOST_BYTES >> 30} are: choose a smaller network or fewer virtual channels"
        )
    channels = no_channels(topology.nodes, width)
    if isinstance(routing, LayeredRouting):
        return Dependencies(topology, count, channels, _of_layers(routing, channels, progress))
    _of_runs(routing, classes, rule.memory, channels, progress)
    if routing.passes == 2:
        _joined(routing, channels)
    return Dependencies(topology, count, channels)


def of_one_class(found: Dependencies) -> Dependencies:
    """What is left of dependencies where all classes of a channel become one: those of rule none."""
    nodes, ports, classes = found.topology.nodes, found.topology.ports.shape[1], found.classes
    used, depends, ending, starting = found.channels
    pairs = depends.reshape(nodes, ports, classes, ports, classes)
    alone = [np.bitwise_or.reduce(marks.reshape(nodes, ports, classes), axis=2) for marks in (used, ending, starting)]
    return Dependencies(
        found.topology, 1, Channels(alone[0], np.bitwise_or.reduce(pairs, axis=(2, 4)), *alone[1:]), found.complete
    )


def _of_runs(routing: SourceRouting, classes: np.ndarray, memory: str, channels: Channels, progress: Progress) -> None:
    moves, pairs = routing.moves, len(_terminals(routing.topology)) ** 2
    if (classes[:, 0] == classes[:, 1]).all() or not moves.wrap.any():
        memory = "run"  # no class depends on a crossing
    if _linked_are_terminals(routing.topology) and mark_windows(routing, classes, memory, channels, progress):
        return
    if pairs > MOST_PAIRS:
        raise Refused(
            f"deadlock on {routing.topology.spelling}: under this routing and rule all {pairs:,} pairs of nodes must be walked;"
            f" at most {MOST_PAIRS:,} are: choose a smaller network"
        )
    walk_all(routing, classes, memory, channels, progress)


def walk_all(
    routing: SourceRouting, classes: np.ndarray, memory: str, channels: Channels, progress: Progress = None
) -> None:
    """Mark what packets pass and ask for by walking the routes of every pair; `ending` of first halves, `starting` of last ones."""
    moves, terminals, table = routing.moves, _terminals(routing.topology), RouteTable(routing)
    everyone, aside = np.arange(routing.topology.nodes), np.zeros_like(channels.used)
    halves = [(terminals, terminals)] if routing.passes == 1 else [(terminals, everyone), (everyone, terminals)]
    for half, ends in enumerate(halves):
        marks, walked = channels, 0
        if routing.passes == 2:
            marks = channels._replace(ending=aside) if half else channels._replace(starting=aside)
        for source, destination in _pairs(routing.cell, *ends):
            route = table.key_index(source, destination).astype(np.int32)
            first, _, direction, hops, phase = table.routes
            stage = phase.astype(np.int16) + np.int16(half * routing.phases)
            follow_routes(
                marks,
                moves.next,
                moves.port,
                moves.wrap,
                source,
                destination,
                route,
                first,
                direction,
                hops,
                stage,
                classes,
                memory,
            )
            walked += len(source)
            if progress is not None:
                progress((half + walked / (len(ends[0]) * len(ends[1]))) / len(halves))


def _pairs(cell: np.ndarray, sources: np.ndarray, destinations: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every pair of distinct nodes, cell by cell of the source (so that few keys occur at a time), in blocks."""
    step = max(1, BLOCK // len(destinations))
    for own in np.unique(cell[sources]):
        alike = sources[cell[sources] == own]
        for begin in range(0, len(alike), step):
            some = alike[begin : begin + step]
            source, destination = np.repeat(some, len(destinations)), np.tile(destinations, len(some))
            distinct = source != destination
            yield source[distinct], destination[distinct]


def _joined(routing: SourceRouting, channels: Channels) -> None:
    """Add what a packet asks for between its halves: after every channel by which a first half arrives, every one by which a
    second half leaves; a packet to its own source too goes by way of the node drawn for it."""
    count = channels.used.shape[1] // routing.topology.ports.shape[1]
    tail, head, port = routing.topology.arcs
    for c in range(count):
        held = port * count + c
        channels.depends[tail, held] |= channels.ending[tail, held][:, None] & channels.starting[head]


def _of_layers(routing: LayeredRouting, channels: Channels, progress: Progress) -> bool:
    """Whether the graph is the routing's own; where the search would be too long, it holds all turns between states."""
    topology = routing.topology
    terminals = _terminals(topology)
    if routing.plain and _linked_are_terminals(topology):
        _of_shortest(topology, channels)
        return True
    steps = len(terminals) * routing.states.size * routing.states.shape[1]
    if steps <= MOST_STEPS:
        parts = np.array_split(terminals, min(len(terminals), steps // STEPS_TOLD + 1))
        for number, destinations in enumerate(parts):
            follow_layers(
                channels,
                routing.states,
                routing.port,
                routing.node,
                routing.start,
                routing.finish,
                terminals,
                destinations,
            )
            if progress is not None:
                progress((number + 1) / len(parts))
        return True
    for arc in range(routing.states.shape[1]):
        goes = np.flatnonzero((routing.states[:, arc] >= 0) & (routing.port[:, arc] != NO_PORT))
        node, held, then = routing.node[goes], routing.port[goes, arc], routing.states[goes, arc]
        channels.used[node, held] = True
        for onwards in range(routing.states.shape[1]):
            port = routing.port[then, onwards]
            asks = (routing.states[then, onwards] >= 0) & (port != NO_PORT)
            channels.depends[node[asks], held[asks], port[asks]] = DEPENDS
    return False


def _of_shortest(topology: Topology, channels: Channels) -> None:
    """Channels u → v → w of shortest paths: w is neither u nor next to u."""
    ports = topology.ports
    channels.used[:] = ports != NO_PORT
    for held in range(ports.shape[1]):
        u = np.flatnonzero(ports[:, held] != NO_PORT)
        w = ports[ports[u, held]]
        near = (w == u[:, None]) | (w[:, :, None] == ports[u][:, None, :]).any(axis=2)
        channels.depends[u, held] = (w != NO_PORT) & ~near


def _terminals(topology: Topology) -> np.ndarray:
    return np.unique(topology.terminals)


def _linked_are_terminals(topology: Topology) -> bool:
    """Whether packets start and end wherever there is a link."""
    return bool(np.isin(np.flatnonzero(topology.works), topology.terminals).all())
