"""Check arguments. The checks raise a ValueError that says what was expected and what was given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Expect = Callable[[bool, str, object], None]


def expecting(where: str) -> Expect:
    """Return expect(holds, what, got), which raises a ValueError that begins with `where` unless `holds`."""

    def expect(holds: bool, what: str, got: object) -> None:
        if not holds:
            raise ValueError(f"{where}: expected {what}, got {got}")

    return expect


def within(expect: Expect, name: str, array: np.ndarray, low: int, high: int) -> None:
    """Expect an array of whole numbers from low to high; `name` is the array's name in the message."""
    if array.size:
        expect(array.dtype.kind in "iub", f"whole numbers in {name}", array.dtype)
        least, most = int(array.min()), int(array.max())
        expect(low <= least and most <= high, f"{name} of {low} … {high}", f"{least} … {most}")


def check_capacity(expect: Expect, capacity: np.ndarray | None, ports: np.ndarray) -> None:
    """Expect a capacity array with the shape of `ports`, and capacity ≥ 1 for each port with a link; None passes."""
    if capacity is None:
        return
    expect(capacity.shape == ports.shape, f"capacity of shape {ports.shape}", capacity.shape)
    used = capacity[ports >= 0]
    least = used.min() if used.size else ""
    expect(not used.size or int(used.min()) >= 1, "capacity ≥ 1 wherever a port leads somewhere", least)
