"""Define `Workload`, messages between tasks with dependencies, and its builder `Program`, for sends and receives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.physical import UNSAID, Clock
from torusweep.networks.topology import default_memory

MESSAGE_BYTES = 180  # peak memory per message with its dependencies; measured: 120 to 136
LISTED_BYTES = 250  # additional memory of a message that is added singly; measured: 340 with the former
MOST_BLOCKS = 200_000  # blocks of messages, two per exchange; they take 10 s


class Target(NamedTuple):
    """The network that a workload runs on, as far as the workload depends on it.

    terminals  number of terminals
    names      names of the terminals in the network; None if they have only numbers
    clock      clock of the simulation, by which sizes in bytes become flits, and times become cycles
    """

    terminals: int
    names: tuple[Any, ...] | None = None
    clock: Clock = UNSAID


class Workload(NamedTuple):
    """G messages between tasks 0 … tasks − 1, ordered so that none depends on a later message.

    source, destination  int32[G]  tasks; if they are equal, a local step that takes no time except its delay
    flits        int64[G]  size of each message, ≥ 1 between different tasks
    delay        int64[G]  cycles from the delivery of the last message that a message waits for until it is sent
    waits        int64[S, 2]  pairs (message, message that it depends on)
    names        names of the messages in a file; None if they have only numbers
    notes        sentences that name the parts of a trace which are not replayed as recorded
    """

    tasks: int
    source: np.ndarray
    destination: np.ndarray
    flits: np.ndarray
    delay: np.ndarray
    waits: np.ndarray
    names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def least_cycles(workload: Workload) -> int:
    """Return a lower bound of a workload's cycles: the flits that its busiest task sends or receives, one a cycle."""
    flits = np.where(workload.source == workload.destination, 0, workload.flits)
    busiest = (np.bincount(tasks, flits, workload.tasks).max() for tasks in (workload.source, workload.destination))
    return int(max(busiest)) if len(flits) else 0


