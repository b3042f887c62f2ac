"""Lattice networks of any matrix, Hermite normal forms and exact determinants."""

from __future__ import annotations

from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep.networks.families import build
from torusweep.networks.families.algebra import determinant, hermite
from torusweep.networks.symmetry import is_automorphism, orbits

from tests.networks import plain_networks as plain
from tests.networks.plain_networks import arcs_of


def matrices(largest: int) -> st.SearchStrategy[list[list[int]]]:
    entries = st.integers(-6, 6)
    squares = st.integers(1, 3).flatmap(
        lambda n: st.lists(st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n)
    )
    return squares.filter(lambda matrix: 0 < abs(round(np.linalg.det(np.array(matrix)))) <= largest)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(matrices(120))
def test_any_lattice(matrix):
    topology = build(f"lattice(matrix={matrix})")
    assert topology.nodes == abs(round(np.linalg.det(np.array(matrix))))
    expected = plain.lattice(matrix, list(map(tuple, topology.addresses().tolist())))
    assert arcs_of(topology).keys() == {(u, v) for u, v in expected if u != v}
    assert topology.plan.degree == topology.degrees.max() == topology.degrees.min()
    assert len(orbits(topology).sizes) == 1
    from_everywhere = np.sort(plain.distances(topology.ports, np.arange(topology.nodes)), axis=1)
    assert (from_everywhere == from_everywhere[0]).all()


@st.composite
def hermite_forms(draw):
    """Columns of an upper triangular matrix with entries below the diagonal entry of their row."""
    sides = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    return [
        [draw(st.integers(0, sides[i] - 1)) if i < j else sides[i] * (i == j) for i in range(len(sides))]
        for j in range(len(sides))
    ]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(hermite_forms(), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-3, 3)), max_size=8))
def test_hermite_form_is_found_from_any_basis(columns, moves):
    """Column operations of determinant ± 1 preserve the lattice, and so its Hermite normal form."""
    other = np.array(columns)
    for i, j, times in moves:
        i, j = i % len(columns), j % len(columns)
        if i != j:
            other[i] += times * other[j]
            other[[i, j]] = other[[j, i]]
    assert hermite(other.T.tolist()).columns == tuple(map(tuple, columns))


def test_large_entries_are_exact():
    """18-digit entries, determinant 7: 64-bit arithmetic would overflow."""
    big = 10**17
    assert determinant([[big, big + 1], [big - 7, big - 6]]) == big * (big - 6) - (big + 1) * (big - 7) == 7
    assert prod(hermite([[big, big + 1], [big - 7, big - 6]]).sides) == 7
    assert build(f"lattice(matrix=[[{big}, {big + 1}], [{big - 7}, {big - 6}]])").nodes == 7


def test_symmetries_in_five_dimensions():
    """Z⁵ modulo the checkerboard lattice D5, scaled by 2: exchanges and sign changes suffice for one orbit."""
    rows = [[2, 2, 2, 2, 4], [2, 0, 0, 0, 0], [0, 2, 0, 0, 0], [0, 0, 2, 0, 0], [0, 0, 0, 2, 0]]
    topology = build(f"lattice(matrix={rows})")
    assert topology.nodes == 64
    assert all(is_automorphism(topology, image) for image in topology.plan.symmetries())
