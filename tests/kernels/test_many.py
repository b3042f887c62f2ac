"""Distances in many small graphs from one call, on every backend, against a textbook search, networkx and closed
forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from types import ModuleType
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep_kernels import backend as backends
from torusweep_kernels import cuda
from torusweep_kernels.distance import Distances, Task, gpu, gpu_many, many_distances

from tests.kernels import oracle

AsCupy = Callable[..., ModuleType]
WAYS = ("numpy", "numba", "cupy", "cupy, backwards")


@pytest.fixture(params=WAYS)
def backend(request: pytest.FixtureRequest, as_cupy: AsCupy) -> str:
    """Every backend in turn; cupy is the fake, its threads from the first or from the last on."""
    name, *order = request.param.split(", ")
    if name == "cupy":
        as_cupy(backwards=bool(order))
    return name


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[int]]]:
    """(threads a block, nodes of each graph) of every launch."""
    seen: list[tuple[int, list[int]]] = []
    searched = gpu_many.searched

    def watched(cupy: Any, search: Any, tasks: Sequence[Task], threads: int) -> list[gpu_many.Answer]:
        seen.append((threads, [task.nodes for task in tasks]))
        return searched(cupy, search, tasks, threads)

    monkeypatch.setattr(gpu_many, "searched", watched)
    return seen


def everywhere(ports: np.ndarray, groups: int = 1, **options: Any) -> Task:
    """From all nodes."""
    nodes = np.arange(len(ports))
    return Task(ports, nodes, nodes % groups, **options)


def check(tasks: Sequence[Task], backend: str) -> None:
    """Against the textbook, task by task."""
    found = many_distances(tasks, backend=backend)
    assert len(found) == len(tasks)
    for task, (histogram, eccentricity) in zip(tasks, found):
        lists = [None if array is None else array.tolist() for array in task[:5]]
        expected, farthest = oracle.distances(*lists)  # type: ignore[arg-type]
        assert histogram.tolist() == expected
        assert histogram.dtype == np.int64
        assert (None if eccentricity is None else eccentricity.tolist()) == (farthest if task.eccentricity else None)
        assert eccentricity is None or eccentricity.dtype == np.int32


def drawn(seed: int, **shape: Any) -> Task:
    return Task(**oracle.drawn(seed, **shape), eccentricity=seed % 2 == 1)


SHAPES: list[dict[str, Any]] = [
    {"nodes": 1, "degree": 2, "lanes": 1, "groups": 1, "counted": False, "removed": 0},
    {"nodes": 2, "degree": 1, "lanes": 40, "groups": 3, "counted": True, "removed": 1},
    {"nodes": 97, "degree": 2, "lanes": 32, "groups": 1, "counted": False, "removed": 0},
    {"nodes": 97, "degree": 3, "lanes": 33, "groups": 60, "counted": False, "removed": 3},
    {"nodes": 130, "degree": 0, "lanes": 64, "groups": 2, "counted": True, "removed": 0},
    {"nodes": 200, "degree": 3, "lanes": 300, "groups": 5, "counted": True, "removed": 2},
    {"nodes": 300, "degree": 4, "lanes": 257, "groups": 300, "counted": False, "removed": 0},
]


def test_random_tasks(backend: str) -> None:
    check([drawn(seed, **shape) for seed in (1, 2) for shape in SHAPES], backend)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_drawn_tasks(data: st.DataObject, as_cupy: AsCupy) -> None:
    as_cupy(backwards=data.draw(st.booleans(), "backwards"))
    shape = st.fixed_dictionaries(
        {
            "nodes": st.integers(1, 40),
            "degree": st.integers(0, 3),
            "lanes": st.integers(0, 80),
            "groups": st.sampled_from([1, 2, 40]),
            "counted": st.booleans(),
            "removed": st.integers(0, 2),
        }
    )
    tasks = [
        drawn(data.draw(st.integers(0, 10**6), "seed"), **one)
        for one in data.draw(st.lists(shape, max_size=4), "shapes")
    ]
    for backend in ("numpy", "cupy"):
        check(tasks, backend)


KNOWN = {
    "torus 8×4×4": (oracle.torus(8, 4, 4), oracle.torus_histogram(8, 4, 4)),
    "hypercube 7": (np.arange(128)[:, None] ^ (1 << np.arange(7)), [comb(7, d) for d in range(8)]),
    "directed ring of 70": ((np.arange(70)[:, None] + 1) % 70, [1] * 70),
    "complete graph of 40": ((np.arange(40)[:, None] + np.arange(1, 40)) % 40, [1, 39]),
    "50 nodes without ports": (np.zeros((50, 0), int), [1]),
}


def test_closed_forms(backend: str) -> None:
    found = many_distances([everywhere(ports, eccentricity=True) for ports, _ in KNOWN.values()], backend=backend)
    for (histogram, eccentricity), (ports, from_one) in zip(found, KNOWN.values()):
        assert histogram.tolist() == [[len(ports) * nodes for nodes in from_one]]
        assert eccentricity is not None
        assert eccentricity.tolist() == [len(from_one) - 1] * len(ports)


def test_every_source_a_group_of_its_own(backend: str) -> None:
    (found,) = many_distances([everywhere(oracle.torus(40), groups=40)], backend=backend)
    assert found.histogram.tolist() == [oracle.torus_histogram(40)] * 40


def test_against_networkx(backend: str) -> None:
    graphs = [
        networkx.gnp_random_graph(150, 0.012, seed=1),
        networkx.gnp_random_graph(130, 0.015, seed=2, directed=True),
        networkx.barabasi_albert_graph(200, 2, seed=4),
        networkx.random_labeled_tree(100, seed=5),
    ]
    tables = [oracle.table([graph.neighbors(node) for node in range(len(graph))]) for graph in graphs]
    for graph, (histogram, _) in zip(graphs, many_distances([everywhere(ports) for ports in tables], backend=backend)):
        lengths = [hops for _, reached in networkx.all_pairs_shortest_path_length(graph) for hops in reached.values()]
        assert histogram.tolist() == [np.bincount(lengths).tolist()]


def test_nothing_to_search(backend: str) -> None:
    assert many_distances([], backend=backend) == []
    nowhere = np.zeros(0, int)
    tasks = [
        Task(np.zeros((0, 2), int), nowhere, nowhere, eccentricity=True),
        everywhere(oracle.torus(4)),
        Task(oracle.torus(4), nowhere, nowhere),
    ]
    found = many_distances(tasks, backend=backend)
    assert [histogram.tolist() for histogram, _ in found] == [[], [[4, 8, 4]], []]
    assert [histogram.shape for histogram, _ in found] == [(0, 1), (1, 3), (0, 1)]
    assert [eccentricity is None for _, eccentricity in found] == [False, True, True]


def test_the_task_that_is_wrong_is_named() -> None:
    tasks = [everywhere(oracle.torus(4)), Task(oracle.torus(4), np.array([0, 4]), np.zeros(2, int))]
    with pytest.raises(ValueError, match="many_distances: task 1: expected sources of 0 … 3, got 0 … 4"):
        many_distances(tasks, backend="numpy")


# --- launches ------------------------------------------------------------------------------------


def tori(sides: Sequence[int]) -> list[Task]:
    return [everywhere(oracle.torus(side), groups=2) for side in sides]


def total(found: Sequence[Distances]) -> list[int]:
    return [int(histogram.sum()) for histogram, _ in found]


def test_one_launch_for_the_small_and_one_for_the_large(launches: list[tuple[int, list[int]]], as_cupy: AsCupy) -> None:
    as_cupy()
    large = [
        Task(ports, np.array([0, 5]), np.array([0, 1]))
        for ports in (oracle.torus(32, 32), oracle.torus(33, 32), oracle.torus(16, 16, 32))
    ]
    found = many_distances([large[1], *tori([5, 9]), large[0], large[2]], backend="cupy")
    assert launches == [
        (128, [5, 9, 1024]),
        (1024, [1056, 8192]),
    ]  # 8192 nodes share more than the 48 KiB that every kernel may
    assert total(found) == [2 * 1056, 25, 81, 2 * 1024, 2 * 8192]
    assert found[4].histogram.tolist() == [oracle.torus_histogram(16, 16, 32)] * 2


def test_graphs_that_a_block_cannot_share_go_the_other_way(
    launches: list[tuple[int, list[int]]], as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_cupy(shared=4 * (2 * 20 + 96))
    large: list[int] = []
    distances = gpu.distances

    def watched(task: Task) -> gpu_many.Answer:
        large.append(task.nodes)
        return distances(task)

    monkeypatch.setattr(gpu, "distances", watched)
    check(tori([21, 20, 30, 7]), "cupy")
    assert launches == [(128, [20, 7])]
    assert large == [21, 30]


def test_rounds_by_the_free_memory(launches: list[tuple[int, list[int]]], as_cupy: AsCupy) -> None:
    tasks = tori([30, 10, 10, 10, 60])
    as_cupy(free=2 * 3 * gpu_many.size(tasks[1]))
    check(tasks, "cupy")  # half of what is free holds three of 10 nodes, or one of 30, none of 60
    assert launches == [(128, [30]), (128, [10, 10, 10])]


def test_fewer_at_a_time_where_memory_turns_out_too_small(
    launches: list[tuple[int, list[int]]], as_cupy: AsCupy
) -> None:
    tasks = tori([20] * 5)
    as_cupy(memory=8 * 2 * 20 * 2, free=2**30)  # what two histograms take
    check(tasks, "cupy")
    assert [len(nodes) for _, nodes in launches] == [5, 2, 2, 1]


def test_too_small_even_for_one(as_cupy: AsCupy) -> None:
    as_cupy(memory=100, free=2**30)
    with pytest.raises(backends.GpuOutOfMemory, match=r"torusweep_kernels\.distance: expected enough GPU memory"):
        many_distances(tori([20]), backend="cupy")


@pytest.mark.parametrize(("asked", "granted"), [(None, 49152), (49000, 49000), (60000, 50000)])
def test_the_stand_in_grants_what_was_asked_for(asked: int | None, granted: int, as_cupy: AsCupy) -> None:
    as_cupy(shared=50000)
    (search,) = cuda.Gpu().kernels(gpu_many.SOURCE, "search")
    if asked:
        search.max_dynamic_shared_size_bytes = asked
    with pytest.raises(AssertionError, match=f"search: {granted + 4} bytes of shared memory, {granted} granted"):
        search((1,), (128,), (), shared_mem=granted + 4)
    with pytest.raises(AssertionError, match="0 arguments for 14 parameters"):
        search((1,), (128,), (), shared_mem=granted)


@pytest.mark.gpu
@pytest.mark.skipif(not backends.gpu_count(), reason="needs a GPU that CuPy can use; none found here")
def test_a_real_gpu_gives_the_same_bits() -> None:
    tasks = [drawn(seed, **shape) for seed in range(50) for shape in SHAPES] + [everywhere(oracle.torus(16, 16, 32))]
    for one, other in zip(*(many_distances(tasks, backend=name) for name in ("numba", "cupy")), strict=True):
        assert one.histogram.tolist() == other.histogram.tolist()
        assert (None if one.eccentricity is None else one.eccentricity.tolist()) == (
            None if other.eccentricity is None else other.eccentricity.tolist()
        )
