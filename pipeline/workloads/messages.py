"""Messages between tasks, and what each waits for: a workload, and the way to build one as each task's doings, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pipeline.errors import BadInput, Refused
from pipeline.topology import default_memory

MESSAGE_BYTES = 450  # that a message takes while it is built, what it waits for among it; measured 300 to 400
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
        self._last = [-1] * tasks  # message that a task's next one waits for
        self._messages: list[tuple[int, int, int]] = []
        self._waits: list[tuple[int, int]] = []
        self._most = default_memory() // MESSAGE_BYTES

    def send(self, source: int, destination: int, flits: int) -> int:
        """The number of a message, of at least a flit. To itself a task sends nothing: that is for the caller to leave out."""
        assert source != destination
        return self._add(source, destination, max(1, flits), [self._last[source]])

    def receive(self, task: int, messages: Sequence[int]) -> None:
        """The task goes on when all of these have arrived."""
        waited = [self._last[task], *messages]
        if len(waited) > 1 and waited[0] < 0:
            del waited[0]
        self._last[task] = waited[0] if len(waited) == 1 else self._add(task, task, 0, waited)

    def exchange(self, messages: Iterable[tuple[int, int, int]]) -> None:
        """(source, destination, flits) all at once: every task sends what is its, then waits for what is sent to it."""
        arriving: dict[int, list[int]] = {}
        for source, destination, flits in messages:
            arriving.setdefault(destination, []).append(self.send(source, destination, flits))
        for task, some in arriving.items():
            self.receive(task, some)

    def workload(self) -> Workload:
        columns = np.array(self._messages, np.int64).reshape(-1, 3)
        source, destination, flits = columns.T
        waits = np.array(self._waits, np.int64).reshape(-1, 2)
        return Workload(self.tasks, source.astype(np.int32), destination.astype(np.int32), flits, np.zeros_like(flits), waits)

    def _add(self, source: int, destination: int, flits: int, waited: Sequence[int]) -> int:
        number = len(self._messages)
        if number >= self._most:
            raise Refused(
                f"more than {self._most:,} messages do not fit into this machine's memory; choose fewer tasks or rounds, or a smaller problem"
            )
        self._messages.append((source, destination, flits))
        self._waits += [(number, other) for other in waited if other >= 0]
        return number


def flits_of(bytes_: float) -> int:
    """Flits that hold so many bytes, at least one."""
    return max(1, -int(-bytes_ // FLIT_BYTES))


def all_of(terminals: int, tasks: int | None) -> int:
    """How many tasks there are: as many as asked for, or one a terminal. Raises BadInput where terminals do not suffice."""
    number = terminals if tasks is None else tasks
    if not 2 <= number <= terminals:
        raise BadInput(f"tasks={number}: expected 2 … {terminals}, a terminal for each; choose fewer, or a larger network")
    return number


def power_of_2(terminals: int, tasks: int | None) -> int:
    """As `all_of`. Raises BadInput for what is no power of 2, too."""
    number = all_of(terminals, tasks)
    if number & (number - 1):
        raise BadInput(f"tasks={number}: expected a power of 2; choose tasks={1 << number.bit_length() - 1}")
    return number
