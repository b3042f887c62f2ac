"""Random routes of packets, as rows of a table of runs that a batch of experiments shares.

Random shortest paths over a graph of states are drawn hop by hop, as rows of one-hop runs. With some routings, packets
choose between a minimal route and a detour through another group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.families.dragonfly import GLOBAL, Grouped
from torusweep.networks.signature import resolve
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.deadlock.routing_case import CHOOSING
from torusweep.routing.forms import LayeredRouting, Routing, TableRouting
from torusweep.routing.groups import by_group, into_groups, progressive
from torusweep.routing.paths import UNREACHED, RouteTable, links_of_arcs, shortest_paths
from torusweep.routing.tables.as_table import drawn_rows

BLOCK = 1 << 23  # pairs of a state and a destination at a time

Draws = Callable[[int], np.ndarray]  # purpose 0, 1, … → uint32[4, M]: four random words for each packet
WORD = np.uint64(32)
PURPOSES = 32  # purposes of random words that the first route, and each detour, may use
TO_GROUP, ONWARDS = 1, 16  # first purposes of a detour's two parts; purpose 0 draws the group
ALL_HOPS = -1


def draw_layered_routes(
    routing: LayeredRouting, source: np.ndarray, destination: np.ndarray, draws: Draws
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a random route for each of M packets: direction int8[M, L], hops int16[M, L]. Directions are output ports.

    The routing's split says whether all shortest paths or all next arcs are equally probable. Each parallel link counts
    as another path or arc.
    Raises BadInput if a packet has no path.
    """
    steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # packets, hop, port
    order = np.argsort(destination, kind="stable")
    goals, first = np.unique(destination[order], return_index=True)
    first = np.append(first, len(order))
    words = _Words(draws)
    size = max(1, BLOCK // len(routing.states))
    for begin in range(0, len(goals), size):
        some = goals[begin : begin + size]
        packets = order[first[begin] : first[min(begin + size, len(goals))]]
        column = np.searchsorted(some, destination[packets])
        steps += _walk(routing, packets, routing.start[source[packets]], column, routing.finish[some], words)
    longest = 1 + max((int(hop.max(initial=0)) for _, hop, _ in steps), default=0)
    direction, hops = np.zeros((len(source), longest), np.int8), np.zeros((len(source), longest), np.int16)
    for packets, hop, port in steps:
        direction[packets, hop], hops[packets, hop] = port, 1
    return direction, hops


class _Words:
    """Random numbers in [0, 1) for the choices 0, 1, … of each packet."""

    def __init__(self, draws: Draws) -> None:
        self._draws, self._words = draws, dict[int, np.ndarray]()

    def of(self, packets: np.ndarray, choice: int) -> np.ndarray:
        purpose, word = divmod(choice, 4)
        if purpose not in self._words:
            self._words[purpose] = self._draws(purpose)
        return self._words[purpose][word, packets] * 2.0**-32


def _walk(
    routing: LayeredRouting,
    packets: np.ndarray,
    state: np.ndarray,
    column: np.ndarray,
    finish: np.ndarray,
    words: _Words,
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return (packets, hop, port) of all hops to a block of destinations. column: indices into `finish`, int[M]."""
    links = links_of_arcs(routing)
    away, paths = shortest_paths(routing, finish, links)
    lost = away[state, column] == UNREACHED
    if lost.any():
        raise BadInput(
            f"{int(lost.sum()):,} of {len(lost):,} packets have no path to their destination;"
            " choose a connected network ('torusweep describe' counts its components)"
        )
    hops, hop = [], np.zeros(len(packets), np.int16)
    going, choice = np.flatnonzero(away[state, column] > 0), 0
    while going.size:
        here, goal = state[going], column[going]
        at, which = _distinct(here * np.int64(len(finish)) + goal, away.size)
        share = _shares(routing, *np.divmod(at, len(finish)), away, paths, links)
        arc = (share <= 0).sum(axis=1)[which]
        several = np.flatnonzero((np.diff(share, axis=1, prepend=0.0) > 0).sum(axis=1)[which] > 1)
        some = share[which[several]]
        place = words.of(packets[going[several]], choice) * some[:, -1]
        arc[several] = (some <= place[:, None]).sum(axis=1)  # the first one whose cumulated share exceeds the number
        port = routing.port[here, arc]
        leaves = port != NO_PORT
        hops.append((packets[going[leaves]], hop[going[leaves]], port[leaves].astype(np.int8)))
        hop[going[leaves]] += 1
        state[going] = routing.states[here, arc]
        going, choice = going[away[state[going], goal] > 0], choice + 1
    return hops


def _distinct(number: np.ndarray, behind: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of numbers in 0 … behind − 1, and the index of each number among these values."""
    if len(number) < behind // 8:
        return np.unique(number, return_inverse=True)
    there = np.zeros(behind, bool)
    there[number] = True
    found = np.flatnonzero(there)
    place = np.empty(behind, np.int64)
    place[found] = np.arange(len(found))
    return found, place[number]


def _shares(
    routing: LayeredRouting,
    state: np.ndarray,
    goal: np.ndarray,
    away: np.ndarray,
    paths: np.ndarray | None,
    links: np.ndarray | None,
) -> np.ndarray:
    """Return the cumulative shares of the arcs that leave each state towards its goal, float64[B, Q]."""
    arcs = routing.states[state]
    nearer = (arcs != NO_PORT) & (away[arcs, goal[:, None]] == away[state, goal][:, None] - 1)
    weight = nearer.astype(np.float64) if paths is None else np.where(nearer, paths[arcs, goal[:, None]], 0.0)
    return np.cumsum(weight if links is None else weight * links[state], axis=1)


class RouteRows(NamedTuple):
    """Rows of runs (direction int8[R, L], hops int16[R, L], phase int8[R, L]) and the row of each packet, int32[M]."""

    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray
    row: np.ndarray


def routes_of(routing: Routing, source: np.ndarray, destination: np.ndarray, draws: Draws) -> RouteRows:
    """Draw a random route for each of M packets, with the probabilities of the routing.

    source, destination  int32[M]   nodes
    draws                uint32[4, M] for each purpose 0, 1, …. Source routing uses only purpose 0: its words draw the
                         route, the intermediate node (with two passes; uniform over all nodes), and the second half

    A route of two passes is one row: first the runs of the first half, then, with higher phases, of the second half.
    A route of a layered routing or a table has one hop in each run, and its directions are ports; the phases of a
    table are its classes.
    """
    if not len(source):
        return RouteRows(
            np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int16), np.zeros((1, 1), np.int8), np.zeros(0, np.int32)
        )
    if isinstance(routing, LayeredRouting):
        direction, hops = draw_layered_routes(routing, source, destination, draws)
        return RouteRows(direction, hops, np.zeros_like(direction), np.arange(len(source), dtype=np.int32))
    if isinstance(routing, TableRouting):
        return _table_rows(routing, source, destination, draws)
    table, words = RouteTable(routing), draws(0)
    if routing.passes == 1:
        row = table.sample(source, destination, words[0])
        return RouteRows(table.direction, table.hops, table.routes.phase, row)
    between = (words[1].astype(np.uint64) * np.uint64(routing.topology.nodes) >> WORD).astype(np.int32)
    halves = table.sample(np.append(source, between), np.append(between, destination), np.append(words[0], words[2]))
    return _join_halves(table, halves, routing.phases)


def _table_rows(routing: TableRouting, source: np.ndarray, destination: np.ndarray, draws: Draws) -> RouteRows:
    steps = list(drawn_rows(routing, source, destination, draws))
    direction, phase = np.zeros((2, len(source), max(1, len(steps))), np.int8)
    hops = np.zeros(direction.shape, np.int16)
    for hop, (packets, row) in enumerate(steps):
        direction[packets, hop], phase[packets, hop], hops[packets, hop] = routing.port[row], routing.kind[row], 1
    return RouteRows(direction, hops, phase, np.arange(len(source), dtype=np.int32))


def _join_halves(table: RouteTable, halves: np.ndarray, phases: int) -> RouteRows:
    """Make a row for each distinct pair of halves. halves: rows of all first halves, then rows of all second halves."""
    number = len(table.hops)
    pair, row = np.unique(
        halves[: len(halves) // 2].astype(np.int64) * number + halves[len(halves) // 2 :], return_inverse=True
    )
    one, two = np.divmod(pair, number)
    direction, hops, phase = table.direction, table.hops, table.routes.phase
    return RouteRows(
        np.hstack([direction[one], direction[two]]),
        np.hstack([hops[one], hops[two]]),
        np.hstack([phase[one], phase[two] + np.int8(phases)]),
        row.astype(np.int32),
    )


class Choosing(NamedTuple):
    """The routes among which packets choose, and how packets choose.

    minimal    shortest paths with at most one hop between groups (routing by_group)
    view       local or global (torusweep_kernels.router)
    threshold  excess by which the minimal route's estimate may exceed the detour's
    later      whether to choose again at every router of the source's group on the minimal route
    counted    link class whose hops determine a packet's phase; −1: all links; None: the phase is always 0
    """

    minimal: LayeredRouting
    view: str
    threshold: int
    later: bool
    counted: int | None


def choosing_of(spelling: str, topology: Topology, counted: int | None) -> Choosing:
    """Return how packets choose among a routing's routes. The spelling is canonical; `counted` is as in `Choosing`."""
    _, function, values = resolve(spelling, CHOOSING, kind="routing", example="ugal(view=local)")
    view, threshold = values.get("view", "local"), values.get("threshold", 0)
    assert isinstance(view, str), "its annotation"
    assert isinstance(threshold, int), "its annotation"
    return Choosing(by_group(topology), view, threshold, function is progressive, counted)


class ChosenRoutes(NamedTuple):
    """Routes of M packets with one hop in each of L runs; directions are ports.

    direction, hops, phase   int8, int16, int8 [R, L]
    row                      int32[M]     row of the packet's minimal route
    detour                   int32[M, K]  row of the detour that starts after k hops of the minimal route; −1: none
    """

    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray
    row: np.ndarray
    detour: np.ndarray


class _Walk(NamedTuple):
    """The hops of B packets: port and phase, int8[B, L] each, −1 after the last hop."""

    port: np.ndarray
    phase: np.ndarray


def choosing_routes(choosing: Choosing, source: np.ndarray, destination: np.ndarray, draws: Draws) -> ChosenRoutes:
    """Draw a minimal route for each of M packets, and detours for packets that leave their group.

    source, destination   int32[M]  nodes
    draws                 uint32[4, M] for each purpose 0, 1, …

    A detour first takes a shortest path, with one hop between groups, to any router of an intermediate group. The group
    is drawn uniformly among groups without the source and the destination. From there the detour takes a minimal route.
    After each further hop within the source's group, another detour is drawn.
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
    """Return the draws of some packets only, with purposes counted from the given purpose on."""
    return lambda further: draws(purpose + further)[:, packets]


def _detours(
    into: LayeredRouting, minimal: LayeredRouting, source: np.ndarray, destination: np.ndarray, draws: Draws
) -> np.ndarray:
    """Return the ports of a route through a random group, int8[B, L], with −1 after the last hop."""
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
    """Return 1 if the hop through a node's port counts for the phase, 0 if not or if there is no hop, int8[B]."""
    if choosing.counted is None:
        return np.zeros(len(node), np.int8)
    link_class = choosing.minimal.topology.link_class[node, port]
    return ((port != NO_PORT) & ((choosing.counted == ALL_HOPS) | (link_class == choosing.counted))).astype(np.int8)


def _phases(choosing: Choosing, source: np.ndarray, ports: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the number of hops counted before each hop, int8[B, L]. before: hops counted before the first, int8[B]."""
    phase, at, count = np.full(ports.shape, -1, np.int8), source, before
    for hop in range(ports.shape[1]):
        port = ports[:, hop]
        phase[:, hop] = np.where(port == NO_PORT, -1, count)
        count = count + _counts(choosing, at, port)
        at = np.where(port == NO_PORT, at, choosing.minimal.topology.ports[at, port])
    return phase


def _joined(walks: list[tuple[np.ndarray, int, _Walk]], packets: int) -> ChosenRoutes:
    """Make a row for each distinct route. walks: (packets, hops before the detour or −1 without a detour, hops)."""
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
        if hop % 2:  # the codes of two hops and the number of their prefix take 63 bits
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
