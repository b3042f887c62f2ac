"""Routes taken apart: which hops and turns occur in them, whatever the number of pairs of nodes.

A class that is settled within a run depends on two things: at which node the packet is, and how many
hops it has moved there in this direction. Having crossed the ring's dateline is monotone in those hops,
so the fewest and the most of them that occur show every class that does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import SourceRouting
from torusweep.stages.deadlock.progress import Progress

BLOCK = 1 << 20  # keys whose routes are taken apart at a time
LONGEST = 1 << 15  # hops of a run are an int16
END = -1  # in the place of a direction: none


class Window(NamedTuple):
    """A moment of a route: some hops in one direction, and what is asked for then.

    direction, phase       of the run
    onwards, next_phase    the next hop's direction, or END where none is looked at
    turned                 that hop begins a run
    leading                the hops before it are the route's first
    ending                 the hops before it are the route's last
    """

    direction: int
    phase: int
    onwards: int = END
    next_phase: int = 0
    turned: bool = False
    leading: bool = False
    ending: bool = False


class Reach(NamedTuple):
    """fewest, most: int64[cells]: hops of a window's run before the node at which it stands, by that node's cell; 0 = never."""

    fewest: np.ndarray
    most: np.ndarray


class _Turns(NamedTuple):
    """One row for each kind of run that occurs: from a node of `cell`, `hops` in a direction, then `onwards` or END."""

    cell: np.ndarray
    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray
    onwards: np.ndarray
    next_phase: np.ndarray
    leading: np.ndarray


def cells_onward(routing: SourceRouting) -> np.ndarray | None:
    """int64[D, cells]: the cell that each direction leads to from each, −1 = none.

    None where that depends on the node, or where two nodes lead to one in the same direction.
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
    """Every window of the routes of all keys.

    axis_memory   a crossing is remembered along the axis; None is returned where some route comes back to one
    """
    turns = _turns(routing, onward, axis_memory, progress)
    if turns is None:
        return None
    found: dict[Window, Reach] = {}
    cells = onward.shape[1]

    def seen(cell: np.ndarray, hops: np.ndarray, *kind: np.ndarray, **flags: bool) -> None:
        shape = tuple(int(column.max(initial=0)) + 1 for column in kind)
        code = np.ravel_multi_index(kind, shape)
        for value in np.flatnonzero(np.bincount(code)):
            own = code == value
            window = Window(*np.array(np.unravel_index(value, shape)).tolist(), **flags)
            reach = found.setdefault(window, Reach(np.full(cells, LONGEST), np.zeros(cells, np.int64)))
            np.minimum.at(reach.fewest, cell[own], hops[own])
            np.maximum.at(reach.most, cell[own], hops[own])

    run = _longest(turns)
    cell = run.cell
    for hop in range(1, int(turns.hops.max(initial=0)) + 1):
        on = run.hops >= hop
        run, cell = _Turns(*(field[on] for field in run)), cell[on]
        cell = onward[run.direction, cell]
        far = np.full(len(cell), hop)
        seen(cell, far, run.direction, run.phase)
        more = run.hops > hop
        seen(*(field[more] for field in (cell, far, run.direction, run.phase, run.direction, run.phase)))
        if hop == 1:
            seen(*(field[run.leading] for field in (cell, far, run.direction, run.phase)), leading=True)
            more &= run.leading
            seen(
                *(field[more] for field in (cell, far, run.direction, run.phase, run.direction, run.phase)),
                leading=True,
            )
    at = moved(onward, turns.cell, turns.direction, turns.hops)
    for first in (False, True):
        turn = turns.onwards != END
        if first:
            turn &= turns.leading & (turns.hops == 1)
        seen(
            *(field[turn] for field in (at, turns.hops, turns.direction, turns.phase, turns.onwards, turns.next_phase)),
            turned=True,
            leading=first,
        )
    last = turns.onwards == END
    seen(*(field[last] for field in (at, turns.hops, turns.direction, turns.phase)), ending=True)
    return {window: Reach(np.where(reach.most > 0, reach.fewest, 0), reach.most) for window, reach in found.items()}


