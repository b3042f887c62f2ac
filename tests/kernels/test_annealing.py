"""Simulated annealing: both backends alike, moves that keep what they must, energies beside networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from torusweep.search.start import random_graph
from torusweep.search.wanted import Wanted
from torusweep_kernels.annealing import BLOCK, Annealed, Goal, Quotient, anneal, energy, lifted

SUM = Goal(10**6, 1, 0)
CASES = [  # nodes, degree, symmetry
    (16, 3, 1),
    (24, 5, 4),
    (15, 3, 1),  # a port has no link
    (21, 4, 7),
    (140, 3, 2),  # more than a word of sources
    (9, 4, 9),  # one quotient node
]


def start(nodes: int, degree: int, symmetry: int, seed: int = 1) -> Quotient:
    return random_graph(Wanted(nodes, degree, "diameter", symmetry, seed), 0)


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
def test_the_compiled_search_is_the_specification(nodes, degree, symmetry, goal):
    quotient = start(nodes, degree, symmetry)
    temperatures = np.array([9.0, 0.7])
    found = [anneal(quotient, temperatures, goal, seed=2**40 + 3, chain=5, backend=b) for b in ("numpy", "numba")]
    assert same(*found)
    assert found[0].moves == 2 * BLOCK
    assert nodes < 12 or found[0].accepted > 5


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
def test_no_link_becomes_too_long(symmetry):
    wanted = Wanted(36, 4, symmetry=symmetry, grid=(6, 6), max_wire=4)
    start = random_graph(wanted, 0)
    found = [anneal(start, np.full(6, 9.0), SUM, wires=wanted.wires, backend=b) for b in ("numpy", "numba")]
    assert same(*found)
    assert found[0].accepted > 20
    for graph in (start, found[0].graph, found[0].best):
        lengths = [np.abs(wanted.wires.place[u] - wanted.wires.place[v]).sum() for u, v in graph_of(graph).edges]
        assert max(lengths) <= 4
    with pytest.raises(ValueError, match="places of shape"):
        anneal(start, np.zeros(0), SUM, wires=wanted.wires._replace(place=np.zeros((9, 2))))


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
