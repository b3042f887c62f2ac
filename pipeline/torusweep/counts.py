"""Counts in words."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """Return '1 point' or '12,000 points'. The plural of `thing` must end in s."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
