"""Searches on graphs of channels: steps of many hops, shortest cycles, distances to destinations, walks."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from torusweep.questions.deadlock.route_windows import cells_after
from torusweep_kernels.dependencies import (
    Moves,
    Packets,
    Runs,
    mark_routes,
    nearest_first,
    no_channels,
    shortest_cycle,
)

from tests.questions.deadlock.plain_dependencies import shortest_cycle_length


@pytest.mark.parametrize("seed", range(5))
def test_cells_after_hops(seed):
    random = np.random.default_rng(seed)
    onward = random.integers(-1, 9, (4, 9))  # −1 = does not lead on
    cell, direction, hops = random.integers(-1, 9, 200), random.integers(0, 4, 200), random.integers(0, 40, 200)
    found = cells_after(onward, cell, direction, hops)
    for at, d, left, end in zip(cell.tolist(), direction.tolist(), hops.tolist(), found.tolist()):
        while left and at >= 0:
            at, left = onward[d, at], left - 1
        assert at == end


@pytest.mark.parametrize("seed", range(40))
def test_shortest_cycle_of_random_graphs(seed):
    random = np.random.default_rng(seed)
    plain = nx.gnp_random_graph(14, random.uniform(0.05, 0.2), seed=seed, directed=True)
    to = [sorted(plain.successors(v)) for v in plain]
    cycle = shortest_cycle(np.cumsum([0, *map(len, to)]), np.array([v for row in to for v in row], np.int32))
    if nx.is_directed_acyclic_graph(plain):
        assert len(cycle) == 0
    else:
        assert all(plain.has_edge(int(u), int(v)) for u, v in pairwise([*cycle, cycle[0]]))
        assert len(cycle) == shortest_cycle_length(plain)


@pytest.mark.parametrize("seed", range(5))
def test_nearest_first_of_random_graphs(seed):
    plain = nx.random_k_out_graph(30, 3, 1.0, self_loops=False, seed=seed)
    plain = nx.DiGraph(plain.subgraph(max(nx.strongly_connected_components(plain), key=len)))
    number = {node: i for i, node in enumerate(sorted(plain))}
    ports = np.full((len(plain), 3), -1, np.int32)
    for node, i in number.items():
        for port, other in enumerate(plain.successors(node)):
            ports[i, port] = number[other]
    destinations = np.array([2, 0, len(plain) - 1], np.int32)
    away, order = nearest_first(ports, destinations)
    for row, destination in enumerate(destinations):
        lengths = nx.shortest_path_length(plain, target=sorted(plain)[destination])
        assert away[row].tolist() == [lengths[node] for node in sorted(plain)]
        assert sorted(order[row]) == list(range(len(plain)))
        assert (np.diff(away[row, order[row]]) >= 0).all()


def test_nearest_first_refuses_an_unreachable_destination():
    with pytest.raises(ValueError, match="every node leads to every destination"):
        nearest_first(np.array([[1], [0], [0]], np.int32), np.array([0, 2], np.int32))


def test_nearest_first_counts_up_to_16_bits():
    def ring(nodes):
        return np.roll(np.arange(nodes, dtype=np.int32), -1)[:, None]

    assert nearest_first(ring(2**15), np.zeros(1, np.int32))[0].max() == 2**15 - 1
    with pytest.raises(ValueError, match="less than 32,768 hops"):
        nearest_first(ring(2**15 + 1), np.zeros(1, np.int32))


def test_mark_routes_names_a_route_that_does_not_arrive():
    to, one = np.array([[1], [2], [0]], np.int32), np.array([[1]], np.int16)
    with pytest.raises(ValueError, match="from node 0 to node 2 does not lead there"):
        mark_routes(
            no_channels(3, 1),
            Moves(to, np.zeros((3, 1), np.int8), np.zeros((3, 1), bool)),
            Packets(np.array([1, 0]), np.array([2, 2]), np.zeros(2, np.int32), np.array([0, 1])),
            Runs(np.zeros((1, 1), np.int8), one, one * 0),
            np.zeros((1, 2), np.int16),
            "run",
        )
