"""Routes walked hop by hop in plain loops, the reference for all faster computations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import networkx as nx
import numpy as np
from torusweep.routing import LayeredRouting, Routes, Routing, SourceRouting, TableRouting

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


def plain_loads(form: Routing, demand: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (float64[N, P] loads of the channels, hops of all flits) of a demand between nodes, float64[N, N]."""
    load, hops = np.zeros(form.topology.ports.shape), 0.0
    for source, destination in np.argwhere(demand > 0).tolist():
        for share, route in routes_between(form, source, destination):
            hops += demand[source, destination] * share * len(route)
            for node, port in route:
                load[node, port] += demand[source, destination] * share
    return load, hops
