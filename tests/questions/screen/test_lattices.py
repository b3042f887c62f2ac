"""The enumeration of lattices, the bounds, and the best: beside counts and theorems from the literature."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from math import ceil, sqrt
from typing import Any

import networkx
import numpy as np
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build, plan
from torusweep.networks.families.algebra import hermite
from torusweep.questions.screen import bounds
from torusweep.questions.screen.best import Best, Objective, best_lattices, form_of, known_lattices, objectives
from torusweep.questions.screen.lattices import check_space, lattice_count, lattice_forms, representatives
from torusweep.questions.screen.spaces import Lattices, screen_lattices, screen_space
from torusweep.questions.static.record import static_record

from tests.kernels.plain_lattices import plain_graph
from tests.records import loads_record


def best(nodes: int, dimensions: int, chosen: Sequence[Objective], **options: Any) -> Best:
    space = Lattices(dimensions, nodes)
    return best_lattices(space, chosen, parts=screen_space(space), **options)


def divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def test_counts_are_those_of_the_literature():
    sigma = [0, *(sum(divisors(number)) for number in range(1, 201))]
    assert [lattice_count(number, 2) for number in range(1, 201)] == sigma[1:]
    cubic = [sum(divisor * sigma[divisor] for divisor in divisors(number)) for number in range(1, 201)]
    assert [lattice_count(number, 3) for number in range(1, 201)] == cubic
    assert [lattice_count(nodes, 3) for nodes in (128, 256, 512)] == [43_435, 174_251, 698_027]


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_each_lattice_is_enumerated_once(dimensions):
    for nodes in range(1, 25 if dimensions < 4 else 9):
        forms = np.concatenate(list(lattice_forms(nodes, dimensions)))
        assert len(forms) == lattice_count(nodes, dimensions)
        assert len(np.unique(forms, axis=0)) == len(forms)
        for form in forms[:: max(1, len(forms) // 20)].tolist():  # the Hermite normal form of a lattice is unique
            assert [list(row) for row in zip(*hermite(form).columns)] == form
        assert set(np.diagonal(forms, axis1=1, axis2=2).prod(axis=1)) == {nodes}


@pytest.mark.parametrize("dimensions", [2, 3])
def test_classes_hold_all_lattices(dimensions):
    """For all sizes up to 64; that a class is an orbit, and has one representative, is the kernel's test."""
    for nodes in range(1, 65):
        parts = list(representatives(nodes, dimensions))
        assert sum(int(part.sizes.sum()) for part in parts) == lattice_count(nodes, dimensions)
        assert sum(part.lattices for part in parts) == lattice_count(nodes, dimensions)


def test_the_least_diameter_in_two_dimensions():
    """⌈(√(2N − 1) − 1) / 2⌉ for every N (Wong & Coppersmith 1974; Boesch & Wang 1985)."""
    for nodes in range(5, 201):
        found = best(nodes, 2, [Objective("diameter", 1)], show=1)
        assert found.rows[0]["diameter"] == ceil((sqrt(2 * nodes - 1) - 1) / 2), nodes


@pytest.mark.parametrize("a", [2, 4, 6, 8])
def test_the_fcc_lattice_is_found_again(a):
    """Cámara et al. 2010, table 1, for even a: diameter 3a/2, mean distance 7a/8 − 1/(4a)."""
    form = form_of(f"pdtt(a={a})")
    row = screen_lattices(form[None]).to_pylist()[0]
    assert row["diameter"] == 3 * a // 2
    assert row["mean_distance"] == pytest.approx((7 * a * a - 2) / (8 * a), rel=1e-14)
    if a <= 4:
        found = [other for part in screen_space(Lattices(3, 2 * a**3)) for other in part.rows.to_pylist()]
        (own,) = [other for other in found if tuple(other["matrix"]) in orbit(form)]
        assert own["class_size"] == len(orbit(form))
        assert {name: own[name] for name in SAME_IN_A_CLASS} == {name: row[name] for name in SAME_IN_A_CLASS}


SAME_IN_A_CLASS = ("degree", "links", "diameter", "distance_sum", "distance_histogram", "saturation_load")


def orbit(form: np.ndarray) -> set[tuple[int, ...]]:
    """The Hermite normal forms, row by row, of all signed permutations of a lattice."""
    n = len(form)
    images = (
        [[int(sign * entry) for entry in form[place]] for sign, place in zip(signs, order)]
        for order in permutations(range(n))
        for signs in product((1, -1), repeat=n)
    )
    return {tuple(int(entry) for row in zip(*hermite(image).columns) for entry in row) for image in images}


# generators that vanish, coincide, are their own negative; tori, twisted tori, one dimension and five
NETWORKS = [
    "torus(k=4, n=2)",
    "torus(radices=[5, 2, 3])",
    "torus(k=2, n=5)",
    "pdtt(a=3)",
    "ptt(a=2)",
    "rtt(a=4)",
    "illiac(k=5)",
    "ring(k=9)",
    "lattice(matrix=[[12, 1], [0, 1]])",
    "lattice(matrix=[[12, 0], [0, 1]])",
    "lattice(matrix=[[12, 6], [0, 1]])",
    "lattice(matrix=[[12, 11, 5], [0, 1, 0], [0, 0, 1]])",
    "lattice(matrix=[[2, 1, 1], [0, 2, 1], [0, 0, 2]])",
    "lattice(matrix=[[-2, 2, 2], [2, -2, 2], [2, 2, -2]])",
]


