"""Blocks side by side in Python threads, over code that releases the GIL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(function: Callable[[Item], Result], items: Sequence[Item], threads: int) -> list[Result]:
    """function(item) of every item, in order; after an exception nobody begins another, and it is raised once all have ended.

    The caller's thread takes items too, and the others are no pool's: starting one that hands items on costs as much as a small item's work.
    """
    if threads == 1 or len(items) == 1:
        return [function(item) for item in items]
    results: dict[int, Result] = {}
    failures: list[BaseException] = []
    left = iter(range(len(items)))  # next is atomic

    def take() -> None:
        for place in left:
            results[place] = function(items[place])

    def take_elsewhere() -> None:
        try:
            take()
        except BaseException as failure:  # raised below, in the caller's thread
            failures.append(failure)
            deque(left, maxlen=0)

    others: list[Thread] = []
    try:
        for _ in range(min(threads, len(items)) - 1):
            other = Thread(target=take_elsewhere)
            other.start()
            others.append(other)
        take()
    finally:
        deque(left, maxlen=0)
        for other in others:
            other.join()
    if failures:
        raise failures[0]
    return [results[place] for place in range(len(items))]
