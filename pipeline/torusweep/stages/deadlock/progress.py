"""How far long work is, told as a share from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float], None] | None


def part_of(progress: Progress, number: int, parts: int) -> Progress:
    """What to tell of one of so many parts of the work."""
    return None if progress is None else lambda share: progress((number + share) / parts)
