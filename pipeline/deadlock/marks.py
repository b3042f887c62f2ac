"""Windows put onto the nodes: the dependencies of routes that were taken apart.

Where one source stands for all of its cell (`SourceRouting.regular`), what occurs in a route occurs
from every node of the cell. Elsewhere (meshes) a window counts at a node only as far as the directions
lead, and all marks are made only if each is proved: the routing, asked for a packet from where the run
begins to where the window ends, does just that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernels.dependencies import DEPENDS, FIRST, Channels
from pipeline.deadlock.windows import END, Window, cells_onward, runs_first, windows
from pipeline.routing.forms import Moves, SourceRouting
from pipeline.topology import NO_PORT

MOST_KEYS = 1 << 26  # that are taken apart
FAR = np.iinfo(np.int32).max


class _Lag(NamedTuple):
    """What lies behind each node in one direction.

    previous  int32[N]  the node before it, −1 = none
    crossed   int32[N]  hops since a dateline, 1 = the link into this node is on it; FAR = there is none
    behind    int32[N]  hops that lead here; FAR around a ring
    """

    previous: np.ndarray
    crossed: np.ndarray
    behind: np.ndarray


def mark_windows(routing: SourceRouting, classes: np.ndarray, memory: str, channels: Channels) -> bool:
    """Mark in `channels` what packets between all nodes pass and ask for; False, and nothing marked, where windows do not show it.

    classes, memory: as in `kernels.dependencies.follow_routes`.
    """
    if memory not in ("run", "axis") or routing.keys > MOST_KEYS:
        return False
    onward, regular = cells_onward(routing), routing.regular
    if onward is None or not (regular or onward.shape[1] == 1):
        return False
    found = windows(routing, onward, memory == "axis")
    if found is None:
        return False
    lags = [_lag(routing.moves, d) for d in range(len(onward))]
    placed = {
        (window, end): _where(routing.moves, lags[window.direction], window, reach[end][routing.cell])
        for window, reach in found.items()
        for end in (0, 1)
    }
    if not regular and not all(_proved(routing, lags[window.direction], window, *at) for (window, _), at in placed.items()):
        return False
    for half in range(routing.passes):
        for (window, _), at in placed.items():
            _mark(routing, classes, lags[window.direction], window, half, *at, channels)
    return True


def _lag(moves: Moves, d: int) -> _Lag:
    nodes = len(moves.port)
    tail = np.flatnonzero(moves.port[:, d] != NO_PORT)
    previous = np.full(nodes, NO_PORT, np.int32)
    previous[moves.next[tail, d]] = tail
    crossed, behind = np.full(nodes, FAR, np.int32), np.full(nodes, FAR, np.int32)
    for lag, at, hop in ((crossed, moves.next[moves.wrap[:, d], d], 1), (behind, np.flatnonzero(previous == NO_PORT), 0)):
        while len(at := at[lag[at] == FAR]):
            lag[at] = hop
            at = moves.next[at, d]
            at, hop = at[at != NO_PORT], hop + 1
    return _Lag(previous, crossed, behind)


def _where(moves: Moves, lag: _Lag, window: Window, hops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(nodes at which the window stands, hops before each) of hops int[N], 0 = nowhere."""
    there = (hops > 0) & (hops <= lag.behind)
    if window.onwards != END:
        there &= moves.port[:, window.onwards] != NO_PORT
    nodes = np.flatnonzero(there)
    return nodes, hops[nodes]


def _mark(
    routing: SourceRouting, classes: np.ndarray, lag: _Lag, window: Window, half: int, nodes: np.ndarray, hops: np.ndarray, channels: Channels
) -> None:
    moves, count, later = routing.moves, int(classes.max(initial=0)) + 1, half * routing.phases
    before, past = lag.previous[nodes], hops >= lag.crossed[nodes]
    held = moves.port[before, window.direction] * count + classes[window.phase + later, past.astype(np.int8)]
    channels.used[before, held] = True
    if window.ending and half == 0:
        channels.ending[before, held] = True
    if window.onwards == END:
        if window.leading and half == routing.passes - 1:
            channels.starting[before, held] = True
        return
    crosses = moves.wrap[nodes, window.onwards] | (past & (not window.turned))
    asks = moves.port[nodes, window.onwards] * count + classes[window.next_phase + later, crosses.astype(np.int8)]
    channels.depends[before, held, asks] |= np.uint8(DEPENDS | FIRST if window.leading else DEPENDS)


def _proved(routing: SourceRouting, lag: _Lag, window: Window, nodes: np.ndarray, hops: np.ndarray) -> bool:
    """Whether, from `hops` before each node to it (or to the node that the window asks for), some route goes as the window does."""
    start = nodes
    for hop in range(int(hops.max(initial=0))):
        start = np.where(hops > hop, lag.previous[start], start)
    target = nodes if window.onwards == END else routing.moves.next[nodes, window.onwards]
    keys, which = np.unique(routing.key(start, target), return_inverse=True)
    if not len(keys):
        return True
    first, _, *runs = routing.routes(keys)
    direction, length, phase = (np.hstack([array, np.zeros((len(array), 1), np.int64)]) for array in runs_first(*runs))
    key = np.repeat(np.arange(len(keys)), np.diff(first))
    wanted = np.zeros(len(keys), np.int64)  # hops of the first run: the same for all pairs of a key, or the key is not proved
    wanted[which] = hops
    if (wanted[which] != hops).any():
        return False
    continues = window.onwards != END and not window.turned
    fits = (direction[:, 0] == window.direction) & (phase[:, 0] == window.phase) & (length[:, 0] == wanted[key] + continues)
    if window.turned:
        fits &= (direction[:, 1] == window.onwards) & (phase[:, 1] == window.next_phase) & (length[:, 1] > 0)
    shown = np.zeros(len(keys), bool)
    shown[key[fits]] = True
    return bool(shown.all())
