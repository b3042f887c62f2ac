"""Breadth-first search over a rule for neighbours: no code of ours."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

Address = tuple[int, ...]
Neighbours = Callable[[Address], Iterable[Address]]


def distances(neighbours: Neighbours, start: Address) -> dict[Address, int]:
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for head in neighbours(node):
            if head not in found:
                found[head] = found[node] + 1
                queue.append(head)
    return found
