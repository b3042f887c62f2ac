"""Find dependencies between channels, which packets hold while they request others, and a shortest cycle of these.

The kernels walk every packet along its routes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from torusweep_kernels.threads import in_threads

Result = TypeVar("Result")
MEMORIES = ("run", "axis", "path", "ahead")  # which crossings count: see `mark_routes`
DEPENDS, FIRST = 1, 2  # bits of `Channels.depends`


class Channels(NamedTuple):
    """Marks of channels and dependencies. A node has W = P · C virtual channels, numbered port · C + class.

    used      bool[N, W]      whether some packet passes the channel
    depends   uint8[N, W, W]  bit DEPENDS: some packet passes channel w of node u, then w' of the node that w leads to;
                              bit FIRST: these are the first two channels of some packet's route
    ending    bool[N, W]      whether the channel is some route's last
    starting  bool[N, W]      whether the channel is some route's first
    """

    used: np.ndarray
    depends: np.ndarray
    ending: np.ndarray
    starting: np.ndarray


def no_channels(nodes: int, width: int) -> Channels:
    """Return `Channels` without any marks, for N nodes with W channels each."""
    used, ending, starting = np.zeros((3, nodes, width), bool)
    return Channels(used, np.zeros((nodes, width, width), np.uint8), ending, starting)


class Moves(NamedTuple):
    """The network as moves in directions.

    to    int32[N, D]  node that each direction leads to, −1 = none
    port  int8[N, D]   port of that direction
    wrap  bool[N, D]   whether the hop crosses a dateline
    """

    to: np.ndarray
    port: np.ndarray
    wrap: np.ndarray


class Packets(NamedTuple):
    """The source, destination and route of every packet, int32[B] each, and `first`.

    The routes of a packet are the rows first[route] … first[route + 1] − 1 of `Runs`.
    """

    source: np.ndarray
    destination: np.ndarray
    route: np.ndarray
    first: np.ndarray


class Runs(NamedTuple):
    """Direction int8[R, L], hops int16[R, L] and phase int16[R, L] of each route's runs. Runs of 0 hops are skipped."""

    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray


def mark_routes(
    channels: Channels, moves: Moves, packets: Packets, runs: Runs, classes: np.ndarray, memory: str
) -> None:
    """Walk every packet along all its routes, and mark its channels and dependencies in `channels`.

    classes  int8[F, 2]  virtual-channel class (0 … C − 1) of each phase, before and after a dateline
    memory   which dateline crossings count, besides the hop's own:
             "run"   earlier crossings in the same run
             "axis"  earlier crossings along the same axis (directions 2i and 2i + 1) in the same phase
             "path"  all earlier crossings on the route
             "ahead" all crossings in the same run, earlier or later

    Raises ValueError for an unknown `memory`, and if a route does not lead to its packet's destination; the message
    names the first such packet.
    """
    if memory not in MEMORIES:
        raise ValueError(f"mark_routes: expected memory of {', '.join(MEMORIES)}, got {memory!r}")
    from torusweep_kernels.dependencies import cpu

    width = int(classes.max(initial=0)) + 1
    astray = cpu.follow(channels, moves, packets, runs, classes, MEMORIES.index(memory), width)
    if astray >= 0:
        raise ValueError(
            f"mark_routes: a route from node {packets.source[astray]} to node {packets.destination[astray]}"
            " does not lead there"
        )


def mark_layers(
    channels: Channels,
    states: np.ndarray,
    port: np.ndarray,
    node: np.ndarray,
    starts: np.ndarray,
    finishes: np.ndarray,
    sources: np.ndarray,
    destinations: np.ndarray,
) -> None:
    """Mark the channels and dependencies of all shortest paths from sources to destinations in a graph of states.

    states     int32[S, Q]  state reached through each arc, −1 = none
    port       int8[S, Q]   the network's port that the arc uses; −1: the packet stays at the node
    node       int32[S]     node of each state
    starts     int32[N]     state in which a packet enters the network at each node
    finishes   int32[N]     state in which a packet has arrived at each node
    sources, destinations  int32[·]  nodes that send, and nodes that receive; each is listed once

    For each destination, search backwards from it, then forwards over the states that packets reach. A node's channels
    are its ports. Pairs without a path are skipped; FIRST is not marked.
    """
    from torusweep_kernels.dependencies import cpu

    tail, arc = np.nonzero(states >= 0)
    head = states[tail, arc]
    order = np.argsort(head, kind="stable")
    begins = np.searchsorted(head[order], np.arange(len(states) + 1))
    marks = channels.used, channels.depends
    cpu.mark_layers(
        *marks, states, port, node, starts, finishes, sources, destinations, begins, tail[order].astype(np.int32)
    )


