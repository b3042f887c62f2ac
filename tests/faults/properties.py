"""Examples of a property, drawn and checked: what holds for every input."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from tests.faults.inputs.any_bytes import Properties

FEW, MANY = 25, 120  # examples in make test, in make test-faults
LONGEST = 20.0  # seconds of processor time for one input; what waits for ever meets the test's own limit


def hold(what: str, properties: Properties, examples: int, begin: int | None = None) -> None:
    """Draw examples of a property, from a seed or at random; each takes at most LONGEST."""
    drawn, holds, dear = properties[what]

    @settings(
        max_examples=max(3, examples // dear), deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(drawn)
    def always(value: Any) -> None:
        for _ in range(2):  # the first call may compile kernels
            before = sum(os.times()[:4])
            holds(value)
            seconds = sum(os.times()[:4]) - before
            if seconds < LONGEST:
                return
        raise AssertionError(f"{what}: too slow, {seconds:.0f} s")

    (always if begin is None else seed(begin)(always))()
