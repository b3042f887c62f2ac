"""Compare all placements of a job on a slice, and rank the best placements and the row-major order of the nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf, prod
from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.physical import LinkSpeed
from torusweep.questions.placement.blocks import (
    AxisPart,
    Block,
    Division,
    Laid,
    Load,
    Side,
    block_of,
    divisions,
    lay,
    loads_of,
    sides,
    size_of,
)
from torusweep.questions.placement.machine import (
    PATTERN,
    JobOperation,
    Machine,
    OperationCost,
    bucket_cost,
    cost,
    least_bytes,
)

ROUNDING = 1e-9  # relative tolerance within which the search does not discard a time
MOST_ARRANGEMENTS = 1_000_000  # ways to divide the dimensions among the axes, each with many orders
MOST_OF_SEVERAL = 20_000  # the same if an axis may have several factors of a dimension
MOST_NODES_OF_SEVERAL = 512  # nodes of a slice in which an axis may have several factors of a dimension


class OperationTime(NamedTuple):
    """The time of one operation of a job in a placement.

    seconds  seconds of all repetitions of the operation
    bytes    bytes on the busiest link in one repetition; for the bucket algorithm, as in `OperationCost`
    link     busiest link, node · D + direction; None for the bucket algorithm, which uses all sides of a block
    least    lower bound of the seconds of all repetitions, for any placement and without latency
    hops     hops of the longest route
    """

    operation: JobOperation
    algorithm: str
    seconds: float
    bytes: float
    link: int | None
    least: float
    hops: int


class JobPlacement(NamedTuple):
    """A placement of a job, and the time that it takes.

    phases   times of the operations, in the job's order
    blocks   block of each axis; None for an axis whose groups are not blocks
    orders   name of each axis's order
    devices  int32[axes]: node of each rank
    ties     number of placements whose operations take the same times
    """

    phases: list[OperationTime]
    blocks: list[Block | None]
    orders: list[str]
    devices: np.ndarray
    ties: int

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)


class Ranking(NamedTuple):
    """The best placements of a job, the fastest first, and the row-major placement.

    row_major  placement of the ranks on the nodes in the order of their numbers
    compared   number of placements compared
    routed     number of orders of axes whose messages were routed; several placements share an order
    """

    best: list[JobPlacement]
    row_major: JobPlacement
    compared: int
    routed: int


class _Option(NamedTuple):
    """The orders of a block for which an axis's operations take the same times.

    alone   seconds of the best order, `laid`, without the bucket algorithm, whose time does not depend on the order;
            decides between orders with equal times
    """

    phases: tuple[OperationTime, ...]
    seconds: float
    alone: float
    number: int
    laid: Laid


def rank(
    machine: Machine,
    axes: dict[str, int],
    operations: Sequence[JobOperation],
    links: LinkSpeed,
    *,
    top: int = 10,
    backend: str = "auto",
) -> Ranking:
    """Compare all placements of a job on a slice.

    axes        name → size of each axis; the product of the sizes must be the number of nodes
    operations  successive operations; each runs in all groups of its axis at the same time
    top         number of placements to return; all have different times

    Raises BadInput if the sizes of the axes have another product, and Refused if there are too many placements.
    """
    check_axes(machine, axes)
    names = list(axes)
    by_axis = [[operation for operation in operations if operation.axis == name] for name in names]
    blocks, arrangements = _arrangements(machine, list(axes.values()))
    wanted: dict[Block, set[str]] = {}
    for axis, own in enumerate(by_axis):
        for place in np.unique(arrangements[:, axis]).tolist():
            block = blocks[place]
            wanted.setdefault(block, set()).update(PATTERN[operation.kind] for operation in own if len(block))
    laid = lay(machine, wanted, backend=backend)
    buckets = sides(machine, blocks, backend=backend)
    timing = _Timing(machine, links)
    options = [
        {
            place: timing.options(own, blocks[place], laid[blocks[place]], buckets.get(blocks[place], []))
            for place in np.unique(arrangements[:, axis]).tolist()
        }
        for axis, own in enumerate(by_axis)
    ]
    best = [
        _placement(operations, names, blocks, arrangements[kept.row], kept)
        for kept in _best(arrangements, options, top)
    ]
    number = {(axis, place): len(laid[blocks[place]]) for axis, own in enumerate(options) for place in own}
    counts = np.array([[number.get((axis, place), 0) for place in range(len(blocks))] for axis in range(len(names))])
    compared = int(np.prod([counts[axis][arrangements[:, axis]] for axis in range(len(names))], axis=0).sum())
    routed = sum(len(orders) for block, orders in laid.items() if wanted[block])
    row_major = _row_major(timing, axes, operations, backend)
    return Ranking(best, row_major, compared, routed)


def check_axes(machine: Machine, axes: dict[str, int]) -> None:
    """Raise BadInput unless the product of the axes' sizes is the number of nodes."""
    ranks = prod(axes.values())
    if ranks != machine.nodes:
        written = " × ".join(f"{name} {size}" for name, size in axes.items())
        raise BadInput(
            f"axes: expected a product of {machine.nodes:,}, the nodes of {machine.topology.spelling}, got {written} ="
            f" {ranks:,}; change a size, or choose another slice"
        )


