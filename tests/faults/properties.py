"""Examples of a property, drawn and checked: what holds for every input."""

from __future__ import annotations

import os
import time
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from tests.faults.inputs.any_bytes import Properties

FEW, MANY = 25, 120  # examples in make test, in make test-faults
LONGEST = 20.0, 60.0  # seconds of one input: of processor time here, and by the clock, beside other tests


def hold(what: str, properties: Properties, examples: int, begin: int | None = None) -> None:
    """Draw examples of a property, from a seed or at random; each takes at most LONGEST."""
    drawn, holds, dear = properties[what]

    @settings(
        max_examples=max(3, examples // dear), deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(drawn)
    def always(value: Any) -> None:
        for _ in range(2):  # the first call may compile kernels
            before, began = sum(os.times()[:4]), time.monotonic()
            holds(value)
            taken = sum(os.times()[:4]) - before, time.monotonic() - began
            if all(seconds < most for seconds, most in zip(taken, LONGEST)):
                return
        raise AssertionError(f"{what}: too slow, {taken[0]:.0f} s of processor time, {taken[1]:.0f} s by the clock")

    (always if begin is None else seed(begin)(always))()
