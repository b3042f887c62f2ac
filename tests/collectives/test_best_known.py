"""Bound, best known and optimum of an all-reduce beside every partition and every pair of trees into and out of a root.

Small random graphs: with links of two directions, and of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import torusweep
from scipy.optimize import linprog
from torusweep.collectives.algorithms import ALGORITHMS, schedule_of
from torusweep.collectives.best_known import best_known
from torusweep.collectives.cost import cost_of
from torusweep.errors import BadInput
from torusweep.networks.families import build

from tests.collectives.test_packed_trees import Arc, trees
from tests.questions.static.networks import network

Link = tuple[int, int, int]


def drawn(seed: int, *, directed: bool) -> tuple[int, list[Link]]:
    """A strongly connected graph whose nodes all have a terminal, with parallel links."""
    random = np.random.default_rng(seed)
    while True:
        nodes = int(random.integers(3, 6))
        pairs = [(u, v) for u in range(nodes) for v in range(nodes) if (u != v if directed else u < v)]
        least = nodes if directed else nodes - 1
        number = int(random.integers(least, min(least + 4, len(pairs)) + 1))
        links = [(*pairs[i], int(random.integers(1, 3))) for i in random.permutation(len(pairs))[:number]]
        graph = nx.DiGraph([(u, v) for u, v, _ in links] + ([] if directed else [(v, u) for u, v, _ in links]))
        if len(graph) == nodes and nx.is_strongly_connected(graph):
            return nodes, links


def partitions(nodes: list[int]) -> Iterator[list[list[int]]]:
    if not nodes:
        yield []
        return
    first, *rest = nodes
    for found in partitions(rest):
        yield [[first], *found]
        for place in range(len(found)):
            yield [*found[:place], [first, *found[place]], *found[place + 1 :]]


def narrowest_partition(nodes: int, links: list[Link]) -> Fraction:
    """The greatest (|P| − 1) / links between the sets of P."""
    most = Fraction(0)
    for sets in partitions(list(range(nodes))):
        place = {node: number for number, members in enumerate(sets) for node in members}
        between = sum(number for u, v, number in links if place[u] != place[v])
        if len(sets) > 1:
            most = max(most, Fraction(len(sets) - 1, between))
    return most


def through_roots(nodes: int, links: list[Link]) -> float:
    """Cycles a flit, of the best mixture of sums that go up a tree to a root, and come back down another."""
    size = {(u, v): number for u, v, number in links}
    arcs, everyone = sorted(size), set(range(nodes))
    back = [(v, u) for u, v in arcs]
    ways: list[tuple[int, int, list[Arc]]] = []  # root, 1 up or -1 down, arcs
    for root in range(nodes):
        ways += [(root, -1, list(tree)) for tree in trees(nodes, arcs, root, everyone)]
        ways += [(root, 1, [(v, u) for u, v in tree]) for tree in trees(nodes, back, root, everyone)]
    carried, balance = np.zeros((len(arcs), len(ways))), np.zeros((nodes, len(ways)))
    for column, (root, sign, tree) in enumerate(ways):
        carried[[arcs.index(arc) for arc in tree], column] = 1
        balance[root, column] = sign
    limit = [size[arc] for arc in arcs]
    found = linprog([-(sign > 0) for _, sign, _ in ways], carried, limit, balance, np.zeros(nodes))
    return 1 / -found.fun


def test_links_of_two_directions_have_an_optimum():
    for seed in range(150):
        nodes, links = drawn(seed, directed=False)
        found = best_known(network(nodes, links), "all_reduce")
        assert found.met
        assert found.bound == found.attained == pytest.approx(float(narrowest_partition(nodes, links))), seed


def test_links_of_one_direction_have_bounds():
    """What is called optimum is no more than the best mixture of trees, what is best known no less."""
    apart = met = theorem_beaten = 0
    for seed in range(300):
        nodes, links = drawn(1000 + seed, directed=True)
        topology = network(nodes, links, directed=True)
        found = best_known(topology, "all_reduce")
        least = through_roots(nodes, links)
        assert found.attained is not None
        assert found.bound <= least * (1 + 1e-9), seed
        assert found.attained >= least * (1 - 1e-9), seed
        for name in ALGORITHMS:
            try:
                cycles = cost_of(topology, schedule_of(topology, "all_reduce", name)).cycles
            except BadInput:
                continue
            assert found.attained <= cycles * (1 + 1e-12), (seed, name)
        if found.met:
            met += 1
            assert "best known" not in found.method
        else:
            apart += 1
            assert found.method.startswith("no less: ")
        theorem_beaten += "algorithm trees" in found.method
    assert min(apart, met, theorem_beaten) > 20


def test_halves_that_overlap_are_the_best_known():
    """Reduce-scatter and all-gather one after the other take 3/2 there; trees, whose halves overlap, 5/4."""
    links = [(0, 1), (0, 3), (1, 0), (1, 2), (2, 0), (2, 3), (3, 0)]
    found = torusweep.network(links, directed=True, name="one-way").collective("all_reduce", "optimum")
    (row,) = found.rows
    assert (row["algorithm"], row["cycles"], found.best_known) == ("best_known", 1.25, 1.25)
    assert (found.optimum, row["optimum_share"], found.bound, row["bound_share"]) == (None, None, 1, 0.8)
    assert through_roots(4, [(*link, 1) for link in links]) <= 1.25


def test_a_large_all_to_all_has_no_optimum_without_a_linear_program():
    found = best_known(build("faulty(torus(k=8, n=3), links=8, seed=2)"), "all_to_all")
    assert not found.met
    assert "best known: minimal routing" in found.method


def test_a_cut_through_a_switch_is_not_attained(monkeypatch: pytest.MonkeyPatch):
    """Of one-way links and a switch: all data of three terminals pass 0 → 3, what terminals 1 and 2 get from 0 twice.

    No routing of messages between terminals takes less than 4/3: 0 sends its part to 1 and 2, and passes on theirs.
    """
    links = [(0, 3), (3, 1), (3, 2), (1, 0), (2, 0)]
    found = best_known(network(4, links, directed=True, terminals=[0, 1, 2]), "all_gather")
    assert (found.attained, found.met) == (pytest.approx(4 / 3), False)
    monkeypatch.setattr("torusweep.collectives.best_known.MOST_TRIED", 2)
    found = best_known(network(4, links, directed=True, terminals=[0, 1, 2]), "all_gather")
    assert (found.attained, found.met) == (None, False)
    assert found.method.endswith("whether it is attained is not known")


def test_on_large_networks_an_answer_does_not_depend_on_what_was_asked_before(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("torusweep.collectives.best_known.MOST_TRIED", 2)
    links = [(0, 1), (0, 3), (1, 0), (1, 2), (2, 0), (2, 3), (3, 0)]
    asked, fresh = (network(4, links, directed=True) for _ in range(2))
    assert best_known(asked, "all_reduce", measured={"trees": 1.25}).attained == 1.25
    assert best_known(asked, "all_reduce") == best_known(fresh, "all_reduce")
