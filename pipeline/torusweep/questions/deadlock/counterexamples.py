"""Packets that deadlock: the packets that close a cycle of dependencies, and when they enter.

For each channel of the cycle, one packet holds that channel and requests the next.

If packets must travel to their channels, they enter together, and none meets another on its way. Each packet makes
the same number of hops before it holds its channel of the cycle. No two packets share a source, or a link before the
cycle, and these links are not in the cycle. So each packet travels as in an empty network, whatever its length,
and all packets reach their channels at the same time. Each packet then requests the next channel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from torusweep_kernels.dependencies import shortest_cycle

from torusweep.questions.deadlock.dependencies import is_acyclic
from torusweep.questions.deadlock.route_windows import runs_first
from torusweep.questions.deadlock.rules import Rule
from torusweep.questions.deadlock.window_dependencies import forced_starts, table_packets
from torusweep.routing.forms import LayeredRouting, Routing, SourceRouting, TableRouting
from torusweep.routing.paths import Runs, crosses, route_hops

MOST_PAIRS = 1 << 18  # pairs of nodes whose routes are examined: a second
DEEPEST = 2  # largest number of hops before the channels of the cycle
MOST_TRIED = 64  # packets tried for a dependency
BLOCK = 1 << 12  # destinations tried at a time


class Together(NamedTuple):
    """A deadlock. cycle: int64[L], channels (node · W + channel) in order; packets: each channel's holder, in words."""

    cycle: np.ndarray
    packets: list[str]


class _Starts(NamedTuple):
    """Beginnings of R routes. source, destination: int64[R]; channel of each hop: int64[R, M], −1 after the last."""

    source: np.ndarray
    destination: np.ndarray
    channel: np.ndarray


def entering_together(routing: SourceRouting | TableRouting, rule: Rule, virtual_channels: int) -> Together | None:
    """Find packets that enter an empty network together and then wait for each other in a circle for ever.

    Returns None if no such packets have at most DEEPEST hops before the cycle. It also returns None, without a search,
    for two passes, bubble flow control, classes of several virtual channels (a packet would have to fill each), or many
    pairs.
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
    """Return the first `most` channels of every route between terminals. classes, memory: as in `mark_routes`."""
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
    """Return a shortest cycle of the arcs held → wanted, int64[L]; None if the arcs have no cycle."""
    channels, number = np.unique(np.concatenate([held, wanted]), return_inverse=True)
    tail, head = np.split(number, 2)
    size = len(channels)
    matrix = scipy.sparse.csr_array((np.ones(len(tail), bool), (tail, head)), shape=(size, size))
    return None if is_acyclic(matrix) else channels[shortest_cycle(matrix.indptr, matrix.indices)]


def _apart(starts: _Starts, goes_on: np.ndarray, before: int, cycle: np.ndarray, count: int) -> list[int] | None:
    """Find, for each channel of a cycle, a route that reaches it and goes on to the next, apart from the other routes.

    goes_on  indices of routes to choose from
    before   hops of each route before its channel of the cycle
    count    number of classes of a link
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


class _Hops(NamedTuple):
    """Two successive channels, port · C + class, of B packets: int64[B] at the source and int64[B] at the next node."""

    first: np.ndarray
    second: np.ndarray


def packets_of(
    routing: Routing, rule: Rule, virtual_channels: int, cycle: np.ndarray, *, entering: bool
) -> list[str] | None:
    """Name the packet that holds each channel of a cycle, as `source → destination`.

    cycle      int64[L]  node · W + channel, in order
    entering   each channel is the first of some packet, and the next channel its second
               (torusweep_kernels.dependencies.FIRST)

    Returns None for a cycle of source routing without `entering`, and for shortest paths that are not plain.
    Packets of two passes have three forms: `source by way of node`, on to any destination; `source by way of itself →
    destination`; `source by way of neighbour → destination`, whose first half is one hop.
    """
    if isinstance(routing, LayeredRouting):
        return _along_links(routing, cycle)
    if isinstance(routing, TableRouting):
        return table_packets(routing, rule.within(virtual_channels), cycle, entering=entering)
    if not entering:
        return None
    ways = ["→"] if routing.passes == 1 else ["by way of", "by way of itself →"]
    source, end, half = _entering_packets(routing, rule.within(virtual_channels), rule.memory, cycle)
    ways = [*ways, *(f"by way of {node} →" for node in _heads(routing, rule.within(virtual_channels), cycle).tolist())]
    half = np.where(half < routing.passes, half, routing.passes + np.arange(len(half)))  # the way of each packet
    return [f"{s} {ways[h]} {e}" for s, e, h in zip(source.tolist(), end.tolist(), half.tolist())]


def _along_links(routing: LayeredRouting, cycle: np.ndarray) -> list[str] | None:
    """Name the packet from u to w for each pair of channels u → v → w; None if a needed u or w is not a terminal."""
    ports = routing.topology.ports  # these channels have one class
    near, far = cycle // ports.shape[1], ports.reshape(-1)[np.roll(cycle, -1)]
    if not (routing.plain and routing.lost is None and np.isin([*near, *far], routing.topology.terminals).all()):
        return None
    return [f"{source} → {destination}" for source, destination in zip(near.tolist(), far.tolist())]


