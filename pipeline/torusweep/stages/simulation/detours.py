"""Random routes of packets that choose between a minimal route and a detour by way of another group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.networks.families.dragonfly import GLOBAL, Grouped
from torusweep.networks.signature import resolve
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import LayeredRouting
from torusweep.routing.groups import by_group, into_groups, progressive
from torusweep.stages.deadlock.routing_case import CHOOSING
from torusweep.stages.simulation.layered_routes import Draws, draw_layered_routes

WORD = np.uint64(32)
PURPOSES = 32  # of random words that the first route, and each detour, may take
TO_GROUP, ONWARDS = 1, 16  # purposes of a detour's two parts; 0: the group
ALL_HOPS = -1


class Choosing(NamedTuple):
    """What packets choose between, and how.

    minimal    shortest paths with at most one hop between groups (routing by_group)
    view       local or global (torusweep_kernels.router)
    threshold  how much larger the minimal route's estimate may be
    later      choose again at every router that the minimal route passes within the source's group
    counted    link class whose hops give a packet its phase, −1 = all links, None: phase 0
    """

    minimal: LayeredRouting
    view: str
    threshold: int
    later: bool
    counted: int | None


def choosing_of(spelling: str, topology: Topology, counted: int | None) -> Choosing:
    """What packets choose between, of a routing by its canonical spelling; counted: see `Choosing`."""
    _, function, values = resolve(spelling, CHOOSING, kind="routing", example="ugal(view=local)")
    view, threshold = values.get("view", "local"), values.get("threshold", 0)
    assert isinstance(view, str), "its annotation"
    assert isinstance(threshold, int), "its annotation"
    return Choosing(by_group(topology), view, threshold, function is progressive, counted)


class ChosenRoutes(NamedTuple):
    """Routes of M packets with one hop in each of L runs; directions are ports.

    direction, hops, phase   int8, int16, int8 [R, L]
    row                      int32[M]     of the minimal route
    detour                   int32[M, K]  of the detour after k hops of it, −1 = none
    """

    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray
    row: np.ndarray
    detour: np.ndarray


class _Walk(NamedTuple):
    """The hops of some packets: port and phase int8[B, L], −1 behind the last hop."""

    port: np.ndarray
    phase: np.ndarray


def choosing_routes(choosing: Choosing, source: np.ndarray, destination: np.ndarray, draws: Draws) -> ChosenRoutes:
    """A minimal route for each of M packets, and detours of those that leave their group.

    source, destination   int32[M]  nodes
    draws                 uint32[4, M] for each purpose 0, 1, …

    A detour leads to a group drawn uniformly among those that are neither the source's nor the destination's, by a
    shortest path to any of its routers with one hop between groups, and on from there by a minimal route. After each
    further hop within the source's group, another one is drawn.
    """
    topology, shape = choosing.minimal.topology, choosing.minimal.topology.plan.structure
    assert isinstance(shape, Grouped), "by_group refuses other networks"
    into = into_groups(choosing.minimal, shape)
    direction, hops = draw_layered_routes(choosing.minimal, source, destination, draws)
    own = np.where(hops > 0, direction, NO_PORT)
    nothing = np.zeros(len(source), np.int8)
    walks = [(np.arange(len(source)), -1, _Walk(own, _phases(choosing, source, own, nothing)))]
    some = np.flatnonzero((source // shape.size != destination // shape.size) & (shape.groups > 2))
    at, passed, k = source[some], np.zeros(len(some), np.int8), 0
    while len(some):
        detour = _detours(into, choosing.minimal, at, destination[some], _of(draws, some, PURPOSES * (k + 1)))
        walks.append((some, k, _Walk(detour, _phases(choosing, at, detour, passed))))
        step = own[some, k]
        passed = passed + _counts(choosing, at, step)
        stays = topology.link_class[at, step] != GLOBAL
        some, at, passed, k = some[stays], topology.ports[at, step][stays], passed[stays], k + 1
        if not choosing.later:
            break
    return _joined(walks, len(source))


def _of(draws: Draws, packets: np.ndarray, purpose: int) -> Draws:
    """The words of some packets, from a purpose on."""
    return lambda further: draws(purpose + further)[:, packets]


def _detours(
    into: LayeredRouting, minimal: LayeredRouting, source: np.ndarray, destination: np.ndarray, draws: Draws
) -> np.ndarray:
    """int8[B, L]: ports of a route by way of a random group, −1 behind the last hop."""
    shape = minimal.topology.plan.structure
    assert isinstance(shape, Grouped), "by_group refuses other networks"
    low, high = np.sort(np.stack([source, destination]) // shape.size, axis=0)
    group = (draws(0)[0].astype(np.uint64) * np.uint64(shape.groups - 2) >> WORD).astype(np.int64)
    group += group >= low
    group += group >= high
    there = (group * shape.size).astype(np.int32)
    direction, hops = draw_layered_routes(into, source, there, lambda purpose: draws(TO_GROUP + purpose))
    between = source.astype(np.int32)
    for hop in range(direction.shape[1]):
        goes = hops[:, hop] > 0
        between = np.where(goes, minimal.topology.ports[between, direction[:, hop]], between)
    onwards, further = draw_layered_routes(minimal, between, destination, lambda purpose: draws(ONWARDS + purpose))
    ports = np.hstack([np.where(hops > 0, direction, NO_PORT), np.where(further > 0, onwards, NO_PORT)])
    order = np.argsort(ports == NO_PORT, axis=1, kind="stable")  # hops first
    return np.take_along_axis(ports, order, axis=1)


def _counts(choosing: Choosing, node: np.ndarray, port: np.ndarray) -> np.ndarray:
    """int8[B]: 1 where the hop through a port of a node is counted; 0 for no hop."""
    if choosing.counted is None:
        return np.zeros(len(node), np.int8)
    link_class = choosing.minimal.topology.link_class[node, port]
    return ((port != NO_PORT) & ((choosing.counted == ALL_HOPS) | (link_class == choosing.counted))).astype(np.int8)


def _phases(choosing: Choosing, source: np.ndarray, ports: np.ndarray, before: np.ndarray) -> np.ndarray:
    """int8[B, L]: the number of hops counted before each hop; before int8[B]: those before the first one."""
    phase, at, count = np.full(ports.shape, -1, np.int8), source, before
    for hop in range(ports.shape[1]):
        port = ports[:, hop]
        phase[:, hop] = np.where(port == NO_PORT, -1, count)
        count = count + _counts(choosing, at, port)
        at = np.where(port == NO_PORT, at, choosing.minimal.topology.ports[at, port])
    return phase


def _joined(walks: list[tuple[np.ndarray, int, _Walk]], packets: int) -> ChosenRoutes:
    """A row for each distinct route. walks: packets, after how many hops (−1: their own route), and their hops."""
    longest = max(walk.port.shape[1] for _, _, walk in walks)
    code = np.zeros(sum(len(some) for some, _, _ in walks), np.int64)
    for hop in range(longest):
        step = [
            (walk.port[:, hop].astype(np.int64) + 1 << 8 | walk.phase[:, hop] + 1)
            if hop < walk.port.shape[1]
            else np.zeros(len(some), np.int64)
            for some, _, walk in walks
        ]
        code = code << 16 | np.concatenate(step)
        if hop % 2:  # two hops and the number of what comes before them: 63 bits
            code = np.unique(code, return_inverse=True)[1].astype(np.int64)
    _, first, row = np.unique(code, return_index=True, return_inverse=True)
    own = np.zeros(packets, np.int32)
    detour = np.full((packets, len(walks) - 1), -1, np.int32)
    port, phase = np.full((2, len(first), longest), -1, np.int8)
    begin = 0
    for some, k, walk in walks:
        rows = row[begin : begin + len(some)].astype(np.int32)
        if k < 0:
            own[some] = rows
        else:
            detour[some, k] = rows
        mine = (first >= begin) & (first < begin + len(some))
        for array, column in ((port, walk.port), (phase, walk.phase)):
            array[mine, : column.shape[1]] = column[first[mine] - begin]
        begin += len(some)
    hops = (port != NO_PORT).astype(np.int16)
    return ChosenRoutes(np.maximum(port, 0), hops, np.maximum(phase, 0), own, detour)
