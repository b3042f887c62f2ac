"""Deadlock in the router: found where packets wait in a ring, and nowhere else; rules that prevent it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from torusweep_kernels.router import SWITCHINGS, Router, Wiring, simulate
from torusweep_kernels.routes import route_flows

from tests.kernels.router_cases import FREE, SATURATED, Routes, batch, both, ring_packets, torus_wiring, uniform


@pytest.mark.parametrize("switching", SWITCHINGS)
def test_a_ring_with_one_vc_deadlocks(switching: str) -> None:
    buffer = {"wormhole": 2}.get(switching, 6)
    found = both(
        torus_wiring(6, dateline=False, vcs=1),
        Router(1, buffer, switching),
        Routes(6).arrays,
        ring_packets(6, 6),
        cycles=10**6,
        stall=50,
    )
    assert (found.delivered < 0).all()
    assert sorted(found.waiting[0]) == [(node, 0, 0) for node in range(6)]
    assert [(node + 1) % 6 for node, _, _ in found.waiting[0]] == [
        node for node, _, _ in found.waiting[0][1:] + found.waiting[0][:1]
    ]
    # wormhole: heads leave in 0, are one node on in 2 and can go no farther; two flits of buffer are full with those
    # that leave in 0 and 1. With store-and-forward they come forward there when their sixth flits, sent in 5, have
    # arrived
    assert found.stalled[0] == (7 if switching == "store-and-forward" else 2)
    assert found.ran[0] == 100


@pytest.mark.parametrize("name", FREE)
def test_and_does_not_with_a_rule(name: str) -> None:
    wiring, router = FREE[name]
    found = both(wiring, router, Routes(6).arrays, ring_packets(6, 6), cycles=10**6, stall=50)
    assert (found.delivered >= 0).all()


@pytest.mark.parametrize("name", SATURATED)
def test_no_deadlock_in_a_flood(name: str) -> None:
    wiring, router = SATURATED[name]
    routes = Routes(4, 4)
    packets = uniform(routes, 3.0, 3000, 5, [1, 2])
    found = simulate(wiring, router, *routes.arrays, packets, cycles=10**6, stall=100, backend="numba")
    assert (found.delivered >= 0).all()
    # every flit over every channel of its route
    if not router.adaptive:
        source = np.repeat(np.tile(np.arange(16), 2), np.diff(packets.first, axis=1).ravel())
        expected = route_flows(wiring.to, source, packets.row, routes.direction, routes.hops, packets.length)
        assert found.flits.sum(axis=0).tolist() == expected.tolist()
    assert found.flits.sum() == (routes.hops[packets.row].sum(axis=1) * packets.length).sum()


@pytest.mark.parametrize(("x", "y", "hops"), [(2, 1, [(0, 0), (1, 0), (2, 2)]), (1, 2, [(0, 2), (5, 0), (6, 2)])])
def test_of_equal_credits_an_adaptive_head_prefers_the_longer_way(x: int, y: int, hops: list[tuple[int, int]]) -> None:
    """hops: (node, port), port 0 being x+ and 2 y+; with one hop left of each it goes along x."""
    routes = Routes(5, 5)
    wiring = torus_wiring(5, 5, vcs=2, dateline=False, escape=1)
    router = Router(2, 8, "virtual-cut-through", adaptive=True, escape=1, bubble=True)
    found = both(wiring, router, routes.arrays, batch(25, [[(0, 0, 5 * y + x, 5 * y + x, 2)]]), cycles=100)
    assert np.argwhere(found.flits[0]).tolist() == [list(hop) for hop in hops]


def test_a_flood_with_one_vc_deadlocks() -> None:
    routes = Routes(4, 4)
    packets = uniform(routes, 3.0, 3000, 5, [1, 2])
    found = simulate(
        torus_wiring(4, 4, vcs=1, dateline=False),
        Router(1, 2),
        *routes.arrays,
        packets,
        cycles=10**6,
        stall=100,
        backend="numba",
    )
    assert (found.stalled >= 0).all()
    assert all(len(cycle) >= 3 for cycle in found.waiting)


def test_a_local_deadlock_is_found_while_others_move() -> None:
    """A ring of four that stands still beside one, not connected, whose packets keep on for ever."""
    to = np.concatenate([np.roll(np.arange(4), -1), np.roll(np.arange(4, 8), -1)]).astype(np.int32)[:, None]
    wiring = Wiring(
        to,
        np.zeros((8, 2), np.int8),
        np.zeros((8, 2), bool),
        np.ones((8, 1), np.int16),
        np.zeros((1, 2), np.int8),
        "run",
        np.array([1]),
    )
    routes = np.zeros((3, 1), np.int8), np.arange(3)[:, None], np.zeros((3, 1), np.int8)
    stands = [(0, s, (s + 2) % 4, 2, 8) for s in range(4)]
    goes_on = [(t, 4, 5, 1, 2) for t in range(0, 5000, 4)]
    found = both(wiring, Router(1, 2), routes, batch(8, [stands + goes_on]), cycles=5000, stall=300)
    assert sorted(found.waiting[0]) == [(node, 0, 0) for node in range(4)]
    assert (found.stalled[0], found.ran[0]) == (2, 600)


def test_either_class_leaves_the_dependency_graph_without_cycles() -> None:
    """Of every run that will not cross, both variants; of those that will, class 0 before, class 1 after: Dally &
    Seitz's condition."""
    networkx = pytest.importorskip("networkx")
    for radices in ((5,), (6,), (4, 5)):
        wiring, routes = torus_wiring(*radices), Routes(*radices)
        graph = networkx.DiGraph()
        nodes = len(wiring.to)
        for source in range(nodes):
            for destination in range(nodes):
                row = int(routes.row(np.array(source), np.array(destination)))
                node, held = source, []
                for direction, hops in zip(routes.direction[row].tolist(), routes.hops[row].tolist()):
                    passed = []
                    for _ in range(hops):
                        passed.append((node, direction, bool(wiring.wrap[node, direction])))
                        node = int(wiring.to[node, direction])
                    crossing = next((i for i, hop in enumerate(passed) if hop[2]), None)
                    variants = (
                        [[0] * hops, [1] * hops] if crossing is None else [[int(i >= crossing) for i in range(hops)]]
                    )
                    ends = []
                    for classes in variants if hops else []:
                        way = [(n, d, c) for (n, d, _), c in zip(passed, classes)]
                        graph.add_edges_from([(last, way[0]) for last in held] + list(pairwise(way)))
                        ends.append(way[-1])
                    held = ends or held
        assert networkx.is_directed_acyclic_graph(graph)
