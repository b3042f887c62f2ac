"""Classes of lattices under signed permutations of the dimensions, compiled by Numba."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.threads import in_threads

BLOCK = 4096  # lattices a thread takes at once


def class_sizes(forms: np.ndarray, threads: int) -> np.ndarray:
    """See the package."""
    n = forms.shape[1]
    # a lattice is its own image under negation: the first sign may be 1
    turns = [(order, (1, *signs)) for order in permutations(range(n)) for signs in product((1, -1), repeat=n - 1)]
    sources = np.array([order for order, _ in turns], np.int64)
    signs = np.array([signs for _, signs in turns], np.int64)
    sizes = np.zeros(len(forms), np.int32)

    def block(first: int) -> None:
        part = slice(first, first + BLOCK)
        _class_sizes(forms[part], sources, signs, sizes[part])

    in_threads(block, range(0, len(forms), BLOCK), threads)
    return sizes


@cached
def _class_sizes(forms, sources, signs, sizes):
    """For each form: images are compared until one precedes it."""
    n = forms.shape[1]
    columns = np.empty((n, n), np.int64)  # of the image, one a row
    basis = np.empty((n, n), np.int64)  # columns of its Hermite normal form, one a row
    for place in range(len(forms)):
        form = forms[place]
        nodes = 1
        for i in range(n):
            nodes *= form[i, i]
        fixed = 0
        for turn in range(len(sources)):
            for j in range(n):
                for i in range(n):
                    columns[j, i] = signs[turn, i] * form[sources[turn, i], j] % nodes
            compared = _compare(columns, basis, form, nodes)
            if compared < 0:
                fixed = 0
                break
            fixed += compared == 0
        sizes[place] = len(sources) // fixed if fixed else 0


@cached
def _compare(columns, basis, form, nodes):
    """−1, 0, 1: the Hermite normal form of the lattice of `columns` precedes `form`, is it, comes after it.

    The sides are compared from the last one as they appear. The lattice has all multiples of `nodes`: entries are
    reduced modulo that number, so that no product exceeds its square.
    """
    n = len(form)
    left = nodes
    for i in range(n - 1, 0, -1):
        basis[i, : i + 1] = 0
        basis[i, i] = nodes
        for j in range(n):
            while columns[j, i]:  # Euclid's algorithm on row i
                quotient = basis[i, i] // columns[j, i]
                for h in range(i + 1):
                    entry = (basis[i, h] - quotient * columns[j, h]) % nodes
                    basis[i, h], columns[j, h] = columns[j, h], entry
        if basis[i, i] != form[i, i]:
            return -1 if basis[i, i] > form[i, i] else 1
        left //= basis[i, i]
    basis[0, 0] = left
    for j in range(n - 1, 0, -1):
        for i in range(j - 1, -1, -1):
            quotient = basis[j, i] // basis[i, i]
            for h in range(i + 1):
                basis[j, h] -= quotient * basis[i, h]
        for i in range(j):
            if basis[j, i] != form[i, j]:
                return -1 if basis[j, i] < form[i, j] else 1
    return 0
