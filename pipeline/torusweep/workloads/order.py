"""The order of steps that wait for each other."""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def topological_order(dependencies: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """(order, cycle): numbers of the steps, each after those that it depends on; the lowest that could be next is next.

    dependencies  for each step, the numbers of those that it depends on
    cycle         [] or, where no such order exists, steps of which each depends on the next and the last on the first
    """
    missing = [len(others) for others in dependencies]
    followers: list[list[int]] = [[] for _ in dependencies]
    for step, others in enumerate(dependencies):
        for other in others:
            followers[other].append(step)
    free, order = [step for step, many in enumerate(missing) if not many], list[int]()
    while free:
        step = heapq.heappop(free)
        order.append(step)
        for follower in followers[step]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(free, follower)
    return order, [] if len(order) == len(dependencies) else _cycle(missing, dependencies)


def _cycle(missing: Sequence[int], dependencies: Sequence[Sequence[int]]) -> list[int]:
    """A cycle. Every step with missing > 0 depends on another one of these."""
    seen: dict[int, int] = {}
    step = next(step for step, many in enumerate(missing) if many)
    while step not in seen:
        seen[step] = len(seen)
        step = next(other for other in dependencies[step] if missing[other])
    return [other for other, place in seen.items() if place >= seen[step]]


def words_of_cycle(names: Sequence[str], most: int) -> str:
    """'a' waits for 'b' waits for 'a', with at most `most` names."""
    shown = [f"'{name}'" for name in (*names, names[0])]
    if len(shown) > most:
        shown[most - 1 : -1] = [f"… ({len(names) - most + 1:,} more)"]
    return " waits for ".join(shown)
