"""Blocks of a slice, on which the groups of a job's axis are placed, and the orders of a group's members in a block.

The loads of all orders of many blocks are computed by few calls of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from math import gcd, prod
from typing import NamedTuple

import numpy as np
from torusweep_kernels.groups import PATTERNS, busiest_links

from torusweep.questions.placement.machine import Machine

ALL_ORDERS_UP_TO = 4  # parts of a block of which all orders are tried: 4! = 24
MOST_AT_ONCE = 1 << 22  # node numbers in one call of the kernel: 16 MiB


class AxisPart(NamedTuple):
    """An axis's part of a dimension: members of a group differ in `coordinate // stride % factor`."""

    dimension: int
    factor: int
    stride: int


Block = tuple[AxisPart, ...]  # parts of an axis, in the order of the dimensions; () for an axis of one member
Shares = tuple[tuple[int, int], ...]  # (axis, factor) of each digit of a dimension, from the fastest digit on
Division = tuple[Shares, ...]  # shares of all dimensions


class Order(NamedTuple):
    """An order of the A members of a block.

    name      kind of order, and the dimensions of the block's parts, fastest first, as in "cycle x, y"
    offsets   int32[A]: node of each member minus the node of the block's first corner
    """

    name: str
    offsets: np.ndarray


def size_of(block: Block) -> int:
    return prod(part.factor for part in block)


def corners(block: Block, sides: Sequence[int]) -> np.ndarray:
    """Return the first corner of each copy of a block, int32[N / A]; the copies together contain every node once."""
    node = np.arange(prod(sides), dtype=np.int32)
    first = np.ones(len(node), bool)
    for dimension, factor, stride in block:
        first &= node // prod(sides[:dimension]) % sides[dimension] // stride % factor == 0
    return node[first]


def orders(block: Block, sides: Sequence[int], rings: Sequence[bool], names: Sequence[str]) -> list[Order]:
    """Return the distinct orders of a block, row-major first.

    sides, rings   sides of the slice's dimensions, and whether each is a ring
    names          names of the dimensions
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
    """Return (name, sequence of parts, digits of the members int32[A, m]) for each order of a box of these factors."""
    found = []
    for name, sequence in WAYS.items():
        for way in _ways(len(factors)):
            turned = sequence([factors[place] for place in way], [rounds[place] for place in way])
            if turned is not None:
                digits = np.empty_like(turned)
                digits[:, list(way)] = turned
                found.append((name, way, digits))
    return found


def _ways(parts: int) -> list[tuple[int, ...]]:
    """Return sequences of a block's parts: all permutations of up to 4 parts, else only rotations and reversals."""
    if parts <= ALL_ORDERS_UP_TO:
        return list(permutations(range(parts)))
    forwards = [tuple((first + place) % parts for place in range(parts)) for first in range(parts)]
    return forwards + [way[::-1] for way in forwards]


