"""The channel dependency graph of a routing: which channels packets request while they hold one (Dally & Seitz 1987).

The method depends on the routing:
- source routing whose classes are decided within each run: decompose the routes into runs and turns (`windows`),
  whose number does not grow with the pairs of nodes;
- other source routing: walk the routes of every pair;
- plain minimal routing: u → v → w is part of a shortest path exactly if it is a shortest path from u to w;
- other layered routing: search the states, destination by destination;
- a table: read the dependencies off its rows.

The module also finds cycles of the graph: whether one exists, a shortest one, and whether all lie within rings.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy
from torusweep_kernels.dependencies import (
    DEPENDS,
    Channels,
    Packets,
    Runs,
    mark_layers,
    mark_routes,
    no_channels,
    shortest_cycle,
)
from torusweep_kernels.dependencies import Moves as KernelMoves

from torusweep.errors import Refused
from torusweep.networks.ends import hops_from
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.deadlock.route_windows import Progress, join_halves
from torusweep.questions.deadlock.rules import Rule
from torusweep.questions.deadlock.window_dependencies import mark_table, mark_windows
from torusweep.routing.faults import unrouted
from torusweep.routing.forms import LayeredRouting, Moves, Routing, SourceRouting, TableRouting
from torusweep.routing.paths import RouteTable

MAX_BYTES = 2**31  # bytes of dependencies: one for each pair of channels at neighbouring nodes
MAX_PAIRS = 10**8  # pairs of nodes to walk: about a minute
MOST_TURNS = 1 << 22  # pairs of a source and of two hops at a time, to find the latest hop at which they follow
MAX_STEPS = 10**10  # steps of a search over layers, destinations × states × arcs²: about a minute
BLOCK = 1 << 20  # pairs walked at a time
STEPS_PER_REPORT = 10**8  # steps of a search over layers between reports of progress


@dataclass(frozen=True, eq=False)
class Dependencies:
    """The channel dependencies of a routing on a network.

    classes   number of classes of each physical channel
    channels  the used channels, and the dependencies between them
    complete  whether every dependency occurs in some route; if False, some dependencies may not occur
    """

    topology: Topology
    classes: int
    channels: Channels
    complete: bool = True


def dependencies(routing: Routing, rule: Rule, virtual_channels: int, progress: Progress = None) -> Dependencies:
    """Return the channel dependencies of a routing between all terminals under a rule.

    Raises Refused if the graph, or the work to find it, is too large.
    """
    topology, classes = routing.topology, rule.within(virtual_channels)
    count = int(classes.max()) + 1
    width = topology.ports.shape[1] * count
    if topology.nodes * width**2 > MAX_BYTES:
        raise Refused(
            f"deadlock on {topology.spelling}: its dependencies take {topology.nodes * width**2 / 2**30:.1f} GiB"
            f" ({topology.nodes:,} nodes × {width}² channels); at most {MAX_BYTES >> 30} are allowed:"
            " choose a smaller network or fewer virtual channels"
        )
    channels = no_channels(topology.nodes, width)
    if isinstance(routing, LayeredRouting):
        return Dependencies(topology, count, channels, _mark_layers(routing, channels, progress))
    if isinstance(routing, TableRouting):
        mark_table(routing, classes, channels)
        return Dependencies(topology, count, channels)
    _mark_runs(routing, classes, rule.memory, channels, progress)
    if routing.passes == 2:
        join_halves(routing, classes, channels, partial(_only_returning, routing, classes, rule.memory, width))
    return Dependencies(topology, count, channels)


def merge_classes(found: Dependencies, number: int = 1) -> Dependencies:
    """Merge each physical channel's classes from `number` − 1 on into one class; number = 1 merges all classes.

    The result has the dependencies under a rule with more classes than there are virtual channels.
    """
    nodes, ports, classes = found.topology.nodes, found.topology.ports.shape[1], found.classes
    used, depends, ending, starting = found.channels
    first = np.arange(min(number, classes))  # the first class of each merged class
    pairs = depends.reshape(nodes, ports, classes, ports, classes)
    for axis in (2, 4):
        pairs = np.bitwise_or.reduceat(pairs, first, axis=axis)
    used, ending, starting = (
        np.logical_or.reduceat(marks.reshape(nodes, ports, classes), first, axis=2).reshape(nodes, -1)
        for marks in (used, ending, starting)
    )
    merged = Channels(used, pairs.reshape(nodes, *(ports * len(first),) * 2), ending, starting)
    return Dependencies(found.topology, len(first), merged, found.complete)


def _mark_runs(
    routing: SourceRouting, classes: np.ndarray, memory: str, channels: Channels, progress: Progress
) -> None:
    moves, pairs = routing.moves, len(_terminals(routing.topology)) ** 2
    if (classes[:, 0] == classes[:, 1]).all() or not moves.wrap.any():
        memory = "run"  # no class depends on a crossing
    # packets from a node to itself, which only routings of two passes have, are in neither half alone
    others = routing.lost is not None and (routing.lost % (routing.topology.nodes + 1)).any()
    whole = not others and _all_linked_are_terminals(routing.topology)
    if whole and mark_windows(routing, classes, memory, channels, progress):
        return
    if pairs > MAX_PAIRS:
        raise Refused(
            f"deadlock on {routing.topology.spelling}: this routing and rule need a walk of all {pairs:,} pairs"
            f" of nodes; at most {MAX_PAIRS:,} are allowed: choose a smaller network"
        )
    walk_all_pairs(routing, classes, memory, channels, progress)


def walk_all_pairs(
    routing: SourceRouting,
    classes: np.ndarray,
    memory: str,
    channels: Channels,
    progress: Progress = None,
    terminals: np.ndarray | None = None,
    table: RouteTable | None = None,
    at: np.ndarray | None = None,
) -> None:
    """Walk the routes of every pair of terminals, and mark their channels and dependencies.

    terminals  sources and destinations; None for all terminals
    table  routes of the routing, shared by several calls; None to build them
    at     nodes that may be the random node of a route of two passes; None for all nodes
    With two passes, `ending` is marked for first halves only and `starting` for second halves only.
    """
    moves, table = routing.moves, table or RouteTable(routing)
    terminals = _terminals(routing.topology) if terminals is None else terminals
    nodes, unwanted = np.arange(routing.topology.nodes) if at is None else at, np.zeros_like(channels.used)
    network = KernelMoves(moves.next, moves.port, moves.wrap)
    halves = [(terminals, terminals)] if routing.passes == 1 else [(terminals, nodes), (nodes, terminals)]
    for half, ends in enumerate(halves):
        marks, walked = channels, 0
        if routing.passes == 2:
            marks = channels._replace(ending=unwanted) if half else channels._replace(starting=unwanted)
        for source, destination in _pairs(routing, *ends):
            route = table.key_index(source, destination).astype(np.int32)
            first, _, direction, hops, phase = table.routes
            stage = phase.astype(np.int16) + np.int16(half * routing.phases)
            packets, runs = Packets(source, destination, route, first), Runs(direction, hops, stage)
            mark_routes(marks, network, packets, runs, classes, memory)
            walked += len(source)
            if progress is not None:
                progress((half + walked / (len(ends[0]) * len(ends[1]))) / len(halves))


def _only_returning(routing: SourceRouting, classes: np.ndarray, memory: str, width: int, at: np.ndarray) -> np.ndarray:
    """Find channels whose packets come from a single node, or go to a single node, that sends nothing to itself.

    at       int[A]: the random nodes where first halves end and second halves begin
    returns  int64[2, N, W]: the only source of first halves that end with each channel, the only destination of second
             halves that begin with it; −1 if there are several such nodes, or none
    """
    nodes = routing.topology.nodes
    scratch, only = no_channels(nodes, width), np.full((2, nodes, width), NO_PORT)
    number, table = np.zeros(only.shape, np.int64), RouteTable(routing)
    for terminal in _terminals(routing.topology):
        ends = np.zeros(only.shape, bool)
        marks = scratch._replace(ending=ends[0], starting=ends[1])
        walk_all_pairs(routing, classes, memory, marks, terminals=np.array([terminal]), table=table, at=at)
        only[ends], number = terminal, number + ends
    return np.where((number == 1) & np.isin(only * np.int64(nodes + 1), unrouted(routing).lost), only, NO_PORT)


def _pairs(
    routing: SourceRouting, sources: np.ndarray, destinations: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield all pairs of distinct nodes with a route, in blocks whose sources share a cell and thus have few keys."""
    step, cell = max(1, BLOCK // len(destinations)), routing.cell
    for own in np.unique(cell[sources]):
        members = sources[cell[sources] == own]
        for begin in range(0, len(members), step):
            some = members[begin : begin + step]
            source, destination = np.repeat(some, len(destinations)), np.tile(destinations, len(some))
            routed = source != destination
            if routing.lost is not None:
                routed &= ~np.isin(source.astype(np.int64) * routing.topology.nodes + destination, routing.lost)
            yield source[routed], destination[routed]


def _mark_layers(routing: LayeredRouting, channels: Channels, progress: Progress) -> bool:
    """Mark the dependencies of a layered routing. Return whether they are complete.

    If the search would take too long, every turn between states is marked, which is an upper bound.
    """
    topology = routing.topology
    terminals = _terminals(topology)
    if routing.plain and routing.lost is None and _all_linked_are_terminals(topology):
        _mark_shortest_paths(topology, channels)
        return True
    steps = len(terminals) * routing.states.size * routing.states.shape[1]
    if steps <= MAX_STEPS:
        some = steps // STEPS_PER_REPORT + 1 if routing.lost is None else len(terminals)  # one destination each
        parts = np.array_split(terminals, min(len(terminals), some))
        for number, destinations in enumerate(parts):
            sources = terminals
            if routing.lost is not None:
                pairs = terminals.astype(np.int64) * topology.nodes + destinations
                sources = terminals[~np.isin(pairs, routing.lost)]
            mark_layers(
                channels,
                routing.states,
                routing.port,
                routing.node,
                routing.start,
                routing.finish,
                sources,
                destinations,
            )
            if progress is not None:
                progress((number + 1) / len(parts))
        return True
    for arc in range(routing.states.shape[1]):
        goes = np.flatnonzero((routing.states[:, arc] >= 0) & (routing.port[:, arc] != NO_PORT))
        node, current, state = routing.node[goes], routing.port[goes, arc], routing.states[goes, arc]
        channels.used[node, current] = True
        for onwards in range(routing.states.shape[1]):
            port = routing.port[state, onwards]
            turns = (routing.states[state, onwards] >= 0) & (port != NO_PORT)
            channels.depends[node[turns], current[turns], port[turns]] = DEPENDS
    return False


def _mark_shortest_paths(topology: Topology, channels: Channels) -> None:
    """Mark u → v → w wherever it is a shortest path, that is, where w is neither u nor adjacent to u."""
    ports = topology.ports
    channels.used[:] = ports != NO_PORT
    for port in range(ports.shape[1]):
        u = np.flatnonzero(ports[:, port] != NO_PORT)
        w = ports[ports[u, port]]
        near = (w == u[:, None]) | (w[:, :, None] == ports[u][:, None, :]).any(axis=2)
        channels.depends[u, port] = (w != NO_PORT) & ~near


def _terminals(topology: Topology) -> np.ndarray:
    return np.unique(topology.terminals)


def _all_linked_are_terminals(topology: Topology) -> bool:
    """Return whether every node with a link sends and receives packets."""
    return bool(np.isin(np.flatnonzero(topology.works), topology.terminals).all())


def hops_needed(routing: LayeredRouting) -> int | None:
    """Return the least number of classes with which rule `hops` leaves no cycle, without making the rule's table.

    The last class serves all later hops, so only this class can contain a cycle. In it, packets continue from u → v to
    v → w if, for some source that is far enough from u, both hops lie on a shortest path.
    None if only the table can tell: packets have states, a node with links is no terminal, or there are many hops.
    """
    topology, (tail, head, _) = routing.topology, routing.topology.arcs
    first, many = np.searchsorted(tail, np.arange(topology.nodes)), np.bincount(tail, minlength=topology.nodes)[head]
    if not (routing.plain and routing.lost is None and _all_linked_are_terminals(topology)) or many.sum() > MOST_TURNS:
        return None
    one = np.repeat(np.arange(len(tail)), many)
    two = np.arange(len(one)) - np.repeat(np.cumsum(many) - many, many) + first[head][one]
    latest = np.full(len(one), -1)  # largest number of hops before u → v, of the routes on which v → w follows
    for nodes in np.array_split(np.flatnonzero(topology.works), 1 + topology.nodes * len(one) // MOST_TURNS):
        hops = hops_from(topology, nodes).T
        near = np.where(np.isfinite(hops), hops, -1).astype(np.int32)  # a row a node: its values are side by side
        before = near[tail[one]]
        follows = (before >= 0) & (near[head[two]] == before + 2)
        latest = np.maximum(latest, np.where(follows, before, -1).max(axis=1, initial=-1))

    def suffices(earlier: int) -> bool:
        late = np.flatnonzero(latest >= earlier)
        arcs = np.ones(len(late), bool), (one[late], two[late])
        return is_acyclic(scipy.sparse.csr_array(arcs, shape=(len(tail),) * 2))

    return 1 + bisect_left(range(int(latest.max(initial=-1)) + 1), True, key=suffices)


class DependencyGraph(NamedTuple):
    """A channel dependency graph.

    channel  int64[V]    channel of each vertex: node · W + channel
    matrix   bool[V, V]  whether packets that hold the row's channel request the column's channel
    """

    channel: np.ndarray
    matrix: scipy.sparse.csr_array


def dependency_graph(found: Dependencies, bit: int = DEPENDS) -> DependencyGraph:
    """Return the graph of the used channels, and of dependencies with the given bit (`Channels.depends`)."""
    ports, (used, depends, *_) = found.topology.ports, found.channels
    width = used.shape[1]
    channel = np.flatnonzero(used)
    number = np.full(used.size, -1, np.int64)
    number[channel] = np.arange(len(channel))
    node, current, requested = np.nonzero(depends & bit)
    head = ports[node, current // found.classes]
    arcs = number[node * width + current], number[head * width + requested]
    matrix = scipy.sparse.csr_array((np.ones(len(node), bool), arcs), shape=(len(channel), len(channel)))
    return DependencyGraph(channel, matrix)


def is_acyclic(matrix: scipy.sparse.csr_array) -> bool:
    """Return whether a graph has no cycle. No vertex may have an arc to itself."""
    return bool(
        scipy.sparse.csgraph.connected_components(matrix, connection="strong", return_labels=False) == matrix.shape[0]
    )


def are_acyclic(found: Dependencies) -> bool:
    """Return whether the dependencies have no cycle, which proves the routing deadlock-free (Dally & Seitz 1987)."""
    return is_acyclic(dependency_graph(found).matrix)


def shortest_channel_cycle(graph: DependencyGraph) -> np.ndarray:
    """Return the channels (node · W + channel) of a shortest cycle, int64[L], in order; empty if there is no cycle."""
    label = scipy.sparse.csgraph.connected_components(graph.matrix, connection="strong")[1]
    inside = np.flatnonzero(np.bincount(label)[label] > 1)
    part = graph.matrix[inside][:, inside]
    return graph.channel[inside[shortest_cycle(part.indptr, part.indices)]]


def cycles_lie_in_rings(graph: DependencyGraph, moves: Moves) -> bool:
    """Return whether every cycle lies in one ring of a direction, in one class; False if a channel is in two rings."""
    nodes, ports = moves.topology.ports.shape
    after = np.full((nodes, ports), -1, np.int64)  # the ring's next channel
    for d in range(moves.port.shape[1]):
        tail = np.flatnonzero(moves.port[:, d] >= 0)
        links = scipy.sparse.csr_array((np.ones(len(tail), bool), (tail, moves.next[tail, d])), shape=(nodes, nodes))
        line = scipy.sparse.csgraph.connected_components(links, directed=False)[1]
        closed = np.bincount(line, weights=moves.wrap[:, d])[line] > 0
        tail = tail[closed[tail]]
        head = moves.next[tail, d]
        follows, known = head.astype(np.int64) * ports + moves.port[head, d], after[tail, moves.port[tail, d]]
        if ((known >= 0) & (known != follows)).any():
            return False
        after[tail, moves.port[tail, d]] = follows
    number = np.full(nodes * ports, -1, np.int64)
    number[graph.channel] = np.arange(len(graph.channel))
    on = after.reshape(-1)[graph.channel]
    inside = np.flatnonzero((on >= 0) & (number[on] >= 0))
    size = len(graph.channel)
    ring = scipy.sparse.csgraph.connected_components(
        scipy.sparse.csr_array((np.ones(len(inside), bool), (inside, number[on[inside]])), shape=(size, size)),
        directed=False,
    )[1]
    tail, head = graph.matrix.nonzero()
    between = on[tail] != graph.channel[head]
    tail, head = ring[tail[between]], ring[head[between]]
    # of a ring, only the next channel leaves the far end of a channel, so each of these arcs leaves its ring
    return is_acyclic(scipy.sparse.csr_array((np.ones(len(tail), bool), (tail, head)), shape=(size, size)))
