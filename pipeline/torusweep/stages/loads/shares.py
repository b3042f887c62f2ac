"""How often the flits of every pair pass a channel, pair by pair: what a routing's worst permutation is sought among."""

from __future__ import annotations

import numpy as np

from torusweep.networks.links import channel_orbits
from torusweep.networks.symmetry import proved_symmetries
from torusweep.networks.topology import NO_PORT
from torusweep.routing import LayeredRouting, Routing, SourceRouting
from torusweep.routing.route_table import RouteTable
from torusweep.stages.loads.layered import arc_capacity

BLOCK = 1 << 20  # pairs whose routes are walked at a time


def channels_apart(routing: Routing) -> np.ndarray:
    """int64[C]: a channel (node · P + port) of each class that the routing treats alike; all of them where it has no symmetry."""
    topology = routing.topology
    width = topology.ports.shape[1]
    present = np.flatnonzero(topology.ports != NO_PORT)
    if isinstance(routing, SourceRouting):
        if not routing.regular:
            return present
        leaving = np.unique(routing.cell, return_index=True)[1]
        ports = routing.moves.port[leaving].astype(np.int64)
        return np.unique((leaving[:, None] * width + ports)[ports != NO_PORT])
    images = proved_symmetries(topology) if routing.plain else []
    if not images:
        return present
    return present[np.unique(channel_orbits(topology, images), return_index=True)[1]]


def pair_shares(routing: Routing, channels: np.ndarray) -> np.ndarray:
    """float64[C, N, N]: passes of each of C channels, int64[C], by a flit from s to t, in the mean over its routes."""
    numbered = np.full(routing.topology.ports.size, -1)
    numbered[channels] = np.arange(len(channels))
    number = numbered.reshape(routing.topology.ports.shape)
    if isinstance(routing, LayeredRouting):
        return _layered(routing, number, len(channels))
    half = _source(routing, number, len(channels))
    if routing.passes == 1:
        return half
    # by way of any node alike: what leaves s for everywhere, and what reaches t from everywhere
    return half.mean(axis=2)[:, :, None] + half.mean(axis=1)[:, None, :]


def _source(routing: SourceRouting, number: np.ndarray, channels: int) -> np.ndarray:
    nodes, table = routing.topology.nodes, RouteTable(routing)
    share = np.zeros((channels, nodes, nodes))
    step = max(1, BLOCK // nodes)
    for first in range(0, nodes, step):
        pairs = np.arange(first * nodes, min(first + step, nodes) * nodes)
        source, destination = np.divmod(pairs, nodes)
        routes = table.weighted_rows(source, destination)
        node, start = source[routes.pair], source[routes.pair]
        end = destination[routes.pair]
        for run in range(table.direction.shape[1]):
            direction, left = table.direction[routes.row, run].astype(np.int64), table.hops[routes.row, run].copy()
            while (moving := np.flatnonzero(left > 0)).size:
                passed = number[node[moving], routing.moves.port[node[moving], direction[moving]]]
                seen = passed >= 0
                at = moving[seen]
                np.add.at(share, (passed[seen], start[at], end[at]), routes.weight[at])
                node[moving] = routing.moves.next[node[moving], direction[moving]]
                left[moving] -= 1
    return share


def _layered(routing: LayeredRouting, number: np.ndarray, channels: int) -> np.ndarray:
    """Destination by destination, from there outwards: passes from a state are those of its next states, by their shares."""
    nodes, states = routing.topology.nodes, routing.states
    arcs = states != NO_PORT
    capacity = arc_capacity(routing)
    many = arcs.astype(np.float64) if capacity is None else np.where(arcs, capacity, 0).astype(np.float64)
    passed = np.where(arcs & (routing.port != NO_PORT), number[routing.node[:, None], routing.port], -1)
    share = np.zeros((channels, nodes, nodes))
    for destination in range(nodes):
        distance = _distance_to(states, int(routing.finish[destination]))
        nearer = arcs & (distance[states] == distance[:, None] - 1) & (distance[:, None] >= 0)
        paths, passes = np.zeros(len(states)), np.zeros((len(states), channels))
        paths[routing.finish[destination]] = 1
        for level in range(1, int(distance.max()) + 1):
            here = np.flatnonzero(distance == level)
            weight = np.where(
                nearer[here], many[here] * (paths[states[here]] if routing.split == "paths" else 1.0), 0.0
            )
            paths[here] = weight.sum(axis=1)
            weight /= paths[here, None]
            for arc in range(states.shape[1]):
                passes[here] += weight[:, arc, None] * passes[states[here, arc]]
                own = passed[here, arc] >= 0
                passes[here[own], passed[here[own], arc]] += weight[own, arc]
        share[:, :, destination] = passes[routing.start].T
    return share


def _distance_to(states: np.ndarray, finish: int) -> np.ndarray:
    """int64[S]: hops from every state, −1 = no path."""
    distance = np.full(len(states), -1)
    distance[finish], level = 0, 0
    while True:
        nearer = ((states != NO_PORT) & (distance[states] == level)).any(axis=1) & (distance < 0)
        if not nearer.any():
            return distance
        level += 1
        distance[nearer] = level
