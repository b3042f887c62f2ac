"""Random shortest walks on every backend against plain walks, all shortest paths, exact loads, and what must be
conserved."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep_kernels.loads import SPLITS, minimal_loads
from torusweep_kernels.walks import cpu, reference, shortest_walks

from tests.kernels import oracle, walks_oracle
from tests.kernels.walks_cases import drawn, same

BACKENDS = ("numpy", "numba", "cupy")
RING, RING_OF_5 = oracle.torus(6), oracle.torus(5)
AsCupy = Callable[..., ModuleType]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, as_cupy: AsCupy) -> str:
    """Every backend in turn; cupy is the fake, with few threads, so that each takes several packets."""
    if request.param == "cupy":
        as_cupy(multiprocessors=1, cache=2**12)
    return request.param


TASKS: dict[str, dict[str, Any]] = {
    "sparse, in pieces": {"seed": 1, "nodes": 60, "degree": 2, "packets": 1500},
    "parallel links": {"seed": 2, "nodes": 40, "degree": 4, "packets": 1500, "capacity": True},
    "dense": {"seed": 3, "nodes": 8, "degree": 4, "packets": 500, "capacity": True, "groups": 1},
    "as many ports as are unrolled": {"seed": 4, "nodes": 30, "degree": 12, "packets": 300},
    "one more": {"seed": 5, "nodes": 30, "degree": 13, "packets": 300, "capacity": True},
    "one port": {"seed": 6, "nodes": 9, "degree": 1, "packets": 300},
    "no ports": {"seed": 7, "nodes": 5, "degree": 0, "packets": 50},
    "one packet": {"seed": 8, "nodes": 20, "degree": 4, "packets": 1},
    "no packets": {"seed": 9, "nodes": 20, "degree": 4, "packets": 0},
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", TASKS)
def test_against_plain_walks(name: str, split: str, backend: str) -> None:
    task = drawn(**TASKS[name])
    found = shortest_walks(**task, split=split, backend=backend)
    assert found.count.dtype == found.unreachable.dtype == np.int64
    assert same(walks_oracle.walks(**task, split=split), found)


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_drawn_tasks(data: st.DataObject, as_cupy: AsCupy) -> None:
    as_cupy(multiprocessors=1, cache=1)
    task = drawn(
        data.draw(st.integers(0, 10**6), "seed"),
        nodes=data.draw(st.integers(1, 12), "nodes"),
        packets=data.draw(st.integers(0, 60), "packets"),
        groups=data.draw(st.integers(1, 4), "groups"),
        **data.draw(
            st.sampled_from([{"degree": 0}, {"degree": 2}, {"degree": 4}, {"degree": 4, "capacity": True}]), "links"
        ),  # each compiled once
    )
    split = data.draw(st.sampled_from(SPLITS), "split")
    expected = walks_oracle.walks(**task, split=split)
    assert all(same(expected, shortest_walks(**task, split=split, backend=backend)) for backend in BACKENDS)


def large_task() -> dict[str, Any]:
    """Far more packets to some destinations than to others."""
    rng = np.random.default_rng(11)
    ports = oracle.torus(12, 12)
    ports[:, 3] = rng.integers(-1, 144, 144)
    start, uniform = rng.integers(0, 144, (2, 60_000))
    destination = np.where(rng.random(60_000) < 0.4, 17, uniform)
    return {
        "ports": ports,
        "start": start,
        "destination": destination,
        "group": rng.integers(0, 4, 60_000),
        "groups": 4,
        "seed": 3,
    }


@pytest.mark.parametrize("split", SPLITS)
def test_the_same_counts_however_the_work_is_cut(split: str, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    task = large_task()
    whole = shortest_walks(**task, split=split, backend="numba", threads=1)
    as_cupy(cache=2**14)
    for backend in ("numpy", "cupy"):
        assert same(whole, shortest_walks(**task, split=split, backend=backend))
    for threads, piece in ((2, 2**16), (3, 1000), (8, 256), (2, 255)):
        monkeypatch.setattr(cpu, "PIECE", piece)
        assert same(whole, shortest_walks(**task, split=split, backend="numba", threads=threads))
    monkeypatch.setattr(reference, "PACKETS", 5000)
    monkeypatch.setattr(reference, "SCRATCH", 2**16)
    assert same(whole, shortest_walks(**task, split=split, backend="numpy"))
    for cut in (1, 17_003):
        count, unreachable = np.zeros_like(whole.count), np.zeros_like(whole.unreachable)
        for part in (slice(None, cut), slice(cut, None)):
            packets = {name: task[name][part] for name in ("start", "destination", "group")}
            some = shortest_walks(**{**task, **packets}, first=part.start or 0, split=split, backend="numba")
            count, unreachable = count + some.count, unreachable + some.unreachable
        assert same((count, unreachable), whole)
    together = shortest_walks(**{**task, "group": None, "groups": 1}, split=split, backend="numba")
    assert same((whole.count.sum(axis=0)[None], whole.unreachable.sum()[None]), together)


def test_seeds_and_numbers_matter() -> None:
    task = large_task()
    counts = [
        shortest_walks(**{**task, **change}, backend="numba").count
        for change in ({}, {"seed": 4}, {"seed": 3 + 2**32}, {"first": 1})
    ]
    assert not any(np.array_equal(one, other) for one, other in itertools.combinations(counts, 2))


@pytest.mark.parametrize("split", SPLITS)
def test_what_walks_in_walks_out(split: str) -> None:
    task = large_task()
    found = shortest_walks(**task, split=split, backend="numba")
    hops = dict(
        networkx.all_pairs_shortest_path_length(
            networkx.DiGraph((u, int(v)) for u, row in enumerate(task["ports"]) for v in row if v >= 0)
        )
    )
    for group in range(4):
        own = task["group"] == group
        start, destination = task["start"][own], task["destination"][own]
        heads, count = task["ports"].ravel(), found.count[group].ravel()
        inflow = np.bincount(heads[heads >= 0], count[heads >= 0], 144)
        arrived, started = (np.bincount(nodes, minlength=144) for nodes in (destination, start))
        assert (inflow + started).tolist() == (found.count[group].sum(axis=1) + arrived).tolist()
        assert count.sum() == sum(hops[u][v] for u, v in zip(start.tolist(), destination.tolist()))
        assert not count[heads < 0].any()


def fractions(
    ports: np.ndarray, capacity: np.ndarray, start: int, target: int, split: str
) -> dict[tuple[tuple[int, int], ...], Fraction]:
    """Probability of every shortest path, as (node, port)s: networkx lists the paths over nodes, parallel links make
    several of each."""
    graph = networkx.DiGraph((node, int(head)) for node, row in enumerate(ports) for head in row if head >= 0)
    paths = list(networkx.all_shortest_paths(graph, start, target))
    after: dict[int, set[int]] = {}
    for path in paths:
        for node, head in itertools.pairwise(path):
            after.setdefault(node, set()).add(head)
    found = {}
    for path in paths:
        for ways in itertools.product(
            *[[(n, int(p)) for p in np.flatnonzero(ports[n] == h)] for n, h in itertools.pairwise(path)]
        ):
            found[ways] = Fraction(int(np.prod([capacity[way] for way in ways])))
            if split == "next-hops":
                for node, _ in ways:
                    found[ways] /= int(capacity[node][np.isin(ports[node], list(after[node]))].sum())
    whole = sum(found.values())
    return {ways: part / whole for ways, part in found.items()}


GRID = networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(4, 4))
LAYERS = oracle.table([[1, 2, 3, 1], [4, 5, 4], [5, 0, 6], [4, 6, 6], [7, 7], [7], [0, 7], []])
MANY_WAYS = {
    "20 paths across a mesh": (oracle.table([GRID.neighbors(node) for node in range(16)]), np.ones((16, 4), int)),
    "parallel links": (LAYERS, 1 + np.arange(LAYERS.size).reshape(LAYERS.shape) % 3),
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", MANY_WAYS)
def test_every_path_is_as_likely_as_it_should_be(name: str, split: str) -> None:
    """A group for each packet shows its whole way."""
    ports, capacity = MANY_WAYS[name]
    start, target = 0, len(ports) - 1
    expected = fractions(ports, capacity, start, target, split)
    packets = 30_000
    packet = np.arange(packets)
    ends = np.full(packets, start), np.full(packets, target)
    found = shortest_walks(
        ports, *ends, packet, groups=packets, seed=9, split=split, capacity=capacity, backend="numba"
    )
    assert found.count.max() == 1
    by_packet: dict[int, set[tuple[int, int]]] = {}
    for packet, node, port in np.argwhere(found.count).tolist():
        by_packet.setdefault(packet, set()).add((node, port))
    seen = Counter(frozenset(ways) for ways in by_packet.values())
    assert set(seen) <= {frozenset(ways) for ways in expected}
    for ways, part in expected.items():
        deviation = (packets * float(part * (1 - part))) ** 0.5
        assert abs(seen[frozenset(ways)] - packets * float(part)) < 5 * deviation


LOADED: dict[str, tuple[np.ndarray, np.ndarray | None]] = {
    "torus 8×8": (oracle.torus(8, 8), None),
    "torus 6×4×3": (oracle.torus(6, 4, 3), None),
    "random, parallel links": tuple(drawn(3, 80, 4, 0, capacity=True)[key] for key in ("ports", "capacity")),  # type: ignore[dict-item]
    "hubs": (oracle.table([list(row) for _, row in networkx.barabasi_albert_graph(90, 2, seed=4).adjacency()]), None),
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", LOADED)
def test_mean_counts_are_the_exact_loads(name: str, split: str) -> None:
    ports, capacity = LOADED[name]
    nodes, rng = len(ports), np.random.default_rng(2)
    start, destination = rng.integers(0, nodes, (2, 400_000))
    demand = np.zeros((nodes, nodes))
    np.add.at(demand, (destination, start) if split == "next-hops" else (start, destination), 1)
    exact = minimal_loads(ports, np.arange(nodes), demand=demand, split=split, capacity=capacity, backend="numba")
    found = shortest_walks(ports, start, destination, seed=8, split=split, capacity=capacity, backend="numba")
    error = found.count[0] - exact.load
    # a packet passes a channel at most once: the count is a sum of independent events, whose variance is below its mean
    assert (np.abs(error) <= 5 * np.sqrt(exact.load) + 1e-6 * exact.load).all()
    assert np.abs(error).max() > 0
    assert (found.unreachable[0], found.count.sum()) == (exact.unreachable, pytest.approx(exact.hops, rel=1e-12))


def diamonds(number: int) -> list[list[int]]:
    """A chain: node 3i leads to 3i + 1 and 3i + 2, both lead to 3i + 3; so 2^number paths from end to end."""
    return [[3 * i + 1, 3 * i + 2] if j == 0 else [3 * i + 3] for i in range(number) for j in range(3)] + [[]]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("number", [31, 40, 60])
def test_a_path_among_very_many(number: int, order: int, backend: str) -> None:
    """From the last node to the end of the diamonds: through them, or by a plain chain as long."""
    rows = diamonds(number)
    end, length = len(rows) - 1, 2 * number
    chain = [[len(rows) + i + 1] for i in range(length - 1)] + [[end]]
    ports = oracle.table([*rows, *chain, [0, len(rows)][::order]])
    packets = 1000
    task = {"ports": ports, "start": np.full(packets, len(ports) - 1), "destination": np.full(packets, end)}
    found = shortest_walks(**task, backend=backend)
    through = 0 if order == 1 else 1
    assert found.count[0, -1].tolist() == [packets * (through == port) for port in (0, 1)]
    assert found.count[0, 0].sum() == packets
    if number == 60 and order == 1:
        halves = shortest_walks(**task, split="next-hops", backend=backend).count[0, -1]
        assert abs(halves[0] - packets / 2) < 5 * (packets / 4) ** 0.5


def test_more_paths_than_can_be_counted(backend: str) -> None:
    ports = oracle.table(diamonds(1030))
    start, destination = np.zeros(10, int), np.full(10, len(ports) - 1)
    with pytest.raises(
        OverflowError, match=r"expected at most 1\.8e308 shortest paths between two nodes, got more; next-hops"
    ):
        shortest_walks(ports, start, destination, backend=backend)
    assert shortest_walks(ports, start, destination, split="next-hops", backend=backend).count.sum() == 10 * 2060
    assert shortest_walks(ports, start, np.full(10, 3 * 1000), backend=backend).count.sum() == 10 * 2000


# Packets, found by trying, that draw such a number where two ports may be: ahead (+1, +2) or not (0: its own node, −1:
# missing)
EDGES: dict[str, tuple[int, int, int, tuple[int, int], int]] = {
    "the greatest, the last port missing": (2**32 - 1, 1538303059, 1, (1, -1), 0),
    "the greatest, the last port to its own node": (2**32 - 1, 1538303059, 1, (1, 0), 0),
    "the least, the first port missing": (0, 1498094372, 3, (-1, 1), 1),
    "the least, the first port to its own node": (0, 1498094372, 3, (0, 1), 1),
    "the first half's last": (2**31 - 1, 1233743196, 2, (1, 2), 0),
    "the second half's first": (2**31, 648093868, 3, (1, 2), 1),
}


@pytest.mark.parametrize("name", EDGES)
def test_draws_at_the_edges(name: str, backend: str) -> None:
    draw, number, hop, ahead, taken = EDGES[name]
    assert walks_oracle.philox((number, 0, 0, 0), (0, 0))[hop] == draw
    chain = [[node + 1, -1] for node in range(hop)]
    fork = [-1 if step < 0 else hop + step for step in ahead]
    ports = np.array([*chain, fork, [hop + 3, -1], [hop + 3, -1], [-1, -1]])
    found = shortest_walks(ports, np.zeros(1, int), np.full(1, hop + 3), first=number, backend=backend)
    assert found.count[0, : hop + 1].tolist() == [[1, 0]] * hop + [[int(taken == 0), int(taken == 1)]]
    assert found.count.sum() == hop + 2


@pytest.mark.parametrize("packets", [255, 256, 257, 513])
def test_tiles_of_packets(packets: int) -> None:
    """Along a ring of 40 nodes, one way; each packet its own distance."""
    distance = np.arange(packets) % 40
    found = shortest_walks(
        (np.arange(40)[:, None] + 1) % 40, (40 - distance) % 40, np.zeros(packets, int), backend="numba", threads=1
    )
    assert found.count[0, :, 0].tolist() == [int((distance >= 40 - node).sum()) if node else 0 for node in range(40)]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown split": ({"split": "links"}, "split of paths, next-hops, got 'links'"),
    "ports of one dimension": ({"ports": RING[:, 0]}, r"ports of shape \[N, P\], got \(6,\)"),
    "port outside": ({"ports": RING + 1}, "ports of -1 … 5, got 1 … 6"),
    "start of two dimensions": ({"start": [[0, 1]]}, r"start of shape \[B\], got \(1, 2\)"),
    "start outside": ({"start": [0, 6]}, "start of 0 … 5, got 0 … 6"),
    "start that wraps round": ({"start": [0, 2**32]}, "start of 0 … 5, got 0 … 4294967296"),
    "start between nodes": ({"start": [0.5, 1]}, "whole numbers in start, got float64"),
    "destination outside": ({"destination": [-1, 0]}, "destination of 0 … 5, got -1 … 0"),
    "destinations of another length": (
        {"destination": [1]},
        r"destination of shape \(2,\), one per packet, got \(1,\)",
    ),
    "groups of another length": ({"group": [0]}, r"group of shape \(2,\), one per packet, got \(1,\)"),
    "group outside": ({"group": [0, 3], "groups": 3}, "group of 0 … 2, got 0 … 3"),
    "no groups": ({"groups": 0}, "groups ≥ 1, got 0"),
    "negative number": ({"first": -1}, "first of 0 … 2⁶⁴ − 2, got -1"),
    "number too great": ({"first": 2**64 - 1}, "first of 0 … 2⁶⁴ − 2, got 18446744073709551615"),
    "seed too great": ({"seed": 2**64}, "seed of 0 … 2⁶⁴ − 1, got 18446744073709551616"),
    "capacity of another shape": ({"capacity": np.ones((6, 1))}, r"capacity of shape \(6, 2\), got \(6, 1\)"),
    "no capacity": ({"capacity": np.zeros((6, 2))}, "capacity ≥ 1 wherever a port leads somewhere, got 0"),
    "no threads": ({"threads": 0}, "threads ≥ 1 or None, got 0"),
    "unknown backend": ({"backend": "abacus"}, "expected a backend of .*, got 'abacus'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_contradictions_are_refused(name: str) -> None:
    change, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        shortest_walks(**{"ports": RING, "start": [0, 1], "destination": [2, 3], "backend": "numpy", **change})