def row_major(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray:
    """Return the digits of the members in row-major order, int32[A, m]; the first digit varies fastest."""
    members = np.arange(prod(factors), dtype=np.int32)
    return np.stack([members // prod(factors[:i]) % factor for i, factor in enumerate(factors)], axis=1).reshape(
        len(members), len(factors)
    )


def snake(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray:
    """Return row-major digits with every other row reversed, int32[A, m], so that successive members are neighbours."""
    path = np.zeros((1, 0), np.int32)
    for factor in reversed(factors):
        back = np.arange(len(path)) % 2 == 1
        line = np.tile(np.arange(factor, dtype=np.int32), (len(path), 1))
        line[back] = line[back, ::-1]
        path = np.column_stack([line.ravel(), np.repeat(path, factor, axis=0)])
    return path


def cycle(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray | None:
    """Return digits along a Hamiltonian cycle, int32[A, m]; None for one side, or an odd number of rows.

    The members whose first digit is 0 form a spine. The cycle visits all other members row by row, and then returns
    along the spine. A block whose sides are all odd is bipartite with an odd number of members, and therefore has no
    Hamiltonian cycle; see `near_cycle`.
    """
    if len(factors) < 2:
        return None
    rows = snake(factors[1:], rounds[1:])
    if len(rows) % 2:
        return None
    return _around(factors[0], rows)


def near_cycle(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray | None:
    """Return digits along a cycle with one step of two hops, int32[A, m], if all sides are odd, otherwise None.

    The cycle is built like `cycle`, but visits the last two rows together, up and down. The step back to the spine has
    2 hops.
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
    """Return digits of an a × b torus along a cycle that winds round it, int32[A, 2]; None unless a divides b."""
    if len(factors) != 2 or not all(rounds) or factors[1] % factors[0]:
        return None
    first, second = row_major(factors, rounds).T
    return np.stack([(first - second) % factors[0], second], axis=1).astype(np.int32)


def folded(factors: Sequence[int], rounds: Sequence[bool]) -> np.ndarray | None:
    """Return digits along a cycle with steps of up to 2 hops, int32[A, m]: every other member of a snake, and back."""
    path = snake(factors, rounds)
    return np.concatenate([path[::2], path[1::2][::-1]]) if len(path) > 2 else None


def _around(width: int, rows: np.ndarray) -> np.ndarray:
    """Return digits along a cycle of a block with an even number of rows, int32[A, m]; the spine's digit is first."""
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


def divisions(sides: Sequence[int], axes: Sequence[int], *, several: bool) -> Iterator[Division]:
    """Yield all ways to divide the dimensions of a slice among the axes of a job.

    sides    sides of the slice; axes: sizes of the job's axes, with the same product
    several  whether an axis may have several factors of a dimension, separated by factors of other axes
    """
    if not sides:
        yield ()
        return
    for shares in _shares(sides[0], tuple(axes), several, ()):
        left = list(axes)
        for axis, factor in shares:
            left[axis] //= factor
        for rest in divisions(sides[1:], left, several=several):
            yield (shares, *rest)


@lru_cache(1 << 16)
def _shares(side: int, left: tuple[int, ...], several: bool, before: tuple[int, ...]) -> list[Shares]:
    """Return all ways to write a side as a sequence of axes' factors, each of which divides the axis's remaining size.

    before   axes that may not come next: all that have a factor, or only the last one if several are allowed
    """
    if side == 1:
        return [()]
    found = []
    for axis in range(len(left)):
        if axis in before:
            continue
        for factor in range(2, gcd(side, left[axis]) + 1):
            if side % factor == 0 and left[axis] % factor == 0:
                others = (*left[:axis], left[axis] // factor, *left[axis + 1 :])
                taken = (axis,) if several else (*before, axis)
                found += [((axis, factor), *rest) for rest in _shares(side // factor, others, several, taken)]
    return found


def block_of(division: Division, axis: int) -> Block:
    """Return the block of an axis, given how the dimensions of the slice are divided among the axes."""
    parts = []
    for dimension, shares in enumerate(division):
        stride = 1
        for owner, factor in shares:
            if owner == axis:
                parts.append(AxisPart(dimension, factor, stride))
            stride *= factor
    return tuple(parts)


class Load(NamedTuple):
    """The load of links by a pattern of messages in all groups at the same time.

    messages  messages on the busiest link, divided by the link's bandwidth in flits per cycle
    link      busiest link: node · D + direction
    hops      hops of the longest route
    latency   latency of the slowest route, in the unit of `Topology.latency`
    """

    messages: float
    link: int
    hops: int
    latency: int


class Laid(NamedTuple):
    """An order of a block, with the load that each pattern of messages causes: pattern → load."""

    order: Order
    loads: dict[str, Load]


class Side(NamedTuple):
    """The load of all rings of one side of a block at the same time. Fields are as in `Load`."""

    messages: float
    hops: int
    latency: int


def lay(machine: Machine, wanted: dict[Block, set[str]], *, backend: str = "auto") -> dict[Block, list[Laid]]:
    """Compute all orders of the blocks in `wanted` (block → patterns of messages), with their loads by these patterns.

    The pattern of all pairs loads links equally in all orders of a block, so it is routed only once.
    """
    sides, rings, names = machine.sides, machine.rings, machine.names
    found = {block: [Laid(order, {}) for order in orders(block, sides, rings, names)] for block in wanted}

    def requests() -> Iterator[tuple[np.ndarray, int, str, list[Laid]]]:
        for block, patterns in wanted.items():
            first = corners(block, machine.sides)[:, None]
            for place, laid in enumerate(found[block]):
                for pattern in sorted(patterns):
                    if pattern != "pairs" or place == 0:
                        row = (first + laid.order.offsets[None, :]).ravel()
                        yield row, size_of(block), pattern, found[block] if pattern == "pairs" else [laid]

    for rows, sizes, patterns, owners in _batches(requests(), max(1, MOST_AT_ONCE // machine.nodes)):
        for load, pattern, owner in zip(loads_of(machine, rows, sizes, patterns, backend=backend), patterns, owners):
            for laid in owner:
                laid.loads[pattern] = load
    return found


def loads_of(
    machine: Machine, rows: np.ndarray, sizes: Sequence[int], patterns: Sequence[str], *, backend: str = "auto"
) -> list[Load]:
    """Return the load of links for each of B ways to divide the N nodes into groups of equal size.

    rows  int32[B, N]: nodes, group by group; sizes: members of a group; patterns: names of the kernel's patterns
    """
    numbers = np.array([PATTERNS[pattern] for pattern in patterns])
    found = busiest_links(rows, np.array(sizes), numbers, machine.ways, backend=backend)
    return [
        Load(units / machine.message, link, hops, latency)
        for units, link, hops, latency in zip(*(array.tolist() for array in (found.load, found.link, *found[3:])))
    ]


def sides(machine: Machine, blocks: Iterable[Block], *, backend: str = "auto") -> dict[Block, list[Side]]:
    """Return the sides of each block with at least two sides, each in its own dimension, for the bucket algorithm.

    A block has [] if the algorithm cannot be used. All sides are used at the same time. On a grid their routes stay in
    their own dimensions. On a twisted slice this is certain only for messages of one hop, between neighbours on a line
    whose ends do not send to each other. A line whose shares go from end to end loads links like a ring back over it.
    """
    several = {block for block in blocks if len({part.dimension for part in block}) == len(block) > 1}
    patterns = {"ring", "line"} if machine.twisted else {"ring"}
    laid = lay(machine, {(part,): patterns for block in several for part in block}, backend=backend)
    distinct = not machine.twisted or machine.fewest_ports == 2 * len(machine.sides)
    found = {}
    for block in several:
        rings = [_side(machine, laid[part,][0]) for part in block]
        found[block] = [side for side in rings if side is not None] if distinct and None not in rings else []
    return found


def _side(machine: Machine, laid: Laid) -> Side | None:
    ring = laid.loads["ring"]
    if not machine.twisted or ring.hops == 1:
        return Side(ring.messages, ring.hops, ring.latency)
    line = laid.loads["line"]
    return Side(2 * line.messages, 1, line.latency) if line.hops == 1 else None


def _batches(
    requests: Iterable[tuple[np.ndarray, int, str, list[Laid]]], most: int
) -> Iterator[tuple[np.ndarray, list[int], list[str], list[list[Laid]]]]:
    """Yield the requests in batches of at most `most`, each as (rows, sizes, patterns, owners)."""
    waiting: list[tuple[np.ndarray, int, str, list[Laid]]] = []
    for request in requests:
        waiting.append(request)
        if len(waiting) == most:
            yield _together(waiting)
            waiting = []
    if waiting:
        yield _together(waiting)


def _together(
    waiting: list[tuple[np.ndarray, int, str, list[Laid]]],
) -> tuple[np.ndarray, list[int], list[str], list[list[Laid]]]:
    rows, sizes, patterns, owners = zip(*waiting)
    return np.stack(rows), list(sizes), list(patterns), list(owners)
