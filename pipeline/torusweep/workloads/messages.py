"""Messages between tasks, and what each waits for: a workload, and the way to build one as each task's doings, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import default_memory

MESSAGE_BYTES = 180  # that a message takes while it is built, what it waits for among it; measured 120 to 136
LISTED_BYTES = 250  # and besides, one that was added alone; measured 340 together
FLIT_BYTES = 4  # Cámara et al. 2010, sec. 6.1: phits of 4 bytes


class Workload(NamedTuple):
    """G messages between tasks 0 … tasks − 1, in an order in which none waits for a later one.

    source, destination  int32[G]  tasks; the same one: a step of computation, or a copy, that takes no time but its delay
    flits        int64[G]  ≥ 1 between different tasks
    delay        int64[G]  cycles from the delivery of the last message that it waits for until it is sent
    waits        int64[S, 2]  (a message, one that it waits for)
    names        what a file calls them; None: their numbers
    """

    tasks: int
    source: np.ndarray
    destination: np.ndarray
    flits: np.ndarray
    delay: np.ndarray
    waits: np.ndarray
    names: tuple[str, ...] | None = None


class Program:
    """Builds a workload. A task sends without waiting for it to be received (MPI's eager mode); it waits where it receives.

    A message waits for the last thing that its sender received. Where that are several, a step of computation stands for them,
    so that their successors need not wait for each one.
    """

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks
        self._last = np.full(tasks, -1)  # message that a task's next one waits for
        self._number = 0
        self._blocks: list[tuple[np.ndarray, np.ndarray]] = []  # columns and waits, as `Workload` has them
        self._messages: list[tuple[int, int, int]] = []  # behind the blocks, one by one
        self._waits: list[tuple[int, int]] = []

    def send(self, source: int, destination: int, flits: int) -> int:
        """The number of a message, of at least a flit. To itself a task sends nothing: that is for the caller to leave out."""
        assert source != destination
        return self._add(source, destination, max(1, flits), [int(self._last[source])])

    def receive(self, task: int, messages: Sequence[int]) -> None:
        """The task goes on when all of these have arrived."""
        waited = [other for other in (int(self._last[task]), *messages) if other >= 0]
        self._last[task] = waited[0] if len(waited) == 1 else self._add(task, task, 0, waited)

    def exchange(self, messages: Iterable[tuple[int, int, int]] | np.ndarray) -> None:
        """(source, destination, flits) all at once, int64[M, 3] or so many tuples: every task sends what is its, then waits for what is sent to it.

        The same as to `send` each, then for each task, the first in `messages` first, to `receive` what is sent to it.
        """
        block = messages if isinstance(messages, np.ndarray) else np.array(list(messages), np.int64).reshape(-1, 3)
        source, destination, _ = block.T
        assert (source != destination).all()
        self._closed()
        number = np.arange(self._number, self._number + len(block))
        before = self._last[source]
        self._append(np.maximum(block, (0, 0, 1)), np.stack([number, before], axis=1)[before >= 0])
        task, first, member, many = np.unique(destination, return_index=True, return_inverse=True, return_counts=True)
        before = self._last[task]
        alone = (many == 1) & (before < 0)  # goes on with its only message
        joins = np.flatnonzero(~alone)[np.argsort(first[~alone])]
        self._last[task] = number[first]
        self._last[task[joins]] = step = np.arange(self._number, self._number + len(joins))
        own = self._last[task]
        arriving = np.stack([own[member], number], axis=1)[~alone[member]]
        waits = np.concatenate([arriving, np.stack([step, before[joins]], axis=1)[before[joins] >= 0]])
        doing = np.stack([task[joins], task[joins], np.zeros_like(joins)], axis=1)
        self._append(doing, waits[np.lexsort((waits[:, 1], waits[:, 0]))])

    def expect(self, messages: int) -> None:
        """Raises Refused where so many more do not fit into memory."""
        needed, limit = MESSAGE_BYTES * (self._number + messages) + LISTED_BYTES * len(self._messages), default_memory()
        if needed > limit:
            raise Refused(
                f"{self._number + messages:,} messages or more need about {needed / 2**30:.2g} GiB; the limit is {limit / 2**30:.2g} GiB:"
                " choose fewer tasks or rounds, or a smaller problem"
            )

    def workload(self) -> Workload:
        self._closed()
        columns, waits = (
            np.concatenate(parts) for parts in zip((np.zeros((0, 3), int), np.zeros((0, 2), int)), *self._blocks)
        )
        source, destination = columns[:, :2].T.astype(np.int32)
        return Workload(self.tasks, source, destination, columns[:, 2].copy(), np.zeros(len(columns), np.int64), waits)

    def _add(self, source: int, destination: int, flits: int, waited: Sequence[int]) -> int:
        number = self._number
        if number & 0xFFF == 0:
            self.expect(1)
        self._messages.append((source, destination, flits))
        self._waits += [(number, other) for other in waited if other >= 0]
        self._number += 1
        return number

    def _append(self, columns: np.ndarray, waits: np.ndarray) -> None:
        self.expect(len(columns))
        self._blocks.append((columns, waits))
        self._number += len(columns)

    def _closed(self) -> None:
        """What was added one by one becomes a block."""
        if self._messages:
            self._blocks.append((np.array(self._messages, np.int64), np.array(self._waits, np.int64).reshape(-1, 2)))
            self._messages, self._waits = [], []


def flits_of(bytes_: float) -> int:
    """Flits that hold so many bytes, at least one."""
    return max(1, -int(-bytes_ // FLIT_BYTES))


def task_count(terminals: int, tasks: int | None) -> int:
    """How many tasks there are: as many as asked for, or one a terminal. Raises BadInput where terminals do not suffice."""
    number = terminals if tasks is None else tasks
    if not 2 <= number <= terminals:
        raise BadInput(
            f"tasks={number}: expected 2 … {terminals}, a terminal for each; choose fewer, or a larger network"
        )
    return number


def power_of_2_tasks(terminals: int, tasks: int | None) -> int:
    """As `task_count`. Raises BadInput for what is no power of 2, too."""
    number = task_count(terminals, tasks)
    if number & (number - 1):
        raise BadInput(f"tasks={number}: expected a power of 2; choose tasks={1 << number.bit_length() - 1}")
    return number
