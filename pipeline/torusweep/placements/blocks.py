"""Blocks: where a job's axis lies on the axes of a slice, and the orders of its members there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from math import prod
from typing import NamedTuple

import numpy as np


class Part(NamedTuple):
    """What an axis has of a dimension: the digit `coordinate // stride % factor` of its members."""

    dimension: int
    factor: int
    stride: int


Block = tuple[Part, ...]  # of an axis, in the order of the dimensions; () for an axis of one member


class Order(NamedTuple):
    """An order of the members of a block.

    name      as "cycle x, y": how, and the parts' dimensions from the fastest on
    offsets   int32[A]   node of each member, less that of the block's first corner
    """

    name: str
    offsets: np.ndarray


def size_of(block: Block) -> int:
    return prod(part.factor for part in block)


def corners(block: Block, sides: Sequence[int]) -> np.ndarray:
    """int32[N / A]: the first corner of each of the blocks that together have every node once."""
    node = np.arange(prod(sides), dtype=np.int32)
    first = np.ones(len(node), bool)
    for dimension, factor, stride in block:
        first &= node // prod(sides[:dimension]) % sides[dimension] // stride % factor == 0
    return node[first]


def orders(block: Block, sides: Sequence[int], rings: Sequence[bool], names: Sequence[str]) -> list[Order]:
    """The orders of a block, row-major first. Of equal ones the first stays.

    sides, rings   of the slice's dimensions; a ring has its wraparound
    names          of the dimensions
    """
    if not block:
        return [Order("alone", np.zeros(1, np.int32))]
    strides = np.array([part.stride * prod(sides[: part.dimension]) for part in block], np.int32)
    rounds = tuple(rings[part.dimension] and part.factor == sides[part.dimension] for part in block)
    found: dict[bytes, Order] = {}
    for name, way, digits in _digits(tuple(part.factor for part in block), rounds):
        offsets = digits @ strides
        label = name if len(block) < 2 else f"{name} {', '.join(names[block[place].dimension] for place in way)}"
        found.setdefault(offsets.tobytes(), Order(label, offsets))
    return list(found.values())


@lru_cache(1 << 12)
def _digits(factors: tuple[int, ...], rounds: tuple[bool, ...]) -> list[tuple[str, tuple[int, ...], np.ndarray]]:
    """(name, order of the parts, int32[A, m] digits of the members) of each order of a box."""
    found = []
    for name, sequence in WAYS.items():
        for way in permutations(range(len(factors))):
            turned = sequence([factors[place] for place in way], [rounds[place] for place in way])
            if turned is not None:
                digits = np.empty_like(turned)
                digits[:, list(way)] = turned
                found.append((name, way, digits))
    return found


def row_major(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray:
    """int32[A, m]: the first digit varies fastest."""
    members = np.arange(prod(factors), dtype=np.int32)
    return np.stack([members // prod(factors[:i]) % factor for i, factor in enumerate(factors)], axis=1).reshape(
        len(members), len(factors)
    )


def snake(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray:
    """int32[A, m]: as row-major, every other row backwards: each member is a neighbour of the one before."""
    path = np.zeros((1, 0), np.int32)
    for factor in reversed(factors):
        back = np.arange(len(path)) % 2 == 1
        line = np.tile(np.arange(factor, dtype=np.int32), (len(path), 1))
        line[back] = line[back, ::-1]
        path = np.column_stack([line.ravel(), np.repeat(path, factor, axis=0)])
    return path


def cycle(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray | None:
    """int32[A, m]: a Hamiltonian cycle of a block of two or more sides, one of them even.

    The first digit is a spine: the path through all other digits goes out without it, row by row, and comes back on
    it. A block whose sides are all odd is bipartite with an odd number of members, so that it has no such cycle; see
    `near_cycle`.
    """
    if len(factors) < 2:
        return None
    rows = snake(factors[1:], rounds[1:])
    if len(rows) % 2:
        return None
    return _around(factors[0], rows)


def near_cycle(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray | None:
    """int32[A, m]: of a block whose sides are all odd, a cycle one step of which takes two hops.

    As a cycle, but the last two rows are taken together, up and down: the step back to the spine is the longer one.
    """
    if len(factors) < 2 or any(factor % 2 == 0 for factor in factors):
        return None
    rows, width = snake(factors[1:], rounds[1:]), factors[0]
    last = len(rows) - 1
    visits = [(0, 0)]
    for row in range(last - 1):
        visits += [(place, row) for place in (range(1, width) if row % 2 == 0 else range(width - 1, 0, -1))]
    for column, place in enumerate(range(width - 1, 0, -1)):
        visits += [(place, row) for row in ((last - 1, last) if column % 2 == 0 else (last, last - 1))]
    visits += [(0, row) for row in range(last, 0, -1)]
    return _visited(visits, rows)


def helix(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray | None:
    """int32[A, 2]: round a torus of two rings, each row begun where the last one ended; a cycle if a divides b."""
    if len(factors) != 2 or not all(rounds) or factors[1] % factors[0]:
        return None
    first, second = row_major(factors, rounds).T
    return np.stack([(first - second) % factors[0], second], axis=1).astype(np.int32)


def folded(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray | None:
    """int32[A, m]: a snake's members 0, 2, 4, …, then back over 5, 3, 1: a cycle of steps of at most two hops."""
    path = snake(factors, rounds)
    return np.concatenate([path[::2], path[1::2][::-1]]) if len(path) > 2 else None


