"""Windows put onto the nodes: the dependencies of routes that were taken apart.

Where one source stands for all of its cell (`SourceRouting.regular`), what occurs in a route occurs
from every node of the cell. Elsewhere (meshes) a window counts at a node only as far as the directions
lead, and all marks are made only if each is proved: the routing, asked for a packet from where the run
begins to where the window ends, does just that. Where the routing is separable, that packet does so if
any packet does; a window that it disproves (half a ring across the dateline, where signs decide) is
put there with fewer hops, or more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.dependencies import DEPENDS, FIRST, Channels

from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import Moves, SourceRouting
from torusweep.stages.deadlock.progress import Progress, part_of
from torusweep.stages.deadlock.windows import END, LONGEST, Reach, Window, cells_onward, runs_first, windows

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


def mark_windows(
    routing: SourceRouting, classes: np.ndarray, memory: str, channels: Channels, progress: Progress = None
) -> bool:
    """Mark in `channels` what packets between all nodes pass and ask for; False, and nothing marked, where windows do not show it.

    classes, memory: as in `torusweep_kernels.dependencies.follow_routes`.
    """
    if memory not in ("run", "axis") or routing.keys > MOST_KEYS:
        return False
    onward, regular = cells_onward(routing), routing.regular
    if onward is None or not (regular or onward.shape[1] == 1):
        return False
    found = windows(routing, onward, memory == "axis", part_of(progress, 0, 2))
    if found is None:
        return False
    lags = [_lag(routing.moves, d) for d in range(len(onward))]
    placed = []
    for number, (window, reach) in enumerate(found.items(), 1):
        lag = lags[window.direction]
        for end in (0, 1):
            at = _where(routing.moves, lag, window, reach[end][routing.cell])
            known = at if regular else _shown(routing, lag, window, *at, reach, 1 - 2 * end)
            if known is None:
                return False
            placed.append((window, known))
        if progress is not None:
            progress((1 + number / len(found)) / 2)
    for half in range(routing.passes):
        for window, known in placed:
            _mark(routing, classes, lags[window.direction], window, half, *known, channels)
    return True


def _lag(moves: Moves, d: int) -> _Lag:
    nodes = len(moves.port)
    tail = np.flatnonzero(moves.port[:, d] != NO_PORT)
    previous = np.full(nodes, NO_PORT, np.int32)
    previous[moves.next[tail, d]] = tail
    crossed, behind = np.full(nodes, FAR, np.int32), np.full(nodes, FAR, np.int32)
    for lag, at, hop in (
        (crossed, moves.next[moves.wrap[:, d], d], 1),
        (behind, np.flatnonzero(previous == NO_PORT), 0),
    ):
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
    routing: SourceRouting,
    classes: np.ndarray,
    lag: _Lag,
    window: Window,
    half: int,
    nodes: np.ndarray,
    hops: np.ndarray,
    channels: Channels,
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


def _shown(
    routing: SourceRouting, lag: _Lag, window: Window, nodes: np.ndarray, hops: np.ndarray, reach: Reach, inwards: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Of (nodes, hops), those that are proved, of a separable routing with the next hops inwards that are; None where one is not."""
    fewest, most = int(reach.fewest.max()), int(reach.most.max())
    done = [(nodes[:0], hops[:0])]
    while len(nodes):
        proved = _proved(routing, lag, window, nodes, hops)
        if not (routing.separable or proved.all()):
            return None
        done.append((nodes[proved], hops[proved]))
        nodes, hops = nodes[~proved], hops[~proved] + inwards
        within = (hops >= fewest) & (hops <= most)
        nodes, hops = nodes[within], hops[within]
    return np.concatenate([some for some, _ in done]), np.concatenate([some for _, some in done])


def _proved(routing: SourceRouting, lag: _Lag, window: Window, nodes: np.ndarray, hops: np.ndarray) -> np.ndarray:
    """bool[n]: whether, from `hops` before each node to it (or to the node that the window asks for), some route goes as the window does."""
    start = nodes
    for hop in range(int(hops.max(initial=0))):
        start = np.where(hops > hop, lag.previous[start], start)
    target = nodes if window.onwards == END else routing.moves.next[nodes, window.onwards]
    asked, which = np.unique(routing.key(start, target) * LONGEST + hops, return_inverse=True)
    keys, own = np.unique(asked // LONGEST, return_inverse=True)
    first, _, *runs = routing.routes(keys)
    direction, length, phase = (np.hstack([array, np.zeros((len(array), 1), np.int64)]) for array in runs_first(*runs))
    continues = window.onwards != END and not window.turned
    fits = (direction[:, 0] == window.direction) & (phase[:, 0] == window.phase)
    if window.turned:
        fits &= (direction[:, 1] == window.onwards) & (phase[:, 1] == window.next_phase) & (length[:, 1] > 0)
    key = np.repeat(np.arange(len(keys)), np.diff(first))[fits]
    known = np.unique(key * LONGEST + length[fits, 0] - continues)
    return np.isin(own * LONGEST + asked % LONGEST, known)[which]
