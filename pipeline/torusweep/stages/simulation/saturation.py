"""The saturation point: the highest offered load that the network accepts, by repeated division of an interval."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

PARTS = 5  # of the interval in each round; a round simulates the loads between them together


def find_saturation(
    saturated: Callable[[Sequence[float]], Generator[Asked, Answer, Sequence[bool | None]]],
    top: float,
    precision: float,
) -> Generator[Asked, Answer, float]:
    """The highest load that is not saturated, to `precision`; `top` if that is not saturated either.

    saturated   evaluates several loads, ascending, at once; None (not decided) counts as not saturated. A generator, as
                the search itself is, so that searches of several points go on together

    The result lies below the lowest load of a round that is saturated, even if a higher one is not.
    """
    low, high = 0.0, top
    loads = [top * part / PARTS for part in range(1, PARTS + 1)]
    while loads:
        for load, is_saturated in zip(loads, (yield from saturated(loads))):
            if is_saturated:
                high = load
                break
            low = load
        else:
            if low == top:
                return top
        loads = [low + (high - low) * part / PARTS for part in range(1, PARTS)] if high - low > precision else []
    return low
