"""Routes of two halves, by way of a random node: the dependencies from the end of the first half to the second half."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from torusweep_kernels.dependencies import DEPENDS, FIRST, Channels

from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import SourceRouting
from torusweep.stages.deadlock.route_windows import runs_first


def join_halves(routing: SourceRouting, classes: np.ndarray, channels: Channels) -> None:
    """Add the dependencies between the two halves of routes by way of a random node.

    Each channel that ends a first half depends on every channel that starts a second half at the same node. This
    includes packets to their own source, which also pass the random node. If the channel is the whole first half, these
    are the first two channels of a route: of a packet to another node than its source, because a deadlock must
    not rest on packets that need no network.
    """
    count = channels.used.shape[1] // routing.topology.ports.shape[1]
    tail, head, port = routing.topology.arcs
    whole = _halves_of_one_hop(routing, classes, channels)
    one, several = _ends_of_second_halves(routing, classes, channels)
    away = several[head] | ((one[head] != NO_PORT) & (one[head] != tail[:, None]))
    for c in range(count):
        arriving = port * count + c
        starting = channels.starting[head]
        channels.depends[tail, arriving] |= np.uint8(DEPENDS) * (channels.ending[tail, arriving][:, None] & starting)
        first = whole[tail, arriving][:, None] & starting & away
        channels.depends[tail, arriving] |= np.uint8(FIRST) * first


def _halves_of_one_hop(routing: SourceRouting, classes: np.ndarray, channels: Channels) -> np.ndarray:
    """bool[N, W]: channels that are the whole first half of some packet's route, from a terminal to a neighbour."""
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
    """Destinations of second halves that begin with each channel, at most two hops away.

    returns  (one of them int32[N, W], −1 = none; whether there are others bool[N, W])

    A route that begins with a channel and goes on beyond two hops usually has a beginning of two hops that is the route
    of a nearer destination. Where it has not, a deadlock may be missed; none is claimed that is not there.
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
    routing: SourceRouting,
    classes: np.ndarray,
    channels: Channels,
    source: np.ndarray,
    end: np.ndarray,
    direction: int,
) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Routes that begin in a direction, of packets source → end, int[B]: (those of one route, their channel, its hops).

    The class of a first hop depends on whether it crosses a dateline: rules that look ahead know no second half.
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
