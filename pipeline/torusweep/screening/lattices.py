"""All lattices of a size: their number, their Hermite normal forms, one of each class.

The lattice graphs of N nodes in n dimensions are the Cayley graphs of all abelian groups of order N with n generators:
tori, twisted tori, circulants and the crystal lattices among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np
from torusweep_kernels.lattices import class_sizes

from torusweep.errors import BadInput, Refused

MOST_DIMENSIONS = 5
MOST_NODES = 2**16
MOST_LATTICES = 2**24  # compared in a few minutes
BLOCK = 2**17  # lattices enumerated at once


@cache
def lattice_count(nodes: int, dimensions: int) -> int:
    """Number of lattices L ⊂ Zⁿ with N = |Zⁿ/L|: Σ d^(n−1) × (those of N/d nodes in n − 1 dimensions) over d | N.

    It is σ(N) for n = 2, and Σ d·σ(d) over d | N for n = 3 (Gruber 1997).
    """
    if dimensions == 1:
        return 1
    return sum(side ** (dimensions - 1) * lattice_count(nodes // side, dimensions - 1) for side in divisors(nodes))


def check_space(nodes: int, dimensions: int) -> None:
    """Raise BadInput where there is no such space, Refused where it has too many lattices; nothing is enumerated."""
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise BadInput(f"dimensions: expected 1 … {MOST_DIMENSIONS}, got {dimensions}; a node has two links in each")
    if not 1 <= nodes <= MOST_NODES:
        raise BadInput(f"nodes: expected 1 … {MOST_NODES:,}, got {nodes:,}; choose another size")
    count = lattice_count(nodes, dimensions)
    if count > MOST_LATTICES:
        fits = max(n for n in range(1, dimensions) if lattice_count(nodes, n) <= MOST_LATTICES)
        raise Refused(
            f"{count:,} lattices have {nodes:,} nodes in {dimensions} dimensions; expected at most {MOST_LATTICES:,}:"
            f" choose fewer nodes, or {fits} dimension{'s' if fits > 1 else ''}"
        )


def lattice_forms(nodes: int, dimensions: int) -> Iterator[np.ndarray]:
    """int32[B, n, n] each: the Hermite normal forms of all lattices of N nodes, as `torusweep_kernels.lattices` has
    them, in a fixed order; B is at most 2¹⁷.
    """
    above = list(zip(*np.triu_indices(dimensions, 1)))
    for sides in _factorisations(nodes, dimensions):
        choices = [sides[i] for i, _ in above]
        for first in range(0, prod(choices), BLOCK):
            number = np.arange(first, min(first + BLOCK, prod(choices)))
            forms = np.zeros((len(number), dimensions, dimensions), np.int32)
            forms[:, range(dimensions), range(dimensions)] = sides
            for (i, j), choice in zip(above, choices):
                forms[:, i, j] = number % choice
                number = number // choice
            yield forms


class SpacePart(NamedTuple):
    """Lattices of a size.

    forms     int32[C, n, n]  Hermite normal forms: of one lattice of each of C classes, or of each lattice
    sizes     int32[C]        lattices of each class; None where each lattice has a form
    lattices  of the space that it accounts for: those looked at, or those of its classes
    steps     int32[C, n]     of circulant graphs, by which they are spelt; None for other lattices
    """

    forms: np.ndarray
    sizes: np.ndarray | None
    lattices: int
    steps: np.ndarray | None = None

    def rows(self, first: int, last: int) -> SpacePart:
        """The lattices from one number to before another; it accounts for none."""
        sizes, steps = (None if array is None else array[first:last] for array in (self.sizes, self.steps))
        return SpacePart(self.forms[first:last], sizes, 0, steps)


def representatives(nodes: int, dimensions: int, threads: int | None = None) -> Iterator[SpacePart]:
    """One lattice of each class under signed permutations of the dimensions, part by part."""
    for forms in _gather(lattice_forms(nodes, dimensions)):
        sizes = class_sizes(forms, threads=threads)
        yield SpacePart(forms[sizes > 0], sizes[sizes > 0], len(forms))


def all_lattices(nodes: int, dimensions: int, threads: int | None = None) -> Iterator[SpacePart]:
    """Every lattice, part by part."""
    for forms in _gather(lattice_forms(nodes, dimensions)):
        yield SpacePart(forms, None, len(forms))


def _gather(parts: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """Small parts joined to parts of 2¹⁷ lattices or more."""
    held: list[np.ndarray] = []
    for part in parts:
        held.append(part)
        if sum(map(len, held)) >= BLOCK:
            yield np.concatenate(held)
            held = []
    if held:
        yield np.concatenate(held)


@cache
def divisors(number: int) -> tuple[int, ...]:
    """All divisors, ascending."""
    return tuple(divisor for divisor in range(1, number + 1) if number % divisor == 0)


def _factorisations(number: int, factors: int) -> Iterator[tuple[int, ...]]:
    """All ordered products of so many factors."""
    if factors == 1:
        yield (number,)
        return
    for factor in divisors(number):
        for others in _factorisations(number // factor, factors - 1):
            yield factor, *others
