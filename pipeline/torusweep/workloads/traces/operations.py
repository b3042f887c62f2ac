"""Represent a trace, whatever its format: the operations of each rank, and which operations wait for which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

from torusweep.errors import BadInput, Refused, printable
from torusweep.networks.physical import CYCLES_PER_MICROSECOND, FLIT_BYTES, MOST_FLIT_BYTES, Clock
from torusweep.networks.topology import Meaning, Whole, default_memory
from torusweep.tables.parquet import content_of
from torusweep.workloads.files import MOST_DELAY, MOST_FLITS
from torusweep.workloads.messages import Target

CALCULATION, SEND, RECEIVE, COLLECTIVE = range(4)
MOST_BYTES = MOST_FLITS * FLIT_BYTES
MICROSECOND = 1000  # nanoseconds
MEMORY_PER_BYTE = 8  # peak memory per byte of a file, without its operations
OPERATION_BYTES = 1500  # peak memory per operation, its steps in `replay` included; measured in tests/workloads

CyclesPerMicrosecond = Annotated[
    int | None,
    Whole(1, f"clock in MHz; by default the network's, or {CYCLES_PER_MICROSECOND:,} if it has no units", 10**6),
]
FlitBytes = Annotated[
    int | None, Whole(1, f"bytes of a flit; by default the simulation's, {FLIT_BYTES}", MOST_FLIT_BYTES)
]
EagerBytes = Annotated[
    int | None,
    Whole(0, "longest message whose sender continues at once; senders of longer ones wait until they have arrived"),
]
TraceFile = Annotated[str, Meaning("the file, relative to the current directory")]
BARRIER = "barrier"


class TraceCollective(NamedTuple):
    """A rank's part in a collective operation.

    operation  a name in collectives.OPERATIONS, or BARRIER
    group      name of the process group
    bytes      size of the operation in bytes, as collectives.operations defines it
    root       rank of the root, for broadcast and reduce; else −1
    """

    operation: str
    group: str
    bytes: int
    root: int


@dataclass(slots=True)
class TraceOperation:
    """One operation of a rank.

    place    file, and line or node, for error messages
    name     name of the operation, unique in its rank
    after    numbers, in the rank's list, of operations that must be finished before this operation begins
    beside   numbers, in the rank's list, of operations that must have begun before this operation begins
    peer     the other rank of a send or a receive
    cycles   duration of a calculation
    lane     CPU or stream of a calculation; in reality, calculations on the same lane never overlap
    """

    place: str
    name: str
    kind: int
    peer: int = -1
    bytes: int = 0
    tag: int = 0
    cycles: int = 0
    lane: int = 0
    collective: TraceCollective | None = None
    after: list[int] = field(default_factory=list)
    beside: list[int] = field(default_factory=list)


class Trace(NamedTuple):
    """A trace: operations of each rank, ranks of each process group, and notes on parts that are not replayed."""

    where: str
    ranks: list[list[TraceOperation]]
    groups: dict[str, list[int]]
    notes: list[str]


def clock_of_trace(target: Target, cycles_per_us: int | None, flit_bytes: int | None) -> tuple[Clock, list[str]]:
    """Return (clock of a trace, notes). Values in the trace's spelling override the network's own clock."""
    own = target.clock
    clock = own.with_cycles(cycles_per_us)._replace(flit_bytes=flit_bytes or own.flit_bytes)
    if own.cycle is None or clock.cycle in (None, own.cycle):
        return clock, []
    return clock, [
        f"cycles_per_us={cycles_per_us} counts for calculations, while {own}; without it both have the same clock"
    ]


def cycles_of(nanoseconds: int, clock: Clock, place: str) -> int:
    """Return a time in cycles, rounded up. Raises BadInput if it exceeds the largest delay of a message."""
    cycles = clock.cycles(nanoseconds)
    if cycles > MOST_DELAY:
        raise BadInput(
            f"{place}: expected at most {MOST_DELAY:,} cycles of calculation, got {cycles:,};"
            " choose fewer cycles_per_us, or longer flits where the links have a bandwidth"
        )
    return cycles


def trace_content(path: Path, what: str) -> bytes:
    """Read the bytes of a file; `what` is its expected kind, as 'a GOAL schedule'. Raises as `content_of` does."""
    most = default_memory() // MEMORY_PER_BYTE
    remedy = "; take a shorter part of the trace"
    return content_of(path, what=what, most_bytes=most, remedy=remedy, where=f"{printable(path)}: ")


def check_memory(needed: int, what: str, where: str) -> None:
    """Raise Refused if `needed` bytes of memory, which `what` takes, exceed the limit."""
    if needed > default_memory():
        raise Refused(
            f"{where}: {what} or more need about {needed / 2**30:.2g} GiB, the limit is"
            f" {default_memory() / 2**30:.2g} GiB; take a shorter part of the trace"
        )


def check_ranks(ranks: int, terminals: int, where: str) -> None:
    """Raise BadInput if a trace has no ranks, or more ranks than there are terminals."""
    if not 1 <= ranks <= terminals:
        raise BadInput(
            f"{where}: expected 1 … {terminals:,} ranks, a terminal for each, got {ranks:,}; choose a larger network"
        )


def overlapping(operations: list[TraceOperation], order: Iterable[int]) -> int:
    """Return how many calculations of a rank may overlap an earlier calculation on the same lane.

    order  numbers of the operations, each after all operations that it waits for
    """
    reached: list[dict[int, int]] = [{}] * len(operations)  # per lane, number of calculations that must come before
    done: dict[int, int] = {}
    found = 0
    for number in order:
        one = operations[number]
        before: dict[int, int] = {}
        for other in (*one.after, *one.beside):
            if not before:
                before = reached[other]
            elif reached[other] is not before:
                theirs = reached[other]
                before = before | {lane: max(many, before.get(lane, 0)) for lane, many in theirs.items()}
        if one.kind == CALCULATION and one.cycles:
            many = done.get(one.lane, 0)
            found += before.get(one.lane, 0) < many
            done[one.lane] = many + 1
            before = before | {one.lane: many + 1}
        reached[number] = before
    return found
