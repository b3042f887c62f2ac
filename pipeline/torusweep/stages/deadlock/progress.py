"""Progress of long work, reported as a share from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float], None] | None


def part_of(progress: Progress, number: int, parts: int) -> Progress:
    """The callback for part `number` (0 …) of `parts` equal parts of the work."""
    return None if progress is None else lambda share: progress((number + share) / parts)
