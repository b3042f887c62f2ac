"""Turn any routing into a table, count hops in a table, and choose random rows of a table for packets.

For layered routing, a packet's state in the table is its state in the graph of states. For source routing, the state is
the rest of the route, which is chosen at random at the source; routes with the same rest share a state. If all routes
from a source have the same rest at first, that rest is the state in which packets are injected. So a routing whose next
hop depends on node and destination alone needs no states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from torusweep.errors import Refused
from torusweep.networks.topology import NO_PORT, Topology, default_memory
from torusweep.routing.forms import Headers, LayeredRouting, Routes, Routing, SourceRouting, TableRouting
from torusweep.routing.paths import Runs, route_hops, steps_nearer, whole_weights
from torusweep.routing.tables.rows import TableRows, table_routing

BLOCK = 1 << 22  # pairs of a state and a destination at a time
MOST_ROUTES = 1 << 25  # routes of all pairs together: about a minute
HOP_BYTES = 136  # memory per configuration and count to make a table that counts hops; measured on a ring of 500
WORDS = 4  # random words per packet and turn


def table_of(routing: Routing, classes: np.ndarray | None = None, memory: str = "run") -> TableRouting:
    """Turn a routing into a table, in which packets take the same routes with the same probabilities.

    classes   int8[F, 2]  class of virtual channel by phase and by whether a dateline was crossed; None for one class
    memory    how long a dateline counts as crossed (torusweep_kernels.dependencies.mark_routes)

    A table is returned as it is. Raises Refused if there are too many routes to list.
    """
    if isinstance(routing, TableRouting):
        return routing
    if isinstance(routing, LayeredRouting):
        carries = not routing.plain and not (routing.topology.ends is not None and _sends_in_one_state(routing))
        rows = joined(list(layered_rows(routing, _labels(routing) if carries else None)))
        return table_routing(routing.topology, rows, lost=routing.lost)
    if classes is None or int(classes.max()) == 0:
        classes = np.zeros((routing.phases * routing.passes, 2), np.int8)
    return table_routing(routing.topology, joined(list(_source_rows(routing, classes, memory))), lost=routing.lost)


def rows_of(table: TableRouting) -> TableRows:
    """Return the rows of a table, without empty columns; `table_routing` makes the same table from these rows."""
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
    """Concatenate parts of a table that have the same columns; no parts give an empty table."""
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
    """Yield rows for the arcs of all shortest paths, by blocks of destinations; weights count paths or links.

    label   int64[S]  `TableRows.state` of a packet in each state of the routing; None if packets carry no state
    """
    goals = _terminals(routing.topology)
    block = max(1, BLOCK // len(routing.states))
    for first in range(0, len(goals), block):
        some = goals[first : first + block]
        found = []
        for state, then, arc, goal, weight in steps_nearer(routing, routing.finish[some]):
            leads = routing.port[state, arc] != NO_PORT  # other arcs stay at the node, as where a packet has arrived
            state, then, weight = state[leads], then[leads], weight[leads]
            port = routing.port[state, arc[leads]].astype(np.int64)
            before, after = (None, None) if label is None else (label[state], label[then])
            at = routing.node[state].astype(np.int64)
            found.append(TableRows(at, some[goal[leads]], port, None, before, after, None, weight))
        yield joined(found)


def _sends_in_one_state(routing: LayeredRouting) -> bool:
    """Return whether packets leave each node in at most one state, so that states are not needed."""
    sends = ((routing.states != NO_PORT) & (routing.port != NO_PORT)).any(axis=1)
    return int(np.bincount(routing.node[sends], minlength=1).max()) <= 1


def _labels(routing: LayeredRouting) -> np.ndarray:
    """Return 0 for the state in which a node injects packets, and 1, 2, … for its other states, int64[S]."""
    starts = np.zeros(len(routing.states), bool)
    starts[routing.start] = True
    order = np.lexsort((~starts, routing.node))
    node = routing.node[order]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(node, node)
    return rank


class _Routed(NamedTuple):
    """R routes to one destination: their sources int64[R], weights float64[R] and runs."""

    source: np.ndarray
    weight: np.ndarray
    runs: Runs


def _source_rows(routing: SourceRouting, classes: np.ndarray, memory: str) -> Iterator[TableRows]:
    """Yield the table rows of a source routing, destination by destination. Raises Refused for too many routes."""
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
    """Return all routes from terminals' nodes to a destination; with two passes, routes through every node."""
    sources = _terminals(routing.topology)
    if routing.lost is not None:
        sources = sources[~np.isin(sources * routing.topology.nodes + goal, routing.lost)]
    if routing.passes == 1:
        sources = sources[sources != goal]
        pair, weight, runs = _routes(routing, sources, np.full(len(sources), goal))
        return _Routed(sources[pair], weight, runs)
    nodes = routing.topology.nodes
    source, between = np.repeat(sources, nodes), np.tile(np.arange(nodes), len(sources))
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
    """Return (pair int64[R], weight float64[R], runs) of all routes, ordered by pair. Weights are whole if possible."""
    keys, which = np.unique(routing.key(source, destination), return_inverse=True)
    found = routing.routes(keys)
    many = np.diff(found.first)[which]
    pair = np.repeat(np.arange(len(source)), many)
    row = np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many) + found.first[which][pair]
    return pair, _weights(found)[row], Runs(found.direction[row], found.hops[row], found.phase[row])


def _weights(routes: Routes) -> np.ndarray:
    """Return weights in the proportions of the routes' shares, float64[R]; in whole numbers if possible."""
    whole = whole_weights(routes)
    return routes.weight if whole is None else whole[0].astype(np.float64)


