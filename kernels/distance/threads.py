"""Blocks side by side in Python threads, over code that releases the GIL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(function: Callable[[Item], Result], items: Sequence[Item], threads: int) -> list[Result]:
    """function(item) of every item, in order. The caller's thread takes items too: handing each to a pool costs as much as a small one's work."""
    if threads == 1 or len(items) == 1:
        return [function(item) for item in items]
    results: dict[int, Result] = {}
    left = iter(range(len(items)))  # next is atomic

    def take() -> None:
        try:
            for place in left:
                results[place] = function(items[place])
        finally:
            deque(left, maxlen=0)  # after an exception nobody begins another

    with ThreadPoolExecutor(min(threads, len(items)) - 1) as pool:
        others = [pool.submit(take) for _ in range(min(threads, len(items)) - 1)]
        take()
    for other in others:
        other.result()
    return [results[place] for place in range(len(items))]