@pytest.mark.parametrize("spelling", NETWORKS)
def test_screening_says_what_the_stages_say(spelling):
    network = build(spelling)
    row = screen_lattices(form_of(spelling)[None]).to_pylist()[0]
    static = static_record(network)
    for name in ("nodes", "links", "diameter", "mean_distance", "mean_distance_distinct"):
        assert row[name] == static[name], name
    assert row["degree"] == static["degree_min"] == static["degree_max"]
    assert row["distance_histogram"] == static["distance_histogram"]
    loads = loads_record(network, traffic="uniform", routing="minimal")
    assert row["saturation_load"] == pytest.approx(loads["saturation_load"], rel=1e-12)
    classes = dict(loads["per_class_load"])
    used = [name for name in network.plan.classes if name in classes and classes[name]["max"] > 0]
    assert sorted(classes[name]["max"] for name in used) == pytest.approx(sorted(x for x in row["load"] if x > 0))


def test_bounds_are_attained_by_moore_graphs():
    for graph, diameter in (
        (networkx.petersen_graph(), 2),
        (networkx.complete_graph(7), 1),
        (networkx.cycle_graph(9), 4),
        (networkx.hoffman_singleton_graph(), 2),
    ):
        levels = bounds.moore_levels(len(graph), graph.degree[0])
        lengths = networkx.single_source_shortest_path_length(graph, 0).values()
        assert bounds.diameter(levels) == diameter == max(lengths)
        assert bounds.distance_sum(levels) == sum(lengths)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_the_bound_of_lattices_counts_vectors(dimensions):
    box = np.abs(np.indices((11,) * dimensions) - 5).sum(axis=0)
    near = np.bincount(box.ravel())[:6]  # those up to distance 5 are all in the box
    assert bounds.lattice_levels(int(near.sum()), dimensions) == near.tolist()


def test_no_connected_graph_of_degree_one():
    with pytest.raises(ValueError, match="no connected graph of 5 nodes has degree 1"):
        bounds.moore_levels(5, 1)


@pytest.mark.parametrize(("nodes", "dimensions"), [(12, 3), (16, 2), (9, 3), (30, 2), (1, 3), (2, 2)])
def test_the_best_by_networkx(nodes, dimensions):
    """All lattices, not only one of each class, as plain graphs."""
    graphs = [(form, plain_graph(form)) for part in lattice_forms(nodes, dimensions) for form in part]
    sums = [sum(networkx.single_source_shortest_path_length(graph, next(iter(graph))).values()) for _, graph in graphs]
    found = best(nodes, dimensions, [Objective("mean_distance", 1)], show=1000)
    assert found.rows[0]["distance_sum"] == nodes * min(sums)
    assert found.attained == sums.count(min(sums))
    assert found.lattices == len(graphs)
    assert found.winners == len(found.rows)
    assert all(plan(row["topology"])[1].nodes == nodes for row in found.rows)


def test_objectives_decide_in_order():
    first = best(54, 3, objectives(["mean_distance"], []), show=100)
    both = best(54, 3, objectives(["diameter"], ["saturation_load"]), show=100)
    assert first.rows[0]["mean_distance"] < both.rows[0]["mean_distance"]
    assert both.rows[0]["saturation_load"] > first.rows[0]["saturation_load"]
    assert both.rows[0]["diameter"] == first.rows[0]["diameter"]


def test_known_networks_of_a_size():
    assert [network.spelling for network in known_lattices(128, 3)] == [
        "torus(radices=[8, 4, 4])",
        "pdtt(a=4)",
        "ptt(a=4)",
    ]
    assert next(network.spelling for network in known_lattices(64, 3)) == "torus(k=4, n=3)"
    assert [network.spelling for network in known_lattices(32, 2)] == ["torus(radices=[8, 4])", "rtt(a=4)"]
    bcc = known_lattices(256, 3)[-1]
    assert bcc.name == "BCC lattice"
    assert static_record(build(bcc.spelling))["nodes"] == 256
    assert known_lattices(7, 3) == []


def test_progress_ends_at_one():
    shares: list[float] = []
    best(48, 3, objectives([], []), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("nodes", "dimensions", "kind", "said"),
    [
        (0, 3, BadInput, "nodes=0: expected 1 … 65,536"),
        (70_000, 2, BadInput, "nodes=70000: expected 1 … 65,536"),
        (8, 0, BadInput, "dimensions=0: expected 1 … 5"),
        (4096, 3, Refused, "44,731,051 lattices .* choose fewer nodes, or 2 dimensions"),
        (60_000, 5, Refused, "choose fewer nodes, or 2 dimensions"),
    ],
)
def test_what_cannot_be_compared_is_refused(nodes, dimensions, kind, said):
    with pytest.raises(kind, match=said):
        check_space(nodes, dimensions)


def test_spellings():
    forms = np.array([[[8, 4], [0, 2]], [[1, 0], [0, 16]]], np.int32)
    spellings = ["lattice(matrix=[[8, 4], [0, 2]])", "lattice(matrix=[[1, 0], [0, 16]])"]
    assert screen_lattices(forms)["topology"].to_pylist() == spellings == [plan(text)[0] for text in spellings]