def _arrangements(machine: Machine, sizes: list[int]) -> tuple[list[Block], np.ndarray]:
    """Return distinct blocks, and the block of each axis, int32[M, axes], for all M ways to divide the dimensions.

    An axis may have several factors of a dimension unless there are too many ways. Ways with few factors come first.
    """
    found: list[Division] = []
    if machine.nodes <= MOST_NODES_OF_SEVERAL:
        found = list(islice(divisions(machine.sides, sizes, several=True), MOST_OF_SEVERAL + 1))
    if not found or len(found) > MOST_OF_SEVERAL:
        found = list(islice(divisions(machine.sides, sizes, several=False), MOST_ARRANGEMENTS + 1))
    if len(found) > MOST_ARRANGEMENTS:
        raise Refused(
            f"axes: expected at most {MOST_ARRANGEMENTS:,} ways to lay them on {machine.topology.spelling}, got"
            " more; join axes, or choose a smaller slice"
        )
    found.sort(key=lambda division: sum(map(len, division)))
    number: dict[Block, int] = {}
    rows = [
        [number.setdefault(block_of(division, axis), len(number)) for axis in range(len(sizes))] for division in found
    ]
    return list(number), np.array(rows, np.int32).reshape(len(rows), len(sizes))


class _Timing:
    """A calculator of operations' times on a machine whose links have a given speed."""

    def __init__(self, machine: Machine, links: LinkSpeed) -> None:
        self.machine, self.links = machine, links

    def options(
        self, operations: Sequence[JobOperation], block: Block, orders: list[Laid], own: list[Side]
    ) -> list[_Option]:
        """Return a block's orders, the fastest first; orders with equal times share an entry. own: block's sides."""
        found: dict[tuple[float, ...], _Option] = {}
        for laid in orders:
            phases = tuple(self.phase(operation, size_of(block), laid.loads, block, own) for operation in operations)
            alone = sum(
                self.phase(operation, size_of(block), laid.loads, block, []).seconds for operation in operations
            )
            key = tuple(phase.seconds for phase in phases)
            option, before = _Option(phases, sum(key), alone, 1, laid), found.get(key)
            if before is not None:
                option = (option if alone < before.alone else before)._replace(number=before.number + 1)
            found[key] = option
        return sorted(found.values(), key=lambda option: option.seconds)

    def phase(
        self, operation: JobOperation, size: int, loads: dict[str, Load], block: Block | None, own: list[Side]
    ) -> OperationTime:
        """Return an operation's time by ring or bucket, whichever is faster. own: sides for bucket; [] for ring."""
        pattern = PATTERN[operation.kind]
        slowest = loads[pattern].latency if size > 1 else 0
        takes = cost(operation, size, {name: load.messages for name, load in loads.items()}, slowest)
        if size == 1:
            return OperationTime(operation, takes.algorithm, 0.0, 0.0, None, 0.0, 0)
        link: int | None = loads[pattern].link
        hops = loads[pattern].hops
        if own and block:
            factors, messages = [part.factor for part in block], [side.messages for side in own]
            other = bucket_cost(operation, factors, messages, [side.latency for side in own])
            if other is not None and self.seconds(other) < self.seconds(takes):
                takes, link, hops = other, None, max(side.hops for side in own)
        least = operation.times * least_bytes(operation, size, self.machine) / self.links.bandwidth
        seconds = operation.times * self.seconds(takes)
        width = 1.0 if link is None else self.machine.width_of(link)
        return OperationTime(operation, takes.algorithm, seconds, takes.bytes * width, link, least, hops)

    def seconds(self, takes: OperationCost) -> float:
        return takes.seconds(self.links)


class _Kept(NamedTuple):
    """A placement kept by the search: seconds with and without the bucket algorithm, arrangement, options, ties."""

    seconds: float
    alone: float
    row: int
    chosen: list[_Option]
    ties: int


