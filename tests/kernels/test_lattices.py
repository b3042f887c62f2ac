"""Lattices in batches: distances and loads beside networkx, classes beside brute force, backends beside each other."""

from __future__ import annotations

from itertools import permutations, product

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep.networks.families.algebra import hermite
from torusweep_kernels.backend import BackendUnavailable
from torusweep_kernels.lattices import cpu, measure_lattices, reference

from tests.kernels.plain_lattices import plain_graph


@st.composite
def forms(draw: st.DrawFn, most_side: int = 6) -> np.ndarray:
    """int32[B, n, n]: Hermite normal forms of several sizes."""
    n = draw(st.integers(1, 4))
    batch = []
    for _ in range(draw(st.integers(1, 4))):
        form = np.zeros((n, n), np.int32)
        for i in range(n):
            form[i, i] = draw(st.integers(1, most_side if n < 4 else 4))
            for j in range(i + 1, n):
                form[i, j] = draw(st.integers(0, int(form[i, i]) - 1))
        batch.append(form)
    return np.array(batch)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(forms())
def test_distances_and_loads_are_those_of_networkx(batch):
    found = measure_lattices(batch)
    for form, degree, histogram, load in zip(batch, found.degree, found.histogram, found.load):
        graph = plain_graph(form)
        nodes, root = len(graph), next(iter(graph))
        assert dict(graph.degree) == dict.fromkeys(graph, degree)
        lengths = networkx.single_source_shortest_path_length(graph, root)
        assert histogram.tolist() == np.bincount(list(lengths.values()), minlength=len(histogram)).tolist()
        # an edge's betweenness counts a pair of nodes once, and a channel carries half of an edge's traffic
        carried = networkx.edge_betweenness_centrality(graph, normalized=False)
        for (u, v), share in carried.items():
            assert load[graph[u][v]["dimension"]] == pytest.approx(share / nodes, rel=1e-12)
        unused = set(range(len(form))) - {dimension for _, _, dimension in graph.edges(data="dimension")}
        assert all(load[dimension] == 0 for dimension in unused)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(forms(), st.booleans())
def test_backends_agree_to_the_bit(batch, loads):
    expected = measure_lattices(batch, loads=loads, backend="numpy")
    assert expected.load.shape == (len(batch), batch.shape[1] * loads)
    for threads in (1, 2):
        same(measure_lattices(batch, loads=loads, backend="numba", threads=threads), expected)


def same(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.dtype, ours.shape, ours.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())


DEGENERATE = [
    *([[[nodes]]] for nodes in range(1, 6)),  # no link, one, two that coincide, rings
    [[[1, 0], [0, 1]], [[1, 0], [0, 2]], [[2, 1], [0, 1]], [[2, 1], [0, 2]]],  # vanishing, then coinciding generators
    [[[5, 1], [0, 1]], [[5, 4], [0, 1]], [[5, 0], [0, 1]], [[3, 1], [0, 2]]],  # e_1 = ± e_0, 0
    [[[12, 5, 7], [0, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[2, 1, 1], [0, 2, 1], [0, 0, 2]]],
    [
        [[9, 4, 4, 5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        [[2, 0, 1, 0], [0, 2, 0, 1], [0, 0, 2, 1], [0, 0, 0, 2]],
    ],
    [np.eye(5, dtype=int), np.eye(5, dtype=int) * 2, np.diag([1, 3, 1, 2, 1])],
    [np.eye(6, dtype=int) * 2, np.diag([3, 1, 1, 2, 1, 3])],
]


@pytest.mark.parametrize("loads", [True, False])
def test_backends_agree_on_degenerate_lattices(loads):
    for batch in DEGENERATE:
        for some in (np.array(batch), *np.array(batch)[:, None]):
            same(*(measure_lattices(some, loads=loads, backend=name) for name in ("numba", "numpy")))


# levels beyond a byte; an odd number of sums at every step
@pytest.mark.parametrize(
    "form", [[[600, 7], [0, 1]], [[43, 11, 5], [0, 5, 3], [0, 0, 3]], [[2, 0], [0, 257]], [[1025]]]
)
def test_backends_agree_on_larger_lattices(form):
    same(*(measure_lattices(np.array([form]), backend=name) for name in ("numba", "numpy")))


def test_a_gpu_is_refused_where_there_is_none():
    with pytest.raises(BackendUnavailable, match="expected a GPU that CuPy can use"):
        measure_lattices(SIZES, backend="cupy")


SIZES = np.array([[[7]], [[30]], [[31]], [[5]], [[1]], [[64]], [[17]]])


def test_a_machine_with_a_gpu_measures_lattices_on_its_cores(as_cupy):
    expected = measure_lattices(SIZES, backend="numba")
    as_cupy()
    same(measure_lattices(SIZES, backend="cupy"), expected)


def test_a_lattice_does_not_depend_on_its_batch():
    batch = np.array([[[20 - side, side], [0, 7]] for side in range(8)], np.int32).repeat(40, axis=0)
    together = measure_lattices(batch, threads=2)
    for form, degree, histogram, load in list(zip(batch, *together))[::40]:
        alone = measure_lattices(form[None])
        assert alone.degree[0] == degree
        assert alone.histogram[0].tolist() == histogram[: alone.histogram.shape[1]].tolist()
        assert alone.load[0].tobytes() == load.tobytes()


@settings(max_examples=20, deadline=None, derandomize=True)
@given(forms())
def test_class_sizes_are_those_of_the_orbits(batch):
    """By exact matrices of Python's integers, as the families have them."""
    orbits = []
    for form in batch.tolist():
        n = len(form)
        orbits.append(
            {
                hermite([[sign * entry for entry in form[i]] for i, sign in zip(order, signs)]).columns
                for order in permutations(range(n))
                for signs in product((1, -1), repeat=n)
            }
        )
    for orbit in orbits:
        images = np.array([np.array(columns).T for columns in orbit], np.int32)
        sizes = cpu.class_sizes(images, 2)
        assert sorted(sizes.tolist()) == [0] * (len(orbit) - 1) + [len(orbit)]
        if batch.shape[1] < 4:
            assert sizes.tolist() == reference.class_sizes(images).tolist()


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((2, 2), np.int32), r"forms of shape \[B, n, n\]"),
        (np.ones((1, 7, 7), np.int32), r"forms of shape \[B, n, n\]"),
        (np.array([[[2, 0], [0, 0]]]), "a positive diagonal, got 0"),
        (np.array([[[2, 2], [0, 3]]]), "0 ≤ entry < side"),
        (np.array([[[2, 0], [1, 3]]]), "upper triangular"),
        (np.array([[[2**20, 0], [0, 2]]]), "at most 1,048,576 nodes, got 2,097,152"),
    ],
)
def test_other_arrays_are_refused(array, said):
    with pytest.raises(ValueError, match=said):
        measure_lattices(array)


def test_no_lattice_is_no_work():
    nothing = np.zeros((0, 3, 3), np.int32)
    assert [len(part) for part in measure_lattices(nothing)] == [0, 0, 0]
