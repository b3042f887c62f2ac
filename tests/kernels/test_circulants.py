"""Classes of step sets of circulant graphs: by hand, by brute force, compiled as specified."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from torusweep_kernels.lattices import circulant_class_sizes

from tests.kernels.plain_circulants import orbits


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_class_sizes_are_those_of_the_orbits(steps):
    """Of all step sets, those of graphs in parts included."""
    for nodes in range(2 * steps, 31):
        sets = np.array(list(combinations(range(1, nodes // 2 + 1), steps)), np.int32)
        expected = {min(orbit): len(orbit) for orbit in orbits(nodes, steps)}
        for backend in ("numpy", "numba"):
            sizes = circulant_class_sizes(sets, nodes, backend=backend, threads=2)
            assert {tuple(own): size for own, size in zip(sets.tolist(), sizes.tolist()) if size} == expected


def test_classes_by_hand():
    """The steps of 8 nodes: 1 and 3 change places under the unit 3, 2 and 4 stay."""
    sets = np.array([[1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]], np.int32)
    assert circulant_class_sizes(sets, 8).tolist() == [2, 1, 2, 0, 1, 0]


def test_blocks_make_no_difference():
    sets = np.array(list(combinations(range(1, 60), 2)) * 2, np.int32)
    whole = circulant_class_sizes(sets, 119, threads=2)
    assert whole.tolist() == [int(circulant_class_sizes(own[None], 119, threads=1)[0]) for own in sets]


@pytest.mark.parametrize(
    ("steps", "nodes", "said"),
    [
        (np.zeros((2, 2), np.int32), 8, "steps of 1 … 4"),
        (np.array([[1, 5]]), 8, "steps of 1 … 4, got 1 … 5"),
        (np.array([[2, 1]]), 8, "ascending steps"),
        (np.array([1, 2]), 8, r"steps of shape \[B, k\]"),
        (np.array([[1, 2]]), 2**21, "1 … 1,048,576 nodes, got 2097152"),
    ],
)
def test_other_arrays_are_refused(steps, nodes, said):
    with pytest.raises(ValueError, match=said):
        circulant_class_sizes(steps, nodes)


def test_no_step_set_is_no_work():
    assert len(circulant_class_sizes(np.zeros((0, 3), np.int32), 9)) == 0
