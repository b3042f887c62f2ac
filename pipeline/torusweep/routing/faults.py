"""Routings of a network with faults: a packet takes a route of the whole network that still exists, or is lost.

A route still exists if none of its links is missing. The remaining routes of a pair share its packets in the same
proportions as before. Routers know the faults. A pair without a route is lost. For routings by a graph of states, such
as turn models, only paths as short as without faults count: no packet takes a longer path.

The module also restricts routings to the pairs of nodes that a traffic uses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.ends import joined
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import AdaptiveRouting, LayeredRouting, Moves, Routes, Routing, SourceRouting, TableRouting
from torusweep.routing.paths import UNREACHED, shortest_paths
from torusweep.routing.tables.as_table import rows_of
from torusweep.routing.tables.rows import table_routing

MOST_PAIRS = 10**8  # of nodes whose routes are checked, in about a minute
BLOCK = 1 << 19  # pairs at a time
STATES = 1 << 23  # pairs of a state and a destination at a time


def on_faulty(routing: Routing, topology: Topology) -> Routing:
    """Restrict a routing of the whole network to the routes that remain in the same network with faults.

    Raises BadInput for a routing of two passes; Refused if the terminals form more than `MOST_PAIRS` pairs of nodes.
    """
    _expect_few_pairs(topology)
    if isinstance(routing, LayeredRouting):
        return _layered(routing, topology)
    if isinstance(routing, TableRouting):
        return _table(routing, topology)
    if routing.passes > 1:
        raise BadInput(
            "expected a network with all its links, whose random nodes between every packet can reach, got one with"
            " faults; choose dimension_order, or minimal, which suits every network"
        )
    nodes, present = topology.nodes, np.maximum(routing.moves.port, 0).astype(np.int64)
    broken = np.take_along_axis(topology.ports, present, axis=1) == NO_PORT
    port = np.where(broken, np.int8(NO_PORT), routing.moves.port)
    after = _by_pairs(routing, Moves(topology, port, routing.moves.names, routing.moves))
    lost = [np.zeros(0, np.int64)]
    for source, destination in _blocks(topology):
        stays = after.routes(source * nodes + destination)
        arrives = np.add.reduceat(stays.hops.sum(axis=1, dtype=np.int64), stays.first[:-1]) > 0
        lost.append((source * nodes + destination)[~arrives])
    return replace(after, lost=np.sort(np.concatenate(lost)))


def as_far_as_joined(routing: Routing) -> Routing:
    """Mark pairs as lost that faults or non-forwarding hosts cut off, in a routing by shortest paths."""
    topology = routing.topology
    if not isinstance(routing, LayeredRouting) or routing.lost is not None:
        return routing
    if joined(topology, np.unique(topology.terminals)):
        return routing
    _expect_few_pairs(topology)
    return replace(routing, lost=_apart(routing, None))


def for_pairs(routing: Routing, pairs: np.ndarray) -> Routing:
    """Restrict a routing to the given pairs of nodes; all other pairs have no route.

    pairs   int64[P], ascending, source · N + destination; includes a node paired with itself only if the node sends
            packets to itself through a random node
    Raises BadInput for a routing of two passes, unless `pairs` holds all pairs of different nodes.
    """
    topology, nodes = routing.topology, routing.topology.nodes
    unused = [(source * nodes + destination) for source, destination in _blocks(topology)]
    if isinstance(routing, TableRouting) or (isinstance(routing, SourceRouting) and routing.passes > 1):
        unused.append(np.unique(topology.terminals) * np.int64(nodes + 1))
    lost = np.sort(np.setdiff1d(np.concatenate([np.zeros(0, np.int64), *unused]), pairs, assume_unique=True))
    if routing.lost is not None:
        lost = np.union1d(lost, routing.lost)
    if not len(lost):
        return routing
    if isinstance(routing, LayeredRouting):
        return replace(routing, lost=lost)
    if isinstance(routing, TableRouting):
        return table_routing(topology, rows_of(routing), lost=lost, partial=True)
    if routing.passes > 1:
        if not (lost % (nodes + 1)).any():
            return replace(routing, lost=lost)
        raise BadInput("expected a routing of one pass for some pairs only, got one by way of a random node")
    return replace(_by_pairs(routing, routing.moves, lost), lost=lost)


class Unrouted(NamedTuple):
    """Pairs of nodes with terminals that have no route: int64[·] each, ascending, source · N + destination.

    lost      pairs whose routes are all broken, or that `for_pairs` excluded
    missing   pairs for which a user's table has no row
    """

    lost: np.ndarray
    missing: np.ndarray


def unrouted(routing: Routing | AdaptiveRouting) -> Unrouted:
    """Return the pairs of nodes for which a routing has no route."""
    none = np.zeros(0, np.int64)
    if isinstance(routing, AdaptiveRouting):
        return Unrouted(none, none)
    lost = none if routing.lost is None else routing.lost
    if not isinstance(routing, TableRouting):
        return Unrouted(lost, none)
    topology = routing.topology
    destination, source = np.divmod(routing.entry_pair, topology.nodes)
    terminals = len(np.unique(topology.terminals))
    if int((source != destination).sum()) + len(lost) == terminals * (terminals - 1):
        return Unrouted(lost, none)
    listed = [start * topology.nodes + end for start, end in _blocks(topology)]
    missing = np.setdiff1d(np.concatenate(listed), source * topology.nodes + destination)
    return Unrouted(lost, np.setdiff1d(missing, lost))


def _expect_few_pairs(topology: Topology) -> None:
    pairs = len(np.unique(topology.terminals)) ** 2
    if pairs > MOST_PAIRS:
        raise Refused(
            f"expected at most {MOST_PAIRS:,} pairs of nodes whose routes may be broken, got {pairs:,};"
            " choose a smaller network, or minimal"
        )


def _blocks(topology: Topology) -> list[tuple[np.ndarray, np.ndarray]]:
    """List all pairs of distinct nodes with terminals, ascending, in blocks (source int64[B], destination int64[B])."""
    terminals = np.unique(topology.terminals).astype(np.int64)
    step, found = max(1, BLOCK // len(terminals)), []
    for first in range(0, len(terminals), step):
        some = terminals[first : first + step]
        source, destination = np.repeat(some, len(terminals)), np.tile(terminals, len(some))
        found.append((source[source != destination], destination[source != destination]))
    return found


def _by_pairs(routing: SourceRouting, moves: Moves, lost: np.ndarray | None = None) -> SourceRouting:
    """Return the routing with one key for each pair of nodes, and only with routes whose links exist in `moves`.

    lost   int64[L]  pairs that get a route of no hops, as do pairs whose routes are all broken; None if there are none
    """
    nodes = routing.topology.nodes

    def routes(keys: np.ndarray) -> Routes:
        keys = np.asarray(keys, np.int64)
        source, destination = np.divmod(keys, nodes)
        own, which = np.unique(routing.key(source, destination), return_inverse=True)
        found = routing.routes(own)
        many = np.diff(found.first)[which]
        pair = np.repeat(np.arange(len(keys)), many)
        row = np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many) + found.first[which][pair]
        good = _arrives(moves, source[pair], found.direction[row], found.hops[row])
        if lost is not None:
            good &= ~np.isin(keys, lost)[pair]
        left = np.bincount(pair[good], minlength=len(keys))
        begins = np.cumsum(many) - many
        good[begins[left == 0]] = True  # stands for no route, with no hops
        pair, row = pair[good], row[good]
        hops = np.where((left == 0)[pair, None], np.int16(0), found.hops[row])
        ways = np.maximum(left, 1)
        first = np.concatenate([[0], np.cumsum(ways)])
        weight = found.weight[row]
        least, most = (cut.reduceat(weight, first[:-1]) for cut in (np.minimum, np.maximum))
        total = np.add.reduceat(weight, first[:-1])
        weight = np.where((least == most)[pair], 1 / ways[pair], weight / total[pair])
        return Routes(first, weight, found.direction[row], hops, found.phase[row])

    def key(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        return source.astype(np.int64) * nodes + destination

    cell = np.arange(nodes, dtype=np.int32)
    return replace(
        routing, moves=moves, cell=cell, keys=nodes**2, key=key, routes=routes, separable=False, lost=routing.lost
    )


def _arrives(moves: Moves, source: np.ndarray, direction: np.ndarray, hops: np.ndarray) -> np.ndarray:
    """Return whether every hop of each route exists in `moves`, bool[R]."""
    at, going = source.copy(), np.ones(len(source), bool)
    for run in range(direction.shape[1]):
        left = hops[:, run]
        for hop in range(int(left.max(initial=0))):
            on = np.flatnonzero(going & (hop < left))
            at[on] = moves.next[at[on], direction[on, run]]
            going[on] = at[on] != NO_PORT
    return going


def _layered(routing: LayeredRouting, topology: Topology) -> LayeredRouting:
    broken = topology.ports[routing.node[:, None], np.maximum(routing.port, 0)] == NO_PORT
    broken &= routing.port != NO_PORT
    states, port = (np.where(broken, array.dtype.type(NO_PORT), array) for array in (routing.states, routing.port))
    after = replace(routing, topology=topology, states=states, port=port)
    return replace(after, lost=_apart(after, routing))


def _apart(routing: LayeredRouting, whole: LayeredRouting | None) -> np.ndarray:
    """Return pairs of nodes with terminals whose path is missing, or longer than in `whole`: int64[L], ascending."""
    topology = routing.topology
    goals = np.unique(topology.terminals).astype(np.int64)
    step, lost = max(1, STATES // len(routing.states)), [np.zeros(0, np.int64)]

    def hops(form: LayeredRouting, some: np.ndarray) -> np.ndarray:
        return shortest_paths(replace(form, split="next-hops"), form.finish[some])[0][form.start[goals]]

    for first in range(0, len(goals), step):
        some = goals[first : first + step]
        now = hops(routing, some)
        source, goal = np.nonzero(now == UNREACHED if whole is None else now != hops(whole, some))
        lost.append(goals[source] * topology.nodes + some[goal])
    return np.sort(np.concatenate(lost))


def _table(routing: TableRouting, topology: Topology) -> TableRouting:
    """Keep the rows from which packets still arrive; the remaining rows of a configuration share its packets."""
    leads = routing.port != NO_PORT
    alive = ~leads | (topology.ports[routing.at[routing.owner], np.maximum(routing.port, 0)] != NO_PORT)
    while True:
        stuck = np.bincount(routing.owner, alive, minlength=len(routing.at)) == 0
        further = alive & (routing.next >= 0) & stuck[routing.next]
        if not further.any():
            break
        alive[further] = False
    working = np.isin(np.arange(topology.nodes), topology.terminals)
    destination, source = np.divmod(routing.entry_pair, topology.nodes)
    dead = stuck[routing.entry] & working[source] & working[destination]
    lost = np.sort((source * topology.nodes + destination)[dead])
    rows = rows_of(routing)
    kept = {name: column[alive] for name, column in rows._asdict().items() if column is not None}
    return table_routing(topology, rows._replace(**kept), lost=lost)
