"""The verdict on a channel dependency graph, with its argument.

The router is assumed to work as follows. A packet holds a channel until it acquires the next channel of its route and
class. The destination consumes every packet that arrives. A node may inject packets into any of its channels at any
moment, one for each virtual channel of their class.

For adaptive routing, the graph is the extended dependency graph of its escape channels (Duato 1993).

A packet that has used an escape channel may continue adaptively while it holds that channel, and request
another escape channel anywhere on its way: an indirect dependency. The escape's next hop and class depend
on node and destination only. For each destination, every node therefore has one escape channel. It depends on the
escape channels of all nodes on shortest paths from its far end.

A small graph is stored as a matrix. For a large graph, two methods need no matrix. Heights that decrease along every
dependency prove that the graph is acyclic. Otherwise, channels without predecessors or without successors
are removed repeatedly: what remains are the cycles and the channels between them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from torusweep_kernels.dependencies import FIRST, Escapes, dependencies_of, dependents_of, nearest_first, raise_heights

from torusweep.errors import Refused
from torusweep.networks.topology import NO_PORT
from torusweep.questions.deadlock.dependencies import (
    Dependencies,
    DependencyGraph,
    cycles_lie_in_rings,
    dependency_graph,
    is_acyclic,
    shortest_channel_cycle,
)
from torusweep.questions.deadlock.route_windows import Progress, part_of
from torusweep.questions.deadlock.rules import Rule
from torusweep.routing.forms import AdaptiveRouting, LayeredRouting, Moves, Routing, SourceRouting
from torusweep.routing.paths import RouteTable

ACYCLIC = "acyclic (Dally & Seitz 1987)"
ACYCLIC_BEYOND = "acyclic, with every turn that the routing's states allow (Dally & Seitz 1987)"
BUBBLE = (
    "bubble: every cycle lies in one ring, where flow control keeps a slot free;"
    " virtual cut-through only (Puente et al. 2001)"
)
COUNTEREXAMPLE = (
    "counterexample: packets that enter together, each into its channel of the cycle,"
    " hold these and wait for the next for ever"
)
TOGETHER = (
    "counterexample: packets that enter together reach their channels of the cycle together, without meeting another,"
    " hold these and wait for the next for ever"
)
UNKNOWN = "cyclic; that packets can come to wait all round a cycle is not shown"
ESCAPE = "escape-acyclic: the escape channels' extended dependency graph has no cycle (Duato 1993)"
ADAPTIVE = "cyclic, but a packet that may take any of several channels need not wait for one that is held"
MAX_MATRIX_CHANNELS = 10_000
MAX_PAIRS = 1 << 26  # pairs of a node and a destination: several GiB, and about a minute
PASSES = 16  # passes to find heights. A 16-ary 3-cube takes 6 on two threads; removal takes 36 rounds of 2 passes
BLOCK = 64  # destinations at a time
FAR = np.int32(1 << 16)  # more hops than a run has


class Verdict(NamedTuple):
    """The verdict on a dependency graph.

    acyclic        whether the graph has no cycle
    deadlock_free  "yes", "no" or "unknown"
    argument       the argument in words, with its source
    cycle          int64[L]  the channels (node · W + channel) of a shortest cycle, in order
    """

    acyclic: bool
    deadlock_free: str
    argument: str
    cycle: np.ndarray


def verdict(routing: Routing, rule: Rule, found: Dependencies) -> Verdict:
    """Judge a routing under a rule by its dependencies.

    The verdict "no" needs a cycle in which each channel can be a packet's first, and the next channel the packet's
    second: all these packets can enter at once. Raises Refused if the graph is cyclic and may contain dependencies that
    no route has.
    """
    graph = dependency_graph(found)
    if is_acyclic(graph.matrix):
        return Verdict(True, "yes", ACYCLIC if found.complete else ACYCLIC_BEYOND, np.zeros(0, np.int64))
    _expect_complete(found)
    if isinstance(routing, LayeredRouting):
        return Verdict(False, "unknown", ADAPTIVE, shortest_channel_cycle(graph))
    if rule.bubble and isinstance(routing, SourceRouting):
        proved = cycles_lie_in_rings(graph, routing.moves)
        answer, argument = ("yes", BUBBLE) if proved else ("unknown", UNKNOWN)
        return Verdict(False, answer, argument, shortest_channel_cycle(graph))
    entering = dependency_graph(found, FIRST)
    if not is_acyclic(entering.matrix):
        return Verdict(False, "no", COUNTEREXAMPLE, shortest_channel_cycle(entering))
    return Verdict(False, "unknown", UNKNOWN, shortest_channel_cycle(graph))


def proves_deadlock_free(routing: Routing, rule: Rule, found: Dependencies) -> bool:
    """Return whether `verdict` says "yes", without a search for a shortest cycle. Raises Refused as `verdict` does."""
    graph = dependency_graph(found)
    if is_acyclic(graph.matrix):
        return True
    _expect_complete(found)
    return rule.bubble and isinstance(routing, SourceRouting) and cycles_lie_in_rings(graph, routing.moves)


def _expect_complete(found: Dependencies) -> None:
    if not found.complete:
        raise Refused(
            f"deadlock on {found.topology.spelling}: with every turn that the routing's states allow there are cycles,"
            " and the network is too large to tell which turns packets take; choose a smaller one"
        )


def escape_verdict_of(cycle: np.ndarray) -> Verdict:
    """Judge an adaptive routing by a cycle of its escape channels' extended dependencies.

    If there is no cycle, the routing is deadlock-free (Duato 1993); a cycle proves nothing.
    """
    if not len(cycle):
        return Verdict(True, "yes", ESCAPE, cycle)
    return Verdict(False, "unknown", UNKNOWN, cycle)


def escape_verdict(
    routing: AdaptiveRouting, classes: np.ndarray, progress: Progress = None
) -> tuple[Verdict, int, int | None]:
    """Return (verdict, number of escape channels, number of dependencies between them).

    classes    int8[F, 2]  class 0 if this hop or a later hop of the run crosses a dateline, otherwise class 1: a
               function of node and destination only, as Duato's condition requires

    With more than 10,000 channels, the dependencies are not counted (None), and the cycle is a shortest one
    through one channel. Raises Refused for more than 2²⁶ pairs of a node and a destination.
    """
    if not _is_large(routing, classes):
        graph = escape_graph(routing, classes)
        return escape_verdict_of(shortest_channel_cycle(graph)), len(graph.channel), int(graph.matrix.nnz)
    escapes, used = _escapes(routing, classes)
    cyclic = _cyclic_part(escapes, used, progress)
    return escape_verdict_of(_find_cycle(escapes, cyclic)), int(used.sum()), None


def escape_acyclic(routing: AdaptiveRouting, classes: np.ndarray, progress: Progress = None) -> bool:
    """Return whether the extended dependency graph has no cycle. Classes and errors are as in `escape_verdict`."""
    if not _is_large(routing, classes):
        return is_acyclic(escape_graph(routing, classes).matrix)
    return not _cyclic_part(*_escapes(routing, classes), progress).any()


def escape_graph(routing: AdaptiveRouting, classes: np.ndarray) -> DependencyGraph:
    """Return the direct and indirect dependencies between escape channels. classes: as in `escape_verdict`."""
    escapes, used = _escapes(routing, classes)
    depends = np.zeros((len(used),) * 2, bool)
    for channel, away in zip(escapes.channel, escapes.away):
        others = np.flatnonzero(channel >= 0)
        own = channel[others]
        depends[np.ix_(own, own)] |= _on_the_way(escapes.ports, away)[escapes.ends[own]][:, others]
    channel = np.flatnonzero(used)
    return DependencyGraph(channel, scipy.sparse.csr_array(depends[np.ix_(channel, channel)]))


def _is_large(routing: AdaptiveRouting, classes: np.ndarray) -> bool:
    return routing.topology.ports.size * (int(classes.max()) + 1) > MAX_MATRIX_CHANNELS


def _cyclic_part(escapes: Escapes, used: np.ndarray, progress: Progress) -> np.ndarray:
    """Return bool[C]: the channels that lie on cycles or between cycles."""
    left, report = used, part_of(progress, 1, 2)
    while left.any():
        fewer = left & dependents_of(left, escapes)
        fewer &= dependencies_of(fewer, escapes)
        if (fewer == left).all():
            break
        # the first round removed a channel: usually the graph is acyclic, which heights prove in fewer passes
        if left is used and _has_heights(escapes, len(used), part_of(progress, 0, 2)):
            return np.zeros_like(used)
        left = fewer
        if report is not None:
            report(1 - left.sum() / used.sum())
    return left


def _has_heights(escapes: Escapes, channels: int, progress: Progress) -> bool:
    """Return whether a few passes give each channel a height above its dependencies' heights, which excludes cycles."""
    height = np.zeros(channels, np.int32)
    for number in range(PASSES):
        before, height = height, raise_heights(height, escapes)
        if np.array_equal(height, before):
            return True
        if progress is not None:
            progress((number + 1) / PASSES)
    return False


