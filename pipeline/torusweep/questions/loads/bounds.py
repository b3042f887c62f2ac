"""Bounds for the table `loads`: the capacity under the best routing, and the given routing's worst permutation.

The worst permutation follows from the expected number of times that a flit of each pair passes each channel.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from torusweep.capacity import WorstCase, best_half, capacity, effective_bisection, worst_permutation
from torusweep.errors import Refused
from torusweep.networks.links import channel_orbits
from torusweep.networks.names import column_of, terminal_names
from torusweep.networks.symmetry import proved_symmetries
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.quantities import counted
from torusweep.questions.loads.channels import Bounds, ChannelLoads
from torusweep.questions.loads.source import constant_in_cells
from torusweep.routing import GivenRouting, LayeredRouting, Routing, SourceRouting, TableRouting
from torusweep.routing import routing as routing_on
from torusweep.routing.faults import unrouted
from torusweep.routing.paths import RouteTable, links_of_arcs
from torusweep.traffic import GivenTraffic
from torusweep.traffic import traffic as pattern_on
from torusweep.traffic.demands import COLUMNS
from torusweep.traffic.given import delivered

BLOCK = 1 << 20  # pairs walked at a time
MAX_MATCHING = 1024  # terminals; a matching of a thousand takes about a second
MAX_SHARES = 1 << 27  # shares of pairs in channels: 1 GiB


def representative_channels(routing: Routing) -> np.ndarray:
    """Return one channel (node · P + port) of each class of equivalent channels, int64[C]; all if none are known."""
    topology = routing.topology
    width = topology.ports.shape[1]
    present = np.flatnonzero(topology.ports != NO_PORT)
    if isinstance(routing, SourceRouting):
        terminals = np.bincount(topology.terminals, minlength=topology.nodes)
        if not (routing.regular and constant_in_cells(routing.cell, terminals)):
            return present
        leaving, cell = np.unique(routing.cell, return_index=True, return_inverse=True)[1:]
        ports = routing.moves.port[leaving].astype(np.int64)
        if topology.kinds is not None:  # the routes are alike in every cell; so must the links be
            nodes = np.arange(topology.nodes)[:, None]
            kinds = np.where(routing.moves.port == NO_PORT, 0, topology.kinds[nodes, routing.moves.port])
            if (kinds != kinds[leaving][cell]).any():
                return present
        return np.unique((leaving[:, None] * width + ports)[ports != NO_PORT])
    images = proved_symmetries(topology) if isinstance(routing, LayeredRouting) and routing.plain else []
    if not images:
        return present
    return present[np.unique(channel_orbits(topology, images), return_index=True)[1]]


def pair_shares(routing: Routing, channels: np.ndarray) -> np.ndarray:
    """Return the expected number of times that a flit from s to t passes each of `channels`, float64[C, N, N]."""
    numbered = np.full(routing.topology.ports.size, -1)
    numbered[channels] = np.arange(len(channels))
    number = numbered.reshape(routing.topology.ports.shape)
    if isinstance(routing, LayeredRouting):
        share = _layered_shares(routing, number, len(channels))
        if routing.lost is not None:
            share.reshape(len(channels), -1)[:, routing.lost] = 0.0
        return share
    if isinstance(routing, TableRouting):
        return _table_shares(routing, number, len(channels))
    half = _source_shares(routing, number, len(channels))
    if routing.passes == 1:
        return half
    # the intermediate node is uniform: the mean share from s to all nodes, plus that from all nodes to t
    return half.mean(axis=2)[:, :, None] + half.mean(axis=1)[:, None, :]


def _source_shares(routing: SourceRouting, number: np.ndarray, channels: int) -> np.ndarray:
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
                channel = number[node[moving], routing.moves.port[node[moving], direction[moving]]]
                counted = channel >= 0
                at = moving[counted]
                np.add.at(share, (channel[counted], start[at], end[at]), routes.weight[at])
                node[moving] = routing.moves.next[node[moving], direction[moving]]
                left[moving] -= 1
    return share


def _layered_shares(routing: LayeredRouting, number: np.ndarray, channels: int) -> np.ndarray:
    """Compute `pair_shares` for layered routing, nearest states first: a state's passes follow from its successors'."""
    nodes, states = routing.topology.nodes, routing.states
    arcs = states != NO_PORT
    capacity = links_of_arcs(routing)
    parallel = arcs.astype(np.float64) if capacity is None else np.where(arcs, capacity, 0).astype(np.float64)
    channel = np.where(arcs & (routing.port != NO_PORT), number[routing.node[:, None], routing.port], -1)
    share = np.zeros((channels, nodes, nodes))
    for destination in range(nodes):
        distance = _distance_to(states, int(routing.finish[destination]))
        nearer = arcs & (distance[states] == distance[:, None] - 1) & (distance[:, None] >= 0)
        paths, passes = np.zeros(len(states)), np.zeros((len(states), channels))
        paths[routing.finish[destination]] = 1
        for level in range(1, int(distance.max()) + 1):
            here = np.flatnonzero(distance == level)
            weight = np.where(
                nearer[here], parallel[here] * (paths[states[here]] if routing.split == "paths" else 1.0), 0.0
            )
            paths[here] = weight.sum(axis=1)
            weight /= paths[here, None]
            for arc in range(states.shape[1]):
                passes[here] += weight[:, arc, None] * passes[states[here, arc]]
                own = channel[here, arc] >= 0
                passes[here[own], channel[here[own], arc]] += weight[own, arc]
        share[:, :, destination] = passes[routing.start].T
    return share


def _table_shares(routing: TableRouting, number: np.ndarray, channels: int) -> np.ndarray:
    """Compute `pair_shares` for a table, last configuration first: passes follow from the passes of successors."""
    nodes = routing.topology.nodes
    share = np.zeros((channels, nodes, nodes))
    destination, source = np.divmod(routing.entry_pair, nodes)
    for goal in np.unique(destination).tolist():
        low, high = int(routing.first[goal]), int(routing.first[goal + 1])
        passes = np.zeros((high - low, channels))
        for place in range(high - 1, low - 1, -1):
            for row in range(int(routing.rows[place]), int(routing.rows[place + 1])):
                if routing.next[row] >= 0:
                    passes[place - low] += routing.share[row] * passes[routing.next[row] - low]
                channel = number[routing.at[place], routing.port[row]]
                if channel >= 0 and routing.port[row] != NO_PORT:
                    passes[place - low, channel] += routing.share[row]
        own = destination == goal
        share[:, source[own], goal] = passes[routing.entry[own] - low].T
    return share


def _distance_to(states: np.ndarray, finish: int) -> np.ndarray:
    """Return the number of arcs from every state to `finish`, int64[S]; −1 if no path leads there."""
    distance = np.full(len(states), -1)
    distance[finish], level = 0, 0
    while True:
        nearer = ((states != NO_PORT) & (distance[states] == level)).any(axis=1) & (distance < 0)
        if not nearer.any():
            return distance
        level += 1
        distance[nearer] = level


def bounds_of(
    loads: ChannelLoads,
    *,
    routing: str | GivenRouting | None = None,
    traffic: str | GivenTraffic | None = None,
    use_symmetry: bool = True,
) -> Bounds:
    """Return the capacity by linear programming, the worst permutation, and the effective width of the best known cut.

    routing, traffic  routing and traffic of the loads; None: the spellings that `loads` names

    A bound that is too large to compute is None, and bounds_method gives the reason.
    """
    topology = loads.topology
    traffic = traffic or loads.traffic
    form = routing_on(routing or loads.routing, topology)[1]
    spelled, pattern = pattern_on(traffic, topology)
    sent, lost = delivered(topology, pattern, *unrouted(form))
    if lost.lost_traffic:
        traffic = GivenTraffic(spelled, sent)  # the traffic that the loads belong to
    matrix = sent.at_nodes(topology.terminals, topology.nodes)
    use = effective_bisection(topology, loads.load, matrix, best_half(topology))
    best, method = _capacity(topology, traffic, "all", use_symmetry)
    minimal, minimal_method = _capacity(topology, traffic, "minimal", use_symmetry)
    worst, worst_method = _worst(topology, form)
    guaranteed, permutation = (None, None) if worst is None else (1 / worst.load, worst.permutation)
    method = f"any routing: {method}; minimal: {minimal_method}; worst permutation: {worst_method}"
    return Bounds(use.links, use.effective, best, minimal, guaranteed, method, permutation)


def _capacity(
    topology: Topology, traffic: str | GivenTraffic, routes: str, use_symmetry: bool
) -> tuple[float | None, str]:
    try:
        found = capacity(topology, traffic, routes=routes, use_symmetry=use_symmetry)
    except Refused as refusal:
        return None, str(refusal)
    return (found.throughput if np.isfinite(found.throughput) else None), found.method


def _worst(topology: Topology, form: Routing) -> tuple[WorstCase | None, str]:
    """Return the worst permutation and how it was found, or None and the reason why it was not sought."""
    nodes, terminals = topology.nodes, len(topology.terminals)
    channels = representative_channels(form)
    if not len(channels):
        return None, "there are no channels"
    if terminals > MAX_MATCHING or len(channels) * nodes**2 > MAX_SHARES:
        most = f"at most {MAX_MATCHING:,} terminals, and {MAX_SHARES:,} shares of pairs in channels"
        return None, f"expected {most}, got {terminals:,} and {len(channels) * nodes**2:,}; choose a smaller network"
    room = None if topology.bandwidth is None else topology.bandwidth.reshape(-1)[channels]
    worst = worst_permutation(pair_shares(form, channels), capacity=room, at=topology.terminals)
    if not worst.load:
        return None, "no traffic crosses a channel"
    return worst, f"matchings of greatest weight for {counted(len(channels), 'channel')} (Towles & Dally 2002)"


def demands_of(topology: Topology, permutation: np.ndarray) -> pa.Table:
    """Return a permutation of terminals, int32[T], as the columns of a file of `demand`. Each demand is one flit."""
    ends = (column_of(terminal_names(topology), one) for one in (np.arange(len(permutation)), permutation))
    return pa.table(dict(zip(COLUMNS, (*ends, np.ones(len(permutation))))))
