"""Read GOAL schedules as workloads: the text that LogGOPSim's schedgen writes and its txt2bin reads."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

from torusweep.errors import BadInput, located, one_line, printable
from torusweep.networks.physical import Clock
from torusweep.workloads.files import MOST_DIGITS, SHOWN
from torusweep.workloads.messages import Target, Workload
from torusweep.workloads.traces.operations import (
    CALCULATION,
    MOST_BYTES,
    OPERATION_BYTES,
    RECEIVE,
    SEND,
    CyclesPerMicrosecond,
    EagerBytes,
    FlitBytes,
    Trace,
    TraceFile,
    TraceOperation,
    check_memory,
    check_ranks,
    clock_of_trace,
    cycles_of,
    trace_content,
)
from torusweep.workloads.traces.replay import replayed

ANY = "-1"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LABEL = r"[A-Za-z][A-Za-z0-9_]*"
_NUMBER_OF_RANKS = re.compile(r"num_ranks\s*(\d+)")
_RANK = re.compile(r"rank\s*(\d+)\s*\{\s*(\})?")
_CALCULATION = re.compile(rf"(?:({_LABEL})\s*:\s*)?calc\s*(\d+)(?:\s*cpu\s*(\d+))?")
_MESSAGE = re.compile(
    rf"(?:({_LABEL})\s*:\s*)?(?:(send)\s*(\d+)\s*b\s*to|recv\s*(\d+)\s*b\s*from)\s*(\d+|-1)"
    r"(?:\s*tag\s*(\d+|-1))?(?:\s*cpu\s*(\d+))?(?:\s*nic\s*(\d+))?"
)
_REQUIRES = re.compile(rf"({_LABEL})\s+(i?requires)\s+({_LABEL})")
_EXPECTED = "num_ranks, rank N {, send, recv, calc, LABEL requires LABEL or }"


def goal(
    target: Target,
    path: TraceFile,
    cycles_per_us: CyclesPerMicrosecond = None,
    flit_bytes: FlitBytes = None,
    eager_bytes: EagerBytes = None,
) -> Workload:
    """The messages of a GOAL schedule, as LogGOPSim's tools write it; app.goal alone is the same as path="app.goal".

    `calc` counts nanoseconds: `cycles_per_us` cycles are a microsecond, and a part of a cycle counts as a whole one. A
    flit has `flit_bytes` bytes; a message has at least one flit. The n-th `send` from one rank to another with a tag is
    received by the n-th `recv` with that tag. A sender continues at once; but a message longer than `eager_bytes` is
    sent only when its receive is posted, and its sender waits until it has arrived (LogGOPSim's S). `a requires b`: a
    begins when b is finished; `a irequires b`: a begins when b has begun. `cpu` and `nic` are read but not modelled:
    calculations that do not depend on each other may overlap, which a note counts.
    Source: LogGOPSim (github.com/spcl/LogGOPSim), src/LogGOPSim/txt2bin.re, which defines the text, and LogGOPSim.cpp;
    Hoefler, Siebert & Lumsdaine 2009 (GOAL); Hoefler, Schneider & Lumsdaine 2010 (LogGOPSim).
    """
    where = printable(Path(path))
    content = trace_content(located(path), "a GOAL schedule")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(
            f"{where}: expected a GOAL schedule as text, got other bytes; give the text that txt2bin reads"
        ) from None
    clock, notes = clock_of_trace(target, cycles_per_us, flit_bytes)
    trace = _Reader(where, target.terminals, clock, notes).read(text)
    return replayed(trace, clock=clock, eager_bytes=eager_bytes)


class _Reader:
    """Reader of the text of a GOAL schedule, line by line."""

    def __init__(self, where: str, terminals: int, clock: Clock, notes: list[str]) -> None:
        self.where, self.terminals, self.clock, self.notes = where, terminals, clock, notes
        self.ranks: list[list[TraceOperation]] | None = None
        self.many = 0  # operations so far
        self.rank = -1  # whose block is open; −1: none is
        self.opened: dict[int, int] = {}  # the line on which each rank's block begins
        self.labels: dict[str, int] = {}
        self.required: list[tuple[str, str, str, str]] = []  # place, label, word, label

    def read(self, text: str) -> Trace:
        plain = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
        number = 0
        for number, line in enumerate(StringIO(plain), 1):
            if stripped := line.strip():
                self._line(stripped, f"{self.where}:{number}")
        if self.ranks is None:
            raise BadInput(f"{self.where}: expected num_ranks N, got none; begin the schedule with it")
        if self.rank >= 0:
            raise BadInput(
                f"{self.where}:{number}: expected }} to end rank {self.rank}, which begins in line"
                f" {self.opened[self.rank]}, got the end of the file; add it"
            )
        return Trace(self.where, self.ranks, {}, self.notes)

    def _line(self, line: str, place: str) -> None:
        if found := _NUMBER_OF_RANKS.fullmatch(line):
            if self.ranks is not None:
                raise BadInput(f"{place}: expected num_ranks once, got it again; leave one out")
            number = self._whole(found[1], place)
            check_ranks(number, self.terminals, place)
            self.ranks = [[] for _ in range(number)]
        elif found := _RANK.fullmatch(line):
            self._begin(self._peer(found[1], place), place)
            if found[2]:
                self._end()
        elif self.rank < 0:
            raise self._unexpected(line, place)
        elif line == "}":
            self._end()
        elif found := _REQUIRES.fullmatch(line):
            self.required.append((place, found[1], found[2], found[3]))
        elif found := _CALCULATION.fullmatch(line):
            cycles = cycles_of(self._whole(found[2], place), self.clock, place)
            lane = self._whole(found[3] or "0", place)
            self._add(found[1], TraceOperation(place, "", CALCULATION, cycles=cycles, lane=lane))
        elif found := _MESSAGE.fullmatch(line):
            if ANY in (found[5], found[6]):
                raise BadInput(
                    f"{place}: expected the rank and the tag of one message, got {ANY}, which stands for any; name them"
                )
            size, peer = self._whole(found[3] or found[4], place), self._peer(found[5], place)
            kind, tag = SEND if found[2] else RECEIVE, self._whole(found[6] or "0", place)
            self._add(found[1], TraceOperation(place, "", kind, peer=peer, bytes=size, tag=tag))
        else:
            raise self._unexpected(line, place)

    def _begin(self, rank: int, place: str) -> None:
        if self.rank >= 0:
            raise BadInput(f"{place}: expected }} before another rank, got rank {rank}; end rank {self.rank} first")
        if rank in self.opened:
            raise BadInput(
                f"{place}: expected each rank once, got rank {rank} again, after line {self.opened[rank]}; join them"
            )
        self.rank, self.opened[rank] = rank, int(place.rpartition(":")[2])

    def _end(self) -> None:
        """Resolve the labels of the rank's dependencies, and close its block."""
        operations = self._operations()
        for place, label, word, other in self.required:
            for one in (label, other):
                if one not in self.labels:
                    raise BadInput(
                        f"{place}: expected labels of rank {self.rank}, got '{one_line(one, SHOWN)}', which no"
                        " operation has; name one"
                    )
            later = operations[self.labels[label]]
            (later.after if word == "requires" else later.beside).append(self.labels[other])
        self.rank, self.labels, self.required = -1, {}, []

    def _add(self, label: str | None, operation: TraceOperation) -> None:
        operations = self._operations()
        if label is not None:
            if label in self.labels:
                first = operations[self.labels[label]].place
                raise BadInput(
                    f"{operation.place}: expected a label of its own, got '{one_line(label, SHOWN)}', which is also"
                    f" in {first}; choose another"
                )
            self.labels[label] = len(operations)
        self.many += 1
        if self.many & 0xFFF == 0:
            check_memory(OPERATION_BYTES * self.many, f"{self.many:,} operations", self.where)
        operation.name = f"{self.rank}.{label or len(operations)}"
        operations.append(operation)

    def _operations(self) -> list[TraceOperation]:
        assert self.ranks is not None  # a block begins with a rank's number, which `_peer` checks
        return self.ranks[self.rank]

    def _whole(self, digits: str, place: str) -> int:
        if not digits.isascii() or len(digits.lstrip("0")) > MOST_DIGITS or int(digits) > MOST_BYTES:
            raise BadInput(
                f"{place}: expected whole numbers of at most {MOST_BYTES:,}, got {one_line(digits, SHOWN)};"
                " choose a smaller one"
            )
        return int(digits)

    def _peer(self, digits: str, place: str) -> int:
        if self.ranks is None:
            raise BadInput(f"{place}: expected num_ranks N before the first rank; begin the schedule with it")
        rank = self._whole(digits, place)
        if rank >= len(self.ranks):
            raise BadInput(
                f"{place}: expected a rank of 0 … {len(self.ranks) - 1}, got {rank}; raise num_ranks, or choose another"
            )
        return rank

    def _unexpected(self, line: str, place: str) -> BadInput:
        return BadInput(f"{place}: expected {_EXPECTED}, got '{one_line(line, SHOWN)}'; write it as txt2bin reads it")
