"""Blocks side by side in Python threads, over code that releases the GIL."""

from __future__ import annotations

from _thread import LockType, allocate_lock, start_new_thread
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(function: Callable[[Item], Result], items: Sequence[Item], threads: int) -> list[Result]:
    """function(item) of every item, in order; after an exception nobody begins another, and it is raised once all have
    ended.

    The caller's thread takes items too, and does not wait until another has started, as threading.Thread would: as long
    as a small item takes. So tracers and profilers that `threading` hands on do not reach the others.
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
        except BaseException as failure:  # raised below, in the caller's thread
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
