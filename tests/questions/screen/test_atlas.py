"""The atlas beside what is known or computed apart: counts, Burnside's lemma, igraph, theorems, a plain search."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.questions.screen.columns import SCREEN
from torusweep.questions.screen.lattices import lattice_count, lattice_forms, representatives
from torusweep.questions.screen.spaces import Lattices, in_parts, screen_space, space_of
from torusweep.tables.columns import arrow_schema
from torusweep_kernels.lattices import cpu, lattice_classes, measure_lattices

from benchmarks.atlas_oracles import (
    burnside,
    by_igraph,
    by_size,
    group,
    plain_winners,
    wrong_classes,
    wrong_counts,
    wrong_largest,
    wrong_rows,
    wrong_theorem,
    wrong_winners,
)


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


@pytest.mark.parametrize(
    ("nodes", "dimensions"),
    [(1, 3), (2, 3), (8, 3), (27, 3), (36, 3), (64, 3), (97, 3), (120, 3), (210, 3), (144, 2), (360, 2), (12, 4)],
)
def test_classes_are_as_many_as_burnside_counts(nodes, dimensions):
    forms, sizes = classes(nodes, dimensions)
    assert (
        len(forms)
        == burnside(nodes, dimensions)
        == burnside(nodes, dimensions, [(one, 1) for one in group(dimensions)])
    )
    assert sizes.sum() == lattice_count(nodes, dimensions)


@pytest.mark.parametrize("nodes", [1, 12, 35, 96])
def test_classes_found_by_numbers_are_those_of_all_forms(nodes):
    """The cheap images leave out nothing, wherever a part of the numbers begins and ends."""
    forms = np.concatenate(list(lattice_forms(nodes, 3)))
    sizes = cpu.class_sizes(forms, 2)
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


@pytest.mark.parametrize("nodes", [96, 343, 512, 1000])
def test_random_rows_by_igraph(nodes):
    forms, _ = classes(nodes, 3)
    chosen = forms[np.random.default_rng(nodes).choice(len(forms), 4, replace=False)]
    found = measure_lattices(chosen)
    for form, histogram, load in zip(chosen, found.histogram, found.load):
        plain = by_igraph(form)
        assert plain["distance_histogram"] == (nodes * histogram[: plain["diameter"] + 1].astype(int)).tolist()
        assert plain["load"] == pytest.approx(load, rel=1e-9)


@pytest.mark.parametrize(("nodes", "dimensions"), [*product(range(1, 33), [2]), *product(range(1, 15), [3]), (21, 3)])
def test_the_winners_by_a_plain_search_of_all_lattices(nodes, dimensions):
    forms, sizes = classes(nodes, dimensions)
    histogram = measure_lattices(forms, loads=False).histogram
    total = nodes * (histogram @ np.arange(histogram.shape[1]))
    found = {
        "sum": int(total.min()),
        "attained": int(sizes[total == total.min()].sum()),
        "diameter": int((histogram > 0).sum(axis=1).min()) - 1,
    }
    assert found == plain_winners(nodes, dimensions)


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


ALTERED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "nothing": lambda row: {},
    "counts": lambda row: {"class_size": row["class_size"] + 1},
    "winners": lambda row: {"distance_sum": row["distance_sum"] - row["nodes"]},
    "theorem": lambda row: {"diameter": 1},
    "largest": lambda row: {"diameter": row["diameter"] + 1},
    "rows": lambda row: {"load": [*row["load"][:-1], row["load"][-1] * (1 + 1e-8)]},
}


@pytest.mark.parametrize("wrong", ALTERED)
def test_the_oracles_of_an_atlas_find_an_altered_value(tmp_path, wrong):
    """In the best row of a size; dimensions and nodes where it matters."""
    rows = [
        row
        for size in [(2, 12), (2, 20), (3, 21)]
        for part in screen_space(Lattices(*size))
        for row in part.rows.to_pylist()
    ]
    size = (3, 21) if wrong == "largest" else (2, 20)
    for best in [row for row in rows if (row["dimensions"], row["nodes"]) == size]:
        if best["diameter"] == (2 if size[0] == 3 else 3):
            best |= ALTERED[wrong](best)
    pq.write_table(
        pa.Table.from_pylist(rows, schema=arrow_schema(SCREEN)), tmp_path / "screen.parquet", row_group_size=9
    )
    file = pq.ParquetFile(tmp_path / "screen.parquet")
    sizes = by_size(file)
    checks = {
        "counts": wrong_counts(sizes),
        "winners": wrong_winners(sizes, {2: 20, 3: 0}),
        "theorem": wrong_theorem(sizes),
        "largest": wrong_largest(sizes),
        "rows": wrong_rows(file, len(rows), seed=1),
    }
    found = {name for name, check in checks.items() if len(list(check)) > 1}
    assert wrong in (found or {"nothing"})
    assert len(list(wrong_classes(sizes, 21))) == 1
    sizes[2, 20]["classes"] -= 1
    assert len(list(wrong_classes(sizes, 21))) == 2
