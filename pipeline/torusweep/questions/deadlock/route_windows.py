"""Windows: the hops and turns that occur in routes. Their number does not grow with the pairs of nodes.

A class that is decided within a run depends on two things: the node, and the number of hops that the
packet has made in this direction. Once the packet has crossed the ring's dateline, further hops leave the class as it
is. The least and the greatest number of hops that occur therefore show every class that occurs.

Routes through a random node also have dependencies from the end of the first half to the second half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from torusweep_kernels.dependencies import DEPENDS, FIRST, Channels

from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import SourceRouting

Progress = Callable[[float], None] | None
BLOCK = 1 << 20  # keys whose routes are decomposed at a time
MAX_HOPS = 1 << 15  # hops of a run: an int16
END = -1  # in place of a direction at the end of a route


def part_of(progress: Progress, number: int, parts: int) -> Progress:
    """Return the callback that reports the progress of part `number` (0 …) of `parts` equal parts of the work."""
    return None if progress is None else lambda share: progress((number + share) / parts)


class Window(NamedTuple):
    """A part of a route: some hops in one direction, then the next hop.

    direction, phase       direction and phase of the run
    onwards, next_phase    direction and phase of the next hop; END if the window has no next hop
    turned                 whether the next hop begins a new run
    leading                whether the hops are the first of the route
    ending                 whether the hops are the last of the route
    """

    direction: int
    phase: int
    onwards: int = END
    next_phase: int = 0
    turned: bool = False
    leading: bool = False
    ending: bool = False


class Reach(NamedTuple):
    """The fewest and the most hops of a window before its node, int64[cells] each, by the node's cell; 0: never."""

    least: np.ndarray
    most: np.ndarray


class _Turns(NamedTuple):
    """R distinct runs, int64[R] each: from a node of `cell`, `hops` in a direction, then a hop `onwards`, or END."""

    cell: np.ndarray
    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray
    onwards: np.ndarray
    next_phase: np.ndarray
    leading: np.ndarray


def cells_onward(routing: SourceRouting) -> np.ndarray | None:
    """Return the cell to which each direction leads from each cell, int64[D, cells]; −1 = none.

    Returns None if that cell depends on the node, or if a direction leads from two nodes to the same node.
    """
    moves, cells = routing.moves, int(routing.cell.max()) + 1
    onward = np.full((moves.port.shape[1], cells), -1)
    for d, row in enumerate(onward):
        tail = np.flatnonzero(moves.port[:, d] != NO_PORT)
        head = moves.next[tail, d]
        row[routing.cell[tail]] = routing.cell[head]
        if (row[routing.cell[tail]] != routing.cell[head]).any() or len(np.unique(head)) < len(head):
            return None
    return onward


def windows(
    routing: SourceRouting, onward: np.ndarray, axis_memory: bool, progress: Progress = None
) -> dict[Window, Reach] | None:
    """Return every window of the routes of all keys, with its reach.

    axis_memory   whether packets remember a crossing along the axis; None is then returned if a route revisits an axis
    """
    turns = _turns(routing, onward, axis_memory, progress)
    if turns is None:
        return None
    found: dict[Window, Reach] = {}
    cells = onward.shape[1]

    def record(cell: np.ndarray, hops: np.ndarray, *kind: np.ndarray, **flags: bool) -> None:
        shape = tuple(int(column.max(initial=0)) + 1 for column in kind)
        code = np.ravel_multi_index(kind, shape)
        for value in np.flatnonzero(np.bincount(code)):
            own = code == value
            window = Window(*np.array(np.unravel_index(value, shape)).tolist(), **flags)
            reach = found.setdefault(window, Reach(np.full(cells, MAX_HOPS), np.zeros(cells, np.int64)))
            np.minimum.at(reach.least, cell[own], hops[own])
            np.maximum.at(reach.most, cell[own], hops[own])

    run = _longest_runs(turns)
    cell = run.cell
    for hop in range(1, int(turns.hops.max(initial=0)) + 1):
        on = run.hops >= hop
        run, cell = _Turns(*(field[on] for field in run)), cell[on]
        cell = onward[run.direction, cell]
        far = np.full(len(cell), hop)
        record(cell, far, run.direction, run.phase)
        more = run.hops > hop
        record(*(field[more] for field in (cell, far, run.direction, run.phase, run.direction, run.phase)))
        if hop == 1:
            record(*(field[run.leading] for field in (cell, far, run.direction, run.phase)), leading=True)
            more &= run.leading
            record(
                *(field[more] for field in (cell, far, run.direction, run.phase, run.direction, run.phase)),
                leading=True,
            )
    at = cells_after(onward, turns.cell, turns.direction, turns.hops)
    for first in (False, True):
        turn = turns.onwards != END
        if first:
            turn &= turns.leading & (turns.hops == 1)
        record(
            *(field[turn] for field in (at, turns.hops, turns.direction, turns.phase, turns.onwards, turns.next_phase)),
            turned=True,
            leading=first,
        )
    last = turns.onwards == END
    record(*(field[last] for field in (at, turns.hops, turns.direction, turns.phase)), ending=True)
    return {window: Reach(np.where(reach.most > 0, reach.least, 0), reach.most) for window, reach in found.items()}