def _best(arrangements: np.ndarray, options: list[dict[int, list[_Option]]], top: int) -> list[_Kept]:
    """Return the `top` fastest placements with different times.

    Arrangements whose axes have the same choice of times form one case. Cases are searched in the order of their
    fastest placement. The search ends at a case whose fastest placement is slower than all placements that are kept.
    """
    profiles: dict[tuple[object, ...], int] = {}
    profile = np.empty_like(arrangements)
    for axis, own in enumerate(options):
        of_block = np.zeros(max(own) + 1, np.int32)
        for place, choice in own.items():
            key = (axis, *((option.alone, option.number, *_times([option])) for option in choice))
            of_block[place] = profiles.setdefault(key, len(profiles))
        profile[:, axis] = of_block[arrangements[:, axis]]
    _, first, number = np.unique(profile, axis=0, return_index=True, return_counts=True)
    choices = [[own[place] for own, place in zip(options, arrangements[row].tolist())] for row in first.tolist()]
    fastest = [sum(choice[0].seconds for choice in case) for case in choices]
    kept: dict[tuple[float, ...], _Kept] = {}
    worst = inf
    for case in np.argsort(fastest, kind="stable").tolist():
        if fastest[case] > worst:
            break
        for chosen in _combinations(choices[case], worst):
            ties = int(number[case]) * prod(option.number for option in chosen)
            entry = _Kept(_seconds(chosen), sum(option.alone for option in chosen), int(first[case]), chosen, ties)
            before = kept.get(_times(chosen))
            if before is not None:
                entry = (entry if entry[1:3] < before[1:3] else before)._replace(ties=ties + before.ties)
            kept[_times(chosen)] = entry
        if len(kept) >= top:
            worst = sorted(entry.seconds for entry in kept.values())[top - 1] * (1 + ROUNDING)
    return sorted(kept.values(), key=lambda entry: entry[:3])[:top]


def _combinations(choices: Sequence[list[_Option]], most: float) -> Iterator[list[_Option]]:
    """Yield all combinations of options, one for each axis, of at most `most` seconds. choices: fastest first."""
    if not choices:
        yield []
        return
    least = sum(choice[0].seconds for choice in choices[1:])
    for option in choices[0]:
        if option.seconds + least > most:
            break
        for rest in _combinations(choices[1:], most - option.seconds):
            yield [option, *rest]


def _times(options: Sequence[_Option]) -> tuple[float, ...]:
    return tuple(phase.seconds for option in options for phase in option.phases)


def _seconds(options: Sequence[_Option]) -> float:
    return sum(option.seconds for option in options)


def _placement(
    operations: Sequence[JobOperation], names: list[str], blocks: list[Block], row: np.ndarray, kept: _Kept
) -> JobPlacement:
    devices = np.zeros((1,) * len(names), np.int32)
    for axis, option in enumerate(kept.chosen):
        shape = [1] * len(names)
        shape[axis] = -1
        devices = devices + option.laid.order.offsets.reshape(shape)
    phases = [iter(option.phases) for option in kept.chosen]
    return JobPlacement(
        [next(phases[names.index(operation.axis)]) for operation in operations],
        [blocks[place] for place in row.tolist()],
        [option.laid.order.name for option in kept.chosen],
        devices,
        kept.ties,
    )


def _row_major(timing: _Timing, axes: dict[str, int], operations: Sequence[JobOperation], backend: str) -> JobPlacement:
    """Return the placement of ranks on nodes in the order of their numbers; the last axis varies fastest."""
    machine, names = timing.machine, list(axes)
    devices = np.arange(machine.nodes, dtype=np.int32).reshape(tuple(axes.values()))
    blocks = [_block_in_order(machine.sides, list(axes.values()), axis) for axis in range(len(names))]
    own = sides(machine, [block for block in blocks if block], backend=backend)
    phases = []
    for operation in operations:
        axis = names.index(operation.axis)
        row = np.moveaxis(devices, axis, -1).reshape(1, -1)
        pattern, block = PATTERN[operation.kind], blocks[axis]
        load = loads_of(machine, row, [axes[operation.axis]], [pattern], backend=backend)[0]
        phases.append(
            timing.phase(operation, axes[operation.axis], {pattern: load}, block, own.get(block, []) if block else [])
        )
    return JobPlacement(phases, blocks, ["row-major"] * len(names), devices, 1)


def _block_in_order(box: Sequence[int], sizes: list[int], axis: int) -> Block | None:
    """Return the block of an axis if ranks are numbered like nodes; None if the groups of the axis are not blocks."""
    low = prod(sizes[axis + 1 :])
    high, parts = low * sizes[axis], []
    for dimension, side in enumerate(box):
        stride = prod(box[:dimension])
        first, last = max(low, stride), min(high, stride * side)
        if first >= last:
            continue
        if last % first or first % stride:
            return None
        if last // first > 1:
            parts.append(AxisPart(dimension, last // first, first // stride))
    block = tuple(parts)
    fits = all(box[part.dimension] % (part.factor * part.stride) == 0 for part in block)
    return block if fits and size_of(block) == sizes[axis] else None