def _turns(routing: SourceRouting, onward: np.ndarray, axis_memory: bool, progress: Progress) -> _Turns | None:
    directions, stages, cells = len(onward), routing.phases, onward.shape[1]
    shape = (cells, directions, LONGEST, stages, directions + 1, stages, 2)
    codes = [np.zeros(0, np.int64)]
    for begin in range(0, routing.keys, BLOCK):
        keys = np.arange(begin, min(begin + BLOCK, routing.keys))
        first, _, direction, hops, phase = routing.routes(keys)
        direction, hops, phase = runs_first(direction, hops, phase)
        if axis_memory and _returns(direction, hops, phase):
            return None
        cell = np.repeat(keys // (routing.keys // cells), np.diff(first))
        for run, (d, length, stage, onwards, next_stage) in enumerate(_in_turn(direction, hops, phase)):
            here = length > 0
            fields = (cell, d, length, stage, onwards + 1, next_stage)
            codes.append(
                np.unique(
                    np.ravel_multi_index(
                        (*(field[here] for field in fields), np.full(here.sum(), int(run == 0))), shape
                    )
                )
            )
            cell = moved(onward, cell, d, length)
        if progress is not None:
            progress((keys[-1] + 1) / routing.keys)
    found = _Turns(*np.unravel_index(np.unique(np.concatenate(codes)), shape))
    return found._replace(onwards=found.onwards - 1, leading=found.leading > 0)


def runs_first(direction: np.ndarray, hops: np.ndarray, phase: np.ndarray) -> list[np.ndarray]:
    """The runs of each row, int64[R, L], empty ones last."""
    order = np.argsort(hops == 0, axis=1, kind="stable")
    return [np.take_along_axis(array, order, axis=1).astype(np.int64) for array in (direction, hops, phase)]


def _in_turn(direction: np.ndarray, hops: np.ndarray, phase: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """(direction, hops, phase, next direction or END, its phase) of the first runs, of the second ones …"""
    none = np.zeros((len(hops), 1), np.int64)
    after = np.where(np.hstack([hops, none]) > 0, np.hstack([direction, none]), END)
    stage = np.where(after == END, 0, np.hstack([phase, none]))
    for run in range(hops.shape[1]):
        yield direction[:, run], hops[:, run], phase[:, run], after[:, run + 1], stage[:, run + 1]


def _returns(direction: np.ndarray, hops: np.ndarray, phase: np.ndarray) -> bool:
    """Whether some route comes back to an axis in the same phase."""
    stage = np.sort(np.where(hops > 0, (direction >> 1) * 256 + phase, -1 - np.arange(hops.shape[1])), axis=1)
    return bool((stage[:, 1:] == stage[:, :-1]).any())


def _longest(turns: _Turns) -> _Turns:
    """Of the runs from one cell in one direction and phase the longest, of those that lead too."""
    order = np.lexsort((-turns.hops, turns.phase, turns.direction, turns.cell, turns.leading))
    rows = np.stack([turns.cell, turns.direction, turns.phase, turns.leading], axis=1)[order]
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return _Turns(*(field[order][new] for field in turns))


def moved(onward: np.ndarray, cell: np.ndarray, direction: np.ndarray, hops: np.ndarray) -> np.ndarray:
    """int64[R]: the cell after so many hops; −1 where they do not lead on."""
    if onward.shape[1] == 1:
        return cell
    # by one hop, two, four, …; nowhere, which is also the last column's index, leads nowhere
    stride = np.hstack([onward, np.full((len(onward), 1), -1)])
    for power in range(int(hops.max(initial=0)).bit_length()):
        goes = np.flatnonzero(hops >> power & 1)
        cell = cell.copy()
        cell[goes] = stride[direction[goes], cell[goes]]
        stride = np.take_along_axis(stride, stride, axis=1)
    return cell
