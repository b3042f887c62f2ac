"""Exhaustion: what the checker excludes, beside all lattices of a size written out as sets of points."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from itertools import permutations, product
from math import prod
from typing import Any

import networkx as nx
import pytest

from tests.certify.show import check

SIZES = [(1, 6), (2, 12), (2, 16), (2, 17), (3, 6), (3, 8), (3, 9), (4, 4)]
Points = frozenset[tuple[int, ...]]  # of a lattice, modulo its number of nodes


def added(one: tuple[int, ...], other: tuple[int, ...], nodes: int) -> tuple[int, ...]:
    return tuple((x + y) % nodes for x, y in zip(one, other))


def points_of(columns: Any, nodes: int) -> Points:
    points = {(0,) * len(columns)}
    for column in columns:
        for _ in range(nodes):
            points |= {added(point, column, nodes) for point in points}
    return frozenset(points)


def sum_of_distances(points: Points, n: int, nodes: int) -> int:
    node: dict[tuple[int, ...], int] = {}
    for one in product(range(nodes), repeat=n):
        if one not in node:
            node |= {added(one, point, nodes): len(set(node.values())) for point in points}
    units = [tuple(sign * (i == j) for j in range(n)) for i in range(n) for sign in (1, -1)]
    graph = nx.Graph((node[one], node[added(one, unit, nodes)]) for one in node for unit in units)
    assert len(graph) == nodes
    return sum(nx.single_source_shortest_path_length(graph, node[(0,) * n]).values())


@cache
def lattices_of(n: int, nodes: int) -> dict[Points, tuple[int, Points]]:
    """Every lattice of a size, written out: the sum of its distances, and the first of those that turns make of it."""
    every = []
    for diagonal in product(range(1, nodes + 1), repeat=n):
        if prod(diagonal) == nodes:
            for above in product(*[range(diagonal[i]) for i in range(n) for j in range(i + 1, n)]):
                left = iter(above)
                rows = [[0] * i + [diagonal[i]] + [next(left) for _ in range(i + 1, n)] for i in range(n)]
                every.append(points_of(list(zip(*rows)), nodes))
    swaps = [lambda v, i=i: (*v[:i], v[i + 1], v[i], *v[i + 2 :]) for i in range(n - 1)]
    same = nx.Graph((points, points) for points in every)
    for turn in [*swaps, lambda v: (-v[0] % nodes, *v[1:])]:  # these make all signed permutations
        same.add_edges_from((points, frozenset(map(turn, points))) for points in every)
    found = {}
    for family in nx.connected_components(same):
        first = min(family, key=sorted)
        found |= dict.fromkeys(family, (sum_of_distances(first, n, nodes), first))
    assert len(found) == len(every)
    return found


@pytest.mark.parametrize(("n", "nodes"), SIZES)
@pytest.mark.parametrize("barred", [0, 1, 3])
def test_one_lattice_of_each_class_is_searched(n: int, nodes: int, barred: int):
    """Each class once, with its size, whatever vectors bar a lattice."""
    draw = random.Random(nodes + barred)
    shapes = [[draw.randrange(4) for _ in range(n)] for _ in range(barred)]
    turns = [(order, signs) for order in permutations(range(n)) for signs in product((1, -1), repeat=n)]
    without = {tuple(sign * one[i] for i, sign in zip(*turn)) for one in shapes if any(one) for turn in turns}
    left = {
        points: family
        for points, (_, family) in lattices_of(n, nodes).items()
        if not any(tuple(x % nodes for x in vector) in points for vector in without)
    }
    assert barred or len(left) == check.number_of_lattices(n, nodes)
    searched = {left[points_of(basis, nodes)]: size for basis, size in check.classes_of(n, nodes, without)}
    assert searched == Counter(left.values())
    assert len(searched) == len(list(check.classes_of(n, nodes, without)))


@pytest.mark.parametrize(("n", "nodes"), SIZES)
def test_the_bound_of_a_vector_is_not_above_the_sum_of_a_lattice_that_holds_it(n: int, nodes: int):
    """So that no lattice with a vector whose bound is above the best sum is as good; of all lattices of a size."""
    most, nearest = nodes**2, []  # no sum is as great
    shapes = {tuple(sorted(map(abs, vector))) for norm in range(1, 7) for vector in check.shell(n, norm)}
    bounds = {vector: check.sum_of_distances([vector] * n, nodes, most, [n - 1]) for vector in shapes}
    for points, (total, _) in lattices_of(n, nodes).items():
        held = [bound for vector, bound in bounds.items() if tuple(x % nodes for x in vector) in points]
        assert max(held, default=0) <= total
        nearest += [total - bound for bound in held]
    assert min(nearest) <= 1  # else a bound of 0 would pass
    for basis, _ in check.classes_of(n, nodes):
        total = lattices_of(n, nodes)[points_of(basis, nodes)][0]
        assert {check.sum_of_distances(basis, nodes, enough) for enough in (most, total, total - 1)} == {total}
        assert check.sum_of_distances(basis, nodes, 0) <= total
