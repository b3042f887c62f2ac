"""Integer lattices, exactly: determinant, Hermite normal form, canonical residues.

A lattice L ⊂ Zⁿ of full rank is kept as a triangular basis: with the dimensions taken in a
suitable `order`, column j of the basis has its side k_j on the diagonal and its other entries in
dimensions that stand before j only. Every vector then has one representative in the box of the
sides: reduce the last dimension first. Python's integers, so nothing overflows here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

Matrix = list[list[int]]


@dataclass(frozen=True)
class Lattice:
    """sides: the box; columns[j]: the basis vector of dimension j; order: dimensions from first to last."""

    sides: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    def residue(self, vector: Sequence[int]) -> tuple[int, ...]:
        """The vector's representative in the box."""
        digits = list(vector)
        for j in reversed(self.order):
            quotient = digits[j] // self.sides[j]
            if quotient:
                digits = [digit - quotient * entry for digit, entry in zip(digits, self.columns[j])]
        return tuple(digits)

    def index(self, digits: Sequence[np.ndarray]) -> np.ndarray:
        """int32[N]: node numbers of integer vectors, given as one int64 array a dimension, broadcastable over the box."""
        return np.broadcast_to(self.number(digits), tuple(reversed(self.sides))).astype(np.int32).reshape(-1)

    def number(self, digits: Sequence[np.ndarray]) -> np.ndarray:
        """int64[…]: node numbers of integer vectors, given as one int64 array a dimension; NumPy's or CuPy's, broadcastable."""
        digits = list(digits)
        for j in reversed(self.order):
            quotient = digits[j] // self.sides[j]
            if not quotient.any():
                continue
            for i, entry in enumerate(self.columns[j]):
                if entry:
                    digits[i] = digits[i] - quotient * entry
        index, stride = digits[0], self.sides[0]
        for digit, side in zip(digits[1:], self.sides[1:]):
            index = index + digit * stride
            stride *= side
        return index

    def digits(self, number: np.ndarray) -> list[np.ndarray]:
        """One int64[…] a dimension: the digits of node numbers int[…]; NumPy's or CuPy's."""
        rest, digits = number.astype(np.int64), []
        for side in self.sides:
            digits.append(rest % side)
            rest = rest // side
        return digits


def box(sides: Sequence[int]) -> Lattice:
    """The lattice of the vectors k_j e_j: nothing but wraparounds."""
    n = len(sides)
    return Lattice(
        tuple(sides),
        tuple(tuple(side * int(i == j) for i in range(n)) for j, side in enumerate(sides)),
        tuple(range(n)),
    )


def determinant(matrix: Matrix) -> int:
    """Determinant of a square integer matrix (Bareiss 1968: every division is exact)."""
    rows = [list(row) for row in matrix]
    sign, previous = 1, 1
    for i in range(len(rows) - 1):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i]), None)
        if pivot is None:
            return 0
        if pivot != i:
            rows[i], rows[pivot], sign = rows[pivot], rows[i], -sign
        for r in range(i + 1, len(rows)):
            for c in range(i + 1, len(rows)):
                rows[r][c] = (rows[r][c] * rows[i][i] - rows[r][i] * rows[i][c]) // previous
        previous = rows[i][i]
    return sign * rows[-1][-1]


def hermite(matrix: Matrix) -> Lattice:
    """The lattice that the columns of a nonsingular integer matrix generate, by its Hermite normal form.

    The form is upper triangular with a positive diagonal (the sides) and 0 ≤ entry < side to the
    right of it; it is the same for every matrix that generates the lattice. Entries are kept below
    the determinant D, whose multiples D·e_i all belong to the lattice (Cohen 1993, algorithm 2.4.8).
    """
    columns = [list(column) for column in zip(*matrix)]
    if all(column[i] > 0 and not any(column[i + 1 :]) for i, column in enumerate(columns)):
        return triangular(columns, tuple(range(len(columns))))
    modulus = abs(determinant(matrix))
    assert modulus > 0, "a singular matrix generates no lattice of full rank"
    return _spanned(columns, modulus)


def extended(shape: Lattice, vector: Sequence[int]) -> Lattice:
    """The smallest lattice that contains another one and a vector."""
    return _spanned([list(column) for column in (*shape.columns, vector)], prod(shape.sides))


def _spanned(active: list[list[int]], modulus: int) -> Lattice:
    """The lattice that vectors generate, if it contains all vectors modulus · e_i."""
    n = len(active[0])
    columns: list[list[int]] = [[] for _ in range(n)]
    for i in reversed(range(n)):
        pivot: list[int] | None = None
        rest = []
        for column in [*active, [modulus * int(r == i) for r in range(n)]]:
            while pivot is not None and column[i]:  # Euclid on row i
                quotient = pivot[i] // column[i]
                pivot, column = column, [p - quotient * c for p, c in zip(pivot, column)]
            if pivot is None and column[i]:
                pivot = column
            else:
                rest.append([entry % modulus for entry in column])
        assert pivot is not None
        columns[i] = pivot if pivot[i] > 0 else [-entry for entry in pivot]
        active = rest
    return triangular(columns, tuple(range(n)))


def triangular(columns: Sequence[Sequence[int]], order: Sequence[int]) -> Lattice:
    """The lattice of a basis that is triangular in the given order, its other entries reduced below the sides."""
    reduced = [list(column) for column in columns]
    for place, j in enumerate(order):
        for i in reversed(order[:place]):
            quotient = reduced[j][i] // reduced[i][i]
            reduced[j] = [a - quotient * b for a, b in zip(reduced[j], reduced[i])]
    return Lattice(tuple(reduced[j][j] for j in range(len(columns))), tuple(map(tuple, reduced)), tuple(order))
