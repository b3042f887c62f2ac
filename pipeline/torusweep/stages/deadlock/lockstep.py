"""Counterexamples of packets beyond their first channel: they enter together, and none meets another on its way.

Each packet makes the same number of hops before it holds its channel of the cycle. No two packets have a source, or a
link before the cycle, in common, and none of these links is in the cycle. So each packet travels as in an empty
network, whatever its length, and all reach their channels at the same time. Each then requests the next one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from torusweep_kernels.dependencies import shortest_cycle

from torusweep.routing.forms import SourceRouting, TableRouting
from torusweep.routing.paths import Runs, route_hops
from torusweep.stages.deadlock.cycles import is_acyclic
from torusweep.stages.deadlock.rules import Rule
from torusweep.stages.deadlock.table_dependencies import forced_starts

MOST_PAIRS = 1 << 18  # of nodes, whose routes are looked at: a second
DEEPEST = 2  # hops before the channels of the cycle
MOST_TRIED = 64  # packets for a dependency


class Together(NamedTuple):
    """A deadlock. cycle int64[L]: channels, node · W + channel, in order; packets: one that holds each, in words."""

    cycle: np.ndarray
    packets: list[str]


class _Starts(NamedTuple):
    """How routes begin. source, destination int64[R]; channel int64[R, M]: of each hop, −1 after the last."""

    source: np.ndarray
    destination: np.ndarray
    channel: np.ndarray


def entering_together(routing: SourceRouting | TableRouting, rule: Rule, virtual_channels: int) -> Together | None:
    """Packets that enter an empty network together and come to wait for each other in a circle for ever.

    None where there are none with at most DEEPEST hops before the cycle, and where this is not looked for: two passes,
    bubble flow control, classes of several virtual channels (a packet would have to fill each), or too many pairs.
    """
    terminals = np.unique(routing.topology.terminals)
    if (
        (isinstance(routing, SourceRouting) and routing.passes > 1)
        or rule.bubble
        or (rule.shares(virtual_channels) > 1).any()
    ):
        return None
    if len(terminals) ** 2 > MOST_PAIRS:
        return None
    classes = rule.within(virtual_channels)
    if isinstance(routing, TableRouting):
        starts = _Starts(*forced_starts(routing, classes, DEEPEST + 2))
    else:
        starts = _starts(routing, classes, rule.memory, terminals, DEEPEST + 2)
    count = int(classes.max()) + 1
    for before in range(1, DEEPEST + 1):
        goes_on = np.flatnonzero(starts.channel[:, before + 1] >= 0)
        held, wanted = starts.channel[goes_on, before], starts.channel[goes_on, before + 1]
        cycle = _shortest_cycle(held, wanted)
        packets = None if cycle is None else _apart(starts, goes_on, before, cycle, count)
        if cycle is not None and packets is not None:
            ends = zip(starts.source[packets].tolist(), starts.destination[packets].tolist())
            return Together(cycle, [f"{source} → {destination}" for source, destination in ends])
    return None


def _starts(routing: SourceRouting, classes: np.ndarray, memory: str, terminals: np.ndarray, most: int) -> _Starts:
    """The first `most` channels of every route between terminals (torusweep_kernels.dependencies.mark_routes)."""
    source, destination = np.repeat(terminals, len(terminals)), np.tile(terminals, len(terminals))
    distinct = source != destination
    source, destination = source[distinct], destination[distinct]
    keys, which = np.unique(routing.key(source, destination), return_inverse=True)
    first, _, *runs = routing.routes(keys)
    ways = np.diff(first)[which]
    pair = np.repeat(np.arange(len(source)), ways)
    row = np.arange(len(pair)) - np.repeat(np.cumsum(ways) - ways, ways) + first[which][pair]
    moves, count = routing.moves, int(classes.max()) + 1
    made = route_hops(moves, source[pair], Runs(*(array[row] for array in runs)), classes, memory, most)
    channel = (made.node * routing.topology.ports.shape[1] + made.port) * count + made.kind
    return _Starts(source[pair], destination[pair], np.where(made.port < 0, -1, channel))


def _shortest_cycle(held: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """int64[L]: a shortest cycle of the arcs held → wanted; None without one."""
    channels, number = np.unique(np.concatenate([held, wanted]), return_inverse=True)
    tail, head = np.split(number, 2)
    size = len(channels)
    matrix = scipy.sparse.csr_array((np.ones(len(tail), bool), (tail, head)), shape=(size, size))
    return None if is_acyclic(matrix) else channels[shortest_cycle(matrix.indptr, matrix.indices)]


def _apart(starts: _Starts, goes_on: np.ndarray, before: int, cycle: np.ndarray, count: int) -> list[int] | None:
    """For each channel of a cycle a route that reaches it and goes on to the next, none near another.

    goes_on  the routes to choose from
    before   hops of each before its channel of the cycle
    count    classes of a link
    """
    links = starts.channel // count
    used, sources = set((cycle // count).tolist()), set()
    if len(used) < len(cycle):
        return None  # two channels of one link, which takes one flit at a time
    chosen = []
    for held, wanted in zip(cycle.tolist(), np.roll(cycle, -1).tolist()):
        own = goes_on[(starts.channel[goes_on, before] == held) & (starts.channel[goes_on, before + 1] == wanted)]
        for route in own[:MOST_TRIED].tolist():
            way = set(links[route, :before].tolist())
            if not way & used and starts.source[route] not in sources:
                used |= way
                sources.add(starts.source[route])
                chosen.append(route)
                break
        else:
            return None
    return chosen
