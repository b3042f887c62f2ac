"""Routes walked hop by hop in plain loops, the reference for all faster computations."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import networkx as nx
import numpy as np
from torusweep.routing import (
    LayeredRouting,
    Routes,
    Routing,
    SourceRouting,
    TableRouting,
)

Hop = tuple[int, int]  # node, port


def routes_between(form: Routing, source: int, destination: int) -> Iterator[tuple[float, list[Hop]]]:
    """Yield (share, hops) of every route of a pair; for Valiant, both halves by way of every node."""
    if isinstance(form, LayeredRouting):
        yield from _layered(form, source, destination)
    elif isinstance(form, TableRouting):
        yield from _by_table(form, source, destination)
    elif form.passes == 1:
        yield from _source(form, source, destination)
    else:
        nodes = form.topology.nodes
        for between in range(nodes):
            for share, first in _source(form, source, between):
                for other, second in _source(form, between, destination):
                    yield share * other / nodes, [*first, *second]


@cache
def _all_routes(form: SourceRouting) -> tuple[dict[int, int], Routes]:
    """Return ({key: index} of all keys that occur, their routes)."""
    everyone = np.arange(form.topology.nodes)
    keys = np.unique(form.key(everyone[:, None], everyone[None, :]))
    return {int(key): place for place, key in enumerate(keys)}, form.routes(keys)


def _source(form: SourceRouting, source: int, destination: int) -> Iterator[tuple[float, list[Hop]]]:
    places, routes = _all_routes(form)
    place = places[int(form.key(np.array(source), np.array(destination)))]
    for row in range(int(routes.first[place]), int(routes.first[place + 1])):
        node, hops = source, []
        for direction, count in zip(routes.direction[row].tolist(), routes.hops[row].tolist()):
            for _ in range(count):
                port = int(form.moves.port[node, direction])
                assert port >= 0, f"direction {direction} does not lead on at node {node}"
                hops.append((node, port))
                node = int(form.topology.ports[node, port])
        assert node == destination, f"a route from {source} to {destination} ends at {node}"
        yield float(routes.weight[row]), hops


@cache
def _graph_of_states(form: LayeredRouting) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(len(form.states)))
    for state, arc in np.argwhere(form.states >= 0).tolist():
        graph.add_edge(state, int(form.states[state, arc]), arc)
    return graph


@cache
def _distances(form: LayeredRouting, finish: int) -> dict[int, int]:
    """Arcs from every state that leads to `finish`."""
    return dict(nx.shortest_path_length(_graph_of_states(form), target=finish))


def _layered(form: LayeredRouting, source: int, destination: int) -> Iterator[tuple[float, list[Hop]]]:
    """Routes by paths or by next hops; a channel counts once per parallel link."""
    graph = _graph_of_states(form)
    start, finish = int(form.start[source]), int(form.finish[destination])
    distance = _distances(form, finish)
    capacity = form.topology.capacity

    def ways(state: int) -> list[tuple[int, int, int]]:
        """Return (arc, next state, parallel links) of every arc that leads nearer."""
        found = []
        for _, after, arc in graph.out_edges(state, keys=True):
            if distance.get(after, np.inf) == distance[state] - 1:
                port = int(form.port[state, arc])
                found.append((arc, after, 1 if capacity is None or port < 0 else int(capacity[form.node[state], port])))
        return found

    def paths(state: int) -> float:
        return 1.0 if state == finish else sum(many * paths(after) for _, after, many in ways(state))

    def walk(state: int, share: float, hops: list[Hop]) -> Iterator[tuple[float, list[Hop]]]:
        if state == finish:
            yield share, hops
            return
        weights = [many * (paths(after) if form.split == "paths" else 1.0) for _, after, many in ways(state)]
        for (arc, after, _), weight in zip(ways(state), weights):
            port = int(form.port[state, arc])
            step = [] if port < 0 else [(int(form.node[state]), port)]
            yield from walk(after, share * weight / sum(weights), [*hops, *step])

    yield from walk(start, 1.0, [])


def _by_table(form: TableRouting, source: int, destination: int) -> Iterator[tuple[float, list[Hop]]]:
    """Row by row, from the configuration in which the pair's packets are injected."""

    def walk(configuration: int, share: float, hops: list[Hop]) -> Iterator[tuple[float, list[Hop]]]:
        if configuration < 0:
            yield share, hops
            return
        node, rows = int(form.at[configuration]), range(*form.rows[configuration : configuration + 2].tolist())
        total = sum(float(form.weight[row]) for row in rows)
        for row in rows:
            after = [*hops, (node, int(form.port[row]))]
            yield from walk(int(form.next[row]), share * float(form.weight[row]) / total, after)

    pairs = dict(zip(form.entry_pair.tolist(), form.entry.tolist()))
    yield from walk(pairs.get(destination * form.topology.nodes + source, -1), 1.0, [])


