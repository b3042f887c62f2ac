"""The atlas beside what is known or computed apart: counts, Burnside's lemma, igraph, theorems, a plain search."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, permutations, product

import igraph
import numpy as np
import pytest
from torusweep.questions.screen.lattices import lattice_count, lattice_forms, representatives
from torusweep.questions.screen.spaces import Lattices, in_parts, screen_space, space_of
from torusweep_kernels.lattices import class_sizes, lattice_classes, measure_lattices


def classes(nodes: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    parts = list(representatives(nodes, dimensions))
    return np.concatenate([part.forms for part in parts]), np.concatenate([part.sizes for part in parts])


def test_sums_of_the_counts_of_lattices():
    """Σ d·σ(d) over d | N, summed up to N by a sieve: 7.09·10⁸ up to 1,024 nodes."""
    most = 1024
    sigma = [sum(d for d in range(1, n + 1) if n % d == 0) for n in range(most + 1)]
    count = [0] * (most + 1)
    for divisor in range(1, most + 1):
        for multiple in range(divisor, most + 1, divisor):
            count[multiple] += divisor * sigma[divisor]
    assert [lattice_count(nodes, 3) for nodes in range(1, most + 1)] == count[1:]
    assert (sum(count[:513]), sum(count)) == (88_747_998, 708_740_977)


def burnside(nodes: int, dimensions: int) -> int:
    """Orbits of lattices under signed permutations: the mean number of lattices that one of these maps to themselves.

    It does so if the image of every column is a sum of columns, which back substitution finds: no normal form of an
    image is computed.
    """
    forms = np.concatenate(list(lattice_forms(nodes, dimensions))).astype(np.int64)
    group = list(product(permutations(range(dimensions)), product((1, -1), repeat=dimensions)))
    fixed = 0
    for order, signs in group:
        left = forms[:, list(order), :] * np.array(signs)[:, None]
        inside = np.ones(len(forms), bool)
        for i in reversed(range(dimensions)):
            quotient, rest = np.divmod(left[:, i, :], forms[:, i, i, None])
            inside &= (rest == 0).all(axis=1)
            left = left - forms[:, :, i, None] * quotient[:, None, :]
        fixed += int(inside.sum())
    assert fixed % len(group) == 0
    return fixed // len(group)


@pytest.mark.parametrize(
    ("nodes", "dimensions"),
    [(1, 3), (2, 3), (8, 3), (27, 3), (36, 3), (64, 3), (97, 3), (120, 3), (210, 3), (144, 2), (360, 2), (12, 4)],
)
def test_classes_are_as_many_as_burnside_counts(nodes, dimensions):
    forms, sizes = classes(nodes, dimensions)
    assert len(forms) == burnside(nodes, dimensions)
    assert sizes.sum() == lattice_count(nodes, dimensions)


@pytest.mark.parametrize("nodes", [1, 12, 35, 96])
def test_classes_found_by_numbers_are_those_of_all_forms(nodes):
    """The cheap images leave out nothing, wherever a part of the numbers begins and ends."""
    forms = np.concatenate(list(lattice_forms(nodes, 3)))
    sizes = class_sizes(forms)
    found = classes(nodes, 3)
    assert found[0].tolist() == forms[sizes > 0].tolist()
    assert found[1].tolist() == sizes[sizes > 0].tolist()
    cuts = sorted({0, 1, len(forms) // 3, len(forms) // 2, len(forms)})
    sides = np.array([row for row in product(range(1, nodes + 1), repeat=3) if np.prod(row) == nodes])
    for backend in ("numba", *(["numpy"] if nodes < 30 else [])):
        parts = [lattice_classes(sides, begin, end, backend=backend, threads=2) for begin, end in pairwise(cuts)]
        assert np.concatenate([part[0] for part in parts]).tolist() == found[0].tolist()


@pytest.mark.parametrize(
    ("sides", "first", "last", "said"),
    [
        ([[2, 2]], 0, 3, "numbers of forms"),
        ([[2, 2]], 1, 0, "numbers of forms"),
        ([[0, 2]], 0, 0, "positive sides"),
        ([2], 0, 0, r"sides of shape \[F, n\]"),
        ([[2**20, 2]], 0, 0, "at most 1,048,576 nodes"),
    ],
)
def test_numbers_without_forms_are_refused(sides, first, last, said):
    with pytest.raises(ValueError, match=said):
        lattice_classes(np.array(sides), first, last)


def test_parts_of_a_size_have_its_rows(monkeypatch):
    whole = screen_space(Lattices(3, 60))
    rows = [row for part in whole for row in part.rows.to_pylist()]
    monkeypatch.setattr("torusweep.questions.screen.spaces.PART_LATTICES", 3_000)
    parts = in_parts(Lattices(3, 60))
    assert len(parts) == 5
    assert all(space_of(str(part)) == part for part in parts)
    assert sum(part.lattices for part in parts) == lattice_count(60, 3)
    assert [row for one in parts for part in screen_space(one) for row in part.rows.to_pylist()] == rows
    assert in_parts(Lattices(3, 24)) == [Lattices(3, 24)]


def test_sizes_of_up_to_4096_nodes_fit_in_parts():
    """The largest counts are of 4,032 and 3,840 nodes or the like; none up to 1,024 is divided."""
    assert all(in_parts(Lattices(3, nodes)) == [Lattices(3, nodes)] for nodes in (720, 840, 960, 1008, 1024))
    for nodes in (2520, 3360, 3600, 3840, 3960, 4032, 4096):
        assert len(in_parts(Lattices(3, nodes))) > 1
        for part in in_parts(Lattices(3, nodes)):
            part.check()


def plain_graph(form: np.ndarray) -> tuple[igraph.Graph, dict[tuple[int, int], int]]:
    """The lattice graph by reduction of vectors into the box, and the dimension of each edge."""
    sides = form.diagonal().tolist()
    nodes = list(product(*map(range, sides)))
    number = {vector: place for place, vector in enumerate(nodes)}
    edges: dict[tuple[int, int], int] = {}
    for vector in nodes:
        for dimension in range(len(sides)):
            head = list(vector)
            head[dimension] += 1
            for i in reversed(range(len(sides))):
                turns = head[i] // sides[i]
                head = [value - turns * int(form[h, i]) for h, value in enumerate(head)]
            ends = number[vector], number[tuple(head)]
            if ends[0] != ends[1]:
                edges.setdefault((min(ends), max(ends)), dimension)
    return igraph.Graph(len(nodes), list(edges)), edges


@pytest.mark.parametrize("nodes", [96, 343, 512, 1000])
def test_random_rows_by_igraph(nodes):
    forms, _ = classes(nodes, 3)
    chosen = forms[np.random.default_rng(nodes).choice(len(forms), 4, replace=False)]
    found = measure_lattices(chosen)
    for form, histogram, load in zip(chosen, found.histogram, found.load):
        graph, edges = plain_graph(form)
        lengths = np.array(graph.distances(source=[0])[0], int)
        assert np.bincount(lengths, minlength=len(histogram)).tolist() == histogram.tolist()
        carried = np.zeros(3)
        for dimension, share in zip(edges.values(), graph.edge_betweenness()):
            carried[dimension] = max(carried[dimension], share / nodes)
        assert carried == pytest.approx(load, rel=1e-9)


@cache
def plain_diameters(nodes: int) -> list[int]:
    """Of every lattice of so many nodes in three dimensions: plain search over sums of generators in Z³/L."""
    found = []
    for part in lattice_forms(nodes, 3):
        for form in part.tolist():
            (k0, a, b), (_, k1, c), (_, _, k2) = form

            def reduced(x: int, y: int, z: int) -> tuple[int, int, int]:
                turns, z = divmod(z, k2)  # noqa: B023  # called within this turn of the loop
                x, y = x - turns * b, y - turns * c  # noqa: B023
                turns, y = divmod(y, k1)  # noqa: B023
                return (x - turns * a) % k0, y, z  # noqa: B023

            seen, border, depth = {(0, 0, 0)}, [(0, 0, 0)], 0
            while len(seen) < nodes:
                steps = [
                    reduced(x + i, y + j, z + k)
                    for x, y, z in border
                    for i, j, k in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
                ]
                border = list(set(steps) - seen)
                seen.update(border)
                depth += 1
            found.append(depth)
    return found


@pytest.mark.parametrize("nodes", [5, 12, 21, 22, 30])
def test_the_least_diameter_by_a_plain_search_of_all_lattices(nodes):
    forms, _ = classes(nodes, 3)
    diameters = (measure_lattices(forms, loads=False).histogram > 0).sum(axis=1) - 1
    assert diameters.min() == min(plain_diameters(nodes))


@pytest.mark.parametrize(("diameter", "largest", "bound"), [(2, 21, 25), (3, 55, 63), (4, 117, 129)])
def test_largest_abelian_cayley_graphs_of_degree_six(diameter, largest, bound):
    """Dougherty & Faber 1994: 21, 55 and 117 nodes; the bound is that of vectors in Z³ so near."""
    for nodes in range(largest, bound + 1):
        forms, _ = classes(nodes, 3)
        least = (measure_lattices(forms, loads=False).histogram > 0).sum(axis=1).min() - 1
        assert (least <= diameter) == (nodes == largest), nodes


def test_the_theorem_of_two_dimensions_for_every_size():
    """The least diameter is ⌈(√(2N − 1) − 1) / 2⌉: d is enough where 2d² + 2d + 1 ≥ N."""
    for nodes in range(5, 1025):
        forms, _ = classes(nodes, 2)
        least = (measure_lattices(forms, loads=False).histogram > 0).sum(axis=1).min() - 1
        wanted = next(d for d in range(nodes) if 2 * d * d + 2 * d + 1 >= nodes)
        assert least == wanted, nodes
