"""Python threads for functions that release the GIL."""

from __future__ import annotations

from _thread import LockType, allocate_lock, start_new_thread
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from torusweep_kernels.backend import numba

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(threads: int | None) -> int:
    """Number of CPU threads to use: the requested number, or by default all that Numba may use."""
    if threads:
        return threads
    return int(numba().config.NUMBA_NUM_THREADS)  # a process that computes nothing needs no compiler


def in_threads(function: Callable[[Item], Result], items: Sequence[Item], threads: int) -> list[Result]:
    """Call function(item) for every item in several threads; return the results in the items' order.

    After an exception no thread starts another item. The exception is raised when all threads have ended.

    The caller's thread takes items, too. Unlike threading.Thread, it does not wait until the other threads have
    started: that takes as long as a small item. Tracers and profilers of `threading` do not reach these threads.
    """
    if threads == 1 or len(items) == 1:
        return [function(item) for item in items]
    results: dict[int, Result] = {}
    failures: list[BaseException] = []
    left = iter(range(len(items)))  # next is atomic

    def take() -> None:
        for place in left:
            results[place] = function(items[place])

    def take_elsewhere(busy: LockType) -> None:
        try:
            take()
        except BaseException as failure:  # raised below in the caller's thread
            failures.append(failure)
            deque(left, maxlen=0)
        finally:
            busy.release()

    others: list[LockType] = []
    try:
        for _ in range(min(threads, len(items)) - 1):
            busy = allocate_lock()
            busy.acquire()
            start_new_thread(take_elsewhere, (busy,))
            others.append(busy)
        take()
    finally:
        deque(left, maxlen=0)
        for busy in others:
            busy.acquire()
    if failures:
        raise failures[0]
    return [results[place] for place in range(len(items))]