def plain_loads(form: Routing, demands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (float64[K, N, P] loads of the channels, float64[K] hops of all flits) of demands between nodes,
    float64[K, N, N]."""
    loads, hops = np.zeros((len(demands), *form.topology.ports.shape)), np.zeros(len(demands))
    for source, destination in np.argwhere((demands > 0).any(axis=0)).tolist():
        wanted = demands[:, source, destination]
        for share, route in routes_between(form, source, destination):
            hops += wanted * share * len(route)
            for node, port in route:
                loads[:, node, port] += wanted * share
    return loads, hops


Hops = tuple[tuple[int, int], ...]


def walks(table: TableRouting, source: int, destination: int) -> dict[Hops, Fraction]:
    """{hops (node, port): probability} of the packets of a pair, by following the rows of the table one by one."""
    found: dict[Hops, Fraction] = {}
    start = [e for e, pair in zip(table.entry.tolist(), table.entry_pair.tolist())
             if pair == destination * table.topology.nodes + source]  # fmt: skip
    waiting = [(start[0] if start else -1, Fraction(1), ())]
    while waiting:
        at, share, hops = waiting.pop()
        if at < 0:
            found[hops] = found.get(hops, Fraction(0)) + share
            continue
        rows = range(int(table.rows[at]), int(table.rows[at + 1]))
        total = sum(Fraction(float(table.weight[row])) for row in rows)
        for row in rows:
            port = int(table.port[row])
            after = hops if port < 0 else (*hops, (int(table.at[at]), port))
            waiting.append((int(table.next[row]), share * Fraction(float(table.weight[row])) / total, after))
    return found


def shortest_by_group(topology, size):
    """All shortest paths with one hop between groups at most, equally often: breadth-first search over (node, hops)."""
    neighbours = [[v for v in row if v >= 0] for row in topology.ports.tolist()]

    def routes(u, v):
        level = {(u, 0): [[u]]}
        while True:
            found = [path for (node, _), paths in level.items() if node == v for path in paths]
            if found:
                return [(1 / len(found), path) for path in found]
            following: dict = {}
            for (node, crossed), paths in level.items():
                for other in neighbours[node]:
                    after = crossed + (node // size != other // size)
                    if after <= 1:
                        following.setdefault((other, after), []).extend([*path, other] for path in paths)
            level = following

    return routes


def by_way_of_a_group(topology, size):
    """Every other group equally often: all shortest paths into it equally often, then `shortest_by_group`."""
    neighbours = [[v for v in row if v >= 0] for row in topology.ports.tolist()]
    on, groups = shortest_by_group(topology, size), len(neighbours) // size

    def into(u, group):
        level = [[u]]
        while not (found := [path for path in level if path[-1] // size == group]):
            level = [[*path, v] for path in level for v in neighbours[path[-1]] if v // size in (u // size, group)]
        return found

    def routes(u, v):
        between = [group for group in range(groups) if group not in (u // size, v // size)]
        if u // size == v // size or not between:
            return on(u, v)
        return [
            (share / len(between) / len(paths), path[:-1] + rest)
            for paths in (into(u, group) for group in between)
            for path in paths
            for share, rest in on(path[-1], v)
        ]

    return routes
