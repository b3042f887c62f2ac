"""How many of what, in words."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """'1 point', '12,000 points': of a thing whose plural takes an s."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