def _find_cycle(escapes: Escapes, cyclic: np.ndarray) -> np.ndarray:
    """Return a shortest cycle through the first channel that is on a cycle, int64[L]; empty if there is no cycle."""
    for root in np.flatnonzero(cyclic).tolist():
        levels = [_only(cyclic, root)]
        unvisited = cyclic.copy()  # includes the root: reaching it closes the cycle
        while (level := dependencies_of(levels[-1], escapes) & unvisited).any() and not level[root]:
            levels.append(level)
            unvisited &= ~level
        if not level.any():
            continue
        cycle = [root]
        for level in reversed(levels[1:]):
            cycle.append(int((dependents_of(_only(cyclic, cycle[-1]), escapes) & level).argmax()))
        return np.array([root, *cycle[:0:-1]], np.int64)
    return np.zeros(0, np.int64)


def _only(like: np.ndarray, channel: int) -> np.ndarray:
    one = np.zeros_like(like)
    one[channel] = True
    return one


def _escapes(routing: AdaptiveRouting, classes: np.ndarray) -> tuple[Escapes, np.ndarray]:
    """Return each node's escape channel by destination, node · W + port · C + class, and which are used, bool[C]."""
    ports, (port, crosses, away, order) = routing.topology.ports, _escape_hops(routing)
    count = int(classes.max()) + 1
    channel = np.arange(len(ports), dtype=np.int32) * np.int32(ports.shape[1]) + port
    channel = np.where(
        port == NO_PORT,
        np.int32(-1),
        channel * np.int32(count) + classes[0].astype(np.int32)[(~crosses).astype(np.int8)],
    )
    used = np.zeros(ports.size * count, bool)
    used[channel[channel >= 0]] = True
    return Escapes(channel, away, order, ports, np.repeat(ports.reshape(-1), count)), used


