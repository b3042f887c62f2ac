"""Offered loads as texts of the command line and in a configuration: numbers, lists and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, nan
from typing import Annotated

from pydantic import AfterValidator

from torusweep.errors import BadInput, one_line
from torusweep.questions.entry import Rates, Spread

MOST_LOADS = 10_000  # of an entry, or of a range


def loads_of(given: Sequence[str]) -> tuple[float, ...]:
    """The loads of the texts 0.1,0.2 and 0.1:0.9:0.1 (both ends included), in the order given."""
    found: list[float] = []
    for part in (part for text in given for part in text.split(",")):
        numbers = [_number(part, text) for text in part.split(":")]
        if len(numbers) == 1:
            found += numbers
            continue
        first, last, step = numbers if len(numbers) == 3 else (0.0, 0.0, 0.0)
        if not (step > 0 and first <= last and (last - first) / step < MOST_LOADS):
            raise BadInput(f"{part}: expected from:to:step, as in 0.1:0.9:0.1, of at most {MOST_LOADS:,} loads")
        steps = floor((last - first) / step * (1 + 1e-12) + 1e-12)  # rounding may not lose the last one
        found += [float(f"{first + step * number:.15g}") for number in range(steps + 1)]
    return tuple(found)


def _number(part: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise BadInput(f"{one_line(part, 60)}: expected a number, several (0.1,0.2) or a range (0.1:0.9:0.1)")
    return number


def _above_0(loads: Rates) -> Rates:
    if isinstance(loads, Spread):
        if loads.size() > MOST_LOADS:
            raise ValueError(f"expected at most {MOST_LOADS:,} loads, got {loads.size():,}; choose fewer")
        if not loads.lowest > 0:
            raise ValueError(f"expected loads above 0, got from {loads.lowest:g}; begin higher")
        return loads
    for number, load in enumerate(loads if isinstance(loads, tuple) else (loads,)):
        if not load > 0:
            which = f"[{number}]" if isinstance(loads, tuple) else ""
            raise ValueError(f"expected loads above 0, got loads{which} = {load:g}; choose a higher one")
    return loads


Loads = Annotated[Rates, AfterValidator(_above_0)]


def offered(loads: Rates) -> tuple[float, ...]:
    """The loads of a configuration, written out."""
    if isinstance(loads, Spread):
        return loads.numbers()
    return loads if isinstance(loads, tuple) else (loads,)
