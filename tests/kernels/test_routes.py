"""Flows of routed packets on every backend against packets that walk one by one in plain Python."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from torusweep_kernels.routes import cpu, reference, route_ends, route_flows
from torusweep_kernels.routes.reference import lines

from tests.kernels import oracle

BACKENDS = ("numpy", "numba")
AsCupy = Callable[..., ModuleType]
MOST = 2**63 - 1
LINE = np.array([[1, -1], [2, 0], [3, 1], [-1, 2]])


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


def walk(next: np.ndarray, node: int, runs: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], int]:
    """(channels passed, where the packet arrives; −1 where a direction does not lead on)."""
    passed = []
    for direction, hops in runs:
        for _ in range(hops):
            if node >= 0:
                passed.append((node, direction))
                node = int(next[node, direction])
    return passed, node


def walked(task: dict[str, np.ndarray]) -> tuple[list[list[int]], list[int]]:
    """(flow, ends) in Python's integers."""
    nodes, directions = task["next"].shape
    flow = [[0] * directions for _ in range(nodes)]
    ends = []
    amounts = task["amount"].tolist() if "amount" in task else [1] * len(task["start"])
    for start, row, amount in zip(task["start"].tolist(), task["row"].tolist(), amounts):
        passed, end = walk(task["next"], start, list(zip(task["direction"][row].tolist(), task["hops"][row].tolist())))
        for node, direction in passed:
            flow[node][direction] += amount
        ends.append(end)
    return flow, ends


def cycles(rng: np.random.Generator, nodes: int) -> np.ndarray:
    """Every direction a permutation: cycles of all lengths, some nodes lead to themselves."""
    return np.stack([rng.permutation(nodes) for _ in range(5)], axis=1)


def cycles_and_chains(rng: np.random.Generator, nodes: int) -> np.ndarray:
    """Permutations, broken in places: each node is led to from one node at most."""
    return np.where(rng.random((nodes, 5)) < 0.1, -1, cycles(rng, nodes))


def branches(rng: np.random.Generator, nodes: int) -> np.ndarray:
    """Directions join, in chains and in cycles."""
    return rng.integers(-1, nodes, (nodes, 5))