@lru_cache(maxsize=1)  # callers try one rule after another with the same routing
def _escape_hops(routing: AdaptiveRouting) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (port, crosses, away, order), each [destination, node].

    port     int8   port by which the escape leaves a node, −1 at the destination
    crosses  bool   whether the run that begins there crosses a dateline
    away     int16  hops to the destination
    order    int32  the nodes, nearest to the destination first
    """
    topology, escape = routing.topology, routing.escape
    destinations = np.unique(topology.terminals)
    shape = (len(destinations), topology.nodes)
    if shape[0] * shape[1] > MAX_PAIRS:
        raise Refused(
            f"deadlock of adaptive routing on {topology.spelling}:"
            f" expected at most {MAX_PAIRS:,} pairs of a node and a destination, got {shape[0] * shape[1]:,};"
            " choose a smaller network"
        )
    port, crosses = np.empty(shape, np.int8), np.empty(shape, bool)
    node, table, until = np.arange(topology.nodes), RouteTable(escape), _hops_before_dateline(escape.moves)
    for begin in range(0, len(destinations), BLOCK):
        some = destinations[begin : begin + BLOCK]
        place = table.key_index(np.tile(node, len(some)), np.repeat(some, len(node))).reshape(len(some), -1)
        first, _, direction, hops, _ = table.routes
        assert (np.diff(first) == 1).all(), "an escape has one route"
        row, run = np.arange(len(hops)), (hops > 0).argmax(axis=1)  # the first run of each route
        direction, hops = direction[row, run][place], hops[row, run][place]
        port[begin : begin + BLOCK] = np.where(hops > 0, escape.moves.port[node, direction], np.int8(NO_PORT))
        crosses[begin : begin + BLOCK] = hops > until[node, direction]
    return port, crosses, *nearest_first(topology.ports, destinations)


def _hops_before_dateline(moves: Moves) -> np.ndarray:
    """Return hops in each direction before the hop that crosses a dateline, int32[N, D]; FAR if no hop does."""
    until, directions = np.where(moves.wrap, np.int32(0), FAR), np.arange(moves.port.shape[1])
    while True:
        closer = np.where(moves.port == NO_PORT, until, np.minimum(until, until[moves.next, directions] + 1))
        if np.array_equal(closer, until):
            return until
        until = closer


def _on_the_way(ports: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Return bool[N, N]: whether a shortest path from the row's node passes, or ends at, the column's node."""
    reach = np.eye(len(ports), dtype=bool)
    nearer = (ports != NO_PORT) & (away[ports] == away[:, None] - 1)
    for hops in range(1, int(away.max()) + 1):
        nodes = np.flatnonzero(away == hops)
        for port in range(ports.shape[1]):
            goes = nodes[nearer[nodes, port]]
            reach[goes] |= reach[ports[goes, port]]
    return reach
