"""Dependencies from windows: place every window at every node where it occurs, and mark its channels.

If `SourceRouting.regular` holds, one source represents its whole cell: a window that occurs in a route occurs
at every node of the cell. Otherwise (meshes) a window is placed only where its directions exist, and
each placement is proved: the routing sends a packet from the start of the run to the end of the window
along that window. If the routing is separable, that packet takes the window if any packet does. A placement
that fails (half a ring across the dateline, where the sign of the offset decides) is tried again with
fewer hops, or with more. Nothing is marked unless every placement is proved.

The dependencies of a routing table are read off its rows. Each row is taken by some packet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from torusweep_kernels.dependencies import DEPENDS, FIRST, Channels

from torusweep.networks.topology import NO_PORT
from torusweep.questions.deadlock.route_windows import (
    END,
    MAX_HOPS,
    Progress,
    Reach,
    Window,
    cells_onward,
    part_of,
    runs_first,
    windows,
)
from torusweep.routing.forms import Moves, SourceRouting, TableRouting

MAX_KEYS = 1 << 26  # keys whose routes are decomposed
FAR = np.iinfo(np.int32).max
Places = tuple[np.ndarray, np.ndarray]  # nodes, and the hops of a window before each
BLOCK = 1 << 22  # dependencies at a time


class _Upstream(NamedTuple):
    """The line that leads to each node in one direction.

    previous  int32[N]  the node before each node, −1 = none
    crossed   int32[N]  hops since a dateline, 1 = the link into this node is on it; FAR = none
    length    int32[N]  hops from the start of the line; FAR on a ring
    """

    previous: np.ndarray
    crossed: np.ndarray
    length: np.ndarray


def mark_windows(
    routing: SourceRouting, classes: np.ndarray, memory: str, channels: Channels, progress: Progress = None
) -> bool:
    """Mark in `channels` the channels and dependencies of packets between all nodes.

    classes, memory   as in `torusweep_kernels.dependencies.mark_routes`

    Returns False, and marks nothing, if windows do not determine the dependencies.
    """
    if memory not in ("run", "axis") or routing.keys > MAX_KEYS:
        return False
    onward, regular = cells_onward(routing), routing.regular
    if onward is None or not (regular or onward.shape[1] == 1):
        return False
    found = windows(routing, onward, memory == "axis", part_of(progress, 0, 2))
    if found is None:
        return False
    lines = [_upstream(routing.moves, d) for d in range(len(onward))]
    placed = []
    for number, (window, reach) in enumerate(found.items(), 1):
        line = lines[window.direction]
        for hops, step in ((reach.least, 1), (reach.most, -1)):
            candidates = _candidates(routing.moves, line, window, hops[routing.cell])
            proved = candidates if regular else _proved(routing, line, window, candidates, reach, step)
            if proved is None:
                return False
            placed.append((window, proved))
        if progress is not None:
            progress((1 + number / len(found)) / 2)
    for half in range(routing.passes):
        for window, places in placed:
            _mark(routing, classes, lines[window.direction], window, half, places, channels)
    return True


def _upstream(moves: Moves, d: int) -> _Upstream:
    nodes = len(moves.port)
    tail = np.flatnonzero(moves.port[:, d] != NO_PORT)
    previous = np.full(nodes, NO_PORT, np.int32)
    previous[moves.next[tail, d]] = tail
    crossed, length = np.full(nodes, FAR, np.int32), np.full(nodes, FAR, np.int32)
    for distance, at, hop in (
        (crossed, moves.next[moves.wrap[:, d], d], 1),
        (length, np.flatnonzero(previous == NO_PORT), 0),
    ):
        while len(at := at[distance[at] == FAR]):
            distance[at] = hop
            at = moves.next[at, d]
            at, hop = at[at != NO_PORT], hop + 1
    return _Upstream(previous, crossed, length)


def _candidates(moves: Moves, line: _Upstream, window: Window, hops: np.ndarray) -> Places:
    """Return the nodes at which the window's directions exist, with the window's hops there. hops: int[N], 0 = none."""
    fits = (hops > 0) & (hops <= line.length)
    if window.onwards != END:
        fits &= moves.port[:, window.onwards] != NO_PORT
    nodes = np.flatnonzero(fits)
    return nodes, hops[nodes]


def _mark(
    routing: SourceRouting,
    classes: np.ndarray,
    line: _Upstream,
    window: Window,
    half: int,
    places: Places,
    channels: Channels,
) -> None:
    moves, earlier_phases = routing.moves, half * routing.phases
    count = np.int64(classes.max(initial=0)) + 1  # int64: a channel's number may exceed the int8 of ports and classes
    nodes, hops = places
    before, past = line.previous[nodes], hops >= line.crossed[nodes]
    kind = classes[window.phase + earlier_phases, past.astype(np.int8)]
    current = moves.port[before, window.direction] * count + kind
    channels.used[before, current] = True
    if window.ending and half == 0:
        channels.ending[before, current] = True
    if window.onwards == END:
        if window.leading and half == routing.passes - 1:
            channels.starting[before, current] = True
        return
    crosses = moves.wrap[nodes, window.onwards] | (past & (not window.turned))
    kind = classes[window.next_phase + earlier_phases, crosses.astype(np.int8)]
    requested = moves.port[nodes, window.onwards] * count + kind
    channels.depends[before, current, requested] |= np.uint8(DEPENDS | FIRST if window.leading else DEPENDS)


def _proved(
    routing: SourceRouting, line: _Upstream, window: Window, places: Places, reach: Reach, step: int
) -> Places | None:
    """Return the placements that are proved; None if one fails and the routing is not separable.

    For a separable routing, placements that fail are tried again with hops + step, hops + 2 · step, ….
    """
    nodes, hops = places
    least, most = int(reach.least.max()), int(reach.most.max())
    found = [(nodes[:0], hops[:0])]
    while len(nodes):
        occurs = _occurs(routing, line, window, nodes, hops)
        if not (routing.separable or occurs.all()):
            return None
        found.append((nodes[occurs], hops[occurs]))
        nodes, hops = nodes[~occurs], hops[~occurs] + step
        within = (hops >= least) & (hops <= most)
        nodes, hops = nodes[within], hops[within]
    return np.concatenate([some for some, _ in found]), np.concatenate([some for _, some in found])


def _occurs(routing: SourceRouting, line: _Upstream, window: Window, nodes: np.ndarray, hops: np.ndarray) -> np.ndarray:
    """Return bool[n]: whether a packet from `hops` before each node to the window's end follows the window."""
    start = nodes
    for hop in range(int(hops.max(initial=0))):
        start = np.where(hops > hop, line.previous[start], start)
    target = nodes if window.onwards == END else routing.moves.next[nodes, window.onwards]
    queries, which = np.unique(routing.key(start, target) * MAX_HOPS + hops, return_inverse=True)
    keys, own = np.unique(queries // MAX_HOPS, return_inverse=True)
    first, _, *runs = routing.routes(keys)
    direction, length, phase = (np.hstack([array, np.zeros((len(array), 1), np.int64)]) for array in runs_first(*runs))
    continues = window.onwards != END and not window.turned
    fits = (direction[:, 0] == window.direction) & (phase[:, 0] == window.phase)
    if window.turned:
        fits &= (direction[:, 1] == window.onwards) & (phase[:, 1] == window.next_phase) & (length[:, 1] > 0)
    key = np.repeat(np.arange(len(keys)), np.diff(first))[fits]
    known = np.unique(key * MAX_HOPS + length[fits, 0] - continues)
    return np.isin(own * MAX_HOPS + queries % MAX_HOPS, known)[which]


class RowPairs(NamedTuple):
    """Pairs of rows of a table that a packet may use one after the other, int64[D] each."""

    row: np.ndarray
    then: np.ndarray


def mark_table(routing: TableRouting, classes: np.ndarray, channels: Channels) -> None:
    """Mark in `channels` the channels and dependencies of packets between all terminals.

    classes   int8[F, 2]  virtual-channel class for each class of the table

    FIRST is marked if a packet that takes the first row has no choice of its second channel. A packet that may draw
    another row need not wait for this one.
    """
    channel = channel_of_rows(routing, classes)
    leads = routing.port != NO_PORT
    channels.used[routing.at[routing.owner[leads]], channel[leads]] = True
    entering = _entering(routing)
    single = _have_one_channel(routing, channel)
    for row, then in steps_of(routing):
        holder = routing.owner[row]
        forced = entering[holder] & single[routing.next[row]]
        marks = np.where(forced, np.uint8(DEPENDS | FIRST), np.uint8(DEPENDS))
        np.bitwise_or.at(channels.depends, (routing.at[holder], channel[row], channel[then]), marks)


def _entering(routing: TableRouting) -> np.ndarray:
    """Return bool[C]: configurations in which packets enter the network, except packets to their own source."""
    entering = np.zeros(len(routing.at), bool)
    entering[routing.entry] = routing.at[routing.entry] != routing.destination[routing.entry]
    return entering


def channel_of_rows(routing: TableRouting, classes: np.ndarray) -> np.ndarray:
    """Return the channel of each row of the table, port · C + class, int64[R]."""
    count = int(classes.max(initial=0)) + 1
    return routing.port.astype(np.int64) * count + classes[routing.kind, 0]


def steps_of(routing: TableRouting) -> Iterator[RowPairs]:
    """Yield all pairs of rows that a packet may use one after the other, in blocks."""
    onwards = np.flatnonzero(routing.next >= 0)
    ways = routing.many[routing.next[onwards]]
    ends = np.cumsum(ways)
    begin = 0
    while begin < len(onwards):
        done = 0 if begin == 0 else int(ends[begin - 1])
        end = max(begin + 1, int(np.searchsorted(ends, done + BLOCK, side="right")))
        many = ways[begin:end]
        row = np.repeat(onwards[begin:end], many)
        place = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        then = routing.rows[routing.next[row]] + place
        leads = routing.port[then] != NO_PORT
        yield RowPairs(row[leads], then[leads])
        begin = end


def forced_starts(routing: TableRouting, classes: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (source int64[R], destination int64[R], channels int64[R, most]) of packets' first hops, by first row.

    channels  node · W + channel of each hop; −1 after the last hop, and from the first hop with a choice of channels
    """
    channel = channel_of_rows(routing, classes)
    width = routing.topology.ports.shape[1] * (int(classes.max(initial=0)) + 1)
    number = routing.at[routing.owner].astype(np.int64) * width + channel
    single = _have_one_channel(routing, channel)
    destination, source = np.divmod(routing.entry_pair, routing.topology.nodes)
    many = routing.many[routing.entry]
    pair = np.repeat(np.arange(len(many)), many)
    row = routing.rows[routing.entry][pair] + np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many)
    leads = (routing.port[row] != NO_PORT) & (source != destination)[pair]
    pair, row = pair[leads], row[leads]
    found = np.full((len(row), most), -1)
    going = np.arange(len(row))
    for hop in range(most):
        found[going, hop] = number[row]
        after = routing.next[row]
        on = (after >= 0) & single[after] if len(single) else after >= 0
        going, row = going[on], routing.rows[after[on]]
    return source[pair], destination[pair], found


def _have_one_channel(routing: TableRouting, channel: np.ndarray) -> np.ndarray:
    """Return bool[C]: whether all rows of a configuration lead over one class of one channel."""
    if not len(channel):
        return np.zeros(0, bool)
    first = routing.rows[:-1]
    return np.minimum.reduceat(channel, first) == np.maximum.reduceat(channel, first)


def table_packets(routing: TableRouting, classes: np.ndarray, cycle: np.ndarray, *, entering: bool) -> list[str]:
    """Name for each channel of a cycle a packet that passes it and then the next channel, as `source → destination`.

    cycle      int64[L]  node · W + channel, in order
    entering   the channel is the packet's first, and the packet has no choice of the next one (`mark_table`)
    """
    channel = channel_of_rows(routing, classes)
    width = routing.topology.ports.shape[1] * (int(classes.max(initial=0)) + 1)
    number = routing.at[routing.owner].astype(np.int64) * width + channel
    wanted = dict(zip(zip(cycle.tolist(), np.roll(cycle, -1).tolist()), range(len(cycle))))
    is_entry = _entering(routing)
    single = _have_one_channel(routing, channel)
    found: dict[int, str] = {}
    in_cycle = np.zeros(int(number.max(initial=0)) + 1, bool)
    in_cycle[cycle] = True
    for row, then in steps_of(routing):
        some = in_cycle[number[row]] & in_cycle[number[then]]
        if entering:
            some &= is_entry[routing.owner[row]] & single[routing.next[row]]
        for one, other in zip(row[some].tolist(), then[some].tolist()):
            place = wanted.get((int(number[one]), int(number[other])))
            if place is not None and place not in found:
                holder = int(routing.owner[one])
                source = int(routing.at[holder]) if entering else _source_of(routing, holder)
                found[place] = f"{source} → {int(routing.destination[holder])}"
    return [found[place] for place in range(len(cycle))]


def _source_of(routing: TableRouting, configuration: int) -> int:
    """Return a node whose packets reach a configuration, by following the configuration's predecessors backwards."""
    goal = int(routing.destination[configuration])
    low = int(routing.first[goal])
    row = np.arange(routing.rows[low], routing.rows[configuration + 1])
    before: dict[int, int] = {}
    for one in row.tolist():
        before.setdefault(int(routing.next[one]), int(routing.owner[one]))
    entries = set(routing.entry[routing.entry_pair // routing.topology.nodes == goal].tolist())
    while configuration not in entries:
        configuration = before[configuration]
    return int(routing.at[configuration])
