"""Count and list the lattices or circulant graphs of a size. They come in batches: all, or one of each class.

A circulant graph of N nodes has k different steps 1 ≤ s_1 < … < s_k ≤ N/2: node v has links to v ± s_i. It is the
lattice graph Zᵏ/L, where L has the vectors x with Σ s_i x_i ≡ 0 modulo N. If N is even, the step N/2 leads to the same
node in both directions. It then adds one link per node; every other step adds two. No other steps coincide.

A lattice is given by its Hermite normal form. The lattice graphs of N nodes in n dimensions are the Cayley graphs of
all abelian groups of order N with n generators, among them tori, twisted tori, circulants and the crystal lattices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import comb, prod
from typing import NamedTuple

import numpy as np
from torusweep_kernels.lattices import circulant_class_sizes, lattice_classes

from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import Whole

DIMENSIONS = Whole(1, "dimensions of the lattices, 3 by default; a node has two links in each dimension", 5)
NODES = Whole(1, "nodes of the network", 2**16)
MOST_LATTICES = 2**24  # lattices that are compared in a few minutes
PART_LATTICES = 2**23  # lattices of a sweep's point: some 200 MB of rows; all sizes up to 1,024 nodes have fewer
MOST_PARTS = 16  # parts of a size; all sizes up to 4,096 nodes have fewer
BLOCK = 2**17  # lattices enumerated at once
CLASSES_AT_ONCE = 2**20  # lattices that are searched for classes at once: some 44,000 classes
STEPS = Whole(1, "compare only circulant graphs with this number of steps; a node has two links for each step", 5)


@cache
def lattice_count(nodes: int, dimensions: int) -> int:
    """Return the number of lattices L ⊂ Zⁿ with N = |Zⁿ/L|: Σ d^(n−1) × lattice_count(N/d, n − 1) over d | N.

    It is σ(N) for n = 2, and Σ d·σ(d) over d | N for n = 3 (Gruber 1997).
    """
    if dimensions == 1:
        return 1
    return sum(side ** (dimensions - 1) * lattice_count(nodes // side, dimensions - 1) for side in divisors(nodes))


def check_space(nodes: int, dimensions: int, parts: int = 1) -> None:
    """Raise BadInput if there is no such space, Refused if it has too many lattices; nothing is enumerated.

    parts  number of parts whose lattices are compared separately
    """
    DIMENSIONS.check("dimensions", dimensions)
    NODES.check("nodes", nodes)
    count = lattice_count(nodes, dimensions)
    if count > MOST_LATTICES * parts:
        fits = max(n for n in range(1, dimensions) if lattice_count(nodes, n) <= MOST_LATTICES)
        raise Refused(
            f"{count:,} lattices have {nodes:,} nodes in {dimensions} dimensions; expected at most {MOST_LATTICES:,}:"
            f" choose fewer nodes, or {fits} dimension{'s' if fits > 1 else ''}"
        )


def lattice_forms(nodes: int, dimensions: int) -> Iterator[np.ndarray]:
    """Yield the Hermite normal forms of all lattices of N nodes, int32[B, n, n] each, in a fixed order.
    Forms are written as in `torusweep_kernels.lattices`; B is at most 2¹⁷.
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
    """Some lattices of a size.

    forms     int32[C, n, n]  Hermite normal forms, one for each of C classes, or one for each lattice
    sizes     int32[C]        number of lattices of each class; None if each lattice has a form
    lattices  number of lattices that the part accounts for: lattices that were searched, or members of its classes
    steps     int32[C, n]     steps of circulant graphs, for their spelling; None for other lattices
    """

    forms: np.ndarray
    sizes: np.ndarray | None
    lattices: int
    steps: np.ndarray | None = None

    def rows(self, first: int, last: int) -> SpacePart:
        """Return the part with forms first … last − 1 only; its `lattices` is 0."""
        sizes, steps = (None if array is None else array[first:last] for array in (self.sizes, self.steps))
        return SpacePart(self.forms[first:last], sizes, 0, steps)


