"""Numbers in words: counts, times, sizes."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """Return '1 point' or '12,000 points'. The plural of `thing` must end in s."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return '40 s', '12 min', '17 h' or '3 days', with one decimal below ten of a unit; '< 0.1 s' for less."""
    if seconds < 0.1:
        return "< 0.1 s"
    for unit, length, most in (("s", 1.0, 100.0), ("min", 60.0, 100.0), ("h", 3600.0, 48.0)):
        if seconds < most * length:
            return f"{_two_digits(seconds / length)} {unit}"
    return f"{_two_digits(seconds / 86_400)} days"


def size(count: float) -> str:
    """Return '7.2 MiB': bytes in the largest binary unit that leaves one or more."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{_two_digits(count)} {unit}"
        count /= 1024
    return f"{_two_digits(count)} TiB"


def _two_digits(number: float) -> str:
    return f"{number:.1f}" if 0 < number < 9.95 else f"{number:,.0f}"
