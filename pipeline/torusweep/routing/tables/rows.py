"""Check the rows of a routing table, in any order, and make a `TableRouting` from them.

If the table is wrong, the error says where a packet gets stuck, or round which loop packets would go.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.forwarding import CIRCULAR, IN_ORDER, LOST, Table, order_of

from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.quantities import counted
from torusweep.routing.forms import Headers, TableRouting

MOST_IN_WORDS = 16  # nodes of a path that an error names
ARRIVED = -1


class Ways(NamedTuple):
    """Configurations, as in `TableRouting` but in any order, and where their rows lead.

    nodes         int        number of nodes
    first, at, rows          as in `TableRouting`
    head          int64[R]   node to which each row leads
    next          int64[R]   configuration at that node; −1 = arrived, −2 = no configuration fits
    pair, entry   int64[E]   `entry_pair` and `entry` of `TableRouting`
    """

    nodes: int
    first: np.ndarray
    at: np.ndarray
    rows: np.ndarray
    head: np.ndarray
    next: np.ndarray
    pair: np.ndarray
    entry: np.ndarray


def stuck_words(ways: Ways, where: int) -> str:
    """Describe, for the destination of configuration `where`, the first packets that reach a node without a row."""
    goal = _goal(ways, where)
    for pair, entry in zip(ways.pair.tolist(), ways.entry.tolist()):
        if pair // ways.nodes != goal:
            continue
        came: dict[int, int] = {entry: -1}
        queue = [entry]
        for at in queue:  # grows
            for row in range(int(ways.rows[at]), int(ways.rows[at + 1])):
                after = int(ways.next[row])
                if after == LOST:
                    way = [int(ways.head[row])]
                    while at >= 0:
                        way.append(int(ways.at[at]))
                        at = came[at]
                    return (
                        f"a packet from {pair % ways.nodes} to {goal} gets stuck at {way[0]}, where no row fits it"
                        f" ({_arrows(way[::-1])}); add a row at {way[0]} towards {goal}"
                    )
                if after >= 0 and after not in came:
                    came[after] = at
                    queue.append(after)
    raise AssertionError("some packet reaches the configuration")


def loop_words(ways: Ways, where: int) -> str:
    """Describe the first loop into which rows can lead packets to the destination of configuration `where`."""
    goal, done = _goal(ways, where), set[int]()
    for pair, entry in zip(ways.pair.tolist(), ways.entry.tolist()):
        if pair // ways.nodes == goal:
            circle = _circle_from(ways, entry, done)
            if circle:
                start = circle.index(min(circle, key=lambda place: (int(ways.at[place]), place)))
                nodes = [int(ways.at[place]) for place in (*circle[start:], *circle[: start + 1])]
                return f"expected no loop, got at {_arrows(nodes)} towards {goal}; change a row of these nodes"
    raise AssertionError("packets reach a loop")


def _circle_from(ways: Ways, entry: int, done: set[int]) -> list[int]:
    """Find a loop of configurations depth first; [] if there is none. Adds configurations outside loops to `done`."""
    if entry in done:
        return []
    way, places, row = [entry], {entry: 0}, [int(ways.rows[entry])]
    while way:
        if row[-1] == ways.rows[way[-1] + 1]:
            done.add(way[-1])
            del places[way.pop()]
            row.pop()
            continue
        after = int(ways.next[row[-1]])
        row[-1] += 1
        if after in places:
            return way[places[after] :]
        if after >= 0 and after not in done:
            places[after] = len(way)
            way.append(after)
            row.append(int(ways.rows[after]))
    return []


def _goal(ways: Ways, where: int) -> int:
    return int(np.searchsorted(ways.first, where, side="right")) - 1


def _arrows(nodes: list[int]) -> str:
    words = [str(node) for node in nodes]
    if len(words) > MOST_IN_WORDS:
        words = [*words[: MOST_IN_WORDS - 1], "…", words[-1]]
    return " → ".join(words)


class TableRows(NamedTuple):
    """The R rows of a routing table, in any order. A column that is None has the same value in all rows.

    at           int64[R]    node at which the packet is
    destination  int64[R]    destination node of the packet
    port         int64[R]    port of `at` to take; −1: the packet, which is at its destination, leaves the network
    input        int64[R]    node from which the packet comes, −1 = injected at `at`; None if any node will do
    state        int64[R]    state ≥ 0 of the packet, which is injected in state 0; None if always 0
    following    int64[R]    state ≥ 0 of the packet after this hop; None if always 0
    kind         int64[R]    class ≥ 0 of the packet's virtual channel on this hop; None if always 0
    weight       float64[R]  proportion > 0 in which the rows of a configuration divide its packets; None if equal
    """

    at: np.ndarray
    destination: np.ndarray
    port: np.ndarray
    input: np.ndarray | None = None
    state: np.ndarray | None = None
    following: np.ndarray | None = None
    kind: np.ndarray | None = None
    weight: np.ndarray | None = None


class _Keys(NamedTuple):
    """Numbers of configurations, by destination, node, input and state, in this order of significance."""

    nodes: int
    inputs: int
    states: int

    def of(
        self, destination: np.ndarray, at: np.ndarray, input: np.ndarray | int, state: np.ndarray | int
    ) -> np.ndarray:
        place = destination.astype(np.int64) * self.nodes + at
        return (place * self.inputs + (input if self.inputs > 1 else 0)) * self.states + state


def table_routing(
    topology: Topology, rows: TableRows, *, lost: np.ndarray | None = None, partial: bool = False
) -> TableRouting:
    """Make the routing that rows in any order describe.

    lost      pairs, as in `TableRouting`, whose packets are left out, even if they have rows
    partial   whether pairs of terminals may have no row at the source

    Callers must have checked that numbers are in range and that ports have links. Rows that packets between terminals
    do not reach are left out.

    Raises BadInput for a row that is listed twice, and for the first pair whose packet gets stuck or would not arrive;
    Refused if there are too many nodes and states to number.
    """
    keys = _keys(topology, rows)
    count = len(rows.at)
    zero = np.zeros(count, np.int64)
    state, following, kind = (zero if column is None else column for column in (rows.state, rows.following, rows.kind))
    entering: np.ndarray | int = 0 if rows.input is None else rows.input + 1
    key = keys.of(rows.destination, rows.at, entering, state)
    at, port, weight = rows.at, rows.port, np.ones(count) if rows.weight is None else rows.weight
    if count and not (np.diff(key) > 0).all():
        order = np.lexsort((following, kind, port, key))
        _expect_single(rows, order, (key, port, kind, following))
        key, at, port, kind, following, weight = (array[order] for array in (key, at, port, kind, following, weight))
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    configuration = key[begins]
    destination = configuration // (keys.states * keys.inputs * keys.nodes)
    head = np.where(port == NO_PORT, at, topology.ports[at, port])
    goal = key // (keys.states * keys.inputs * keys.nodes)
    onwards = _places(configuration, keys.of(goal, head, at + 1, following))
    onwards = np.where((onwards < 0) & (head != goal), LOST, np.where(port == NO_PORT, ARRIVED, onwards))
    pair, entry = _entries(topology, configuration, keys, lost, partial)
    enters = np.zeros(len(configuration), bool)
    enters[entry] = True
    first = np.searchsorted(destination, np.arange(topology.nodes + 1))
    bounds = np.append(begins, count)
    found = order_of(first, bounds, onwards.astype(np.int32), enters)
    if found.fault != IN_ORDER:
        ways = Ways(topology.nodes, first, at[begins], bounds, head, onwards, pair, entry)
        raise BadInput((loop_words if found.fault == CIRCULAR else stuck_words)(ways, found.where))
    return _arranged(
        topology,
        found.order,
        found.first,
        (at[begins], bounds, port, kind, onwards, weight),
        (pair, entry),
        _headers(keys, configuration, following),
        lost,
    )


def _keys(topology: Topology, rows: TableRows) -> _Keys:
    states = 1 + max(int(column.max(initial=0)) if column is not None else 0 for column in (rows.state, rows.following))
    keys = _Keys(topology.nodes, 1 if rows.input is None else topology.nodes + 1, states)
    if keys.nodes**2 * keys.inputs * keys.states >= 2**62:
        raise Refused(
            f"expected states of less than {2**62 // (keys.nodes**2 * keys.inputs):,}, got {states - 1:,};"
            " number them from 0"
        )
    return keys


def _expect_single(rows: TableRows, order: np.ndarray, columns: tuple[np.ndarray, ...]) -> None:
    """Raise BadInput for the first row that occurs twice."""
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in columns:
        same &= np.diff(column[order]) == 0
    if same.any():
        place = int(np.argmax(same))
        one, two = sorted(order[place : place + 2].tolist())
        raise BadInput(
            f"expected each row once, got row {one + 1} again in row {two + 1}: at {rows.at[one]}"
            f" towards {rows.destination[one]}; leave one out, and give its share to the other"
        )


def _places(configuration: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the index of each of K keys among the ascending configurations, int64[K]; −1 if it is missing."""
    if not len(configuration):
        return np.full(len(key), ARRIVED)
    place = np.minimum(np.searchsorted(configuration, key), len(configuration) - 1)
    return np.where(configuration[place] == key, place, ARRIVED)