def representatives(
    nodes: int, dimensions: int, threads: int | None = None, first: int = 0, last: int | None = None
) -> Iterator[SpacePart]:
    """Yield one lattice of each class under signed permutations of the dimensions, part by part.

    Only the lattices `first` … `last` − 1, in the order of `lattice_forms`, are searched; by default all.
    """
    sides = np.array(list(_factorisations(nodes, dimensions)), np.int64)
    end = lattice_count(nodes, dimensions) if last is None else last
    for begin in range(first, end, CLASSES_AT_ONCE):
        stop = min(begin + CLASSES_AT_ONCE, end)
        yield SpacePart(*lattice_classes(sides, begin, stop, threads=threads), stop - begin)


def all_lattices(nodes: int, dimensions: int, threads: int | None = None) -> Iterator[SpacePart]:
    """Yield every lattice of a size, part by part."""
    for forms in _gather(lattice_forms(nodes, dimensions)):
        yield SpacePart(forms, None, len(forms))


def _gather(parts: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """Join small parts into parts of at least 2¹⁷ lattices; the last part may be smaller."""
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
    """Return all divisors of a number, in ascending order."""
    return tuple(divisor for divisor in range(1, number + 1) if number % divisor == 0)


def _factorisations(number: int, factors: int) -> Iterator[tuple[int, ...]]:
    """Yield all ordered products of `factors` factors that equal `number`."""
    if factors == 1:
        yield (number,)
        return
    for factor in divisors(number):
        for others in _factorisations(number // factor, factors - 1):
            yield factor, *others


def circulant_count(nodes: int, steps: int) -> int:
    """Return the number of connected circulant graphs of N nodes with k steps: Σ μ(d) C(⌊N/2d⌋, k) over d | N.

    A graph is connected if all steps and N have only the divisor 1 in common; ⌊N/2d⌋ steps are multiples of d.
    """
    return sum(mobius(divisor) * comb(nodes // (2 * divisor), steps) for divisor in divisors(nodes))


def mobius(number: int) -> int:
    """Return the Möbius function: (−1)^r for a product of r different primes, 0 for a number with a square factor."""
    sign = 1
    for prime in range(2, number + 1):
        if number % prime == 0:
            number //= prime
            sign = -sign
            if number % prime == 0:
                return 0
        if number == 1:
            break
    return sign


def check_circulants(nodes: int, steps: int) -> None:
    """Raise BadInput if there is no such circulant graph, Refused if there are too many; nothing is enumerated."""
    STEPS.check("steps", steps)
    sizes = replace(NODES, minimum=2 * steps)
    if not sizes.contains(nodes):
        raise BadInput(f"nodes: expected {sizes.range()} for {_words(steps)}, got {nodes:,}; choose another size")
    count = circulant_count(nodes, steps)
    if count > MOST_LATTICES:
        half = max(half for half in range(1, nodes // 2) if comb(half, steps) <= MOST_LATTICES)
        fits = max(k for k in range(1, steps) if circulant_count(nodes, k) <= MOST_LATTICES)
        raise Refused(
            f"{count:,} circulants have {nodes:,} nodes and {_words(steps)}; expected at most {MOST_LATTICES:,}:"
            f" choose at most {2 * half + 1:,} nodes, or {_words(fits)}"
        )


def circulants(nodes: int, steps: int, *, classes: bool, threads: int | None = None) -> Iterator[SpacePart]:
    """Yield every connected circulant graph, or one of each class under units of Z_N, part by part in ascending order.

    The least step set represents its class. A unit maps any step s to the common divisor of s and N. So the first step
    of a representative divides N, and no other step has a smaller common divisor with N. Other sets need not be
    examined.
    """
    for sets in candidates(nodes, steps) if classes else step_sets(np.arange(1, nodes // 2 + 1), steps):
        sets = sets[np.gcd(np.gcd.reduce(sets, axis=1), nodes) == 1]
        sizes = circulant_class_sizes(sets, nodes, threads=threads) if classes else np.ones(len(sets), np.int32)
        sets, sizes = sets[sizes > 0], sizes[sizes > 0]
        yield SpacePart(circulant_forms(sets, nodes), sizes if classes else None, int(sizes.sum()), sets)


def candidates(nodes: int, steps: int) -> Iterator[np.ndarray]:
    """Yield ascending step sets, int32[B, k], that may be connected and may be the least of their class."""
    numbers = np.arange(1, nodes // 2 + 1)
    common = np.gcd(numbers, nodes)
    for first in divisors(nodes):
        if first > nodes // 2:
            continue
        others = numbers[(numbers > first) & (common >= first)]
        for rest in step_sets(others, steps - 1):
            yield np.column_stack([np.full(len(rest), first, np.int32), rest])


def step_sets(numbers: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield all subsets of `size` numbers in ascending order, int32[B, size]; B is at most 2¹⁷. numbers: ascending.

    The combinatorial number system (Lehmer 1964) turns a rank r into Σ C(t_i, i), the greatest t_i first. Counted
    from the other end, such sets are in ascending order.
    """
    total, values = comb(len(numbers), size), numbers.astype(np.int32)
    below = [np.array([comb(t, i) for t in range(len(numbers) + 1)], np.int64) for i in range(1, size + 1)]
    for first in range(0, total, BLOCK):
        rank = total - 1 - np.arange(first, min(first + BLOCK, total), dtype=np.int64)
        chosen = np.empty((len(rank), size), np.int32)
        for place in range(size):
            table = below[size - place - 1]
            top = np.searchsorted(table, rank, side="right") - 1
            rank = rank - table[top]
            chosen[:, place] = values[len(numbers) - 1 - top]
        yield chosen


def circulant_forms(steps: np.ndarray, nodes: int) -> np.ndarray:
    """Return the Hermite normal form of each graph's lattice, int32[B, k, k], as in `torusweep_kernels.lattices`.

    steps  int32[B, k]  steps of connected graphs

    Let g_i be the common divisor of N and the first i steps. Side i is g_{i−1} / g_i. Column j writes k_j s_j as a
    combination of earlier steps: a_i (s_i / g_i) ≡ t / g_i modulo side i, from i = j − 1 down, with the remainder t.
    """
    count, k = steps.shape
    step = steps.astype(np.int64).T
    common = [np.full(count, nodes)]
    for own in step:
        common.append(np.gcd(common[-1], own))
    side = [before // after for before, after in pairwise(common)]
    inverse = [inverses(step[i] // common[i + 1], side[i]) for i in range(k)]
    forms = np.zeros((count, k, k), np.int32)
    for j in range(k):
        forms[:, j, j] = side[j]
        left = -side[j] * step[j] % nodes
        for i in reversed(range(j)):
            entry = left // common[i + 1] % side[i] * inverse[i] % side[i]
            forms[:, i, j] = entry
            left = (left - entry * step[i]) % nodes
    return forms


def inverses(numbers: np.ndarray, moduli: np.ndarray) -> np.ndarray:
    """Return the inverses of numbers modulo coprime moduli, int64[B], by Euclid's algorithm; 0 for the modulus 1."""
    dividend, divisor = moduli.copy(), numbers % moduli
    before, factor = np.zeros_like(numbers), np.ones_like(numbers)
    while (going := divisor > 0).any():
        quotient = np.where(going, dividend // np.maximum(divisor, 1), 0)
        dividend, divisor = np.where(going, divisor, dividend), np.where(going, dividend - quotient * divisor, 0)
        before, factor = np.where(going, factor, before), np.where(going, before - quotient * factor, factor)
    return before % moduli


def _words(steps: int) -> str:
    return f"{steps} step{'' if steps == 1 else 's'}"