def drawn(table: Callable[[np.random.Generator, int], np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """Packets over random routes that lead on: half of the runs are empty, and those name any direction."""
    rng = np.random.default_rng(seed)
    next, rows, packets = table(rng, 40), 200, 3000
    hops = rng.choice([0, 0, 0, 0, 1, 2, 9, 30], (rows, 8))
    direction = np.where(hops == 0, rng.integers(-128, 128, hops.shape), rng.integers(0, 5, hops.shape))
    task = {
        "next": next,
        "start": rng.integers(0, 40, packets),
        "row": rng.integers(0, rows, packets),
        "direction": direction,
        "hops": hops,
    }
    arrive = np.array(walked(task)[1]) >= 0
    task["start"], task["row"] = task["start"][arrive], task["row"][arrive]
    assert len(task["start"]) > 100
    return task | {"amount": rng.integers(0, 2**40, len(task["start"]))}


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("table", [cycles, cycles_and_chains, branches])
def test_like_packets_one_by_one(table: Callable[..., np.ndarray], seed: int, counted: bool, backend: str) -> None:
    task = drawn(table, seed)
    if counted:
        del task["amount"]
    flow, ends = walked(task)
    found = route_flows(**task, backend=backend)
    assert found.dtype == np.int64
    assert found.tolist() == flow
    task.pop("amount", None)
    arrived = route_ends(**task)
    assert arrived.dtype == np.int32
    assert arrived.tolist() == ends


def dimension_order(*radices: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(direction, hops, weight) by relative address, ties as two rows of weight 1 where other rows have 2 for each
    dimension."""
    rows: list[tuple[list[int], list[int], int]] = [([], [], 1)]
    for dimension, k in reversed(list(enumerate(radices))):
        turns = [
            [(2 * dimension, d, 2)] if 2 * d < k else [(2 * dimension + 1, k - d, 2)] if 2 * d > k else []
            for d in range(k)
        ]
        if k % 2 == 0:
            turns[k // 2] = [(2 * dimension, k // 2, 1), (2 * dimension + 1, k // 2, 1)]
        rows = [([d, *ds], [h, *hs], w * v) for ds, hs, w in rows for turn in turns for d, h, v in turn]
    direction, hops, weight = zip(*rows)
    return np.array(direction), np.array(hops), np.array(weight)


@pytest.mark.parametrize("radices", [(8, 8), (5, 4, 6), (9,)])
def test_all_to_all_on_tori(radices: tuple[int, ...], backend: str) -> None:
    """Every channel of a ring of k carries the sum of its distances ÷ 2, once for each node elsewhere."""
    direction, hops, weight = dimension_order(*radices)
    nodes = int(np.prod(radices))
    start, row = (grid.ravel() for grid in np.meshgrid(np.arange(nodes), np.arange(len(hops))))
    flow = route_flows(oracle.torus(*radices), start, row, direction, hops, weight[row], backend=backend)
    whole = 2 ** len(radices)
    for dimension, k in enumerate(radices):
        ring = sum(min(d, k - d) for d in range(k))
        assert (2 * flow[:, 2 * dimension : 2 * dimension + 2] == whole * ring * nodes // k).all()


def test_winding_many_times(backend: str) -> None:
    """A ring of 7 entered by a tail of 2, and a node that leads to itself."""
    next = np.array([1, 2, 3, 4, 5, 6, 0, 0, 7, 9])[:, None]
    flow = route_flows(next, [8, 9], [0, 1], [[0], [0]], [[2 + 7 * 1000 + 3], [32767]], [3, 1], backend=backend)
    assert flow[:, 0].tolist() == [3003] * 3 + [3000] * 4 + [3, 3, 32767]


@pytest.mark.parametrize("packets", [0, 1, cpu.FEW, 5 * cpu.FEW + 1])
def test_threads_do_not_matter(packets: int) -> None:
    direction, hops, _ = dimension_order(8, 8)
    rng = np.random.default_rng(3)
    start, row, amount = (
        rng.integers(0, 64, packets),
        rng.integers(0, len(hops), packets),
        rng.integers(0, 2**40, packets),
    )
    task = oracle.torus(8, 8), start, row, direction, hops, amount
    found = [route_flows(*task, backend="numba", threads=threads).tolist() for threads in (1, 2, 7)]
    assert found == [route_flows(*task, backend="numpy").tolist()] * 3
    assert np.array(found[0]).sum() == (hops.sum(axis=1)[row] * amount).sum()


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize(("groups", "first"), [(1, 5), (3, 0), (7, 2**40 + 3), (32, 31)])
@pytest.mark.parametrize("table", [cycles_and_chains, branches])
def test_groups_of_packets(
    table: Callable[..., np.ndarray],
    groups: int,
    first: int,
    counted: bool,
    backend: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of a group alone, however many threads there are; more groups than packets, too."""
    monkeypatch.setattr(cpu, "FEW", 20)
    monkeypatch.setattr(reference, "BLOCK", 101)
    task = drawn(table, 3)
    if counted:
        del task["amount"]
    for packets in (len(task["start"]), 10):
        some = {name: task[name][:packets] for name in ("start", "row", "amount") if name in task}
        group = np.array([(first + packet) % groups for packet in range(packets)])
        expected = [
            walked(task | {name: array[group == own] for name, array in some.items()})[0] for own in range(groups)
        ]
        for threads in (1, 2, 100) if backend == "numba" else (None,):
            how: dict[str, Any] = {"groups": groups, "first": first, "backend": backend, "threads": threads}
            found = route_flows(**(task | some), **how)
            assert found.tolist() == expected


def test_the_first_packet_of_any_group_that_cannot_go_on_is_named(backend: str) -> None:
    start = np.zeros(9 * cpu.FEW, int)
    start[[4000, 4001, 5003]] = 2, 1, 3
    task = LINE, start, np.zeros(len(start), int), [[1, 0, 1]], [[0, 3, 1]]
    with pytest.raises(ValueError, match=r"got packet 4000 \(start 2, row 0\): direction 0 does not lead on"):
        route_flows(*task, groups=4, first=2, backend=backend, threads=3)


def test_blocks_of_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    task = drawn(branches, 5)
    flow, ends = walked(task)
    monkeypatch.setattr(reference, "BLOCK", 7)
    assert route_flows(**task, backend="numpy").tolist() == flow
    del task["amount"]
    assert route_ends(**task).tolist() == ends


def test_arguments_are_left_as_they_were(backend: str) -> None:
    types = {
        "next": np.int32,
        "start": np.int32,
        "row": np.int32,
        "direction": np.int8,
        "hops": np.int16,
        "amount": np.int64,
    }
    task = {name: array.astype(types[name]) for name, array in drawn(cycles, 7).items()}
    before = {name: array.tolist() for name, array in task.items()}
    route_flows(**task, backend=backend)
    route_ends(*list(task.values())[:5])
    assert {name: array.tolist() for name, array in task.items()} == before


def test_lines_end_where_directions_join_and_nowhere_else() -> None:
    laid = lines(
        np.array([[1, -1], [2, 0], [0, 1], [2, 2]], np.int32)
    )  # one direction a ring of 0, 1, 2 entered from 3; the other a chain 3, 2, 1, 0
    nowhere = 2**32 - 1
    assert laid.node.tolist() == [3, 2, 0, 1, 2, 3, 2, 1, 0, nowhere]
    assert laid.place[:, 0].tolist() == [[2, 2], [3, 1], [1, 3], [0, 4]]
    assert laid.shortest_cycle == 3
    assert lines(np.array([[1], [-1]], np.int32)).shortest_cycle == 3  # none: no run of two nodes comes round


RING = oracle.torus(6)
GREAT: dict[str, tuple[list[list[int]], list[int], int | None]] = {
    "two packets that fill 63 bits": ([[6]], [2**62, 2**62 - 1], MOST),
    "two packets that do not fit": ([[6]], [2**62, 2**62], None),
    "twice round": ([[7]], [2**62 - 1, 0], 2**62 - 1 + 2**62 - 1),
    "twice round, too much": ([[7]], [2**62, 0], None),
    "another route goes twice round, too much": ([[1], [7], [1]], [2**62, 0], None),
    "two runs of one direction": ([[1, 1]], [2**61, 2**61 - 1], 2**62 - 1),
    "two runs of one direction, too much": ([[3, 3]], [2**61, 2**61], None),
}


@pytest.mark.parametrize("name", GREAT)
def test_great_amounts(name: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torusweep_kernels.routes.task.ROWS", 1)
    hops, amount, most = GREAT[name]
    task: dict[str, Any] = {
        "next": RING,
        "start": [0, 0],
        "row": [0, 0],
        "direction": np.zeros_like(hops),
        "hops": hops,
        "amount": amount,
    }
    if most is None:
        with pytest.raises(
            OverflowError,
            match=r"route_flows: expected amounts .* times the [12] passes .*, is below 2\^63; got a sum of \d+",
        ):
            route_flows(**task, backend=backend)
    else:
        assert int(route_flows(**task, backend=backend).max()) == most


def test_nothing_to_do(backend: str) -> None:
    none = np.zeros(0, int)
    assert (
        route_flows(RING, none, none, np.zeros((0, 3), int), np.zeros((0, 3), int), backend=backend).tolist()
        == [[0, 0]] * 6
    )
    assert (
        route_flows(RING, [1, 2], [0, 0], np.zeros((1, 0)), np.zeros((1, 0)), backend=backend).tolist() == [[0, 0]] * 6
    )
    assert route_flows(np.zeros((0, 2)), none, none, [[0]], [[1]], backend=backend).shape == (0, 2)
    assert route_flows(np.zeros((2, 0)), [1], [0], [[5]], [[0]], backend=backend).shape == (2, 0)
    assert route_ends(RING, none, none, [[0]], [[1]]).tolist() == []


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_packet_that_cannot_go_on_is_named(backend: str, threads: int) -> None:
    packets = 3 * cpu.FEW
    start = np.zeros(packets, int)
    start[[2000, 2 * cpu.FEW, packets - 1]] = 2, 1, 3
    message = (
        r"expected routes that lead on, got packet 2000 \(start 2, row 0\): direction 0 does not lead on from node 3"
    )
    task = LINE, start, np.zeros(packets, int), [[1, 0, 1]], [[0, 3, 1]]
    with pytest.raises(ValueError, match="route_flows: " + message):
        route_flows(*task, backend=backend, threads=threads)
    with pytest.raises(ValueError, match="route_ends: " + message):
        route_ends(*task)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "next of one dimension": ({"next": RING[:, 0]}, r"next of shape \[N, D\], got \(6,\)"),
    "node outside": ({"next": RING + 1}, "next of -1 … 5, got 1 … 6"),
    "start outside": ({"start": [0, 6]}, "start of 0 … 5, got 0 … 6"),
    "start beyond 32 bits": ({"start": [0, 2**32]}, f"start of 0 … 5, got 0 … {2**32}"),
    "negative start": ({"start": [-1, 0]}, "start of 0 … 5, got -1 … 0"),
    "starts of two dimensions": ({"start": [[0, 1]]}, r"start of shape \[B\], got \(1, 2\)"),
    "half a node": ({"start": [0.5, 1]}, "whole numbers in start, got float64"),
    "rows of another length": ({"row": [0]}, r"row of shape \(2,\), one per packet, got \(1,\)"),
    "row outside": ({"row": [0, 2]}, "row of 0 … 1, got 0 … 2"),
    "no rows": ({"direction": np.zeros((0, 1)), "hops": np.zeros((0, 1))}, "row of 0 … -1, got 0 … 1"),
    "runs of another shape": ({"hops": [[1]]}, r"hops of shape \(2, 1\), one per run, got \(1, 1\)"),
    "flat routes": ({"direction": [0, 1]}, r"direction of shape \[R, L\], got \(2,\)"),
    "direction outside": ({"direction": [[0], [2]]}, "direction of 0 … 1, got 0 … 2"),
    "negative direction": ({"direction": [[-1], [0]]}, "direction of 0 … 1, got -1 … 0"),
    "negative hops": ({"hops": [[1], [-1]]}, "hops of 0 … 32767, got -1 … 1"),
    "hops beyond 16 bits": ({"hops": [[1], [40000]]}, "hops of 0 … 32767, got 1 … 40000"),
    "amounts of another length": ({"amount": [1]}, r"amount of shape \(2,\), one per packet, got \(1,\)"),
    "negative amount": ({"amount": [1, -1]}, "amount of 0 … 9223372036854775807, got -1 … 1"),
    "no groups": ({"groups": 0}, "groups ≥ 1 or None, got 0"),
    "negative first number": ({"first": -1}, "first ≥ 0, got -1"),
    "no threads": ({"threads": 0}, "threads ≥ 1 or None, got 0"),
    "unknown backend": ({"backend": "abacus"}, "expected a backend of .*, got 'abacus'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_contradictions_are_refused(name: str) -> None:
    change, message = REFUSED[name]
    fitting = {
        "next": RING,
        "start": [0, 1],
        "row": [0, 1],
        "direction": [[0], [1]],
        "hops": [[1], [2]],
        "backend": "numpy",
    }
    with pytest.raises(ValueError, match=message):
        route_flows(**{**fitting, **change})


def test_memory_does_not_grow_with_runs() -> None:
    packets, runs = 2**16, 200
    start, row = np.zeros(packets, np.int32), np.arange(packets, dtype=np.int32) % 2
    direction, hops = np.zeros((2, runs), np.int8), np.ones((2, runs), np.int16)
    for backend in ("numba", "numpy"):
        route_flows(RING, start[:1], row[:1], direction, hops, backend=backend)
        tracemalloc.start()
        assert route_flows(RING, start, row, direction, hops, backend=backend).sum() == packets * runs
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100 * packets  # a byte per packet and run would take twice as much