def nearest_first(ports: np.ndarray, destinations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the hops from each node to each destination, and the nodes sorted by these hops.

    ports         int32[N, P]  node at the other end of each port, −1 = none
    destinations  int32[T]
    returns       away int16[T, N], the hops; order int32[T, N], the nodes, nearest first

    Raises ValueError if some node has no path to a destination, or is 2¹⁵ or more hops away from it.
    """
    from torusweep_kernels.dependencies import cpu
    from torusweep_kernels.distance.single_source import incoming_links

    shape = len(destinations), len(ports)
    away, order = np.empty(shape, np.int16), np.empty(shape, np.int32)
    begins, before = incoming_links(ports)
    if not all(_shared_out(lambda part: cpu.nearest_first(begins, before, *part), destinations, away, order)):
        raise ValueError(
            "nearest_first: expected a network of less than 32,768 hops in which every node leads to every destination"
        )
    return away, order


class Escapes(NamedTuple):
    """The next nodes of adaptively routed packets, and their escape channels.

    There are T destinations, N nodes and C escape channels.

    channel  int32[T, N]  escape channel at each node for each destination; −1 at the destination
    away     int16[T, N]  hops from each node to the destination
    order    int32[T, N]  nodes, nearest first
    ports    int32[N, P]  node at the other end of each port
    ends     int32[C]     node that each escape channel leads to
    """

    channel: np.ndarray
    away: np.ndarray
    order: np.ndarray
    ports: np.ndarray
    ends: np.ndarray


def dependents_of(requested: np.ndarray, escapes: Escapes) -> np.ndarray:
    """Return bool[C]: escape channels that depend, directly or indirectly, on a channel of `requested` (Duato 1993).

    An escape channel depends on a second one if a packet that holds the first may request the second for the same
    destination, at the end of the first or after adaptive hops. requested: bool[C].
    """
    return _swept("dependents_of", requested, escapes)


def dependencies_of(held: np.ndarray, escapes: Escapes) -> np.ndarray:
    """Return bool[C]: escape channels on which a channel of `held`, bool[C], depends, also indirectly (Duato 1993)."""
    return _swept("dependencies_of", held, escapes)


def raise_heights(height: np.ndarray, escapes: Escapes) -> np.ndarray:
    """Return int32[C]: heights of the escape channels, each raised above the heights of its dependencies.

    height   int32[C]  heights so far

    One call is one pass over all destinations. A pass may raise a channel's dependencies after the channel, so several
    passes are needed. If a pass raises nothing, every dependency leads to a lower channel, and there is no cycle.
    """
    from torusweep_kernels.dependencies import cpu

    def part(of: tuple[np.ndarray, ...]) -> np.ndarray:
        found = height.copy()
        cpu.raise_heights(found, *of, escapes.ports, escapes.ends)
        return found

    return np.maximum.reduce(_shared_out(part, escapes.channel, escapes.away, escapes.order))


def _swept(kernel: str, given: np.ndarray, escapes: Escapes) -> np.ndarray:
    from torusweep_kernels.dependencies import cpu

    def part(of: tuple[np.ndarray, ...]) -> np.ndarray:
        found = np.zeros_like(given)
        getattr(cpu, kernel)(given, found, *of, escapes.ports, escapes.ends)
        return found

    return np.logical_or.reduce(_shared_out(part, escapes.channel, escapes.away, escapes.order))


def _shared_out(function: Callable[[tuple[np.ndarray, ...]], Result], *arrays: np.ndarray) -> list[Result]:
    """Call the function in each thread on a share of the arrays, which have a row for each destination."""
    threads = len(os.sched_getaffinity(0))
    return in_threads(function, list(zip(*(np.array_split(array, threads) for array in arrays))), threads)


def shortest_cycle(first: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Return the nodes of a shortest cycle of a directed graph, in order; an empty array if there is no cycle.

    first  int64[V + 1]  arcs first[v] … first[v + 1] − 1 leave node v
    to     int32[E]      head of each arc

    From every node, a search visits nodes with larger numbers, up to the length of the best cycle so far.
    """
    from torusweep_kernels.dependencies import cpu

    return cpu.shortest_cycle(np.ascontiguousarray(first, np.int64), np.ascontiguousarray(to, np.int32))
