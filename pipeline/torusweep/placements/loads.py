"""What the orders of many blocks load: all of them in few calls of the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from torusweep_kernels.groups import PATTERNS, busiest_links

from torusweep.placements.blocks import Block, Order, corners, orders, size_of
from torusweep.placements.machine import Machine

MOST_AT_ONCE = 1 << 22  # node numbers in one call of the kernel: 16 MiB


class Load(NamedTuple):
    """Of one pattern in all groups at once.

    messages  on the busiest link
    link      that link: node · D + direction
    hops      of the longest route
    """

    messages: float
    link: int
    hops: int


class Laid(NamedTuple):
    """An order of a block, and its loads by pattern."""

    order: Order
    loads: dict[str, Load]


class Side(NamedTuple):
    """The rings of one side of a block, all of them at once: messages on the busiest link, hops of the longest."""

    messages: float
    hops: int


def lay(machine: Machine, wanted: dict[Block, set[str]], *, backend: str = "auto") -> dict[Block, list[Laid]]:
    """All orders of some blocks, with their loads by the patterns wanted of each block.

    Pairs load the same in all orders of a block: they are routed once.
    """
    found = {block: [Laid(order, {}) for order in _orders(machine, block)] for block in wanted}

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
    """Loads of divisions of the nodes into groups.

    rows  int32[B, N]; sizes: members of a group of each; patterns: names of the kernel's patterns
    """
    numbers = np.array([PATTERNS[pattern] for pattern in patterns])
    found = busiest_links(rows, np.array(sizes), numbers, machine.ways, backend=backend)
    return [
        Load(units / machine.message, link, hops)
        for units, link, hops in zip(found.load.tolist(), found.link.tolist(), found.longest.tolist())
    ]


def sides(machine: Machine, blocks: Iterable[Block], *, backend: str = "auto") -> dict[Block, list[Side]]:
    """The sides of the blocks of two or more, each in a dimension of its own, for the bucket algorithm; [] where it
    does not suit.

    The sides are used at the same time. On a grid their routes stay in their own dimensions. On a twisted slice this
    is sure for messages of one hop only: between neighbours on the lines, the ends of which then send nothing to each
    other. A line of a members whose shares go from end to end loads a link as a ring does that comes back over it.
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
        return Side(ring.messages, ring.hops)
    line = laid.loads["line"]
    return Side(2 * line.messages, 1) if line.hops == 1 else None


def _orders(machine: Machine, block: Block) -> list[Order]:
    return orders(block, machine.sides, machine.rings, machine.names)


def _batches(
    requests: Iterable[tuple[np.ndarray, int, str, list[Laid]]], most: int
) -> Iterator[tuple[np.ndarray, list[int], list[str], list[list[Laid]]]]:
    """Requests in groups of at most `most`."""
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
