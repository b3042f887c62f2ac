"""Numbers of a figure, read off its rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]
CLASSES = ("torus", "pruned_torus", "directed_torus", "pruned_directed_torus")
RADICES = (4, 6, 8, 12, 16, 20, 24, 28, 32)


def values(found: Iterable[Row], along: str, what: str, **chosen: Any) -> dict[Any, float]:
    """what by along, of the rows with these values."""
    return {row[along]: row[what] for row in found if all(row[name] == value for name, value in chosen.items())}