def _around(width: int, rows: np.ndarray) -> np.ndarray:
    """A cycle of width × rows, an even number of them: digits of the spine, then of the rows, int32[R, m − 1]."""
    visits = [(0, 0)]
    for row in range(len(rows)):
        visits += [(place, row) for place in (range(1, width) if row % 2 == 0 else range(width - 1, 0, -1))]
    visits += [(0, row) for row in range(len(rows) - 1, 0, -1)]
    return _visited(visits, rows)


def _visited(visits: Sequence[tuple[int, int]], rows: np.ndarray) -> np.ndarray:
    place, row = np.array(visits, np.int32).T
    return np.column_stack([place, rows[row]])


WAYS = {
    "row-major": row_major,
    "cycle": cycle,
    "near-cycle": near_cycle,
    "helix": helix,
    "snake": snake,
    "folded": folded,
}


def blocks_of_dimensions(
    sides: Sequence[int], axes: Sequence[int]
) -> Iterator[tuple[tuple[tuple[int, int], ...], ...]]:
    """All ways to give the dimensions of a slice to the axes of a job.

    sides    of the slice; axes: sizes of the job's axes; both products are the same
    yields   for each dimension, the axes that it is divided among and their factors, from the fastest on

    An axis has at most one factor of a dimension. Axes of one member have none.
    """
    left = list(axes)
    chosen: list[tuple[tuple[int, int], ...]] = []

    def dimension(place: int) -> Iterator[tuple[tuple[tuple[int, int], ...], ...]]:
        if place == len(sides):
            yield tuple(chosen)
            return
        for factors in _factorings(sides[place], tuple(left)):
            for axis, factor in enumerate(factors):
                left[axis] //= factor
            if prod(left) == prod(sides[place + 1 :]):
                shares = [(axis, factor) for axis, factor in enumerate(factors) if factor > 1]
                for order in permutations(shares):
                    chosen.append(order)
                    yield from dimension(place + 1)
                    chosen.pop()
            for axis, factor in enumerate(factors):
                left[axis] *= factor

    yield from dimension(0)


@lru_cache(1 << 16)
def _factorings(side: int, left: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All factors of the axes whose product is a side, each a divisor of what is left of its axis."""
    if not left:
        return [()] if side == 1 else []
    return [
        (factor, *rest)
        for factor in range(1, side + 1)
        if side % factor == 0 and left[0] % factor == 0
        for rest in _factorings(side // factor, left[1:])
    ]


def block_of(dimensions: Sequence[Sequence[tuple[int, int]]], axis: int) -> Block:
    """The block of an axis, of what `blocks_of_dimensions` yields."""
    parts = []
    for dimension, shares in enumerate(dimensions):
        stride = 1
        for owner, factor in shares:
            if owner == axis:
                parts.append(Part(dimension, factor, stride))
            stride *= factor
    return tuple(parts)