class Program:
    """A builder of a workload. Sends do not block (MPI's eager mode); receives do.

    A message depends on what its sender received last. If that is several messages, a local step
    depends on them, and later messages depend on that step only.
    """

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks
        self._last = np.full(tasks, -1)  # message that the next one of each task depends on
        self._number = 0
        self._blocks: list[tuple[np.ndarray, np.ndarray]] = []  # (columns, waits), as in `Workload`
        self._messages: list[tuple[int, int, int]] = []  # added singly after the last block
        self._waits: list[tuple[int, int]] = []

    def send(self, source: int, destination: int, flits: int) -> int:
        """Append a message of at least one flit and return its number; source and destination differ."""
        assert source != destination
        return self._add(source, destination, max(1, flits), [int(self._last[source])])

    def receive(self, task: int, messages: Sequence[int]) -> None:
        """Let a task wait until all of the given messages have arrived."""
        waited = [other for other in (int(self._last[task]), *messages) if other >= 0]
        self._last[task] = waited[0] if len(waited) == 1 else self._add(task, task, 0, waited)

    def exchange(self, messages: Iterable[tuple[int, int, int]] | np.ndarray) -> None:
        """Let every task send its messages, then wait for the messages that are sent to it.

        messages   int64[M, 3] or M tuples (source, destination, flits)

        Equivalent to `send` for each message, then `receive` for each destination in order of first occurrence.
        """
        block = messages if isinstance(messages, np.ndarray) else np.array(list(messages), np.int64).reshape(-1, 3)
        source, destination, _ = block.T
        assert (source != destination).all()
        self._flush()
        number = np.arange(self._number, self._number + len(block))
        before = self._last[source]
        self._append(np.maximum(block, (0, 0, 1)), np.stack([number, before], axis=1)[before >= 0])
        task, first, member, many = np.unique(destination, return_index=True, return_inverse=True, return_counts=True)
        before = self._last[task]
        alone = (many == 1) & (before < 0)  # depends on this message alone; no local step needed
        joins = np.flatnonzero(~alone)[np.argsort(first[~alone])]
        self._last[task] = number[first]
        self._last[task[joins]] = step = np.arange(self._number, self._number + len(joins))
        own = self._last[task]
        arriving = np.stack([own[member], number], axis=1)[~alone[member]]
        waits = np.concatenate([arriving, np.stack([step, before[joins]], axis=1)[before[joins] >= 0]])
        doing = np.stack([task[joins], task[joins], np.zeros_like(joins)], axis=1)
        self._append(doing, waits[np.lexsort((waits[:, 1], waits[:, 0]))])

    def check_rounds(self, rounds: int, exchanges: int, messages: int) -> None:
        """Raise Refused if a number of rounds exceeds the limits. Call this before any round is appended.

        exchanges  number of exchanges per round
        messages   number of messages per round, or a lower bound of this number
        """
        if 2 * rounds * exchanges - 1 > MOST_BLOCKS:
            raise Refused(
                f"more than {MOST_BLOCKS // 2:,} exchanges between tasks: {rounds:,} rounds of {exchanges:,};"
                " choose fewer rounds"
            )
        self.check_memory(rounds * messages)

    def check_memory(self, messages: int) -> None:
        """Raise Refused if `messages` further messages do not fit into memory, or there are too many blocks."""
        if len(self._blocks) > MOST_BLOCKS:
            raise Refused(
                f"more than {MOST_BLOCKS // 2:,} exchanges between tasks, {self._number:,} messages so far;"
                " choose fewer rounds"
            )
        needed, limit = MESSAGE_BYTES * (self._number + messages) + LISTED_BYTES * len(self._messages), default_memory()
        if needed > limit:
            raise Refused(
                f"{self._number + messages:,} messages or more need about {needed / 2**30:.2g} GiB;"
                f" the limit is {limit / 2**30:.2g} GiB: choose fewer tasks or rounds, or a smaller problem"
            )

    def workload(self) -> Workload:
        """Return the workload of all messages appended so far."""
        self._flush()
        columns, waits = (
            np.concatenate(parts) for parts in zip((np.zeros((0, 3), int), np.zeros((0, 2), int)), *self._blocks)
        )
        source, destination = columns[:, :2].T.astype(np.int32)
        return Workload(self.tasks, source, destination, columns[:, 2].copy(), np.zeros(len(columns), np.int64), waits)

    def _add(self, source: int, destination: int, flits: int, waited: Sequence[int]) -> int:
        number = self._number
        if number & 0xFFF == 0:
            self.check_memory(1)
        self._messages.append((source, destination, flits))
        self._waits += [(number, other) for other in waited if other >= 0]
        self._number += 1
        return number

    def _append(self, columns: np.ndarray, waits: np.ndarray) -> None:
        self.check_memory(len(columns))
        self._blocks.append((columns, waits))
        self._number += len(columns)

    def _flush(self) -> None:
        """Turn the messages that were added one by one into a block of arrays."""
        if self._messages:
            self._blocks.append((np.array(self._messages, np.int64), np.array(self._waits, np.int64).reshape(-1, 2)))
            self._messages, self._waits = [], []


def task_count(terminals: int, tasks: int | None) -> int:
    """Return the number of tasks, by default one per terminal. Raises BadInput if there are too few terminals."""
    number = terminals if tasks is None else tasks
    if not 2 <= number <= terminals:
        raise BadInput(
            f"tasks={number}: expected 2 … {terminals}, a terminal for each; choose fewer, or a larger network"
        )
    return number


def power_of_2_tasks(terminals: int, tasks: int | None) -> int:
    """Return the number of tasks like `task_count`. Also raises BadInput if the number is not a power of 2."""
    number = task_count(terminals, tasks)
    if number & (number - 1):
        raise BadInput(f"tasks={number}: expected a power of 2; choose tasks={1 << number.bit_length() - 1}")
    return number
