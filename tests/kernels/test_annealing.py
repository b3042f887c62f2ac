"""Simulated annealing: all backends alike, moves that keep what they must, energies beside networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from torusweep.questions.search.wanted import Wanted, random_graph
from torusweep_kernels import annealing, cuda
from torusweep_kernels.annealing import (
    BLOCK,
    Annealed,
    Goal,
    Quotient,
    anneal,
    anneal_chains,
    choose_backend,
    energy,
    gpu,
    lifted,
)
from torusweep_kernels.backend import BackendUnavailable, GpuOutOfMemory, gpu_count

from tests.kernels.quotients import start

SUM = Goal(10**6, 1, 0)
CASES = [  # nodes, degree, symmetry
    (16, 3, 1),
    (24, 5, 4),
    (15, 3, 1),  # a port has no link
    (21, 4, 7),
    (140, 3, 2),  # more than a word of sources
    (9, 4, 9),  # one quotient node
]


def graph_of(quotient: Quotient) -> networkx.Graph:
    ports = lifted(quotient)
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(ports)))
    graph.add_edges_from((v, int(u)) for v, row in enumerate(ports) for u in row if u >= 0)
    return graph


def plain_energy(quotient: Quotient, goal: Goal) -> tuple[int, int]:
    """Of a connected graph."""
    graph = graph_of(quotient)
    lengths = [
        length
        for source in range(len(quotient.head))
        for length in networkx.single_source_shortest_path_length(graph, source).values()
    ]
    assert len(lengths) == len(graph) * len(quotient.head)
    return sum(x + (goal.penalty - 1) * max(0, x - goal.diameter) for x in lengths), max(lengths)


def same(one: Annealed, other: Annealed) -> bool:
    arrays = zip([*one.graph[1:], *one.best[1:]], [*other.graph[1:], *other.best[1:]])
    numbers = [(a.energy, a.best_energy, a.best_diameter, a.moves, a.accepted) for a in (one, other)]
    return numbers[0] == numbers[1] and all(np.array_equal(a, b) for a, b in arrays)


@pytest.mark.parametrize("goal", [SUM, Goal(3, 16, 0)])
@pytest.mark.parametrize(("nodes", "degree", "symmetry"), CASES)
def test_compiled_searches_are_the_specification(as_cupy, nodes, degree, symmetry, goal):
    quotient = start(nodes, degree, symmetry)
    options = {"seed": 2**40 + 3, "chain": 5}
    temperatures = np.array([9.0, 0.7])
    expected = anneal(quotient, temperatures, goal, backend="numpy", **options)
    assert expected.moves == 2 * BLOCK
    assert nodes < 12 or expected.accepted > 5
    assert same(anneal(quotient, temperatures, goal, backend="numba", **options), expected)
    for device in ({}, {"backwards": True}, {"shared": gpu.shared(nodes, 0)}):  # the last: a word of sources at a time
        as_cupy(**device)
        assert same(anneal(quotient, temperatures, goal, backend="cupy", **options), expected)


@pytest.mark.parametrize(("nodes", "degree", "symmetry"), CASES)
def test_moves_keep_the_degrees_and_the_rotation(nodes, degree, symmetry):
    quotient = start(nodes, degree, symmetry)
    before = quotient.head.copy()
    found = anneal(quotient, np.full(8, 20.0), SUM)
    assert np.array_equal(quotient.head, before)  # the argument is not changed
    for graph in (found.graph, found.best):
        plain = graph_of(graph)
        assert networkx.number_of_selfloops(plain) == 0
        missing = int((graph.head < 0).sum())
        assert plain.number_of_edges() == symmetry * (graph.head.size - missing) // 2  # none is parallel
        rotation = {node: (node + nodes // symmetry) % nodes for node in plain}
        assert {frozenset(map(rotation.get, edge)) for edge in plain.edges} == set(map(frozenset, plain.edges))
    assert (found.energy, energy(found.best, SUM)) == (
        energy(found.graph, SUM)[0],
        (found.best_energy, found.best_diameter),
    )


@pytest.mark.parametrize("goal", [SUM, Goal(2, 16, 0)])
@pytest.mark.parametrize(("nodes", "degree", "symmetry"), [case for case in CASES if case[0] != 9])
def test_energies_by_networkx(nodes, degree, symmetry, goal):
    best = anneal(start(nodes, degree, symmetry), np.full(6, 1.0), goal).best
    assert energy(best, goal) == plain_energy(best, goal)


@pytest.mark.parametrize("symmetry", [1, 2, 4])
def test_no_link_becomes_too_long(as_cupy, symmetry):
    wanted = Wanted(36, 4, symmetry=symmetry, grid=(6, 6), max_wire=4)
    start = random_graph(wanted, 0)
    as_cupy()
    found = [anneal(start, np.full(6, 9.0), SUM, wires=wanted.wires, backend=b) for b in ("numpy", "numba", "cupy")]
    assert same(*found[:2])
    assert same(*found[1:])
    assert found[0].accepted > 20
    for graph in (start, found[0].graph, found[0].best):
        lengths = [np.abs(wanted.wires.place[u] - wanted.wires.place[v]).sum() for u, v in graph_of(graph).edges]
        assert max(lengths) <= 4
    with pytest.raises(ValueError, match="places of shape"):
        anneal(start, np.zeros(0), SUM, wires=wanted.wires._replace(place=np.zeros((9, 2))))


def rings(*lengths: int) -> Quotient:
    """Rings that are not joined."""
    head = np.concatenate([sum(lengths[:i]) + np.arange(n)[:, None] + [1, -1] for i, n in enumerate(lengths)])
    for first, n in zip(np.cumsum([0, *lengths]), lengths):
        head[first, 1], head[first + n - 1, 0] = first + n - 1, first
    mate = 2 * head + [1, 0]
    return Quotient(1, head.astype(np.int32), np.zeros_like(head, np.int32), mate.astype(np.int32))


@pytest.mark.parametrize("goal", [Goal(3, 16, 0), Goal(7, 2, 0)])
@pytest.mark.parametrize("heat", [3.0, 1e5])
def test_graphs_in_parts_on_all_backends(as_cupy, goal, heat):
    """Groups of sources reach the last of their nodes at different levels; hot moves part what is joined."""
    quotient = rings(40, 9, 30, 3)
    for temperatures in (np.zeros(0), np.full(1, heat)):
        expected = anneal(quotient, temperatures, goal, seed=4, backend="numpy")
        assert same(anneal(quotient, temperatures, goal, seed=4, backend="numba"), expected)
        for shared in (0, 2):
            as_cupy(shared=gpu.shared(82, shared))
            assert same(anneal(quotient, temperatures, goal, seed=4, backend="cupy"), expected)


def test_a_link_that_is_its_own_mate(as_cupy):
    """With two copies, a node may be joined to its own other copy by one port."""
    ring = np.arange(6)
    head = np.stack([(ring + 1) % 6, (ring - 1) % 6, ring], axis=1)
    mate = np.stack([head[:, 0] * 3 + 1, head[:, 1] * 3, ring * 3 + 2], axis=1)
    shift = np.array([[0, 0, 1]] * 6)
    quotient = Quotient(2, *(array.astype(np.int32) for array in (head, shift, mate)))
    expected = anneal(quotient, np.full(1, 9.0), SUM, backend="numpy")
    assert same(anneal(quotient, np.full(1, 9.0), SUM, backend="numba"), expected)
    as_cupy()
    assert same(anneal(quotient, np.full(1, 9.0), SUM, backend="cupy"), expected)


def test_parts_that_are_not_joined_cost_more_than_any_path():
    ring = np.array([[1, 2], [2, 0], [0, 1], [4, 5], [5, 3], [3, 4]], np.int32)
    mate = np.array([[3, 4], [5, 0], [1, 2], [9, 10], [11, 6], [7, 8]], np.int32)
    quotient = Quotient(1, ring, np.zeros_like(ring), mate)
    total, diameter = energy(quotient, SUM)
    assert diameter == 6
    assert total > 36 * 6
    assert (
        anneal(quotient, np.full(4, 1.0), SUM).best_energy
        == plain_energy(anneal(quotient, np.full(4, 1.0), SUM).best, SUM)[0]
    )


def test_a_search_that_is_continued_has_the_same_moves():
    quotient = start(40, 4, 4)
    temperatures = np.linspace(8, 1, 6)
    whole = anneal(quotient, temperatures, SUM, seed=9)
    part = anneal(quotient, temperatures[:2], SUM, seed=9)
    rest = anneal(part.graph, temperatures[2:], SUM, seed=9, first=2 * BLOCK)
    assert rest.energy == whole.energy
    assert all(np.array_equal(a, b) for a, b in zip(rest.graph[1:], whole.graph[1:]))
    assert min(part.best_energy, rest.best_energy) == whole.best_energy


def test_a_search_ends_at_its_goal():
    goal = Goal(2, 16, 2**62)  # Petersen's graph, or another of diameter 2
    found = anneal(start(10, 3, 1), np.full(400, 3.0), goal)
    assert found.best_diameter == 2
    assert found.moves < 400 * BLOCK
    assert networkx.diameter(graph_of(found.best)) == 2


def test_chains_together_are_chains_alone(as_cupy):
    """On a GPU however many of them fit, and however many a multiprocessor runs."""
    starts = [start(40, 4, 2, seed) for seed in range(5)]
    options = {"seed": 9, "first": 4 * BLOCK}
    reached = [anneal(one, np.full(3, 2.0), SUM, chain=3 * place, **options) for place, one in enumerate(starts)]
    goal = Goal(40, 1, sorted(one.best_energy for one in reached)[2])  # some come to it
    alone = [anneal(one, np.full(3, 2.0), goal, chain=3 * place, **options) for place, one in enumerate(starts)]
    assert len({one.moves for one in alone}) > 1
    for device in ({"multiprocessors": 132}, {}, {"memory": 90, "free": 2**20}):  # two chains' states
        as_cupy(**device)
        for backend, threads in (("cupy", 1), ("numba", 2)):
            together = anneal_chains(
                starts, np.full(3, 2.0), goal, chains=range(0, 15, 3), backend=backend, threads=threads, **options
            )
            assert all(map(same, together, alone))
    as_cupy(memory=30, free=2**20)
    with pytest.raises(GpuOutOfMemory, match=r"torusweep_kernels\.annealing: expected enough GPU memory"):
        anneal_chains(starts, np.full(3, 2.0), goal, chains=range(5), backend="cupy")
    assert anneal_chains([], np.full(3, 2.0), goal, chains=[]) == []


def test_what_computes(as_cupy):
    as_cupy(shared=gpu.shared(1000, 0))
    assert [choose_backend(name, 100, 1000, 1) for name in ("numpy", "numba", "cupy")] == ["numpy", "numba", "cupy"]
    many, large = 3 * annealing.MANY, annealing.LARGE
    assert choose_backend("auto", many, large, 3) == "cupy"
    for chains, nodes in ((many - 1, large), (many, large - 1), (many, 1001)):
        assert choose_backend("auto", chains, nodes, 3) == "numba"
    assert choose_backend("cupy", 1, 20, 9) == "cupy"
    with pytest.raises(BackendUnavailable, match="expected graphs of at most 1,000 nodes on this GPU, got 1,001; use"):
        choose_backend("cupy", 1, 1001, 1)


def test_blocks_share_a_multiprocessor(as_cupy):
    as_cupy(multiprocessors=132)
    device = cuda.Gpu()
    assert gpu.manner(256, 256, 132, device) == (3, 1024)
    assert gpu.manner(256, 256, 256, device) == (3, 512)
    assert gpu.manner(1024, 1024, 132, device) == (4, 1024)  # two groups of 512 sources
    assert gpu.manner(1024, 1024, 256, device) == (3, 512)
    assert gpu.manner(16384, 16384, 256, device) == (0, 512)  # more than half of the memory all the same
    assert gpu.manner(9, 36, 1, device) == (0, 128)


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU that CuPy can use; none found here")
@pytest.mark.parametrize(("nodes", "degree", "symmetry"), CASES)
def test_a_real_gpu_gives_the_same_bits(nodes, degree, symmetry):
    starts = [start(nodes, degree, symmetry, seed) for seed in range(200)]
    options = {"seed": 3, "chains": range(200), "threads": 4}
    temperatures = np.array([9.0, 0.7] * 3)
    found = [anneal_chains(starts, temperatures, Goal(3, 16, 0), backend=b, **options) for b in ("numba", "cupy")]
    assert all(map(same, *found))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"head": [[9, 1], [0, 0]]}, "heads below 2"),
        ({"mate": [[2, 2], [0, 1]]}, "each other's"),
        ({"shift": [[1, 0], [1, 0]]}, "opposite"),
        ({"copies": 0}, "at least one copy"),
    ],
)
def test_what_is_no_quotient_is_refused(change, said):
    arrays = {"head": [[1, 1], [0, 0]], "shift": [[1, 0], [2, 0]], "mate": [[2, 3], [0, 1]], "copies": 3} | change
    quotient = Quotient(arrays["copies"], *(np.array(arrays[name], np.int32) for name in ("head", "shift", "mate")))
    with pytest.raises(ValueError, match=said):
        anneal(quotient, np.ones(1), SUM)
    with pytest.raises(ValueError, match="multiple of 256"):
        anneal(start(9, 4, 9), np.ones(1), SUM, first=3)