def _entering_packets(
    routing: SourceRouting, classes: np.ndarray, memory: str, cycle: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (source, end of the half, half) of a packet that holds each channel; a first half may have no hops.

    half   0 or 1; 2 if the first half is only the first channel, and the second half begins with the second channel
    """
    ports = routing.topology.ports
    count = np.int64(classes.max()) + 1  # int64: a channel's number may exceed the int8 of ports and classes
    source, first = np.divmod(cycle, ports.shape[1] * count)
    after, second = np.divmod(np.roll(cycle, -1), ports.shape[1] * count)
    nearest = ports[after, second // count]  # a packet to the far end of the second channel usually fits
    end_of, half_of = np.full(len(cycle), -1), np.zeros(len(cycle), np.int64)
    for half in range(routing.passes):
        own = classes[half * routing.phases : (half + 1) * routing.phases]
        last = half == routing.passes - 1
        ends = np.unique(routing.topology.terminals) if last else np.arange(routing.topology.nodes)

        def attempt(places: np.ndarray, to: np.ndarray, half: int = half, own: np.ndarray = own) -> None:
            fits = _begins_with(routing, own, memory, count, source[places], to, _Hops(first[places], second[places]))
            end_of[places[fits]], half_of[places[fits]] = to[fits], half

        missing = np.flatnonzero((end_of < 0) & np.isin(nearest, ends))
        attempt(missing, nearest[missing])
        for begin in range(0, len(ends), BLOCK):
            block = ends[begin : begin + BLOCK]
            for place in np.flatnonzero(end_of < 0):
                attempt(np.full(len(block), place), block)
    for place in np.flatnonzero(end_of < 0) if routing.passes == 2 else ():
        second_half = classes[routing.phases :]
        ends = np.setdiff1d(routing.topology.terminals, (after[place], source[place]))
        starts = _starts_with(
            routing, second_half, memory, count, np.full(len(ends), after[place]), ends, second[place]
        )
        end_of[place], half_of[place] = ends[starts][0] if starts.any() else -1, routing.passes
    assert (end_of >= 0).all(), "a first dependency has a packet"
    return source, end_of, half_of


def _heads(routing: SourceRouting, classes: np.ndarray, cycle: np.ndarray) -> np.ndarray:
    """Return the node to which each channel of a cycle leads, int32[L]."""
    ports = routing.topology.ports
    source, channel = np.divmod(cycle, ports.shape[1] * (np.int64(classes.max()) + 1))
    return ports[source, channel // (np.int64(classes.max()) + 1)]


def _starts_with(
    routing: SourceRouting,
    classes: np.ndarray,
    memory: str,
    count: np.int64,
    source: np.ndarray,
    destination: np.ndarray,
    channel: np.int64,
) -> np.ndarray:
    """Return bool[B]: whether a route from source to destination, int[B], begins with `channel`, of `count` classes."""
    moves = routing.moves
    keys, which = np.unique(routing.key(source, destination), return_inverse=True)
    first, _, *runs = routing.routes(keys)
    direction, hops, phase = (array[:, 0] for array in runs_first(*runs))
    key = np.repeat(np.arange(len(keys)), np.diff(first))
    fits = np.zeros(len(source), bool)
    for row in np.flatnonzero(hops > 0):
        own = np.flatnonzero(which == key[row])
        at, ahead = source[own], np.full(len(own), direction[row])
        crossed = moves.wrap[at, ahead]
        if memory == "ahead":
            crossed = crosses(moves, at, ahead, np.full(len(own), hops[row]))
        fits[own] |= moves.port[at, ahead] * count + classes[phase[row], crossed.astype(np.int8)] == channel
    return fits


def _begins_with(
    routing: SourceRouting,
    classes: np.ndarray,
    memory: str,
    count: np.int64,
    source: np.ndarray,
    destination: np.ndarray,
    channels: _Hops,
) -> np.ndarray:
    """Return bool[B]: whether a route from source to destination, int[B], begins with the two `channels`."""
    moves = routing.moves
    keys, which = np.unique(routing.key(source, destination), return_inverse=True)
    first, _, *runs = routing.routes(keys)
    ways = np.diff(first)[which]
    pair = np.repeat(np.arange(len(source)), ways)
    row = np.arange(len(pair)) - np.repeat(np.cumsum(ways) - ways, ways) + first[which][pair]
    direction, hops, phase = (
        np.hstack([array, np.zeros((len(array), 1), np.int64)])[row] for array in runs_first(*runs)
    )
    at, goes_on = source[pair], hops[:, 0] > 1
    there = moves.next[at, direction[:, 0]]
    lane, run = np.arange(len(row)), np.where(goes_on, 0, 1)  # run of the second hop
    onwards, next_phase, left = direction[lane, run], phase[lane, run], hops[lane, run] - goes_on
    crossed, again = moves.wrap[at, direction[:, 0]], moves.wrap[there, onwards]
    if memory == "ahead":
        crossed, again = crosses(moves, at, direction[:, 0], hops[:, 0]), crosses(moves, there, onwards, left)
    same_axis = (direction[:, 0] >> 1 == onwards >> 1) & (phase[:, 0] == next_phase)
    again = again | (crossed & {"run": goes_on, "ahead": goes_on, "axis": same_axis, "path": True}[memory])
    begins = moves.port[at, direction[:, 0]] * count + classes[phase[:, 0], crossed.astype(np.int8)]
    follows = moves.port[there, onwards] * count + classes[next_phase, again.astype(np.int8)]
    fits = (hops[:, 0] > 0) & (left > 0) & (begins == channels.first[pair]) & (follows == channels.second[pair])
    return np.bincount(pair[fits], minlength=len(source)) > 0