def _turns(routing: SourceRouting, onward: np.ndarray, axis_memory: bool, progress: Progress) -> _Turns | None:
    directions, stages, cells = len(onward), routing.phases, onward.shape[1]
    shape = (cells, directions, MAX_HOPS, stages, directions + 1, stages, 2)
    codes = [np.zeros(0, np.int64)]
    for begin in range(0, routing.keys, BLOCK):
        keys = np.arange(begin, min(begin + BLOCK, routing.keys))
        first, _, direction, hops, phase = routing.routes(keys)
        direction, hops, phase = runs_first(direction, hops, phase)
        if axis_memory and _revisits_axis(direction, hops, phase):
            return None
        cell = np.repeat(keys // (routing.keys // cells), np.diff(first))
        for run, (d, length, stage, onwards, next_stage) in enumerate(_successive_runs(direction, hops, phase)):
            here = length > 0
            fields = (cell, d, length, stage, onwards + 1, next_stage)
            codes.append(
                np.unique(
                    np.ravel_multi_index(
                        (*(field[here] for field in fields), np.full(here.sum(), int(run == 0))), shape
                    )
                )
            )
            cell = cells_after(onward, cell, d, length)
        if progress is not None:
            progress((keys[-1] + 1) / routing.keys)
    found = _Turns(*np.unravel_index(np.unique(np.concatenate(codes)), shape))
    return found._replace(onwards=found.onwards - 1, leading=found.leading > 0)


def runs_first(direction: np.ndarray, hops: np.ndarray, phase: np.ndarray) -> list[np.ndarray]:
    """Return the runs, int64[R, L], with the empty runs moved to the end of each row."""
    order = np.argsort(hops == 0, axis=1, kind="stable")
    return [np.take_along_axis(array, order, axis=1).astype(np.int64) for array in (direction, hops, phase)]


def _successive_runs(direction: np.ndarray, hops: np.ndarray, phase: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield, run by run, direction, hops and phase of all rows, and direction (or END) and phase of their next runs."""
    empty = np.zeros((len(hops), 1), np.int64)
    after = np.where(np.hstack([hops, empty]) > 0, np.hstack([direction, empty]), END)
    stage = np.where(after == END, 0, np.hstack([phase, empty]))
    for run in range(hops.shape[1]):
        yield direction[:, run], hops[:, run], phase[:, run], after[:, run + 1], stage[:, run + 1]


def _revisits_axis(direction: np.ndarray, hops: np.ndarray, phase: np.ndarray) -> bool:
    """Return whether some route leaves an axis and returns to it in the same phase."""
    stage = np.sort(np.where(hops > 0, (direction >> 1) * 256 + phase, -1 - np.arange(hops.shape[1])), axis=1)
    return bool((stage[:, 1:] == stage[:, :-1]).any())


def _longest_runs(turns: _Turns) -> _Turns:
    """Return the longest of the runs that have equal cell, direction, phase and `leading`."""
    order = np.lexsort((-turns.hops, turns.phase, turns.direction, turns.cell, turns.leading))
    rows = np.stack([turns.cell, turns.direction, turns.phase, turns.leading], axis=1)[order]
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return _Turns(*(field[order][new] for field in turns))


def cells_after(onward: np.ndarray, cell: np.ndarray, direction: np.ndarray, hops: np.ndarray) -> np.ndarray:
    """Return the cell after the given number of hops from each cell, int64[R]; −1 if one of the hops does not exist."""
    if onward.shape[1] == 1:
        return cell
    # strides of 1, 2, 4, … hops; −1 (no cell) indexes the last column, which leads to −1 again
    stride = np.hstack([onward, np.full((len(onward), 1), -1)])
    for power in range(int(hops.max(initial=0)).bit_length()):
        goes = np.flatnonzero(hops >> power & 1)
        cell = cell.copy()
        cell[goes] = stride[direction[goes], cell[goes]]
        stride = np.take_along_axis(stride, stride, axis=1)
    return cell


def join_halves(
    routing: SourceRouting, classes: np.ndarray, channels: Channels, returning: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Add the dependencies between the two halves of routes through a random node.

    Each channel that ends a first half depends on every channel that starts a second half at the same node. This
    includes packets to their own source, which also pass the random node, except packets that `returning` finds. If a
    channel is the whole first half, it and the next channel are marked as first channels of a route. Only packets to
    nodes other than their source count for this, because a deadlock must not rest on packets that need no network.

    returning  at random nodes, the only source of first halves that end with each channel, and the only destination of
               second halves that begin with it, int[2, N, W], −1 = none. If they are equal, there is no dependency.
               Called for nodes that send nothing to themselves
    """
    count = channels.used.shape[1] // routing.topology.ports.shape[1]
    tail, head, port = routing.topology.arcs
    whole = _halves_of_one_hop(routing, classes, channels)
    one, several = _ends_of_second_halves(routing, classes, channels)
    # if a channel begins routes to two nodes, one of these nodes is not the source
    at = np.flatnonzero((channels.starting & ~several).any(axis=1))
    some_return = routing.lost is not None and len(at) > 0
    if some_return:
        source, destination = returning(at)
    away = several[head] | ((one[head] != NO_PORT) & (one[head] != tail[:, None]))
    for c in range(count):
        arriving = port * count + c
        starting = channels.starting[head]
        joined = channels.ending[tail, arriving][:, None] & starting
        if some_return:
            from_one = source[tail, arriving][:, None]
            joined &= (from_one == NO_PORT) | (from_one != destination[head])
        channels.depends[tail, arriving] |= np.uint8(DEPENDS) * joined
        first = whole[tail, arriving][:, None] & starting & away
        channels.depends[tail, arriving] |= np.uint8(FIRST) * first


def _halves_of_one_hop(routing: SourceRouting, classes: np.ndarray, channels: Channels) -> np.ndarray:
    """Return bool[N, W]: whether a channel alone is a route's first half, one hop from a node with terminals."""
    moves, found = routing.moves, np.zeros_like(channels.used)
    terminals = np.unique(routing.topology.terminals)
    for d in range(moves.next.shape[1]):
        source = terminals[moves.next[terminals, d] != NO_PORT]
        for own, channel, hops in _first_channels(routing, classes, channels, source, moves.next[source, d], d):
            if hops == 1:
                found[source[own], channel] = True
    return found


def _ends_of_second_halves(
    routing: SourceRouting, classes: np.ndarray, channels: Channels
) -> tuple[np.ndarray, np.ndarray]:
    """Return destinations, at most two hops away, of second halves that begin with each channel.

    returns  (int32[N, W]: one destination, −1 = none; bool[N, W]: whether there are others)

    The first two hops of a longer route are usually the route to a nearer destination. If they are not, a deadlock may
    be missed, but none is claimed that does not exist.
    """
    moves, terminals = routing.moves, np.unique(routing.topology.terminals)
    one = np.full(channels.used.shape, NO_PORT, np.int32)
    several = np.zeros_like(channels.used)
    nodes, second = np.arange(routing.topology.nodes), classes[routing.phases :]
    for d in range(moves.next.shape[1]):
        near = moves.next[:, d]
        for far in (near, *(np.where(near == NO_PORT, NO_PORT, onwards[near]) for onwards in moves.next.T)):
            own = np.flatnonzero((far != NO_PORT) & (far != nodes) & np.isin(far, terminals))
            for some, channel, _ in _first_channels(routing, second, channels, own, far[own], d):
                source, end = own[some], far[own[some]]
                known = one[source, channel]
                several[source, channel] |= (known != NO_PORT) & (known != end)
                one[source, channel] = np.where(known == NO_PORT, end, known)
    return one, several


def _first_channels(
    routing: SourceRouting, classes: np.ndarray, channels: Channels, source: np.ndarray, end: np.ndarray, direction: int
) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Yield (packets of a route, first channel, hops of the route) for routes source → end that begin in a direction.

    source, end: int[B]. The first hop's class depends on that hop alone: rules that look ahead refuse two passes.
    """
    moves, count = routing.moves, channels.used.shape[1] // routing.topology.ports.shape[1]
    keys, which = np.unique(routing.key(source, end), return_inverse=True)
    first, _, *runs = routing.routes(keys)
    key = np.repeat(np.arange(len(keys)), np.diff(first))
    directions, hops, phase = runs_first(*runs)
    for row in np.flatnonzero((hops[:, 0] > 0) & (directions[:, 0] == direction)):
        own = np.flatnonzero(which == key[row])
        at = source[own]
        crossed = moves.wrap[at, direction].astype(np.int8)
        channel = moves.port[at, direction] * np.int64(count) + classes[phase[row, 0], crossed]
        yield own, channel, int(hops[row].sum())
