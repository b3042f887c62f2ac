"""Up*/down* routing, against networkx on a graph of (node, whether the packet has gone down)."""

from __future__ import annotations

from collections import deque

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.routing import LayeredRouting, routing

NETWORKS = [
    ("ring(k=7)", 0),
    ("torus(k=4, n=2)", 5),
    ("mesh(radices=[4, 3])", 11),
    ("hypercube(n=4)", 3),
    ("ccc(n=3)", 0),
    ("sequin(k=4, s=1, t=2)", 0),
    ("faulty(torus(k=4, n=2), links=9, seed=2)", 0),
    ("faulty(torus(k=4, n=2), nodes=2, seed=1)", 1),
    ("faulty(mesh(k=4, n=2), links=5, seed=4)", 6),
]


def routed(spelling: str, topology: Topology) -> LayeredRouting:
    found = routing(spelling, topology)[1]
    assert isinstance(found, LayeredRouting)
    return found


def permitted(topology: Topology, root: int) -> nx.DiGraph:
    """Moves between (node, whether it has gone down); a link leads up to the lower (hops from the root, number)."""
    links = nx.Graph((u, v) for u, v in zip(*(ends.tolist() for ends in topology.arcs[:2])))
    level = nx.single_source_shortest_path_length(links, root)
    moves = nx.DiGraph()
    for u, v in links.to_directed().edges:
        if (level[v], v) < (level[u], u):
            moves.add_edge((u, False), (v, False))
        else:
            moves.add_edges_from([((u, False), (v, True)), ((u, True), (v, True))])
    return moves


def shortest_by_networkx(moves: nx.DiGraph, source: int, destination: int) -> set[tuple[int, ...]]:
    """The node sequences of all shortest permitted paths."""
    arrivals = [(destination, down) for down in (False, True) if (destination, down) in moves]
    near = [end for end in arrivals if nx.has_path(moves, (source, False), end)]
    least = min(nx.shortest_path_length(moves, (source, False), end) for end in near)
    paths = [p for end in near for p in nx.all_shortest_paths(moves, (source, False), end) if len(p) == least + 1]
    return {tuple(u for u, _ in path) for path in paths}


def shortest_of(route: LayeredRouting, source: int, destination: int) -> list[tuple[int, ...]]:
    """The node sequences of all shortest paths from start to finish in the routing's own states."""
    paths: list[tuple[int, ...]] = []
    waiting = deque([(int(route.start[source]), (source,), 0)])
    while waiting:
        state, path, arcs = waiting.popleft()
        if paths and arcs - route.extra >= len(paths[0]):
            break
        if state == route.finish[destination]:
            assert arcs == len(path) - 1 + route.extra
            paths.append(path)
            continue
        for there, port in zip(route.states[state].tolist(), route.port[state].tolist()):
            if there >= 0:
                assert route.node[there] == (
                    route.topology.ports[route.node[state], port] if port >= 0 else route.node[state]
                )
                waiting.append((there, path if port < 0 else (*path, int(route.node[there])), arcs + 1))
    return paths


@pytest.mark.parametrize(("network", "root"), NETWORKS)
def test_all_shortest_permitted_paths_and_no_others(network, root):
    topology = build(network)
    route, moves = routed(f"up_down(root={root})", topology), permitted(topology, root)
    assert (route.split, route.extra) == ("paths", 1)
    for source in topology.terminals[::3].tolist():
        for destination in topology.terminals.tolist():
            paths = shortest_of(route, source, destination)
            assert len(paths) == len(set(paths))  # each path is one walk through the states
            assert set(paths) == (
                shortest_by_networkx(moves, source, destination) if source != destination else {(source,)}
            )


@pytest.mark.parametrize(("network", "root"), NETWORKS)
def test_no_cycle_of_channels(network, root):
    """The channel dependency graph has no cycle (Dally & Seitz 1987)."""
    topology = build(network)
    route = routed(f"up_down(root={root})", topology)
    waits = nx.DiGraph()
    for state, ports in enumerate(route.port):
        for first in ports[ports >= 0].tolist():
            onwards = route.states[state, first]
            for second in route.port[onwards][route.port[onwards] >= 0].tolist():
                waits.add_edge((int(route.node[state]), first), (int(route.node[onwards]), second))
    assert nx.is_directed_acyclic_graph(waits)
    assert set(waits) <= set(zip(topology.arcs[0].tolist(), topology.arcs[2].tolist()))


def test_split():
    topology = build("torus(k=4, n=2)")
    assert routed("up_down(split=next_hops)", topology).split == "next-hops"
    assert np.array_equal(routed("up-down", topology).states, routed("up_down(root=0, split=paths)", topology).states)


def test_parallel_links_are_one_channel(tmp_path):
    file = tmp_path / "double.edges"
    file.write_text("0 1\n0 1\n1 2\n2 3\n3 0\n")
    topology = build(f'graph(path="{file}")')
    assert topology.capacity is not None
    route = routed("up_down", topology)
    assert shortest_of(route, 0, 2) == [(0, 1, 2), (0, 3, 2)]
    assert shortest_of(route, 1, 3) == [(1, 0, 3)]  # 1 → 2 is down, and 2 → 3 up


@pytest.mark.parametrize(
    ("spelling", "network", "says"),
    [
        ("up_down", "directed_torus(k=4, n=2)", "expected bidirectional links, got a directed network"),
        ("up_down(root=16)", "torus(k=4, n=2)", "root=16: expected 0 … 15"),
        ("up_down", "pruned_xy(k=4)", "expected links that connect all terminals with root 0, got none to node 2"),
        (
            "up_down(root=5)",
            "faulty(torus(k=4, n=2), nodes=8, seed=1)",
            "expected links that connect all terminals with root 5",
        ),
    ],
)
def test_unsuitable_networks_are_refused(spelling, network, says):
    with pytest.raises(BadInput) as refusal:
        routed(spelling, build(network))
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_too_many_ports_are_refused(tmp_path):
    file = tmp_path / "star.edges"
    file.write_text("".join(f"0 {leaf}\n" for leaf in range(1, 129)))
    with pytest.raises(BadInput, match="at most 127 ports a node, got 128"):
        routed("up_down", build(f'graph(path="{file}")'))
