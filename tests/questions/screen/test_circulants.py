"""All circulants of a size: beside brute force, networkx and theorems."""

from __future__ import annotations

from itertools import combinations
from math import ceil, comb, gcd, sqrt

import networkx
import numpy as np
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build, plan
from torusweep.networks.families.algebra import kernel
from torusweep.questions.screen.best import Objective, best_lattices, form_of
from torusweep.questions.screen.lattices import (
    check_circulants,
    circulant_count,
    circulant_forms,
    inverses,
    mobius,
    step_sets,
)
from torusweep.questions.screen.spaces import Circulants, circulant_spellings, screen_lattices, screen_space, space_of
from torusweep.questions.static.record import static_record

from tests.kernels.plain_circulants import orbits
from tests.records import loads_record


def rows_of(nodes: int, steps: int, *, classes: bool = True) -> list[dict]:
    parts = screen_space(Circulants(steps, nodes), classes=classes, threads=2)
    return [row for part in parts for row in part.rows.to_pylist()]


def spelt(nodes: int, steps: tuple[int, ...]) -> str:
    return f"circulant(n={nodes}, steps={list(steps)})"


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_all_circulants_by_networkx(steps):
    """Every step set of up to 40 nodes: which graphs are connected, and their distances."""
    for nodes in range(2 * steps, 41):
        expected = {}
        for own in combinations(range(1, nodes // 2 + 1), steps):
            graph = networkx.circulant_graph(nodes, own)
            lengths = networkx.single_source_shortest_path_length(graph, 0)
            if len(lengths) == nodes:
                histogram = np.bincount(list(lengths.values()))
                expected[spelt(nodes, own)] = (graph.degree[0], graph.number_of_edges(), (nodes * histogram).tolist())
        rows = rows_of(nodes, steps, classes=False)
        found = {row["topology"]: (row["degree"], row["links"], row["distance_histogram"]) for row in rows}
        assert found == expected
        assert list(found) == list(expected)  # in the order of the steps
        assert circulant_count(nodes, steps) == len(rows) == len(expected)
        assert {row["class_size"] for row in rows} == {None}


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_classes_by_brute_force(steps):
    for nodes in range(2 * steps, 41):
        connected = [orbit for orbit in orbits(nodes, steps) if gcd(nodes, *min(orbit)) == 1]
        rows = rows_of(nodes, steps)
        assert {row["topology"]: row["class_size"] for row in rows} == {
            spelt(nodes, min(orbit)): len(orbit) for orbit in connected
        }
        assert sum(row["class_size"] for row in rows) == circulant_count(nodes, steps)
        assert Circulants(steps, nodes).fewest_classes <= len(rows)


@pytest.mark.parametrize(("nodes", "steps"), [(210, 3), (256, 2), (101, 4), (64, 5), (5040, 1)])
def test_the_classes_of_large_sizes_hold_all_circulants(nodes, steps):
    space = Circulants(steps, nodes)
    parts = list(space.parts(True, 2))
    assert sum(int(part.sizes.sum()) for part in parts) == space.lattices == circulant_count(nodes, steps)


def test_the_best_of_degree_four():
    """⌈(√(2N − 1) − 1) / 2⌉ is the least diameter for every N (Boesch & Wang 1985; Beivide et al. 1991)."""
    for nodes in range(5, 201):
        space = Circulants(2, nodes)
        found = best_lattices(space, [Objective("diameter", 1)], parts=screen_space(space), show=1)
        assert found.rows[0]["diameter"] == ceil((sqrt(2 * nodes - 1) - 1) / 2), nodes


@pytest.mark.parametrize("diameter", range(1, 10))
def test_consecutive_steps_are_dense(diameter):
    """With N = 2D² + 2D + 1 nodes, steps D and D + 1 attain diameter D: as many nodes are near as in Z² itself."""
    nodes = 2 * diameter**2 + 2 * diameter + 1
    rows = rows_of(nodes, 2)
    assert min(row["diameter"] for row in rows) == diameter
    least = [row for row in rows if row["diameter"] == diameter]
    assert {row["distance_sum"] for row in least} == {nodes * sum(4 * r * r for r in range(diameter + 1))}
    (dense,) = screen_lattices(form_of(spelt(nodes, (diameter, diameter + 1)))[None]).to_pylist()
    assert dense["distance_sum"] == least[0]["distance_sum"]


# with and without the step N/2; coprime to N, and only together; one step, five steps
STEPS = [(13, (1, 5)), (12, (1, 6)), (12, (3, 4)), (30, (6, 10, 15)), (9, (2,)), (2, (1,)), (24, (1, 2, 5, 7, 12))]


@pytest.mark.parametrize(("nodes", "steps"), STEPS)
def test_a_row_says_what_the_stages_say(nodes, steps):
    spelling = spelt(nodes, steps)
    (row,) = [row for row in rows_of(nodes, len(steps), classes=False) if row["topology"] == spelling]
    network = build(spelling)
    static, loads = static_record(network), loads_record(network, traffic="uniform", routing="minimal")
    for name in ("topology", "nodes", "links", "diameter", "mean_distance", "distance_histogram"):
        assert row[name] == static[name], name
    assert row["degree"] == static["degree_max"] == 2 * len(steps) - (2 * steps[-1] == nodes)
    assert row["matrix"] == [entry for line in form_of(spelling).tolist() for entry in line]
    assert row["dimensions"] == len(steps)
    assert row["saturation_load"] == pytest.approx(loads["saturation_load"], rel=1e-12)
    classes = loads["per_class_load"]
    assert sorted(of_class["max"] for of_class in classes.values()) == pytest.approx(sorted(row["load"]))


def test_forms_are_those_of_the_family():
    generator = np.random.default_rng(24)
    for nodes in (2, 12, 97, 360, 5040, 65_536):
        for k in range(1, min(5, nodes // 2) + 1):
            sets = np.sort([generator.choice(nodes // 2, k, replace=False) + 1 for _ in range(50)], axis=1)
            sets = sets[np.gcd(np.gcd.reduce(sets, axis=1), nodes) == 1].astype(np.int32)
            for own, form in zip(sets.tolist(), circulant_forms(sets, nodes).tolist()):
                assert [list(row) for row in zip(*kernel(own, nodes).columns)] == form


def test_subsets_come_in_order():
    numbers = np.array([2, 3, 5, 8, 13, 21])
    for size in range(1, 7):
        found = np.concatenate(list(step_sets(numbers, size)))
        assert [tuple(own) for own in found.tolist()] == list(combinations(numbers.tolist(), size))
    assert list(step_sets(numbers, 7)) == []


def test_subsets_in_several_parts():
    parts = list(step_sets(np.arange(1, 120), 3))
    assert len(parts) == 3
    whole = np.concatenate(parts)
    assert len(whole) == comb(119, 3)
    assert whole[[0, -1]].tolist() == [[1, 2, 3], [117, 118, 119]]
    order = whole @ np.array([120**2, 120, 1])
    assert (np.diff(order) > 0).all()


def test_arithmetic():
    assert [mobius(number) for number in range(1, 13)] == [1, -1, -1, 0, -1, 1, -1, 0, 0, 1, -1, 0]
    pairs = [(a, m) for m in range(1, 40) for a in range(1, 40) if gcd(a, m) == 1]
    numbers, moduli = np.array(pairs, np.int64).T
    assert inverses(numbers, moduli).tolist() == [pow(a, -1, m) for a, m in pairs]


def test_spellings():
    sets = np.array([[1, 5], [3, 12]], np.int32)
    spellings = ["circulant(n=26, steps=[1, 5])", "circulant(n=26, steps=[3, 12])"]
    assert circulant_spellings(sets, 26).to_pylist() == spellings == [plan(text)[0] for text in spellings]
    assert space_of("circulants(steps=2, nodes=64)") == Circulants(2, 64)
    assert str(Circulants(2, 64)) == "circulants(steps=2, nodes=64)"
    assert space_of("circulants(dimensions=2, nodes=64)") is None


@pytest.mark.parametrize(
    ("nodes", "steps", "kind", "said"),
    [
        (5, 3, BadInput, "nodes: expected 6 … 65,536 for 3 steps, got 5"),
        (70_000, 2, BadInput, "nodes: expected 4 … 65,536 for 2 steps, got 70,000"),
        (8, 0, BadInput, "steps=0: expected 1 … 5 ("),
        # C(10000, 2) − C(5000, 2) − C(2000, 2) + C(1000, 2)
        (
            20_000,
            2,
            Refused,
            "35,998,000 circulants have 20,000 nodes and 2 steps; expected at most 16,777,216: choose",
        ),
        (20_000, 2, Refused, "choose at most 11,587 nodes, or 1 step"),
        (4096, 4, Refused, "choose at most 287 nodes, or 2 steps"),
    ],
)
def test_what_cannot_be_compared_is_refused(nodes, steps, kind, said):
    with pytest.raises(kind) as refusal:
        check_circulants(nodes, steps)
    assert said in str(refusal.value)


def test_what_would_fit_fits():
    for steps, most in ((2, 11_587), (4, 287)):
        check_circulants(most, steps)
        check_circulants(most - 1, steps)
