"""Any routing as a table.

Layered routing: the state of a packet is that of the graph of states. Source routing: the state is what is left of the
route, so that the packet's own draw at its source decides the rest; routes with the same rest share a state. Where the
routes of a source all begin with the same rest, it is the state of the packets that are injected there, and a routing
whose next hop depends on node and destination alone then needs no states.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from torusweep.errors import Refused
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import LayeredRouting, Routes, Routing, SourceRouting, TableRouting
from torusweep.routing.route_hops import Runs, route_hops
from torusweep.routing.route_table import whole_weights
from torusweep.routing.shortest_paths import steps_nearer
from torusweep.routing.tables.rows import TableRows, table_routing

BLOCK = 1 << 22  # pairs of a state and a destination at a time
MOST_ROUTES = 1 << 25  # of all pairs: about a minute
ONE_CLASS = np.zeros((1, 2), np.int8)


def table_of(routing: Routing, classes: np.ndarray | None = None, memory: str = "run") -> TableRouting:
    """The same routing as a table: packets take the same routes with the same probabilities.

    classes   int8[F, 2]  of virtual channels by phase and datelines, which the table then names; None: one class
    memory    of datelines (torusweep_kernels.dependencies.mark_routes)

    A table is returned as it is. Raises Refused where there are too many routes to list.
    """
    if isinstance(routing, TableRouting):
        return routing
    if isinstance(routing, LayeredRouting):
        return table_routing(
            routing.topology, joined(list(layered_rows(routing, None if routing.plain else _labels(routing))))
        )
    if classes is None or int(classes.max()) == 0:
        classes = np.zeros((routing.phases * routing.passes, 2), np.int8)
    return table_routing(routing.topology, joined(list(_source_rows(routing, classes, memory))))


def rows_of(table: TableRouting) -> TableRows:
    """The rows of a table, without columns that say nothing; `table_routing` makes the same table of them."""
    headers, owner = table.headers, table.owner
    has_states = headers is not None and bool(headers.state.any() or headers.following.any())
    equal = bool((table.weight == 1).all())
    return TableRows(
        table.at[owner].astype(np.int64),
        table.destination[owner],
        table.port.astype(np.int64),
        None if headers is None or headers.input is None else headers.input[owner].astype(np.int64),
        headers.state[owner].astype(np.int64) if has_states and headers is not None else None,
        headers.following.astype(np.int64) if has_states and headers is not None else None,
        table.kind.astype(np.int64) if table.kinds > 1 else None,
        None if equal else table.weight,
    )


def joined(parts: list[TableRows]) -> TableRows:
    """The rows of all parts, whose columns are the same ones."""
    if not parts:  # no terminals, or no links
        none = np.zeros(0, np.int64)
        return TableRows(none, none, none)
    at, destination, port, *others = (None if column[0] is None else np.concatenate(column) for column in zip(*parts))
    assert at is not None
    assert destination is not None
    assert port is not None
    return TableRows(at, destination, port, *others)


def _terminals(topology: Topology) -> np.ndarray:
    return np.unique(topology.terminals).astype(np.int64)


def layered_rows(routing: LayeredRouting, label: np.ndarray | None) -> Iterator[TableRows]:
    """The arcs of all shortest paths to a block of destinations; weights are whole numbers of paths or links.

    label   int64[S]  what a packet carries in each state of the routing, as a number of `Rows.state`; None: nothing
    """
    goals = _terminals(routing.topology)
    block = max(1, BLOCK // len(routing.states))
    for first in range(0, len(goals), block):
        some = goals[first : first + block]
        found = []
        for state, then, arc, goal, weight in steps_nearer(routing, routing.finish[some]):
            leads = routing.port[state, arc] != NO_PORT  # others stay at the node, as where a packet has arrived
            state, then, weight = state[leads], then[leads], weight[leads]
            port = routing.port[state, arc[leads]].astype(np.int64)
            before, after = (None, None) if label is None else (label[state], label[then])
            at = routing.node[state].astype(np.int64)
            found.append(TableRows(at, some[goal[leads]], port, None, before, after, None, weight))
        yield joined(found)


def _labels(routing: LayeredRouting) -> np.ndarray:
    """int64[S]: 0 for the state in which packets are injected at a node, 1, 2, … for its other states."""
    starts = np.zeros(len(routing.states), bool)
    starts[routing.start] = True
    order = np.lexsort((~starts, routing.node))
    node = routing.node[order]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(node, node)
    return rank


class _Routed(NamedTuple):
    """Routes to one destination: source int64[R], weight float64[R], runs."""

    source: np.ndarray
    weight: np.ndarray
    runs: Runs


def _source_rows(routing: SourceRouting, classes: np.ndarray, memory: str) -> Iterator[TableRows]:
    """The rows for each destination."""
    goals, count = _terminals(routing.topology), 0
    if routing.passes > 1:  # at least one route for each node between; before a destination's routes are listed
        _expect_few(len(goals) ** 2 * routing.topology.nodes)
    kinds = int(classes.max()) + 1
    for number, goal in enumerate(goals.tolist()):
        routed = _routes_to(routing, goal)
        count += len(routed.source)
        _expect_few(count * len(goals) // (number + 1))
        longest = int(routed.runs.hops.sum(axis=1, dtype=np.int64).max(initial=0))
        hops = route_hops(routing.moves, routed.source, routed.runs, classes, memory, longest)
        code = np.where(hops.port < 0, -1, hops.port * kinds + hops.kind)
        yield _rows_to(goal, routed, hops.node, code, kinds)


def _expect_few(routes: int) -> None:
    if routes > MOST_ROUTES:
        raise Refused(
            f"expected at most {MOST_ROUTES:,} routes between all terminals to list, got about {routes:,};"
            " choose a smaller network, or a routing with fewer routes"
        )


def _routes_to(routing: SourceRouting, goal: int) -> _Routed:
    """All routes from all terminals to a destination; with two passes, by way of every node, itself included."""
    terminals = _terminals(routing.topology)
    if routing.passes == 1:
        sources = terminals[terminals != goal]
        pair, weight, runs = _routes(routing, sources, np.full(len(sources), goal))
        return _Routed(sources[pair], weight, runs)
    nodes = routing.topology.nodes
    source, between = np.repeat(terminals, nodes), np.tile(np.arange(nodes), len(terminals))
    one, before, first = _routes(routing, source, between)
    two, after, second = _routes(routing, np.arange(nodes), np.full(nodes, goal))
    ways = np.bincount(two, minlength=nodes)
    begins = np.cumsum(ways) - ways
    many = ways[between[one]]
    left = np.repeat(np.arange(len(one)), many)
    right = begins[between[one]][left] + np.arange(len(left)) - np.repeat(np.cumsum(many) - many, many)
    runs = Runs(
        np.hstack([first.direction[left], second.direction[right]]),
        np.hstack([first.hops[left], second.hops[right]]),
        np.hstack([first.phase[left].astype(np.int16), second.phase[right].astype(np.int16) + routing.phases]),
    )
    return _Routed(source[one][left], before[left] * after[right], runs)


def _routes(routing: SourceRouting, source: np.ndarray, destination: np.ndarray) -> tuple[np.ndarray, np.ndarray, Runs]:
    """(pair int64[R], weight float64[R], runs) of all routes of pairs, in their order; equal weights are whole."""
    keys, which = np.unique(routing.key(source, destination), return_inverse=True)
    found = routing.routes(keys)
    many = np.diff(found.first)[which]
    pair = np.repeat(np.arange(len(source)), many)
    row = np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many) + found.first[which][pair]
    return pair, _weights(found)[row], Runs(found.direction[row], found.hops[row], found.phase[row])


def _weights(routes: Routes) -> np.ndarray:
    """float64[R]: weights in the same proportions, whole numbers where the shares are ratios of such."""
    whole = whole_weights(routes)
    return routes.weight if whole is None else whole[0].astype(np.float64)


def _rows_to(goal: int, routed: _Routed, node: np.ndarray, code: np.ndarray, kinds: int) -> TableRows:
    """The rows of the routes to one destination.

    node, code   int64[R, H]  of each hop: where it begins, and port · kinds + class; −1 after the last one
    """
    length = (code >= 0).sum(axis=1)
    width = int(code.max(initial=0)) + 1
    rest = np.full(len(length), -1)  # of each route, the number of what is left of it; −1 = nothing
    numbers, rows = 0, [np.zeros((0, 4), np.int64)]  # of every rest: its number, node, code, the rest after that
    for left in range(1, code.shape[1] + 1):
        route = np.flatnonzero(length >= left)
        hop = length[route] - left
        key = (node[route, hop] * width + code[route, hop]) * (numbers + 1) + rest[route] + 1
        distinct, first, place = np.unique(key, return_index=True, return_inverse=True)
        one = route[first]
        columns = (node[one, length[one] - left], code[one, length[one] - left], rest[one])
        rows.append(np.column_stack([numbers + np.arange(len(distinct)), *columns]))
        rest[route] = numbers + place
        numbers += len(distinct)
    listed = np.concatenate(rows)
    used = np.flatnonzero(length > 0)
    entry, which = np.unique(routed.source[used] * (numbers + 1) + rest[used], return_inverse=True)
    weight = np.bincount(which, routed.weight[used], minlength=len(entry))
    source, begins = np.divmod(entry, numbers + 1)
    stays = float(routed.weight[length == 0].sum())  # of packets of the destination to itself
    also = np.full(int(stays > 0), goal)
    label, arrived = _rest_labels(goal, listed, np.append(source, also), np.append(begins, np.full_like(also, -1)))
    after = np.where(listed[:, 3] < 0, arrived, label[listed[:, 3]]) if numbers else np.zeros(0, np.int64)
    single = (np.bincount(source, minlength=goal + 1)[source] == 1) & ((source != goal) | (stays == 0))
    several = np.flatnonzero(~single)
    number = np.concatenate([np.arange(numbers), begins[several]])
    port, kind = np.divmod(listed[number, 2], kinds)
    weights = np.concatenate([np.ones(numbers), weight[several]])
    states = np.concatenate([label, np.zeros(len(several), np.int64)])
    found = TableRows(listed[number, 1], np.full(len(number), goal), port, None, states, after[number], kind, weights)
    if not stays:
        return found
    one, zero = np.array([goal]), np.zeros(1, np.int64)
    return joined([found, TableRows(one, one, np.array([NO_PORT]), None, zero, zero, zero, np.array([stays]))])


def _rest_labels(goal: int, listed: np.ndarray, source: np.ndarray, begins: np.ndarray) -> tuple[np.ndarray, int]:
    """(state int64 of every rest, state of arrived packets at the destination).

    The states of a node are 0, 1, …: 0 is that of packets injected there, and of a rest with which all of them begin.
    """
    node = listed[:, 1]
    size = int(max(node.max(initial=0), source.max(initial=0), goal)) + 1
    begun = np.bincount(source, minlength=size)
    merged = np.zeros(len(node), bool)
    alone = begins[begun[source] == 1]
    merged[alone[alone >= 0]] = True
    order = np.lexsort((np.arange(len(node)), ~merged, node))
    sorted_nodes = node[order]
    rank = np.empty(len(node), np.int64)
    rank[order] = np.arange(len(node)) - np.searchsorted(sorted_nodes, sorted_nodes)
    label = rank + (begun > 1)[node]
    at_goal = node == goal
    own = label[at_goal].max(initial=-1) + 1 if at_goal.any() else 0
    return label, int(max(own, int(begun[goal] > 0)))
