"""Where a network saturates: the offered load up to which it accepts what is offered, found by cutting an interval into parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

PARTS = 5  # into which an interval is cut at each turn: the loads between them are simulated together


def bisected(saturated: Callable[[Sequence[float]], Sequence[bool | None]], top: float, precision: float) -> float:
    """The largest load at which nothing is saturated, to `precision`; `top` where even that is not.

    saturated   tells it of several loads, ascending, at once; None, of which it is not shown, counts as not saturated
    Of loads that are found saturated now and not at a higher one, the lowest counts.
    """
    low, high = 0.0, top
    loads = [top * part / PARTS for part in range(1, PARTS + 1)]
    while loads:
        for load, full in zip(loads, saturated(loads)):
            if full:
                high = load
                break
            low = load
        else:
            if low == top:
                return top
        loads = [low + (high - low) * part / PARTS for part in range(1, PARTS)] if high - low > precision else []
    return low