def _rows_to(goal: int, routed: _Routed, node: np.ndarray, code: np.ndarray, kinds: int) -> TableRows:
    """Return table rows for the routes to one destination.

    node, code   int64[R, H]  node where each hop begins, and the hop's port · kinds + class; −1 after the last hop
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
    """Return the state of each rest of a route, int64, and the state of packets that arrived at the destination.

    The states of a node are 0, 1, …. State 0 is the state of packets injected there, and of a rest that they all share.
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


def with_hop_counts(table: TableRouting, counted: np.ndarray) -> TableRouting:
    """Return the same routing with new classes: a hop's class is the number of the packet's counted hops before it.

    counted   bool[N, P]  whether hops over each channel are counted
    """
    adds = np.zeros(len(table.port), np.int64)
    leads = np.flatnonzero(table.port != NO_PORT)
    adds[leads] = counted[table.at[table.owner[leads]], table.port[leads]]
    configuration, count = _reached(table, adds)
    step = int(count.max(initial=0)) + 1  # numbers of (configuration, count), in the order of configurations
    code = configuration * step + count
    many = table.many[configuration]
    bounds = np.concatenate([[0], np.cumsum(many)])
    own = np.repeat(np.arange(len(code)), many)
    row = np.arange(bounds[-1]) - np.repeat(bounds[:-1], many) + table.rows[configuration][own]
    after = count[own] + adds[row]
    onwards = table.next[row].astype(np.int64)
    place = np.searchsorted(code, onwards * step + after)
    before, following = (
        (np.zeros(size, np.int64) for size in (len(table.at), len(table.port)))
        if table.headers is None
        else (table.headers.state, table.headers.following)
    )
    entering = None if table.headers is None or table.headers.input is None else table.headers.input[configuration]
    states = before[configuration].astype(np.int64) * step + count
    return replace(
        table,
        first=np.searchsorted(configuration, table.first),
        at=table.at[configuration],
        rows=bounds,
        port=table.port[row],
        kind=count[own].astype(np.int16),
        next=np.where(onwards < 0, onwards, place).astype(np.int32),
        weight=table.weight[row],
        entry=np.searchsorted(code, table.entry.astype(np.int64) * step).astype(np.int32),
        kinds=step,
        headers=Headers(
            entering, states.astype(np.int32), (following[row].astype(np.int64) * step + after).astype(np.int32)
        ),
    )


def _reached(table: TableRouting, adds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List, ascending, the pairs that packets can have: configuration and counted hops so far, int64[C'] each.

    adds   int64[R]  whether the hop of each row counts: 0 or 1
    """
    of_counts: list[np.ndarray] = []
    begins = np.zeros(len(table.at), bool)  # of this count, the configurations in which packets first have it
    begins[table.entry] = True
    while begins.any():
        reached, counted = begins.copy(), np.zeros(len(table.at), bool)
        new = np.flatnonzero(begins)
        while len(new):
            many = table.many[new]
            row = np.arange(int(many.sum())) + np.repeat(table.rows[new] - np.cumsum(many) + many, many)
            row = row[table.next[row] >= 0]
            counted[table.next[row[adds[row] > 0]]] = True
            on = np.zeros(len(table.at), bool)
            on[table.next[row[adds[row] == 0]]] = True
            new = np.flatnonzero(on & ~reached)
            reached[new] = True
        of_counts.append(np.flatnonzero(reached))
        if (most := default_memory() // HOP_BYTES) < sum(map(len, of_counts)):
            raise Refused(f"expected at most {most:,} hops to count in this memory, got more; choose another rule")
        begins = counted
    configuration = np.concatenate([*of_counts, np.zeros(0, np.int64)])
    count = np.repeat(np.arange(len(of_counts)), [len(found) for found in of_counts])
    order = np.argsort(configuration, kind="stable")
    return configuration[order], count[order]


Draws = Callable[[int], np.ndarray]  # turn 0, 1, … → uint32[4, B]: four random words for each packet


def drawn_rows(
    routing: TableRouting, source: np.ndarray, destination: np.ndarray, draws: Draws
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for hop 0, 1, … of B packets, (packets int64[K] on their way, their rows int64[K]).

    source, destination  int[B]  nodes of terminals
    draws                function from a turn to random words. Word h mod 4 of turn ⌊h / 4⌋ decides hop h: the packet
                         takes the first row of its configuration whose cumulative share exceeds word · 2⁻³²
    """
    configuration = routing.entries(source, destination)
    packets = np.flatnonzero(configuration >= 0)
    configuration, hop = configuration[packets], 0
    words = np.zeros((WORDS, 0), np.uint32)
    while packets.size:
        if hop % WORDS == 0:
            words = draws(hop // WORDS)
        row = _rows_at(routing, configuration, words[hop % WORDS, packets] * 2.0**-32)
        leaves = routing.port[row] != NO_PORT
        yield packets[leaves], row[leaves]
        after = routing.next[row]
        packets, configuration, hop = packets[after >= 0], after[after >= 0], hop + 1


def _rows_at(routing: TableRouting, configuration: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return each configuration's first row whose cumulative share exceeds `unit`, in [0, 1), int64[K]."""
    low, high = routing.rows[configuration], routing.rows[configuration.astype(np.int64) + 1] - 1
    while (low < high).any():
        middle = (low + high) // 2
        beyond = routing.share_up_to[middle] > unit
        low, high = np.where(beyond, low, np.minimum(middle + 1, high)), np.where(beyond, middle, high)
    return low