def _entries(
    topology: Topology, configuration: np.ndarray, keys: _Keys, lost: np.ndarray | None, partial: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return `entry_pair` and `entry` of `TableRouting`, int64[E] each: pairs, and where their packets are injected.

    Raises BadInput for the first pair of terminals without a row at its source, unless `partial`.
    """
    terminals = np.unique(topology.terminals).astype(np.int64)
    destination, source = np.repeat(terminals, len(terminals)), np.tile(terminals, len(terminals))
    if lost is not None and len(lost):
        routed = ~np.isin(source * topology.nodes + destination, lost)
        destination, source = destination[routed], source[routed]
    place = _places(configuration, keys.of(destination, source, 0, 0))
    missing = np.flatnonzero((place < 0) & (source != destination))
    if len(missing) and not partial:
        one = missing[np.lexsort((destination[missing], source[missing]))[0]]
        others = f", nor for {counted(len(missing) - 1, 'other pair')}" if len(missing) > 1 else ""
        raise BadInput(
            f"expected a row for every pair of terminals, got none at {source[one]} towards {destination[one]}{others};"
            " add rows for packets that are injected there"
        )
    uses = place >= 0
    return destination[uses] * topology.nodes + source[uses], place[uses]


def _arranged(
    topology: Topology,
    order: np.ndarray,
    first: np.ndarray,
    arrays: tuple[np.ndarray, ...],
    entries: tuple[np.ndarray, np.ndarray],
    headers: Headers | None,
    lost: np.ndarray | None,
) -> TableRouting:
    """Make a `TableRouting` from the configurations in `order`, which omits configurations that no packet reaches.

    arrays    `at`, `rows`, `port`, `kind`, `next` and `weight` of `TableRouting`, in the old order
    entries   `entry_pair` and `entry` of `TableRouting`, in the old order
    """
    at, rows, port, kind, onwards, weight = arrays
    place = np.full(len(at), ARRIVED)
    place[order] = np.arange(len(order))
    many = np.diff(rows)[order]
    bounds = np.concatenate([[0], np.cumsum(many)])
    row = np.arange(bounds[-1]) - np.repeat(bounds[:-1] - rows[:-1][order], many)
    onwards = onwards[row]
    return TableRouting(
        topology,
        first,
        at[order].astype(np.int32),
        bounds,
        port[row].astype(np.int16),
        kind[row].astype(np.int16),
        np.where(onwards < 0, ARRIVED, place[onwards]).astype(np.int32),
        weight[row],
        entries[0],
        place[entries[1]].astype(np.int32),
        int(kind[row].max(initial=0)) + 1,
        None
        if headers is None
        else Headers(
            None if headers.input is None else headers.input[order], headers.state[order], headers.following[row]
        ),
        lost,
    )


def _headers(keys: _Keys, configuration: np.ndarray, following: np.ndarray) -> Headers | None:
    if keys.inputs == keys.states == 1:
        return None
    place, state = np.divmod(configuration, keys.states)
    entering = None if keys.inputs == 1 else (place % keys.inputs - 1).astype(np.int32)
    return Headers(entering, state.astype(np.int32), following.astype(np.int32))


def table_of_kernel(routing: TableRouting) -> Table:
    """Return the arrays of a table routing in the form that `torusweep_kernels.forwarding` takes."""
    width = routing.topology.ports.shape[1]
    link = routing.at.astype(np.int64)[routing.owner] * width + routing.port
    link = np.where(routing.port == NO_PORT, -1, link).astype(np.int32)
    return Table(routing.first, routing.at, routing.rows, link, routing.next, routing.weight, routing.total)
