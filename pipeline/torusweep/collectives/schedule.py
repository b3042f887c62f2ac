"""Describe algorithms as data: for each transfer of a chunk, its step, the rank that sends and the rank that receives.

A rank is a terminal. The operation's data are divided into chunks; a transfer copies a chunk from rank to rank, or adds
it to the receiver's chunk. All transfers of a step read the data from before the step. Transfers of a step between
the same two ranks are one message.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import NamedTuple

import numpy as np

from torusweep.errors import Refused

MOST_TRANSFERS = 1 << 24  # of a schedule: about 1 GiB while it is measured
ALL = -1


class Schedule(NamedTuple):
    """An algorithm of an operation on a network, as C chunks and T transfers.

    operation    name of the operation that the schedule computes
    node         int32[R]  node of each rank; if switches add up, every node is a rank
    units        number of equal units in the operation's data
    size         int64[C]  number of units of each chunk
    home         int32[C]  rank that contributes a chunk, or gets its sum; ALL in an all_reduce
    target       int32[C]  rank that must get a chunk; ALL if every rank must
    step, source, destination, chunk  int32[T]  of each transfer, ordered by step
    reduces      bool[T]   whether the receiver adds the chunk to its own
    pipelined    whether steps overlap: each chunk is cut into pieces, which follow each other through the steps
    ring         int32[R]  ranks in the order of the algorithm's ring, in either direction; None without a single ring
    """

    operation: str
    node: np.ndarray
    units: int
    size: np.ndarray
    home: np.ndarray
    target: np.ndarray
    step: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    chunk: np.ndarray
    reduces: np.ndarray
    pipelined: bool = False
    ring: np.ndarray | None = None

    @property
    def steps(self) -> int:
        return int(self.step.max(initial=-1)) + 1


class Transfers:
    """A schedule's transfers, built up block by block."""

    def __init__(self) -> None:
        self._blocks: list[tuple[np.ndarray, ...]] = []
        self._number = 0

    def add(
        self, step: np.ndarray | int, source: np.ndarray | int, destination: np.ndarray, chunk: np.ndarray | int
    ) -> None:
        """Append transfers; the arrays are broadcast against each other."""
        block = np.broadcast_arrays(*(np.asarray(part, np.int32) for part in (step, source, destination, chunk)))
        self._number += block[0].size
        check_transfers(self._number)
        self._blocks.append(tuple(part.ravel() for part in block))

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return (step, source, destination, chunk) of all transfers, ordered by step."""
        empty = (np.zeros(0, np.int32),) * 4
        columns = [np.concatenate(parts) for parts in zip(empty, *self._blocks)]
        order = np.argsort(columns[0], kind="stable")
        return tuple(column[order] for column in columns)


def check_transfers(number: int) -> None:
    """Raise Refused if a schedule has too many transfers."""
    if number > MOST_TRANSFERS:
        raise Refused(
            f"expected an algorithm of at most {MOST_TRANSFERS:,} transfers of chunks, got more;"
            " choose a smaller network"
        )


def schedule(
    operation: str,
    node: np.ndarray,
    sizes: tuple[int, np.ndarray],
    ends: tuple[np.ndarray | int, np.ndarray | int],
    transfers: Transfers,
    *,
    pipelined: bool = False,
) -> Schedule:
    """Make the schedule of transfers that copy chunks.

    sizes  (number of units of the operation, int64[C] number of units of each chunk)
    ends   (home, target) of each chunk, as in `Schedule`
    """
    units, size = sizes
    home, target = (np.broadcast_to(np.asarray(end, np.int32), size.shape) for end in ends)
    step, source, destination, chunk = transfers.arrays()
    copies = np.zeros(len(step), bool)
    return Schedule(
        operation, node, units, size, home, target, step, source, destination, chunk, copies, pipelined=pipelined
    )


def mirrored(forward: Schedule) -> Schedule:
    """Reverse a schedule in time and direction: an all_gather becomes a reduce_scatter, a broadcast a reduce.

    The sums are right if each chunk reaches each rank once.
    """
    operation = {"all_gather": "reduce_scatter", "broadcast": "reduce"}[forward.operation]
    backwards = slice(None, None, -1)
    return forward._replace(
        operation=operation,
        step=(forward.steps - 1 - forward.step)[backwards],
        source=forward.destination[backwards],
        destination=forward.source[backwards],
        chunk=forward.chunk[backwards],
        reduces=np.ones(len(forward.step), bool),
    )


def all_reduced(reduction: Schedule, distribution: Schedule) -> Schedule:
    """Join a reduce_scatter and an all_gather, or a reduce and a broadcast with the same root, to an all_reduce."""
    reduction, distribution = _in_equal_chunks(reduction, distribution)
    parts = reduction, distribution._replace(step=distribution.step + reduction.steps)
    check_transfers(sum(len(part.step) for part in parts))
    anyone = np.full(len(reduction.size), ALL, np.int32)
    found = reduction._replace(operation="all_reduce", home=anyone, target=anyone, ring=distribution.ring)
    return _with_transfers(found, parts)


def _in_equal_chunks(one: Schedule, other: Schedule) -> tuple[Schedule, Schedule]:
    """Return two schedules with their chunks cut further, so that both use the same chunks.

    All homes must have the same amount of data. On a network of one-way channels, the trees towards a rank differ in
    number and size from the trees away from it.
    """
    if np.array_equal(one.size, other.size) and np.array_equal(one.home, other.home) and one.units == other.units:
        return one, other
    units = lcm(one.units, other.units)
    orders = [np.argsort(part.home, kind="stable") for part in (one, other)]
    # where each chunk ends, if all are put one after another by their homes
    ends = [np.cumsum(part.size[order]) * (units // part.units) for part, order in zip((one, other), orders)]
    cuts = np.union1d(*ends)
    wholes = [order[np.searchsorted(end, cuts)] for order, end in zip(orders, ends)]
    size = np.diff(cuts, prepend=0)
    first, second = (_recut(part, whole, units, size) for part, whole in zip((one, other), wholes))
    return first, second


def _recut(found: Schedule, whole: np.ndarray, units: int, size: np.ndarray) -> Schedule:
    """Return a schedule with smaller chunks, parts of the old chunks `whole`, int[C], of `size` units, int64[C]."""
    order = np.argsort(whole, kind="stable")
    number = np.bincount(whole, minlength=len(found.size))
    many = number[found.chunk]
    check_transfers(int(many.sum()))
    transfer = np.repeat(np.arange(len(many)), many)
    place = np.arange(len(transfer)) - np.repeat(np.cumsum(many) - many, many)
    first = np.cumsum(number) - number
    return found._replace(
        units=units,
        size=size,
        home=found.home[whole],
        target=found.target[whole],
        step=found.step[transfer],
        source=found.source[transfer],
        destination=found.destination[transfer],
        chunk=order[first[found.chunk[transfer]] + place].astype(np.int32),
        reduces=found.reduces[transfer],
    )


def together(schedules: Sequence[Schedule]) -> Schedule:
    """Run schedules of one operation at the same time, each on a part of the data. All have equally many units."""
    offsets = np.cumsum([0, *(len(part.size) for part in schedules)]).tolist()
    check_transfers(sum(len(part.step) for part in schedules))
    numbered = [part._replace(chunk=part.chunk + offset) for part, offset in zip(schedules, offsets)]
    size, home, target = (
        np.concatenate(pieces) for pieces in zip(*((part.size, part.home, part.target) for part in schedules))
    )
    units = schedules[0].units * len(schedules)
    return _with_transfers(schedules[0]._replace(units=units, size=size, home=home, target=target), numbered)


def _with_transfers(found: Schedule, parts: Sequence[Schedule]) -> Schedule:
    """Return the schedule `found` with all transfers of the schedules `parts`, ordered by step."""
    columns = ((part.step, part.source, part.destination, part.chunk, part.reduces) for part in parts)
    step, source, destination, chunk, reduces = (np.concatenate(pieces) for pieces in zip(*columns))
    order = np.argsort(step, kind="stable")
    return found._replace(
        step=step[order],
        source=source[order],
        destination=destination[order],
        chunk=chunk[order],
        reduces=reduces[order],
    )
