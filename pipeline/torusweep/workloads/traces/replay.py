"""Turn the operations of a trace into messages between tasks, with their dependencies, and note what differs.

The messages of a collective operation between ranks follow the algorithms of `torusweep.collectives`.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from itertools import accumulate, chain, groupby
from operator import itemgetter
from typing import Literal

import numpy as np

from torusweep.collectives.algorithms import POWERS_OF_2, schedule_of
from torusweep.collectives.cost import messages_of
from torusweep.errors import BadInput, one_line
from torusweep.networks.families import build
from torusweep.networks.physical import Clock
from torusweep.quantities import counted
from torusweep.workloads.files import MOST_NAMED, SHOWN, topological_order, words_of_cycle
from torusweep.workloads.messages import Workload
from torusweep.workloads.traces.operations import (
    BARRIER,
    CALCULATION,
    RECEIVE,
    SEND,
    Trace,
    TraceCollective,
    TraceOperation,
    check_memory,
    overlapping,
)

# algorithms that need ranks but no links; "one_way_ring" is the ring of ASTRA-sim and NCCL
Algorithm = Literal["one_way_ring", "ring", "direct", "halving_doubling"]
DIRECT = "direct"
GATHERS = ("all_reduce", "all_gather", "reduce_scatter")
Messages = list[tuple[int, int, int]]  # source, destination, bytes
STEP_BYTES = 600  # peak memory per step of a collective, measured in tests/workloads
BEGIN, MESSAGE, END = range(3)  # the steps of an operation


def expanded(operation: str, ranks: int, size: int, root: int, algorithm: str) -> list[Messages]:
    """List the messages (source, destination, bytes) of each step of a collective between ranks 0 … ranks − 1.

    size       size in bytes, as torusweep.collectives.operations defines it
    root       rank that is the root of a broadcast or reduce
    algorithm  algorithm of all_reduce, all_gather and reduce_scatter. Other operations send every message at once,
               except a barrier, which is a dissemination: in step i, rank r tells rank r + 2^i (Hensgen, Finkel &
               Manber 1988)

    Bytes of a message are rounded up. Raises BadInput if the algorithm does not suit the number of ranks.
    """
    if ranks == 1:
        return []
    if operation == BARRIER:
        return [
            [(rank, (rank + (1 << bit)) % ranks, 0) for rank in range(ranks)] for bit in range((ranks - 1).bit_length())
        ]
    units, steps = _schedule(operation, ranks, root, algorithm)
    return [[(source, destination, -(-part * size // units)) for source, destination, part in step] for step in steps]


@lru_cache(maxsize=64)
def _schedule(operation: str, ranks: int, root: int, algorithm: str) -> tuple[int, list[Messages]]:
    """Return (units of the operation, list of messages (source, destination, units) for each step)."""
    if algorithm in POWERS_OF_2 and ranks & (ranks - 1):
        raise BadInput(
            f"{operation} between {ranks:,} ranks: expected a power of 2 of them with algorithm {algorithm};"
            " choose algorithm=one_way_ring"
        )
    logical = build(f"ring(k={ranks})" if ranks > 2 else "hypercube(n=1)")
    wanted = algorithm if operation in GATHERS and ranks > 2 else DIRECT  # two ranks have no ring
    schedule = schedule_of(logical, operation, wanted, root=root)
    rows = zip(*(column.tolist() for column in messages_of(schedule)))
    steps = groupby(rows, key=itemgetter(0))
    return schedule.units, [
        [(source, destination, int(units)) for _, source, destination, units in own] for _, own in steps
    ]


def replayed(trace: Trace, *, clock: Clock, eager_bytes: int | None, algorithm: str = "one_way_ring") -> Workload:
    """Return the messages of a trace. A message has the bytes of its send, in flits of the clock, at least one flit.

    eager_bytes  longest message whose sender continues at once; None if all senders do so
    algorithm    algorithm of the collectives, as in `expanded`

    Raises BadInput for a message without its receive or its send, for parts of a collective that do not agree, and
    for operations that wait for each other; Refused if there are too many steps.
    """
    return _Replay(trace, clock, eager_bytes, algorithm).workload()


class _Replay:
    """The steps of a trace: three per operation (its begin, its message and its end), then the steps of collectives.

    A step is local, or a message from `source` to `destination`. It begins `delay` cycles after the steps in `waits`.
    """

    def __init__(self, trace: Trace, clock: Clock, eager_bytes: int | None, algorithm: str) -> None:
        self.trace, self.clock, self.algorithm = trace, clock, algorithm
        self.eager_bytes = eager_bytes
        self.operations = list(chain.from_iterable(trace.ranks))
        self.first = [0, *accumulate(len(operations) for operations in trace.ranks)]
        many = 3 * len(self.operations)
        self.source = [rank for rank, operations in enumerate(trace.ranks) for _ in range(3 * len(operations))]
        self.destination = self.source.copy()
        self.flits, self.delay = [0] * many, [0] * many
        self.waits: list[list[int]] = [[] for _ in range(many)]
        self.notes = list(trace.notes)

    def workload(self) -> Workload:
        sends: dict[tuple[int, int, int], list[int]] = defaultdict(list)  # source, destination, tag
        receives: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        parts: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))  # group, rank
        for rank, operations in enumerate(self.trace.ranks):
            for number, one in enumerate(operations, self.first[rank]):
                self._begin(rank, number, one)
                if one.kind == SEND:
                    sends[rank, one.peer, one.tag].append(number)
                elif one.kind == RECEIVE:
                    receives[one.peer, rank, one.tag].append(number)
                elif one.collective is not None:
                    parts[one.collective.group][rank].append(number)
        for channel in sends.keys() | receives.keys():
            self._check_matched(channel, sends[channel], receives[channel])
        self._match(sends, receives)
        for group, of_rank in parts.items():
            self._collectives(group, of_rank)
        return self._contracted()

    def _begin(self, rank: int, number: int, one: TraceOperation) -> None:
        """Set the steps that the begin and the end of an operation wait for."""
        step, first = 3 * number, 3 * self.first[rank]
        self.waits[step + BEGIN] = [first + 3 * other + END for other in one.after] + [
            first + 3 * other + BEGIN for other in one.beside
        ]
        self.waits[step + END] = [step + BEGIN]
        self.delay[step + END] = one.cycles if one.kind == CALCULATION else 0

    def _check_matched(self, channel: tuple[int, int, int], sends: list[int], receives: list[int]) -> None:
        matched = min(len(sends), len(receives))
        source, destination, tag = channel
        if len(sends) > matched:
            one = self.operations[sends[matched]]
            raise BadInput(
                f"{one.place}: rank {source} sends {counted(one.bytes, 'byte')} to rank {destination} with tag {tag}:"
                f" expected its receive there, got {counted(len(receives), 'receive')} for"
                f" {counted(len(sends), 'send')}; add the receive"
            )
        if len(receives) > matched:
            one = self.operations[receives[matched]]
            raise BadInput(
                f"{one.place}: rank {destination} receives from rank {source} with tag {tag}: expected its send there,"
                f" got {counted(len(sends), 'send')} for {counted(len(receives), 'receive')}; add the send"
            )

    def _match(
        self, sends: dict[tuple[int, int, int], list[int]], receives: dict[tuple[int, int, int], list[int]]
    ) -> None:
        """Make the message of each send wait for its begin, and the end of its receive wait for the message.

        If the message is not eager, it also waits for the receive to begin, and the end of its send waits for the
        message.
        """
        others = 0
        for channel, numbers in sends.items():
            for send, receive in zip(numbers, receives[channel]):
                one, message = self.operations[send], 3 * send + MESSAGE
                others += one.bytes != self.operations[receive].bytes
                self.destination[message] = channel[1]
                self.flits[message] = self.clock.flits(one.bytes)
                self.waits[message] = [3 * send + BEGIN]
                self.waits[3 * receive + END].append(message)
                if self.eager_bytes is not None and one.bytes > self.eager_bytes:
                    self.waits[message].append(3 * receive + BEGIN)
                    self.waits[3 * send + END].append(message)
        if others:
            self.notes.append(f"{counted(others, 'receive')} of another size than what is sent: the send's size counts")

    def _collectives(self, group: str, parts: dict[int, list[int]]) -> None:
        """Add the messages of all collectives of a process group, whose ranks take part in them in the same order."""
        members = self.trace.groups[group]
        most = max(members, key=lambda rank: len(parts.get(rank, ())))
        for turn, number in enumerate(parts[most]):
            for rank in members:
                theirs = parts.get(rank, ())
                one = self.operations[number]
                if len(theirs) <= turn:
                    raise BadInput(
                        f"{one.place}: rank {most} takes part in {counted(turn + 1, 'collective')} of process group"
                        f" '{one_line(group, SHOWN)}': expected the same of rank {rank}, got {len(theirs)};"
                        " give the whole trace"
                    )
                other = self.operations[theirs[turn]]
                if one.collective != other.collective:
                    raise BadInput(
                        f"{other.place}: expected {_words(one.collective)} as in {one.place}, got"
                        f" {_words(other.collective)}; all ranks of a process group call the same"
                    )
            self._collective(members, [parts[rank][turn] for rank in members])

    def _collective(self, members: list[int], numbers: list[int]) -> None:
        """Add the messages of one collective; `numbers` has each member's number of the operation.

        A member begins a step when all messages to it in earlier steps have arrived.
        """
        part = self.operations[numbers[0]].collective
        assert part is not None
        ready = [3 * number + BEGIN for number in numbers]
        root = members.index(part.root) if part.root in members else 0
        for messages in expanded(part.operation, len(members), part.bytes, root, self.algorithm):
            arriving: dict[int, list[int]] = defaultdict(list)
            for source, destination, size in messages:
                message = self._add(members[source], members[destination], self.clock.flits(size), [ready[source]])
                arriving[destination].append(message)
            for member, arrived in arriving.items():
                ready[member] = self._add(members[member], members[member], 0, [ready[member], *arrived])
        for number, last in zip(numbers, ready):
            self.waits[3 * number + END].append(last)

    def _add(self, source: int, destination: int, flits: int, waits: list[int]) -> int:
        number = len(self.source)
        if number & 0xFFF == 0:
            check_memory(STEP_BYTES * number, f"{number:,} steps", self.trace.where)
        self.source.append(source)
        self.destination.append(destination)
        self.flits.append(flits)
        self.delay.append(0)
        self.waits.append(waits)
        return number

    def _contracted(self) -> Workload:
        """Make the workload, without local steps that take no time and wait for at most one step."""
        order, cycle = topological_order(self.waits)
        if cycle:
            self._refuse_cycle(cycle)
        self._note_overlaps(order)
        stands_for = [-1] * len(order)  # the number of the kept step that is the same time
        kept: list[int] = []
        waits: list[tuple[int, int]] = []
        for step in order:
            before = sorted({stands_for[other] for other in self.waits[step]} - {-1})
            local = self.source[step] == self.destination[step]
            if local and not self.delay[step] and len(before) <= 1:
                stands_for[step] = before[0] if before else -1
            else:
                stands_for[step] = len(kept)
                waits += [(len(kept), other) for other in before]
                kept.append(step)
        columns = (np.array(column, np.int64)[kept] for column in (self.source, self.destination, self.flits))
        source, destination, flits = columns
        if (source == destination).all():
            raise BadInput(
                f"{self.trace.where}: expected messages between ranks, got none; give a trace that communicates"
            )
        return Workload(
            tasks=len(self.trace.ranks),
            source=source.astype(np.int32),
            destination=destination.astype(np.int32),
            flits=np.where(source == destination, 0, flits),
            delay=np.array(self.delay, np.int64)[kept],
            waits=np.array(waits, np.int64).reshape(-1, 2),
            names=tuple(self._name(step) for step in kept),
            notes=tuple(self.notes),
        )

    def _name(self, step: int) -> str:
        """Return a step's name for --completions: its operation's name with .begin or .end; stepN in collectives."""
        if step >= 3 * len(self.operations):
            return f"step{step}"
        return f"{self.operations[step // 3].name}{'' if step % 3 == MESSAGE else ('.begin', '', '.end')[step % 3]}"

    def _refuse_cycle(self, cycle: list[int]) -> None:
        numbers = [step // 3 for step in cycle if step < 3 * len(self.operations)]
        own = [number for place, number in enumerate(numbers) if number != numbers[place - 1] or len(numbers) == 1]
        named = own or numbers[:1]
        words = words_of_cycle([one_line(self.operations[number].name, SHOWN) for number in named], MOST_NAMED)
        raise BadInput(
            f"{self.operations[named[0]].place}: expected operations that can all begin, got a cycle: {words}; break it"
        )

    def _note_overlaps(self, order: list[int]) -> None:
        orders: list[list[int]] = [[] for _ in self.trace.ranks]
        for step in order:
            if step < 3 * len(self.operations) and step % 3 == END:
                rank = self.source[step]
                orders[rank].append(step // 3 - self.first[rank])
        found = sum(overlapping(operations, own) for operations, own in zip(self.trace.ranks, orders))
        if found:
            self.notes.append(
                f"{counted(found, 'calculation')} may overlap others of the same processor, since no dependency"
                " orders them"
            )


def _words(part: TraceCollective | None) -> str:
    assert part is not None
    return f"{part.operation} of {counted(part.bytes, 'byte')}{f' from rank {part.root}' if part.root >= 0 else ''}"
