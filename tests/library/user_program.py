"""A program as a user writes it: mypy --strict must accept it (tests/library/test_network.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torusweep as ts

if TYPE_CHECKING:  # a name that is nowhere, which a checker must refuse: --strict refuses an ignore without need
    ts.network("ring(k=4)").distance()  # type: ignore[attr-defined]


def main() -> None:
    torus: ts.Network = ts.network("torus(k=8, n=2)")
    mean: float = torus.distances().mean
    saturation: float | None = torus.loads("dimension_order", "tornado").saturation_load
    verdict: str = torus.deadlock("dimension_order", vc_rule="dateline", virtual_channels=2).deadlock_free
    square = ts.network(np.array([[0, 1], [1, 2], [2, 3], [3, 0]]), name="square")
    rows: list[dict[str, object]] = square.simulate([0.1, 0.2], cycles=200, virtual_channels=2).rows
    print(mean, saturation, verdict, len(rows))


if __name__ == "__main__":
    main()
